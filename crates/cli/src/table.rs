//! Tables for people: columns in capitals, as wide as they have to be, at most 80 in all.

/// Rows of text under headings.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    /// Columns that numbers stand in, to the right.
    right: Vec<usize>,
}

const WIDTH_MAX: usize = 80;

impl Table {
    /// A table with these headings; those that begin with `>` head numbers.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let right = headings.iter().enumerate().filter(|(_, h)| h.starts_with('>')).map(|(i, _)| i).collect();
        Self { rows: vec![headings.iter().map(|h| h.trim_start_matches('>').to_owned()).collect()], right }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<_> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.rows[0].len(), "each column has a cell");
        self.rows.push(cells);
    }

    /// The table as text. Where it would be too wide, its last column is cut.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows[0].len();
        let width = |c: usize| self.rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0);
        let widths: Vec<_> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (c, cell) in row.iter().enumerate() {
                let pad = widths[c] - cell.chars().count();
                let (before, after) = if self.right.contains(&c) { (pad, 0) } else { (0, pad) };
                if c > 0 {
                    line.push_str("  ");
                }
                line.extend(std::iter::repeat_n(' ', before));
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', after));
            }
            let line: String = match line.trim_end().chars().count() {
                n if n > WIDTH_MAX => line.chars().take(WIDTH_MAX - 1).chain(['…']).collect(),
                _ => line.trim_end().to_owned(),
            };
            out.push_str(&line);
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_at_80() {
        let mut t = Table::new(&["NAME", ">SIZE", "NOTE"]);
        t.row(["a".into(), "5".into(), "x".repeat(100)]);
        t.row(["longer".into(), "1000".into(), String::new()]);
        let text = t.render();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "NAME    SIZE  NOTE");
        assert!(lines[1].starts_with("a          5  xxx") && lines[1].chars().count() == 80);
        assert_eq!(lines[2], "longer  1000");
    }
}
