//! A cable between two ports, in this process.

use crate::switch::{Port, Switch, SwitchConfig};

/// A cable with two ends. It carries every frame to the other end, whatever its addresses, in order. While nothing is
/// plugged into the other end, frames are lost, as on a real one. Clones are handles to the same cable.
#[derive(Debug, Clone)]
pub struct Cable {
    // A switch of two ports that learns no address floods each frame to its only other port.
    switch: Switch,
}

/// Both ends of the cable are plugged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("both ends of the cable are plugged in")]
pub struct CableError;

impl Cable {
    /// A cable whose ends are both free.
    #[must_use]
    pub fn new() -> Self {
        Self::holding(SwitchConfig::default().queue_frames)
    }

    /// As [`new`](Self::new), with room for so many frames in each direction: what is under way when the other end is
    /// ordered to pause.
    ///
    /// # Panics
    /// If it is to hold none.
    #[must_use]
    pub fn holding(queue_frames: usize) -> Self {
        Self { switch: Switch::new(SwitchConfig { ports: 2, addresses: 0, queue_frames, ..SwitchConfig::default() }) }
    }

    /// Takes a free end, to be plugged into a port; dropping it pulls it out. The name is for statistics.
    ///
    /// # Errors
    /// No end is free.
    pub fn end(&self, name: &str) -> Result<Port, CableError> {
        self.switch.attach(name).map_err(|_| CableError)
    }
}

impl Default for Cable {
    fn default() -> Self {
        Self::new()
    }
}
