//! The machine's memory, and the part of it that a manager's clients may have.

use std::fs;

use crate::cgroup;

/// What the clients may have together unless `--host-memory` says otherwise: half of the machine, so that the manager
/// and whatever else runs there have the other half.
pub(crate) fn default_for_this_machine() -> u64 {
    half(&fs::read_to_string("/proc/meminfo").unwrap_or_default(), cgroup::memory_max(&cgroup::trees()))
}

/// Bytes, if the machine says nothing of itself.
const UNKNOWN: u64 = 4 << 30;

fn half(meminfo: &str, bound: Option<u64>) -> u64 {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total = total.and_then(|total| total.trim().trim_end_matches(" kB").parse::<u64>().ok());
    let total = total.map(|total| total.saturating_mul(1024)).into_iter().chain(bound).min();
    total.unwrap_or(UNKNOWN) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_half_of_what_there_is() {
        let laptop = "MemTotal:        8388608 kB\nMemFree:         1234 kB\n";
        assert_eq!(half(laptop, None), 4 << 30);
        assert_eq!(half(laptop, Some(2 << 30)), 1 << 30, "in a container");
        assert_eq!(half(laptop, Some(1 << 40)), 4 << 30);
        assert_eq!(half("nonsense", None), UNKNOWN / 2);
        assert!(default_for_this_machine() > 64 << 20);
    }
}
