//! What the BlastFunction paper asks of its boards and what it gets: its tables I to IV.

use schemars::JsonSchema;
use serde::Serialize;

/// What a function computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UseCase {
    /// Edges of an image.
    Sobel,
    /// Product of two matrices.
    Matmul,
    /// An inference of a network: many small calls.
    Alexnet,
}

/// A row of table I.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// Low load.
    Low,
    /// Medium load.
    Medium,
    /// High load.
    High,
}

/// Functions that share the boards.
pub const SHARED: usize = 5;
/// Functions that have a board of their own each: as many as there are boards.
pub const NATIVE: usize = 3;

/// The nodes, each with a board: A is the older one, with half the PCI Express.
pub const NODES: [&str; NATIVE] = ["A", "B", "C"];

/// How the five functions came to their boards. Both are what algorithm 1 gives, as `cloud/allocate` does it and has a
/// test of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// As in the paper (table II, column *Node*; tables III and IV do not say): by how many functions a board has
    /// already, before there is load.
    Paper,
    /// One after another, while those before are under Sobel's high load: by the boards' utilisation, as the registry
    /// orders them unless told otherwise.
    UnderLoad,
}

impl Placement {
    /// The node of each function, by number.
    #[must_use]
    pub const fn places(self) -> [usize; SHARED] {
        match self {
            Self::Paper => [1, 0, 2, 0, 1],
            Self::UnderLoad => [0, 1, 2, 2, 1],
        }
    }
}

/// What a scenario came to, in the paper's columns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Figures {
    /// Board time used, in percent of one board's.
    pub utilisation: f64,
    /// Mean latency of a request, milliseconds.
    pub latency_ms: f64,
    /// Requests answered in a second.
    pub processed: f64,
    /// Requests asked for in a second.
    pub target: f64,
}

const fn figures(utilisation: f64, latency_ms: f64, processed: f64, target: f64) -> Figures {
    Figures { utilisation, latency_ms, processed, target }
}

/// All configurations, in the order of the tables.
pub const CONFIGURATIONS: [(UseCase, Load); 8] = [
    (UseCase::Sobel, Load::Low),
    (UseCase::Sobel, Load::Medium),
    (UseCase::Sobel, Load::High),
    (UseCase::Matmul, Load::Low),
    (UseCase::Matmul, Load::Medium),
    (UseCase::Matmul, Load::High),
    (UseCase::Alexnet, Load::Medium),
    (UseCase::Alexnet, Load::High),
];

/// Table I: requests a second of each function; natively there are the first three.
///
/// # Panics
/// The paper does not have this configuration.
#[must_use]
pub fn rates(of: UseCase, load: Load) -> [u32; SHARED] {
    match (of, load) {
        (UseCase::Sobel, Load::Low) => [20, 15, 10, 5, 5],
        (UseCase::Sobel, Load::Medium) => [35, 30, 25, 20, 15],
        (UseCase::Sobel, Load::High) => [60, 50, 35, 30, 15],
        (UseCase::Matmul, Load::Low) => [28, 21, 14, 7, 7],
        (UseCase::Matmul, Load::Medium) => [49, 42, 35, 28, 21],
        (UseCase::Matmul, Load::High) => [84, 70, 49, 42, 21],
        (UseCase::Alexnet, Load::Medium) => [6, 3, 3, 3, 3],
        (UseCase::Alexnet, Load::High) => [9, 9, 6, 6, 3],
        (UseCase::Alexnet, Load::Low) => panic!("the paper has no low load of AlexNet"),
    }
}

/// Table II, per function: five that share, or three native ones. Of the others the paper gives sums only.
#[must_use]
pub fn functions(of: UseCase, load: Load, shared: bool) -> &'static [Figures] {
    const LOW: [Figures; 5] = [
        figures(21.95, 21.43, 17.25, 20.0),
        figures(22.57, 24.23, 15.00, 15.0),
        figures(13.22, 19.01, 10.00, 10.0),
        figures(7.49, 31.98, 5.00, 5.0),
        figures(6.48, 27.16, 5.00, 5.0),
    ];
    const MEDIUM: [Figures; 5] = [
        figures(40.95, 19.45, 32.93, 35.0),
        figures(39.40, 23.62, 26.30, 30.0),
        figures(32.85, 18.28, 24.98, 25.0),
        figures(29.85, 26.99, 19.98, 20.0),
        figures(18.76, 22.94, 14.97, 15.0),
    ];
    const HIGH: [Figures; 5] = [
        figures(60.31, 18.95, 49.58, 60.0),
        figures(39.15, 32.05, 26.63, 50.0),
        figures(45.75, 17.82, 34.96, 35.0),
        figures(38.44, 22.56, 26.11, 30.0),
        figures(18.39, 21.74, 15.00, 15.0),
    ];
    const NATIVE_LOW: [Figures; 3] =
        [figures(30.41, 25.02, 19.49, 20.0), figures(19.74, 21.50, 14.74, 15.0), figures(13.73, 24.34, 9.75, 10.0)];
    const NATIVE_MEDIUM: [Figures; 3] =
        [figures(51.48, 26.04, 33.11, 35.0), figures(37.19, 23.33, 27.95, 30.0), figures(34.22, 23.48, 24.23, 25.0)];
    const NATIVE_HIGH: [Figures; 3] =
        [figures(58.10, 26.77, 38.36, 60.0), figures(54.69, 23.95, 41.80, 50.0), figures(44.81, 24.75, 32.61, 35.0)];
    match (of, load, shared) {
        (UseCase::Sobel, Load::Low, true) => &LOW,
        (UseCase::Sobel, Load::Medium, true) => &MEDIUM,
        (UseCase::Sobel, Load::High, true) => &HIGH,
        (UseCase::Sobel, Load::Low, false) => &NATIVE_LOW,
        (UseCase::Sobel, Load::Medium, false) => &NATIVE_MEDIUM,
        (UseCase::Sobel, Load::High, false) => &NATIVE_HIGH,
        (UseCase::Matmul | UseCase::Alexnet, ..) => &[],
    }
}

