//! The border to the Verilated model: one clock edge at a time. The only module with unsafe code.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char};
use core::fmt;
use core::ptr::NonNull;

use rackloom_card::{NicCounters, Passed};
use rackloom_wire::BEAT;

/// Bytes of a beat on the memory's port.
pub(crate) const BEAT_BYTES: usize = BEAT as usize;
/// Words of configuration.
pub(crate) const STRAPS: usize = 18;
/// Network ports of the gateware.
pub(crate) const PORTS: usize = 3;
/// Links of the gateware that has any.
pub(crate) const LINKS: usize = 3;
/// All of them, those of links last.
pub(crate) const MACS: usize = PORTS + LINKS;
/// Words of configuration of links.
pub(crate) const LINK_WORDS: usize = 10;
/// Counters of the host behind the card.
const NIC_COUNTS: usize = 9;
/// Most bytes of a word of a port.
pub(crate) const WORD_MAX: usize = 16;

/// Which clocks rise, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Edges(u8);

impl Edges {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NET: Self = Self(1);
    pub(crate) const DDR: Self = Self(2);
    pub(crate) const ROLE: Self = Self(4);
    pub(crate) const CFG: Self = Self(8);
    pub(crate) const ALL: Self = Self(15);

    pub(crate) const fn has(self, clock: Self) -> bool {
        self.0 & clock.0 != 0
    }

    pub(crate) const fn and(self, clock: Self) -> Self {
        Self(self.0 | clock.0)
    }
}

/// What a memory says on an AXI4 port.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct AxiIn {
    pub(crate) rdata: [u8; BEAT_BYTES],
    pub(crate) bid: u16,
    pub(crate) rid: u16,
    pub(crate) awready: bool,
    pub(crate) wready: bool,
    pub(crate) bvalid: bool,
    pub(crate) bresp: u8,
    pub(crate) arready: bool,
    pub(crate) rvalid: bool,
    pub(crate) rresp: u8,
    pub(crate) rlast: bool,
}

/// What the card says on an AXI4 port.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct AxiOut {
    pub(crate) wdata: [u8; BEAT_BYTES],
    pub(crate) wstrb: u64,
    pub(crate) awaddr: u64,
    pub(crate) araddr: u64,
    pub(crate) awid: u16,
    pub(crate) arid: u16,
    pub(crate) awvalid: u8,
    pub(crate) awlen: u8,
    pub(crate) wvalid: u8,
    pub(crate) wlast: u8,
    pub(crate) bready: u8,
    pub(crate) arvalid: u8,
    pub(crate) arlen: u8,
    pub(crate) rready: u8,
}

/// What the MAC of a port says.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct MacIn {
    pub(crate) rx_data: [u8; WORD_MAX],
    pub(crate) rx_keep: u16,
    pub(crate) rx_valid: bool,
    pub(crate) rx_last: bool,
    pub(crate) rx_bad: bool,
    pub(crate) tx_ready: bool,
}

/// What the card says to the MAC of a port.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct MacOut {
    pub(crate) tx_data: [u8; WORD_MAX],
    pub(crate) tx_keep: u16,
    pub(crate) tx_valid: u8,
    pub(crate) tx_last: u8,
}

/// All inputs of the card, for one step.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Inputs {
    pub(crate) time_us: u64,
    pub(crate) macs: [MacIn; MACS],
    pub(crate) memory: AxiIn,
    /// A word for the key store, and where in it, or for the table of signers with bit 12; if there is one.
    pub(crate) key_word: u32,
    pub(crate) key_at: u16,
    pub(crate) rst_n: bool,
    pub(crate) cfg_hold: bool,
    pub(crate) planted: u8,
    /// What the role reports is taken.
    pub(crate) event_ready: bool,
    pub(crate) key_write: bool,
    /// Parts of the memory's bandwidth: the shell's and the role's.
    pub(crate) shares: [u8; 2],
    /// The last, as the shim has it: what is before it is compared with that of the step before.
    pub(crate) edges: Edges,
}

/// All outputs of the card, as they are at the edge.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Outputs {
    pub(crate) macs: [MacOut; MACS],
    pub(crate) memory: AxiOut,
    pub(crate) event_word: u64,
    pub(crate) alarm_us: u32,
    /// A word of versions, and where in the table, if `kept_valid` says so.
    pub(crate) kept_word: u32,
    pub(crate) kept_at: u16,
    pub(crate) idle: u8,
    pub(crate) alarm_valid: u8,
    pub(crate) restarts: u8,
    pub(crate) start: u8,
    pub(crate) foreign: u8,
    pub(crate) shell_write: u8,
    pub(crate) event_valid: u8,
    /// The key store takes a word.
    pub(crate) key_ready: u8,
    /// It has something that the firmware has not taken.
    pub(crate) key_news: u8,
    /// The firmware has written a word that the board is to keep.
    pub(crate) kept_valid: u8,
}

impl AxiIn {
    /// Nothing is offered, nothing taken.
    pub(crate) const QUIET: Self = Self {
        rdata: [0; BEAT_BYTES],
        bid: 0,
        rid: 0,
        awready: false,
        wready: false,
        bvalid: false,
        bresp: 0,
        arready: false,
        rvalid: false,
        rresp: 0,
        rlast: false,
    };
}

impl AxiOut {
    pub(crate) const QUIET: Self = Self {
        wdata: [0; BEAT_BYTES],
        wstrb: 0,
        awaddr: 0,
        araddr: 0,
        awid: 0,
        arid: 0,
        awvalid: 0,
        awlen: 0,
        wvalid: 0,
        wlast: 0,
        bready: 0,
        arvalid: 0,
        arlen: 0,
        rready: 0,
    };
}

