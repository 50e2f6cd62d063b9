//! A table of texts that fits a width: what is too long in columns that may be cut ends in "…".

use std::io::{self, IsTerminal};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width where there is no terminal.
const PAPER: usize = 80;
/// A column is cut to no less than this.
const NARROWEST: usize = 8;
/// All of a table is indented by this, and its columns are so far apart.
const INDENT: usize = 3;
const APART: usize = 2;

/// How wide a table may be: as wide as the terminal, or 80 columns where the words go elsewhere.
pub(crate) fn width() -> usize {
    if !io::stdout().is_terminal() {
        return PAPER;
    }
    terminal_size::terminal_size_of(io::stdout()).map_or(PAPER, |(width, _)| usize::from(width.0).max(40))
}

/// Rows of cells, each of one line or several.
#[derive(Debug, Default)]
pub(super) struct Grid {
    heads: Vec<String>,
    /// May this column be cut?
    yields: Vec<bool>,
    rows: Vec<Vec<String>>,
}

/// The lines of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Laid {
    pub lines: Vec<String>,
    /// Was anything cut?
    pub cut: bool,
    /// Is no line longer than was asked for?
    pub fits: bool,
}

impl Grid {
    /// A table without rows yet; each head says whether its column may be cut.
    pub(super) fn new(heads: impl IntoIterator<Item = (String, bool)>) -> Self {
        let (heads, yields) = heads.into_iter().unzip();
        Self { heads, yields, rows: Vec::new() }
    }

    /// One more row, of as many cells as there are heads.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// All lines, none longer than this where columns that may be cut allow it.
    pub(super) fn laid(&self, width: usize) -> Laid {
        let mut widths: Vec<usize> = self.heads.iter().map(|head| head.width()).collect();
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = cell.lines().map(UnicodeWidthStr::width).fold(*widest, usize::max);
            }
        }
        let whole = widths.clone();
        let room = width.saturating_sub(INDENT + APART * widths.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            // The widest one first, so that no column is cut below another that is long.
            let widest = (0..widths.len()).filter(|&at| self.yields[at] && widths[at] > NARROWEST);
            let Some(widest) = widest.max_by_key(|&at| widths[at]) else { break };
            widths[widest] -= 1;
        }
        let fits = widths.iter().sum::<usize>() <= room;
        let rows = std::iter::once(&self.heads).chain(&self.rows);
        let lines = rows.flat_map(|row| lines_of(row, &widths)).collect();
        Laid { lines, cut: widths != whole, fits }
    }
}

/// The lines of one row, without spaces at their ends.
fn lines_of(row: &[String], widths: &[usize]) -> Vec<String> {
    let high = row.iter().map(|cell| cell.lines().count()).max().unwrap_or(0).max(1);
    let line = |place: usize| {
        let mut line = " ".repeat(INDENT);
        for (cell, &width) in row.iter().zip(widths) {
            let text = shortened(cell.lines().nth(place).unwrap_or_default(), width);
            let rest = width - text.width();
            line.push_str(&text);
            line.push_str(&" ".repeat(rest + APART));
        }
        line.trim_end().to_string()
    };
    (0..high).map(line).collect()
}

/// The beginning of a text that is wider than this, and "…".
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut short = String::new();
    let mut taken = 1;
    for letter in text.chars() {
        taken += letter.width().unwrap_or(0);
        if taken > width {
            break;
        }
        short.push(letter);
    }
    short + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new([("town".to_string(), true), ("answer".to_string(), false)]);
        grid.row(["Llanfairpwllgwyngyll".to_string(), "12\n10 to 14".to_string()]);
        grid.row(["Ayr".to_string(), "5".to_string()]);
        grid
    }

    #[test]
    fn a_table_is_as_wide_as_it_may_be() {
        let laid = grid().laid(80);
        let lines = [
            "   town                  answer",
            "   Llanfairpwllgwyngyll  12",
            "                         10 to 14",
        ];
        assert_eq!((&laid.lines[..3], laid.cut, laid.fits), (&lines.map(str::to_string)[..], false, true));
        assert_eq!(laid.lines[3], "   Ayr                   5");
    }

    #[test]
    fn what_is_too_long_is_cut_and_said_to_be() {
        let laid = grid().laid(24);
        assert_eq!((laid.lines[1].as_str(), laid.cut, laid.fits), ("   Llanfairpw…  12", true, true));
        assert!(laid.lines.iter().all(|line| line.width() <= 24), "{laid:?}");
        // Answers are never cut.
        let laid = grid().laid(10);
        assert_eq!((laid.lines[2].trim(), laid.fits), ("10 to 14", false));
    }

    #[test]
    fn wide_letters_are_two_columns_wide() {
        assert_eq!(shortened("東京都千代田区", 7), "東京都…");
        assert_eq!(shortened("Ayr", 3), "Ayr");
        for text in ["東京都千代田区", "e\u{301}e\u{301}e\u{301}e\u{301}", "long words"] {
            for width in 1..8 {
                assert!(shortened(text, width).width() <= width, "{text} {width}");
            }
        }
    }
}
