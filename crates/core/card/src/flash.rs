//! The configuration flash of a card whose device takes no image while it runs: a committed image is written there and
//! runs after a restart. The gateware's rl_flash is what does it on a board.

use rackloom_node::{Duration, Instant};
use rackloom_wire::Restart;

/// How such a card restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlashConfig {
    /// What it awaits once an image is written.
    pub restart: Restart,
    /// Time that a card which restarts by itself has to say that the image is written.
    pub linger: Duration,
    /// Time in which it then neither hears nor says anything.
    pub boot: Duration,
}

impl FlashConfig {
    /// A board of the size of an ECPIX-5: two boots of 0.3 s, and 0.7 s in which its golden image reads what it boots.
    pub const BOARD: Self =
        Self { restart: Restart::Itself, linger: Duration::from_millis(100), boot: Duration::from_millis(1300) };

    /// Rate at which such a board's flash is erased, written and read back, bytes a second.
    pub const BOARD_RATE: u64 = 250_000;
}

/// What is in the flash.
#[derive(Debug)]
pub(crate) struct Flash {
    config: FlashConfig,
    /// The image that the device has booted; `None` while that is the golden image, which has no role.
    booted: Option<[u8; 32]>,
    /// The image that it boots next.
    written: Option<[u8; 32]>,
    leaves_at: Option<Instant>,
}

impl Flash {
    pub(crate) const fn new(config: FlashConfig) -> Self {
        Self { config, booted: None, written: None, leaves_at: None }
    }

    pub(crate) const fn restart(&self) -> Restart {
        self.config.restart
    }

    pub(crate) const fn boot_time(&self) -> Duration {
        self.config.boot
    }

    /// True when the image runs already: its role can be had at once.
    pub(crate) fn has_booted(&self, digest: &[u8; 32]) -> bool {
        self.booted.as_ref() == Some(digest)
    }

    /// True when the flash need not be written for this image.
    pub(crate) fn has(&self, digest: &[u8; 32]) -> bool {
        self.has_booted(digest) || self.written.as_ref() == Some(digest)
    }

    /// True when an image awaits a restart.
    pub(crate) const fn awaits_restart(&self) -> bool {
        self.written.is_some()
    }

    /// The image is written.
    pub(crate) fn write(&mut self, now: Instant, digest: [u8; 32]) {
        self.written = Some(digest);
        if self.config.restart == Restart::Itself && self.leaves_at.is_none() {
            self.leaves_at = Some(now + self.config.linger);
        }
    }

    /// When the device leaves what it runs.
    pub(crate) const fn leaves_at(&self) -> Option<Instant> {
        self.leaves_at
    }

    /// The device boots: what was written last, or what it has booted before.
    pub(crate) fn boot(&mut self) {
        self.booted = self.written.take().or(self.booted);
        self.leaves_at = None;
    }
}