/// Tables III and IV, and the sums of table II; its latency is the mean over requests.
///
/// # Panics
/// The paper does not have this configuration.
#[must_use]
pub fn sums(of: UseCase, load: Load, shared: bool) -> Figures {
    match (of, load, shared) {
        (UseCase::Matmul, Load::Low, true) => figures(43.49, 12.55, 76.96, 77.0),
        (UseCase::Matmul, Load::Medium, true) => figures(98.53, 11.57, 174.90, 175.0),
        (UseCase::Matmul, Load::High, true) => figures(144.18, 10.69, 262.73, 266.0),
        (UseCase::Matmul, Load::Low, false) => figures(50.87, 21.12, 60.49, 63.0),
        (UseCase::Matmul, Load::Medium, false) => figures(103.22, 22.81, 106.84, 126.0),
        (UseCase::Matmul, Load::High, false) => figures(122.97, 24.25, 121.85, 203.0),
        (UseCase::Alexnet, Load::Medium, true) => figures(124.68, 132.89, 17.88, 18.0),
        (UseCase::Alexnet, Load::High, true) => figures(202.08, 124.52, 29.81, 33.0),
        (UseCase::Alexnet, Load::Medium, false) => figures(96.22, 94.29, 11.91, 12.0),
        (UseCase::Alexnet, Load::High, false) => figures(189.82, 91.74, 23.57, 24.0),
        (UseCase::Alexnet, Load::Low, _) => panic!("the paper has no low load of AlexNet"),
        (UseCase::Sobel, ..) => sum(functions(of, load, shared)),
    }
}

/// Several functions as one.
pub(super) fn sum(all: &[Figures]) -> Figures {
    let total = |of: fn(&Figures) -> f64| all.iter().map(of).sum::<f64>();
    let processed = total(|f| f.processed);
    Figures {
        utilisation: total(|f| f.utilisation),
        latency_ms: total(|f| f.latency_ms * f.processed) / processed.max(f64::MIN_POSITIVE),
        processed,
        target: total(|f| f.target),
    }
}

/// Time that a request takes of the board of a node, in milliseconds: what BlastFunction's rows have of *utilisation*,
/// divided by what they have *processed*, over all loads. For Sobel by node (14.9, 12.4 and 13.1 ms); for the others
/// (5.6 and 68.5 ms) the tables do not tell nodes apart.
#[must_use]
pub fn device_ms(of: UseCase, node: usize) -> f64 {
    let loads = CONFIGURATIONS.iter().filter(|c| c.0 == of).map(|c| c.1);
    let rows: Vec<Figures> = match of {
        UseCase::Sobel => loads
            .flat_map(|load| functions(of, load, true).iter().zip(Placement::Paper.places()))
            .filter_map(|(row, place)| (place == node).then_some(*row))
            .collect(),
        UseCase::Matmul | UseCase::Alexnet => loads.map(|load| sums(of, load, true)).collect(),
    };
    let all = sum(&rows);
    all.utilisation / 100.0 / all.processed * 1e3
}

/// Board time of a node that five functions ask for, of one in a second: above 1 it cannot be given.
#[must_use]
pub fn demand(of: UseCase, load: Load, placement: Placement, node: usize) -> f64 {
    let here = rates(of, load).into_iter().zip(placement.places()).filter(|(_, place)| *place == node);
    here.map(|(rate, _)| f64::from(rate)).sum::<f64>() * device_ms(of, node) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_the_tables_are_the_rates_of_the_first() {
        for (of, load) in CONFIGURATIONS {
            for (shared, count) in [(true, SHARED), (false, NATIVE)] {
                let rates = &rates(of, load)[..count];
                let told = sums(of, load, shared).target;
                assert_eq!(f64::from(rates.iter().sum::<u32>()), told, "{of:?} {load:?}");
                for (row, rate) in functions(of, load, shared).iter().zip(rates) {
                    assert_eq!(row.target, f64::from(*rate), "{of:?} {load:?}");
                }
            }
        }
    }

    #[test]
    fn device_times_are_those_that_the_documentation_tells() {
        let sobel = [0, 1, 2].map(|node| (device_ms(UseCase::Sobel, node) * 10.0).round() / 10.0);
        assert_eq!(sobel, [14.9, 12.4, 13.1]);
        assert_eq!((device_ms(UseCase::Matmul, 0) * 10.0).round(), 56.0);
        assert_eq!((device_ms(UseCase::Alexnet, 2) * 10.0).round(), 685.0);
    }

    #[test]
    fn only_board_a_is_asked_for_more_than_there_is() {
        let is_over = |of, load, placement| {
            (0..NATIVE)
                .filter(|node| demand(of, load, placement, *node) >= 1.0)
                .map(|node| NODES[node])
                .collect::<String>()
        };
        for (of, load) in CONFIGURATIONS {
            let expected = if load == Load::High && of != UseCase::Matmul { "A" } else { "" };
            assert_eq!(is_over(of, load, Placement::Paper), expected, "{of:?} {load:?}");
        }
        assert_eq!(is_over(UseCase::Sobel, Load::High, Placement::UnderLoad), "");
    }
}
