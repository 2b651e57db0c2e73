//! Numbers for people.

use std::time::Duration;

/// `97.4 MB`: decimal, as for files and rates.
pub(crate) fn bytes(n: u64) -> String {
    scaled(n as f64, 1000.0, &["B", "kB", "MB", "GB", "TB"])
}

/// `4 GiB`: binary, as for memory.
pub(crate) fn memory(n: u64) -> String {
    scaled(n as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// `1.52 s`, `3.1 ms`, `12 us`.
pub(crate) fn time(d: Duration) -> String {
    match d.as_secs_f64() {
        s if s >= 100.0 => format!("{s:.0} s"),
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.1} us", s * 1e6),
    }
}

/// `1.42 GB/s`.
pub(crate) fn rate(bytes_moved: u64, d: Duration) -> String {
    let per_second = bytes_moved as f64 / d.as_secs_f64().max(1e-9);
    format!("{}/s", bytes(per_second as u64))
}

/// Hexadecimal digits of a digest.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= step && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let digits = if value >= 100.0 || value.fract() < 0.005 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_about_three_digits() {
        assert_eq!(bytes(97_400_000), "97.4 MB");
        assert_eq!(bytes(1_420_000_000), "1.42 GB");
        assert_eq!(bytes(17), "17 B");
        assert_eq!(memory(4 << 30), "4 GiB");
        assert_eq!(memory(1536), "1.50 KiB");
        assert_eq!(time(Duration::from_micros(3100)), "3.1 ms");
        assert_eq!(rate(1 << 20, Duration::from_millis(1)), "1.05 GB/s");
        assert_eq!(hex(&[0, 0xab]), "00ab");
    }
}
