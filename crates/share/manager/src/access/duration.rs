//! Durations, as options and token files name them.

use std::time::Duration;

/// Parses a duration above 0: `500us`, `20ms`, `2s`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let scale = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(format!("invalid duration `{text}`: expected a unit, as in 500us, 20ms or 2s")),
    };
    let seconds: f64 =
        number.parse().map_err(|_| format!("invalid duration `{text}`: expected a number, as in 500us, 20ms or 2s"))?;
    let time =
        Duration::try_from_secs_f64(seconds * scale).map_err(|_| format!("invalid duration `{text}`: out of range"))?;
    if time.is_zero() {
        Err(format!("invalid duration `{text}`: expected more than 0; there is no use for none"))
    } else {
        Ok(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_and_are_not_nothing() {
        assert_eq!(duration("500us"), Ok(Duration::from_micros(500)));
        assert_eq!((duration("1.5ms"), duration("2s")), (Ok(Duration::from_micros(1500)), Ok(Duration::from_secs(2))));
        for bad in ["", "5", "5h", "ms", "-1ms", "0s", "0.1ns", "1e300s", "nans", "infs"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
