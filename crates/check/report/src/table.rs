//! Text tables for terminals of 80 columns.

use std::fmt;

/// Most columns of a line.
pub const WIDTH: usize = 80;

/// Rows under a header: the first column to the left, the others to the right, two spaces between.
#[derive(Debug, Clone)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|&h| h.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// It has not a cell for each column.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.header.len(), "a row of another table");
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let width = |column: usize| lines().map(|l| l[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        for line in lines() {
            let mut text = String::new();
            for (i, (cell, width)) in line.iter().zip(&widths).enumerate() {
                text += &if i == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
            }
            debug_assert!(text.chars().count() <= WIDTH, "too wide: {text}");
            writeln!(f, "{}", text.trim_end())?;
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
        let mut t = Table::new(&["A", "LONG"]);
        t.row(vec!["name".into(), "1".into()]);
        assert_eq!(t.to_string(), "A     LONG\nname     1\n");
    }

    #[test]
    fn text_is_wrapped_between_words() {
        let text = wrap(&"seven77 ".repeat(21), "  ");
        assert!(text.lines().all(|l| l.len() <= WIDTH), "{text}");
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().nth(1).unwrap().starts_with("  seven77"));
    }
}
