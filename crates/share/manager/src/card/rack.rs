//! The cards of a segment, as boards of a manager.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use rackloom::{NetSpec, Rack, RackOptions};

use super::card_monitor::{AddCard, CardMonitor, ConnectRack};
use crate::metrics::Metrics;

/// How cards are shared.
#[derive(Debug, Clone, Copy)]
pub struct CardOptions {
    /// Each card has one tenant at a time, and is zeroed before the next.
    pub exclusive: bool,
    /// Longest that a kernel, a load or a transfer of a piece may take; what takes longer is called off.
    pub deadline: Duration,
}

/// The cards of a segment that this manager has. They are zeroed and given back when it is dropped.
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
    /// Claims all cards of a segment, now and whenever one is plugged in, and hands each over.
    ///
    /// # Errors
    /// The segment cannot be attached to; no card answers, or none can be claimed.
    pub fn connect(net: &NetSpec, options: CardOptions, metrics: Arc<Metrics>, plug: AddCard) -> anyhow::Result<Self> {
        let more = RackOptions { jumbo: true, deadline: options.deadline, ..RackOptions::default() };
        let to = net.clone();
        let attach = Box::new(move || Rack::connect(&to, more.clone()));
        Self::claim(attach, options.exclusive, metrics, plug).with_context(|| format!("no card to share on {net}"))
    }

    /// Claims all cards that a host of ours sees.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub fn claim(attach: ConnectRack, exclusive: bool, metrics: Arc<Metrics>, plug: AddCard) -> anyhow::Result<Self> {
        let monitor = CardMonitor::begin(attach, exclusive, metrics, plug)?;
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("card-monitor".into()).spawn(move || monitor.run(&told));
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
