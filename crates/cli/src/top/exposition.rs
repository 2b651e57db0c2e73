//! The values in the text format of Prometheus and OpenMetrics; types, help, times and exemplars are skipped.

use std::collections::BTreeMap;

/// The value of a series.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: f64,
}

/// The number of the line that is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed metrics: line {0} is not in Prometheus's text format")]
pub(super) struct Malformed(usize);

/// All samples of a text.
pub(super) fn parse(text: &str) -> Result<Vec<Sample>, Malformed> {
    let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    let samples = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    samples.map(|(number, line)| sample(line).ok_or(Malformed(number))).collect()
}

fn sample(line: &str) -> Option<Sample> {
    let end = line.find(|c: char| c == '{' || c.is_ascii_whitespace())?;
    let (name, rest) = line.split_at(end);
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    if name.is_empty() || !name.chars().all(good) {
        return None;
    }
    let mut labels = BTreeMap::new();
    let rest = match rest.strip_prefix('{') {
        Some(list) => self::labels(list, &mut labels)?,
        None => rest,
    };
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}

/// Parses labels up to the closing brace; returns what follows it.
fn labels<'a>(mut rest: &'a str, into: &mut BTreeMap<String, String>) -> Option<&'a str> {
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some(after);
        }
        let (name, quoted) = rest.split_once("=\"")?;
        let (value, after) = unquote(quoted)?;
        into.insert(name.trim().to_owned(), value);
        rest = after;
    }
}

/// Parses a text up to its closing quote; returns it and what follows.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Sample {
        parse(line).unwrap().remove(0)
    }

    #[test]
    fn samples_are_parsed() {
        let text = "# HELP a b\n# TYPE a counter\n\na_total 1\nb{x=\"1\"} 2.5 1700000000 # {id=\"7\"} 1\n# EOF\n";
        let samples = parse(text).unwrap();
        assert_eq!(samples.len(), 2);
        assert_eq!((samples[0].name.as_str(), samples[0].value), ("a_total", 1.0));
        assert_eq!((samples[1].labels["x"].as_str(), samples[1].value), ("1", 2.5));
        let odd = one(r#"m{a="\"q\" \\ \n}, ",b="",} +Inf"#);
        assert_eq!((odd.labels["a"].as_str(), odd.labels["b"].as_str()), ("\"q\" \\ \n}, ", ""));
        assert_eq!(odd.value, f64::INFINITY);
        assert!(one("m NaN").value.is_nan());
        assert_eq!(one("m{} -1e3").value, -1000.0);
    }

    #[test]
    fn a_malformed_line_is_named() {
        for bad in ["<html>", "a", "a b", "a{", "a{x} 1", "a{x=\"} 1", "a{x=\"\\", "{x=\"1\"} 1", "a-b 1"] {
            assert_eq!(parse(&format!("good 1\n{bad}\n")), Err(Malformed(2)), "{bad}");
        }
    }
}
