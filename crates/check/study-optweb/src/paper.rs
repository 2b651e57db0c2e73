//! What the OPTWEB paper states in its text: figures that ours are set beside, and times that the models take. Points
//! of its figures that the text does not state are not read off the drawings.

/// Bits a second that a link carries of payload: SerialLite III's share of 50 Gb/s (4.1).
pub const LINK_BPS: u64 = 45_000_000_000;
/// From an instruction to data on the link: memory is read (4.3.2, "configuration delay").
pub const SETUP_PS: u64 = 320_000;
/// From there to the other card (4.3.2, "migration delay").
pub const MIGRATION_PS: u64 = 390_000;
/// From an instruction to a control signal on the link (4.3.2, barrier).
pub const SIGNAL_SETUP_PS: u64 = 40_000;
/// From there to the other card (4.3.2, barrier).
pub const SIGNAL_PS: u64 = 360_000;
/// Bytes of a link's receive buffer: longer messages are asked for first (4.1).
pub const EAGER_BYTES: u64 = 16 << 10;

/// Picoseconds of a cycle of its cards (4.2).
pub const CYCLE_PS: u64 = 5000;
/// Nanoseconds between four cards' ends of the first barrier, to which two come late, and of later ones at most (4.2,
/// figure 9).
pub const JITTER_NS: [f64; 2] = [300.0, 20.0];
/// When they come, in picoseconds (4.2).
pub const LATE_PS: [u64; 4] = [0, 0, 1_000_000_000, 2_000_000_000];

/// Start-up latency of a barrier, microseconds (4.3.2).
pub const BARRIER_US: f64 = 0.40;
/// Start-up latency of 64 bytes that go at once (4.3.2).
pub const EAGER_US: f64 = 0.71;
/// The same after a rendezvous (4.3.2).
pub const RENDEZVOUS_US: f64 = 0.80;
/// Start-up latency of two cards over all paths of four (4.3.4).
pub const MULTIPATH_US: f64 = 1.87;
/// Gb/s between two cards over all paths of 4 and of 8 (4.3.4).
pub const MULTIPATH_GBPS: [(usize, f64); 2] = [(4, 90.0), (8, 180.0)];
/// Gb/s of a card of four at 128 MiB, both ways together where both are used (4.3.1).
pub const CARD_GBPS: [(&str, f64); 6] = [
    ("sendrecv", 90.0),
    ("scatter", 135.0),
    ("gather", 135.0),
    ("broadcast", 135.0),
    ("allgather", 270.0),
    ("alltoall", 270.0),
];

/// Bits a second of a link in the paper's simulation: of the full mesh, of the torus, of one switch (5.2).
pub const MESH_BPS: u64 = 50_000_000_000;
/// The torus's.
pub const TORUS_BPS: u64 = 200_000_000_000;
/// The switch's.
pub const SWITCH_BPS: u64 = 800_000_000_000;

/// Cards of the Dragonfly with 64 links: 22 groups of 44 (5.3).
pub const DRAGONFLY_CARDS: usize = 968;

/// Dollars a Gb/s of an `InfiniBand` network of 32 cards at 800 Gb/s (5.1.1).
pub const PACKET_USD: f64 = 9.0;
/// The same of OPTWEB through a wavelength router (5.1.2).
pub const OPTWEB_USD: f64 = 5.5;
/// Dollars a Gb/s of an optical transceiver (5.1.1).
pub const TRANSCEIVER_USD: f64 = 1.0;
/// Dollars a Gb/s of light sources and filters with amplifiers that are shared (5.1.1).
pub const LIGHT_USD: f64 = 3.0;
/// Dollars of an FPGA (5.1.1).
pub const FPGA_USD: f64 = 1250.0;
/// Share of its logic that an 800 Gb/s network takes (4.4).
pub const LOGIC_SHARE: f64 = 0.577;
/// Cards of the cost estimate, and Gb/s of each (5.1).
pub const COST_CARDS: u64 = 32;
/// Gb/s of a card of the cost estimate (5.1).
pub const COST_GBPS: f64 = 800.0;
/// Cards up to which a fibre sheet is to be used; beyond, a wavelength router (5.1.2).
pub const SHEET_CARDS: u64 = 32;
/// Savings that the abstract and 5.1.2 state, percent.
pub const SAVINGS_PERCENT: f64 = 40.0;
