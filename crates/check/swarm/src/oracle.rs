//! What is known of a card from outside: what its memory may hold, which images it may run, what it may execute.
//!
//! A run is wrong by one of four judges: this one, from what cards do and what reads bring; `run/meaning.rs`, from how
//! an operation ends; `cells.rs`, from how often a launch was executed; `run/proof.rs`, if not everything comes to an
//! end once the faults have stopped.

use std::collections::BTreeSet;

use rackloom_card::CardEvent;
use rackloom_wire::MacAddr;

use crate::cells::Cells;
use crate::images::Images;
use crate::slots::{SLOTS, Slot, Tag};

/// Most bytes a card's queues may hold besides the image it stages: a few hundred jumbo frames.
const QUEUES_MAX: usize = 8 << 20;

/// One card, through all its boots.
#[derive(Debug)]
pub(crate) struct Oracle {
    pub(crate) mac: MacAddr,
    pub(crate) boot: u32,
    pub(crate) slots: Vec<Slot>,
    pub(crate) cells: Cells,
    /// Claims that zero memory, asked for and not granted.
    zeroing: u32,
    /// (boot, epoch, number) of each launch that has started.
    started: BTreeSet<(u32, u16, u32)>,
    /// (boot, digest) of each image that became active.
    activated: BTreeSet<(u32, [u8; 32])>,
    /// Digests of the images that were written to its flash.
    flashed: BTreeSet<[u8; 32]>,
    /// The newest version of a signed image that it has run.
    newest: u64,
}

impl Oracle {
    pub(crate) fn new(mac: MacAddr) -> Self {
        Self {
            mac,
            boot: 0,
            slots: (0..SLOTS).map(Slot::new).collect(),
            cells: Cells::default(),
            zeroing: 0,
            started: BTreeSet::new(),
            activated: BTreeSet::new(),
            flashed: BTreeSet::new(),
            newest: 0,
        }
    }

    /// The card has lost its memory.
    pub(crate) fn reboot(&mut self) {
        self.boot += 1;
        self.wipe();
    }

    fn wipe(&mut self) {
        self.slots.iter_mut().for_each(Slot::wipe);
        self.cells.wipe();
    }

    /// A claim that zeroes memory is asked for: it may be carried out any time until it is granted, and if it fails
    /// even later, when a last copy of it arrives. The host then loses the claim it had.
    pub(crate) fn claim_zeroing(&mut self) {
        self.zeroing += 1;
    }

    /// It was granted.
    pub(crate) fn claimed_zero(&mut self) {
        self.zeroing -= 1;
        self.wipe();
    }

    /// True while memory may be zeroed by a claim at any time.
    pub(crate) const fn may_be_zeroed(&self) -> bool {
        self.zeroing > 0
    }

    /// A release that zeroes memory is sent: it is carried out before the next claim, or never.
    pub(crate) fn release_zeroing(&mut self, tag: Tag) {
        self.slots.iter_mut().for_each(|s| s.may_wipe(tag));
        self.cells.may_wipe();
    }

    /// It was carried out.
    pub(crate) fn released_zero(&mut self, tag: Tag) {
        self.slots.iter_mut().for_each(|s| s.done(tag));
    }

    /// The card says what it does.
    pub(crate) fn note(&mut self, event: &CardEvent, images: Images) -> Result<(), String> {
        match event {
            CardEvent::LaunchStarted { epoch, seq, .. } if !self.started.insert((self.boot, *epoch, *seq)) => {
                return Err(format!("launch {seq} of epoch {epoch} was executed twice on {}", self.mac));
            }
            // Another life of the card, with the memory that it had.
            CardEvent::MemoryFailed | CardEvent::Rebooted => self.boot += 1,
            CardEvent::Flashed { digest } => {
                self.may_run(images, digest)?;
                self.flashed.insert(*digest);
            }
            CardEvent::Activated { digest } => {
                self.may_run(images, digest)?;
                self.activated.insert((self.boot, *digest));
            }
            _ => {}
        }
        Ok(())
    }

    /// The card runs this, or has it in its flash to be run.
    fn may_run(&mut self, images: Images, digest: &[u8; 32]) -> Result<(), String> {
        let version = images.version(digest);
        let version =
            version.ok_or_else(|| format!("{} runs what nobody offered or what it must not run", self.mac))?;
        if version < self.newest {
            return Err(format!("{} runs version {version} after version {}", self.mac, self.newest));
        }
        self.newest = version;
        Ok(())
    }

    /// A host was notified that the image is active here.
    pub(crate) fn check_loaded(&self, digest: [u8; 32]) -> Result<(), String> {
        let was = (0..=self.boot).any(|boot| self.activated.contains(&(boot, digest)));
        if was { Ok(()) } else { Err(format!("{} was said to run an image that it never activated", self.mac)) }
    }

    /// A host was notified that the image is in the flash here.
    pub(crate) fn check_written(&self, digest: &[u8; 32]) -> Result<(), String> {
        let was = self.flashed.contains(digest);
        if was { Ok(()) } else { Err(format!("{} was said to have an image that it never wrote", self.mac)) }
    }

    /// Between two events, on the card itself.
    pub(crate) fn check_card(&self, card: &rackloom_card::Card, image_max: usize) -> Result<(), String> {
        card.check_invariants();
        let used = card.memory_in_use();
        // Chunks are kept with some bookkeeping each.
        if used > QUEUES_MAX + 2 * image_max {
            return Err(format!("{} holds {used} bytes in its queues", self.mac));
        }
        Ok(())
    }
}
