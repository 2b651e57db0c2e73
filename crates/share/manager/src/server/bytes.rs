//! Numbers of bytes, as options name them.

/// The units, and how many times 1,024 bytes each is.
const UNITS: [(&str, u32); 5] = [("", 0), ("KiB", 1), ("MiB", 2), ("GiB", 3), ("TiB", 4)];

/// Parses a number of bytes: `67108864`, `64MiB`, `4GiB`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let wrong = |what: &str| format!("invalid number of bytes `{text}`: {what}, as in 67108864, 64MiB or 4GiB");
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let power = UNITS.iter().find(|(name, _)| *name == unit.trim_start()).map(|(_, power)| *power);
    let power = power.ok_or_else(|| wrong("expected a whole number and KiB, MiB, GiB, TiB or nothing"))?;
    let number: u64 = number.parse().map_err(|_| wrong("expected a whole number"))?;
    number.checked_mul(1024u64.pow(power)).ok_or_else(|| wrong("more than a machine has"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_may_have_a_unit() {
        let good = [("0", 0), ("67108864", 64 << 20), ("512MiB", 512 << 20), ("4 GiB", 4 << 30), ("1KiB", 1 << 10)];
        good.iter().for_each(|(text, number)| assert_eq!(bytes(text), Ok(*number), "{text}"));
        for bad in ["", "MiB", "5MB", "5 m", "-1", "1.5GiB", "99999999TiB", "18446744073709551616"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
