//! What the SAF paper states: figures that ours are set beside. Sections and tables are those of the paper.

/// Bytes of the PTRANS bitstream (VI.A).
pub const IMAGE_BYTES: usize = 97_400_000;
/// Seconds to configure one card over PCIe (VI.A).
pub const PCIE_CARD_S: f64 = 12.3;
/// Seconds to send the bitstream to the hosts first, where two cards share each of several hosts (VI.A).
pub const PCIE_TO_HOSTS_S: f64 = 15.67;
/// Seconds that SAF takes for any number of cards (VI.A).
pub const SAF_S: f64 = 17.76;
/// How many cards the paper measured at most.
pub const CARDS: usize = 20;

/// Seconds with two cards on each host: one card after the other, behind the network if there is more than one host.
pub fn pcie_s(cards: usize) -> f64 {
    let network = if cards > 2 { PCIE_TO_HOSTS_S } else { 0.0 };
    PCIE_CARD_S * cards.min(2) as f64 + network
}

/// Seconds with all cards in a PCIe tree under one host: one after the other.
pub fn pcie_tree_s(cards: usize) -> f64 {
    PCIE_CARD_S * cards as f64
}

/// A row of Table II.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row2 {
    /// Cards.
    pub cards: u32,
    /// Hosts of Noctua, ESSPER and SAF.
    pub hosts: [u32; 3],
    /// Their costs, dollars.
    pub usd: [f64; 3],
    /// Percent that SAF saves.
    pub savings_percent: f64,
}

/// Table II.
pub const TABLE_2: [Row2; 7] = [
    row2(1, [1, 1, 1], [1849.98, 1849.98, 1849.98], 0.00),
    row2(2, [2, 1, 1], [3699.96, 2599.97, 2599.97], 0.00),
    row2(4, [4, 2, 1], [7399.92, 5199.94, 4099.95], 21.15),
    row2(8, [8, 4, 1], [14799.84, 10399.88, 7099.91], 31.73),
    row2(12, [12, 6, 1], [22199.76, 15599.82, 10099.87], 35.26),
    row2(16, [16, 8, 1], [29599.68, 20799.76, 13099.83], 37.02),
    row2(20, [20, 20, 1], [36999.60, 25999.70, 16099.79], 38.08),
];

const fn row2(cards: u32, hosts: [u32; 3], usd: [f64; 3], savings_percent: f64) -> Row2 {
    Row2 { cards, hosts, usd, savings_percent }
}

/// A row of Table III.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row3 {
    /// Percent of the job done when four cards are added.
    pub percent: u32,
    /// Hours on the cluster.
    pub cluster_h: f64,
    /// Kilojoules on the cluster.
    pub cluster_kj: f64,
    /// Hours on SAF.
    pub saf_h: f64,
    /// Kilojoules on SAF.
    pub saf_kj: f64,
    /// Percent of time saved.
    pub time_percent: f64,
    /// Percent of energy saved.
    pub energy_percent: f64,
}

/// Table III.
pub const TABLE_3: [Row3; 11] = [
    row3(0, 5.0, 9.79, 5.0, 9.79, 0.00, 0.00),
    row3(10, 6.0, 10.77, 5.5, 9.83, 8.33, 8.74),
    row3(20, 7.0, 11.75, 6.0, 9.86, 14.29, 16.05),
    row3(30, 8.0, 12.73, 6.5, 9.90, 18.75, 22.23),
    row3(40, 9.0, 13.71, 7.0, 9.94, 22.22, 27.53),
    row3(50, 10.0, 9.79, 7.5, 9.97, 25.00, -1.82),
    row3(60, 10.0, 9.79, 8.0, 10.01, 20.00, -2.23),
    row3(70, 10.0, 9.79, 8.5, 10.04, 15.00, -2.53),
    row3(80, 10.0, 9.79, 9.0, 10.08, 10.00, -2.94),
    row3(90, 10.0, 9.792, 9.5, 10.12, 5.00, -3.35),
    row3(100, 10.0, 9.792, 10.0, 9.79, 0.00, 0.00),
];

const fn row3(
    percent: u32,
    cluster_h: f64,
    cluster_kj: f64,
    saf_h: f64,
    saf_kj: f64,
    time_percent: f64,
    energy_percent: f64,
) -> Row3 {
    Row3 { percent, cluster_h, cluster_kj, saf_h, saf_kj, time_percent, energy_percent }
}
