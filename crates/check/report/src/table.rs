//! Text tables for terminals of 80 columns.

use std::fmt;

/// Most columns of a line.
pub const WIDTH: usize = 80;

/// Rows of text under headings, two spaces apart. Columns are as wide as their widest cell.
#[derive(Debug, Clone)]
pub struct Table {
    /// The headings, then the rows.
    lines: Vec<Vec<String>>,
    /// By column: cells are numbers, and stand to the right.
    is_number: Vec<bool>,
}

impl Table {
    /// A table without rows. Headings that begin with `>` stand above numbers, which are set to the right.
    #[must_use]
    pub fn new(headings: &[&str]) -> Self {
        Self {
            lines: vec![headings.iter().map(|h| h.trim_start_matches('>').to_owned()).collect()],
            is_number: headings.iter().map(|h| h.starts_with('>')).collect(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it does not have a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<_> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.is_number.len(), "a row has a cell for each column");
        self.lines.push(cells);
    }

    /// Columns that its widest line takes on a terminal, uncut.
    #[must_use]
    pub fn width(&self) -> usize {
        self.aligned().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    /// The lines in full.
    fn aligned(&self) -> impl Iterator<Item = String> {
        let width = |column: usize| self.lines.iter().map(|l| l[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.is_number.len()).map(width).collect();
        self.lines.iter().map(move |line| {
            let cell = |((text, width), is_number): ((&String, &usize), &bool)| {
                if *is_number { format!("{text:>width$}") } else { format!("{text:<width$}") }
            };
            let cells: Vec<_> = line.iter().zip(&widths).zip(&self.is_number).map(cell).collect();
            cells.join("  ").trim_end().to_owned()
        })
    }
}

/// Lines that would be too wide are cut where the last column is text; a cut number would be a wrong one.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let may_cut = self.is_number.last() == Some(&false);
        for line in self.aligned() {
            if line.chars().count() <= WIDTH {
                writeln!(f, "{line}")?;
            } else {
                debug_assert!(may_cut, "too wide: {line}");
                writeln!(f, "{}…", line.chars().take(WIDTH - 1).collect::<String>())?;
            }
        }
        Ok(())
    }
}

/// `text` in lines of at most 80 columns; all but the first begin with `indent`.
#[must_use]
pub fn wrap(text: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            out += "\n";
            out += indent;
            column = indent.len();
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += length;
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut t = Table::new(&["NAME", ">SIZE", "NOTE"]);
        t.row(["a".into(), "5".into(), "x".into()]);
        t.row(["longer".into(), "1000".into(), String::new()]);
        assert_eq!(t.to_string(), "NAME    SIZE  NOTE\na          5  x\nlonger  1000\n");
        assert_eq!(t.width(), 18);
    }

    #[test]
    fn text_in_the_last_column_is_cut_at_80() {
        let mut t = Table::new(&[">SIZE", "NOTE"]);
        t.row(["5".into(), "ä".repeat(100)]);
        let text = t.to_string();
        let line = text.lines().nth(1).unwrap();
        assert_eq!((line.chars().count(), line.chars().last()), (WIDTH, Some('…')));
        assert_eq!(t.width(), 106);
    }

    #[test]
    #[should_panic = "too wide"]
    fn a_number_is_never_cut() {
        let mut t = Table::new(&["NOTE", ">SIZE"]);
        t.row(["x".repeat(80), "5".into()]);
        let _ = t.to_string();
    }

    #[test]
    fn text_is_wrapped_between_words() {
        let text = wrap(&"seven77 ".repeat(21), "  ");
        assert!(text.lines().all(|l| l.len() <= WIDTH), "{text}");
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().nth(1).unwrap().starts_with("  seven77"));
    }
}