impl MacIn {
    /// Nothing comes, nothing is taken.
    pub(crate) const QUIET: Self =
        Self { rx_data: [0; WORD_MAX], rx_keep: 0, rx_valid: false, rx_last: false, rx_bad: false, tx_ready: false };
}

impl MacOut {
    pub(crate) const QUIET: Self = Self { tx_data: [0; WORD_MAX], tx_keep: 0, tx_valid: 0, tx_last: 0 };
}

impl Inputs {
    /// In reset, with all clocks running.
    pub(crate) const RESET: Self = Self {
        time_us: 0,
        macs: [MacIn::QUIET; MACS],
        memory: AxiIn::QUIET,
        key_word: 0,
        key_at: 0,
        rst_n: false,
        cfg_hold: false,
        planted: 0,
        event_ready: false,
        key_write: false,
        shares: [1, 1],
        edges: Edges::ALL,
    };
}

impl Outputs {
    pub(crate) const QUIET: Self = Self {
        macs: [MacOut::QUIET; MACS],
        memory: AxiOut::QUIET,
        event_word: 0,
        alarm_us: 0,
        kept_word: 0,
        kept_at: 0,
        idle: 0,
        alarm_valid: 0,
        restarts: 0,
        start: 0,
        foreign: 0,
        shell_write: 0,
        event_valid: 0,
        key_ready: 0,
        key_news: 0,
        kept_valid: 0,
    };
}

/// A Verilated card.
pub(crate) struct Sim(NonNull<Handle>);

#[repr(C)]
struct Handle {
    _opaque: [u8; 0],
}

// SAFETY: a model and its context are plain memory that nothing but this handle refers to, and are tied to no thread:
// the shim and the runtime set thread-local pointers anew at each evaluation.
unsafe impl Send for Sim {}

// SAFETY: these are the functions of shim/shim.cpp, with the same types in the same order.
unsafe extern "C" {
    fn rl_card_new(
        width: u32,
        bridge: bool,
        keys: bool,
        seed: u32,
        late: u32,
        straps: *const u32,
        ports: *const u64,
        links: *const u32,
    ) -> *mut Handle;
    fn rl_card_delete(sim: *mut Handle);
    fn rl_card_nic(sim: *const Handle, counts: *mut [u64; NIC_COUNTS]);
    fn rl_card_step(sim: *mut Handle, inputs: *const Inputs, outputs: *mut Outputs) -> *const c_char;
    #[cfg(feature = "trace")]
    fn rl_card_trace(sim: *mut Handle, path: *const c_char);
}

impl Sim {
    /// A card before its reset, its port 0 `width` bits wide, with a bridge and links or without, and with keys or
    /// without. `seed` gives the bits with which registers begin that no reset touches. With `late`, bits that cross
    /// clock domains may take a cycle longer, as that number says; 0: none does. `ports` are those beside port 0: the
    /// address of each, its first byte the most significant of 48 bits, bit 48 if it belongs to a stream of the role,
    /// bit 49 if it passes frames to the other one, and bit 50 if a host is there. `links` are as `rl_card_sim` has
    /// them.
    #[expect(clippy::too_many_arguments, reason = "they are those of the shim's function")]
    pub(crate) fn new(
        width: u32,
        bridge: bool,
        keys: bool,
        seed: u32,
        late: u32,
        straps: &[u32; STRAPS],
        ports: &[u64; PORTS - 1],
        links: &[u32; LINK_WORDS],
    ) -> Self {
        let (straps, ports, links) = (straps.as_ptr(), ports.as_ptr(), links.as_ptr());
        // SAFETY: the shim reads as many words as the arrays have, and keeps no pointer to them.
        let sim = unsafe { rl_card_new(width, bridge, keys, seed, late, straps, ports, links) };
        Self(NonNull::new(sim).expect("there is gateware for each valid configuration"))
    }

    /// One rising edge of `inputs.edges`; `outputs` becomes what holds at that edge.
    ///
    /// # Panics
    /// If an assertion in the gateware fails.
    pub(crate) fn step(&mut self, inputs: &Inputs, outputs: &mut Outputs) {
        // SAFETY: the handle is alive until `drop`, and `&mut self` keeps all others out; both structs have the layout
        // of the shim's and outlive the call.
        let failed = unsafe { rl_card_step(self.0.as_ptr(), inputs, outputs) };
        if !failed.is_null() {
            // SAFETY: the shim's string ends with a zero and lives until the next call.
            let what = unsafe { CStr::from_ptr(failed) };
            panic!("an assertion of the gateware failed: {}", what.to_string_lossy());
        }
    }

    /// What became of the frames of the host behind the card.
    pub(crate) fn nic(&self) -> NicCounters {
        let mut counts = [0; NIC_COUNTS];
        // SAFETY: the handle is alive, and the shim fills as many words as the array has.
        unsafe { rl_card_nic(self.0.as_ptr(), &raw mut counts) };
        let [to_host, to_host_bytes, to_wire, to_wire_bytes, forged, reserved, astray, overflow, paused] = counts;
        let passed = |frames, bytes| Passed { frames, bytes };
        NicCounters {
            to_host: passed(to_host, to_host_bytes),
            to_wire: passed(to_wire, to_wire_bytes),
            forged,
            reserved,
            astray,
            overflow,
            paused,
            // There is no hook.
            held: 0,
            missed: 0,
        }
    }

    /// Writes all signals from now on to a file in GTKWave's FST format.
    #[cfg(feature = "trace")]
    pub(crate) fn trace(&mut self, path: &CStr) {
        // SAFETY: the handle is alive; the shim copies the path.
        unsafe { rl_card_trace(self.0.as_ptr(), path.as_ptr()) };
    }
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sim")
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        // SAFETY: the handle came from `rl_card_new` and is not used again.
        unsafe { rl_card_delete(self.0.as_ptr()) };
    }
}
