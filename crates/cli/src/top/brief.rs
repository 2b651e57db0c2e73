//! Numbers and names in a few columns.

/// At most 4 columns up to 999 times the largest unit: `0`, `7.5`, `12`, `999`, `1.2k`, `34M`.
pub(super) fn number(n: f64) -> String {
    let mut value = n.max(0.0);
    let mut unit = 0;
    const UNITS: [&str; 6] = ["", "k", "M", "G", "T", "P"];
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let whole = value >= 9.95 || (unit == 0 && value.fract() < 0.05);
    if whole { format!("{value:.0}{}", UNITS[unit]) } else { format!("{value:.1}{}", UNITS[unit]) }
}

/// At most 5 columns up to a quarter of an hour: `12us`, `1.2ms`, `999s`.
pub(super) fn time(seconds: f64) -> String {
    let units = [(1e-6, "us"), (1e-3, "ms"), (1.0, "s")];
    let fits = |(scale, _): &&(f64, &str)| seconds / scale < 999.5;
    let (scale, unit) = units.iter().find(fits).unwrap_or(&units[2]);
    let value = seconds / scale;
    if value >= 9.95 { format!("{value:.0}{unit}") } else { format!("{value:.1}{unit}") }
}

/// `57%`, at most 100%: two clocks are read at slightly different times.
pub(super) fn percent(part: f64) -> String {
    format!("{:.0}%", part.clamp(0.0, 1.0) * 100.0)
}

/// A name in at most `width` columns; the middle is cut out, since names differ at their ends.
pub(super) fn name(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let head = (width - 1) / 2;
    let tail = width - 1 - head;
    text.chars().take(head).chain(['…']).chain(text.chars().skip(length - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (0.26, "0.3"), (7.0, "7"), (7.5, "7.5"), (9.96, "10"), (999.4, "999"), (999.6, "1.0k")];
        cases.into_iter().for_each(|(n, text)| assert_eq!(number(n), text));
        assert_eq!((number(12_345.0), number(3.4e7), number(94.96e9)), ("12k".into(), "34M".into(), "95G".into()));
        let times = [(0.0, "0.0us"), (12e-6, "12us"), (0.000_999_4, "999us"), (0.0012, "1.2ms"), (3.0, "3.0s")];
        times.into_iter().for_each(|(n, text)| assert_eq!(time(n), text));
        assert_eq!((percent(0.574), percent(1.02)), ("57%".into(), "100%".into()));
    }

    #[test]
    fn names_keep_their_ends() {
        assert_eq!(name("short", 5), "short");
        assert_eq!(name("board-of-a-kind #1", 9), "boar…d #1");
        assert_eq!(name("ääääääää", 5), "ää…ää");
    }
}
