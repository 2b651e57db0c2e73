//! What all the forms need to write text: lines, wrapped comments, tables, names in other cases.

use std::fmt::Write;

/// Columns of a line of SystemVerilog, as lowRISC's formatter has it.
pub(crate) const WIDTH_SV: usize = 100;
/// Columns of a comment in C.
pub(crate) const WIDTH_C: usize = 120;

/// The first line of a generated file: what it is made of. `tidy` knows a generated file by it.
pub(crate) fn made_from(source: &str) -> String {
    format!("Made from {source} by `cargo run -p protogen`. Change that file, not this one.")
}

/// Adds a line.
pub(crate) fn put(o: &mut String, line: &str) {
    writeln!(o, "{line}").expect("a String takes all");
}

/// Adds `text` as lines that all start with `lead` and end by column `width`, unless a word is longer.
pub(crate) fn put_wrapped(o: &mut String, lead: &str, width: usize, text: &str) {
    let mut line = lead.trim_end().to_owned();
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > width {
            put(o, &line);
            line = lead.trim_end().to_owned();
        }
        line.push(' ');
        line.push_str(word);
    }
    put(o, &line);
}

/// A table's row. Text of the description may hold what would end a cell.
pub(crate) fn row(o: &mut String, cells: &[&str]) {
    put(o, &format!("| {} |", cells.iter().map(|c| c.replace('|', "\\|")).collect::<Vec<_>>().join(" | ")));
}

/// A table's head.
pub(crate) fn head(o: &mut String, cells: &[&str]) {
    row(o, cells);
    put(o, &format!("|{}", "---|".repeat(cells.len())));
}

/// `DeviceState` -> `device-state` (with `-`) or `device_state` (with `_`).
pub(crate) fn split_words(camel: &str, with: char) -> String {
    let mut out = String::new();
    for (i, c) in camel.chars().enumerate() {
        if c.is_ascii_uppercase() && i > 0 {
            out.push(with);
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// `device_state`, `DEVICE_STATE` or `device-state` -> `DeviceState`.
pub(crate) fn camel(snake: &str) -> String {
    let word = |w: &str| {
        let mut chars = w.chars();
        chars.next().map_or_else(String::new, |c| c.to_ascii_uppercase().to_string() + &chars.as_str().to_lowercase())
    };
    snake.split(['_', '-']).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_case_both_ways() {
        assert_eq!(split_words("ImageConfirm", '-'), "image-confirm");
        assert_eq!(camel("IMAGE_BYTES_MAX"), "ImageBytesMax");
        assert_eq!(camel("rx_frames"), "RxFrames");
        assert_eq!(camel("after-barrier"), "AfterBarrier");
    }

    #[test]
    fn wrapped_lines_end_by_their_column() {
        let mut o = String::new();
        let text = "word ".repeat(60);
        put_wrapped(&mut o, "    ///", 120, &text);
        assert!(o.lines().all(|l| l.starts_with("    /// word") && l.len() <= 120), "{o}");
        assert!(o.lines().next().unwrap().len() > 110, "{o}");
        assert_eq!(o.matches("word").count(), 60);
    }
}
