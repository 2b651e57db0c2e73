//! The cards of a segment as boards of a manager.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use rackloom::{Net, Rack, RackOptions};

use super::card_monitor::{AddCard, CardMonitor, ConnectRack};
use super::tenancy::Sharing;
use crate::metrics::Metrics;

/// Options for sharing cards.
#[derive(Debug, Clone)]
pub struct CardOptions {
    /// How many tenants each card serves at a time.
    pub sharing: Sharing,
    /// Time limit of a kernel, a load, or the transfer of a piece; what takes longer is cancelled.
    pub deadline: Duration,
    /// Who may sign the images that tenants bring; `None`: any image goes, as far as the cards take it.
    pub signers: Option<rackloom::Policy>,
    /// The manager's keys as a host; `None`: it uses cards without keys.
    pub keys: Option<rackloom::Keys>,
    /// Whether it may do so on an interface, where whoever is on the network can take the cards over.
    pub insecure_open: bool,
}

/// The cards of a segment that this manager holds. They are zeroed and released when this is dropped.
pub struct CardRack {
    stop: Arc<AtomicBool>,
    monitor: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for CardRack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CardRack").finish_non_exhaustive()
    }
}

impl CardRack {
    /// Claims all cards of a segment, now and whenever one is plugged in, and passes each to `add`.
    ///
    /// # Errors
    /// The segment cannot be reached, no card answers, or none can be claimed.
    pub fn connect(net: &Net, options: CardOptions, metrics: Arc<Metrics>, add: AddCard) -> anyhow::Result<Self> {
        let CardOptions { sharing, deadline, signers: policy, keys, insecure_open } = options;
        let more = RackOptions { jumbo: true, deadline, policy, insecure_open, ..RackOptions::default() };
        let to = net.clone();
        let connect = Box::new(move || {
            // Each connection is a host that starts anew, whose counter of claims does not go back.
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let now = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX / 2);
            let keys = keys.clone().map(|keys| keys.counting_from(now));
            Rack::connect(&to, RackOptions { keys, ..more.clone() })
        });
        Self::claim(connect, sharing, metrics, add).with_context(|| format!("cannot share cards of {net}"))
    }

    /// The same, with a host that `connect` connects.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub fn claim(connect: ConnectRack, sharing: Sharing, metrics: Arc<Metrics>, add: AddCard) -> anyhow::Result<Self> {
        let monitor = CardMonitor::begin(connect, sharing, metrics, add)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("card-monitor".into()).spawn(move || monitor.run(&stopping));
        Ok(Self { stop, monitor: Some(thread.context("cannot start a thread")?) })
    }
}

impl Drop for CardRack {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(monitor) = self.monitor.take() {
            let _ = monitor.join();
        }
    }
}
