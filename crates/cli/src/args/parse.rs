//! Values on the command line.

use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

use rackloom_rack::{Kind, UnknownKind};

/// `500ms`, `2s`, `1.5m`, or a number of seconds.
pub(super) fn duration(s: &str) -> Result<Duration, String> {
    let (number, unit) = s.split_at(s.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(s.len()));
    let scale = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("invalid unit of time `{unit}`: expected us, ms, s, m or h")),
    };
    let value: f64 =
        number.parse().map_err(|_| format!("invalid time `{s}`: expected one such as 500ms, 2s or 1.5m"))?;
    Duration::try_from_secs_f64(value * scale).map_err(|_| format!("time `{s}` is out of range"))
}

/// A [`duration`] between two updates: at least 100 ms.
pub(super) fn interval(s: &str) -> Result<Duration, String> {
    let time = duration(s)?;
    if time < Duration::from_millis(100) {
        Err(format!("`{s}` is too short: expected 100ms or more"))
    } else {
        Ok(time)
    }
}

/// A [`duration`] in whole seconds, at least one.
pub(super) fn whole_seconds(s: &str) -> Result<u64, String> {
    let time = duration(s)?;
    match time.as_secs() {
        1.. if time.subsec_nanos() == 0 => Ok(time.as_secs()),
        _ => Err(format!("invalid time `{s}`: expected whole seconds, such as 5s")),
    }
}

/// `4096`, `0x1000`, `64K`, `97.4M`, `4G`, `1Gi`: K, M and G are powers of 1024 after a whole number, as for memory,
/// and powers of 1000 after a fraction, as for files.
pub(super) fn bytes(s: &str) -> Result<u64, String> {
    let wrong = || format!("invalid number of bytes `{s}`: expected one such as 4096, 0x1000, 64K, 97.4M or 4G");
    if let Some(hex) = s.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).map_err(|_| wrong());
    }
    let (number, unit) = s.split_at(s.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(s.len()));
    let power = match unit.trim_end_matches('B').trim_end_matches('i') {
        "" => 0,
        "K" | "k" => 1,
        "M" => 2,
        "G" => 3,
        _ => return Err(wrong()),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << (10 * power)).ok_or_else(wrong);
    }
    let value: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = value * 1000f64.powi(power);
    if (0.0..9e18).contains(&bytes) { Ok(bytes.round() as u64) } else { Err(wrong()) }
}

/// Bits a second: `500M`, `1G`, `2.5G`, `25000000`; powers of 1000, at least 1M.
pub(super) fn rate(s: &str) -> Result<NonZeroU64, String> {
    let (number, unit) = s.split_at(s.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(s.len()));
    let scale = match unit {
        "" => 1.0,
        "K" | "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return Err(format!("invalid unit of rate `{unit}`: expected K, M or G, for bits a second")),
    };
    let value: f64 =
        number.parse().map_err(|_| format!("invalid rate `{s}`: expected one such as 500M, 1G or 2.5G"))?;
    let bits = (value * scale).round();
    if !(1e6..=1e12).contains(&bits) {
        return Err(format!("rate `{s}` is out of range: expected 1M to 1000G"));
    }
    Ok(NonZeroU64::new(bits as u64).expect("at least 1M"))
}

/// Cards of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CardCount {
    pub(crate) kind: Kind,
    pub(crate) count: u16,
}

impl FromStr for CardCount {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        if let Ok(count) = s.parse() {
            return Ok(Self { kind: Kind::Model, count });
        }
        let (kind, count) = s.split_once(':').unwrap_or((s, "1"));
        let count = count.parse().map_err(|_| format!("invalid cards `{s}`: expected KIND:N, such as model:4"))?;
        let kind = kind.parse().map_err(|e: UnknownKind| e.to_string())?;
        Ok(Self { kind, count })
    }
}

/// A change of a rack at a set time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HotplugStep {
    pub(crate) at: Duration,
    pub(crate) step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Plug in these cards.
    Add(CardCount),
    /// Pull out this many, the newest first.
    Remove(u16),
}

impl FromStr for HotplugStep {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let wrong = || format!("invalid step `{s}`: expected TIME+N, TIME+KIND:N or TIME-N, such as 2s+4");
        let sign = s.find(['+', '-']).ok_or_else(wrong)?;
        let at = duration(&s[..sign]).map_err(|_| wrong())?;
        let cards = &s[sign + 1..];
        let step = match s[sign..].starts_with('+') {
            true => Step::Add(cards.parse().map_err(|_| wrong())?),
            false => Step::Remove(cards.parse().map_err(|_| wrong())?),
        };
        Ok(Self { at, step })
    }
}

/// The extent of a tile in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TileExtent {
    pub(crate) dim: char,
    pub(crate) extent: u32,
}

impl FromStr for TileExtent {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let wrong = || format!("invalid extent `{s}`: expected DIM=N, such as i=128");
        let (dim, extent) = s.split_once('=').ok_or_else(wrong)?;
        let mut letters = dim.chars();
        match (letters.next(), letters.next(), extent.parse()) {
            (Some(dim), None, Ok(extent)) if extent > 0 => Ok(Self { dim, extent }),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        crate::args::command().debug_assert();
    }

    #[test]
    fn times_and_sizes_are_parsed() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(duration("2x").is_err() && duration("").is_err() && duration("-1s").is_err());
        assert_eq!(bytes("0x100000"), Ok(1 << 20));
        assert_eq!(bytes("64K"), Ok(65536));
        assert_eq!(bytes("4GiB"), Ok(4 << 30));
        assert_eq!(bytes("97.4M"), Ok(97_400_000));
        assert!(bytes("17179869184G").is_err() && bytes("5Q").is_err() && bytes("-3").is_err());
    }

    #[test]
    fn rates_are_parsed() {
        let bits = |s| rate(s).map(NonZeroU64::get);
        assert_eq!(
            [bits("1G"), bits("2.5G"), bits("25000000")],
            [Ok(1_000_000_000), Ok(2_500_000_000), Ok(25_000_000)]
        );
        for bad in ["", "0", "-1G", "999K", "1001G", "nanG", "1Gi", "fast"] {
            assert!(bits(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn hotplug_scripts_are_parsed() {
        let step = |s: &str| s.parse::<HotplugStep>();
        let models = |count| Step::Add(CardCount { kind: Kind::Model, count });
        assert_eq!(step("2s+4"), Ok(HotplugStep { at: Duration::from_secs(2), step: models(4) }));
        assert_eq!(step("500ms-1"), Ok(HotplugStep { at: Duration::from_millis(500), step: Step::Remove(1) }));
        let rtl = Step::Add(CardCount { kind: Kind::Rtl, count: 1 });
        assert_eq!(step("1s+rtl:1"), Ok(HotplugStep { at: Duration::from_secs(1), step: rtl }));
        assert!(step("1s-rtl:1").is_err(), "the newest go, whatever their kind");
        assert!(step("2s").is_err() && step("+4x").is_err() && step("x+4").is_err());
    }

    #[test]
    fn kinds_of_cards_are_checked() {
        assert_eq!("model:4".parse(), Ok(CardCount { kind: Kind::Model, count: 4 }));
        assert_eq!("rtl".parse(), Ok(CardCount { kind: Kind::Rtl, count: 1 }));
        assert_eq!("3".parse(), Ok(CardCount { kind: Kind::Model, count: 3 }));
        assert!("gpu".parse::<CardCount>().is_err() && "model:x".parse::<CardCount>().is_err());
    }
}
