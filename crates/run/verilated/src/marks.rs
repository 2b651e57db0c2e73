//! When what happened at the card's borders: for whoever counts cycles from one to the other.

use crate::ffi::{Inputs, Outputs};

/// Numbers of cycles, at port 0 and the shell's memory, since the card was switched on; none for what has not happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// The first word that came in, and the last word of a frame that came in latest.
    pub received: Option<(u64, u64)>,
    /// The first word that went out.
    pub sent: Option<u64>,
    /// The first and the latest write that the shell offered to its memory.
    pub written: Option<(u64, u64)>,
    /// The first start of a kernel that was offered to the role.
    pub started: Option<u64>,
    /// The words that came in.
    pub words: u64,
}

impl Marks {
    pub(crate) fn note(&mut self, cycle: u64, inputs: &Inputs, outputs: &Outputs) {
        let (mac_in, mac_out) = (&inputs.macs[0], &outputs.macs[0]);
        if mac_in.rx_valid {
            let (first, last) = self.received.unwrap_or((cycle, cycle));
            self.received = Some((first, if mac_in.rx_last { cycle } else { last }));
            self.words += 1;
        }
        if mac_out.tx_valid != 0 {
            self.sent.get_or_insert(cycle);
        }
        if outputs.shell_write != 0 {
            self.written = Some((self.written.map_or(cycle, |(first, _)| first), cycle));
        }
        if outputs.start != 0 {
            self.started.get_or_insert(cycle);
        }
    }
}
