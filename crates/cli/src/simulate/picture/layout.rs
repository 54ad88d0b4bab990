//! Where everything stands. Lengths are in pixels.

use super::{palette::Palette, scene::Scene};
use crate::failure::one_line;

/// A point.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) cell_width: f64,
    pub(super) chip_width: f64,
    /// Of the loads at the left of the cells.
    pub(super) load_width: f64,
    /// Of one partition, where they are drawn as bars.
    pub(super) bar_scale: f64,
    names_width: f64,
    title_lines: usize,
    /// How many partitions stand side by side; none where they are drawn as bars.
    across: Option<usize>,
    /// The top of each row, and the bottom of the last.
    rows: Vec<f64>,
}

impl Layout {
    pub(super) const MARGIN: f64 = 16.0;
    pub(super) const TOP: f64 = 44.0;
    pub(super) const GAP: f64 = 46.0;
    pub(super) const LINE: f64 = 14.0;
    pub(super) const CHIP_HEIGHT: f64 = 16.0;
    const CHIP_GAP: f64 = 4.0;
    const ROW_GAP: f64 = 12.0;
    const CHARACTER: f64 = 7.0;
    const LONGEST_NAME: usize = 28;
    const MOST_LINES: usize = 4;
    const LEAST_CELL: f64 = 104.0;
    const BAR_WIDTH: f64 = 160.0;
    /// With more, bars are drawn.
    const MOST_SLOTS: usize = 40;
    const MOST_CHIPS: usize = 30_000;
    const MOST_ACROSS: usize = 10;
    const LEGEND: f64 = 76.0;

    pub(super) fn of(scene: &Scene<'_>, palette: &Palette) -> Self {
        let most = scene.most_slots();
        let chips: usize = scene.cells().map(|cell| cell.slots.len()).sum();
        let is_compact = most > Self::MOST_SLOTS || chips > Self::MOST_CHIPS;
        let chip_width = (palette.longest(scene) as f64).mul_add(6.6, 9.0);
        let load = scene.cells().map(|cell| cell.load).max().unwrap_or(0);
        let load_width = (load.to_string().len() as f64).mul_add(Self::CHARACTER, 13.0);
        let across = (!is_compact).then(|| across(scene, chip_width, load_width));
        let inside = across.map_or(Self::BAR_WIDTH, |across| across as f64 * (chip_width + Self::CHIP_GAP));
        let cell_width = (load_width + inside + 4.0).max(Self::LEAST_CELL);
        let longest = scene.members.iter().map(|member| one_line(member).chars().count()).max().unwrap_or(0);
        let mut layout = Self {
            width: 0.0,
            height: 0.0,
            cell_width,
            chip_width,
            load_width,
            bar_scale: Self::BAR_WIDTH / most.max(1) as f64,
            names_width: longest.min(Self::LONGEST_NAME) as f64 * Self::CHARACTER + 14.0,
            title_lines: 1,
            across,
            rows: Vec::new(),
        };
        let titles = scene.columns.iter().map(|column| layout.wrapped(&column.title).len());
        layout.title_lines = titles.max().unwrap_or(1);
        layout.rows = layout.rows_of(scene);
        let columns = scene.columns.len().max(3);
        layout.width = layout.column(columns) - Self::GAP + Self::MARGIN;
        layout.height = layout.rows_end() + Self::LEGEND;
        layout
    }

    fn rows_of(&self, scene: &Scene<'_>) -> Vec<f64> {
        let mut top = self.header_end() + 4.0;
        let mut rows = vec![top];
        for row in 0..scene.members.len() {
            let cells = scene.columns.iter().filter_map(|column| column.cells[row].as_ref());
            let most = cells.map(|cell| cell.slots.len()).max().unwrap_or(0);
            let lines = self.across.map_or(1, |across| most.div_ceil(across).max(1));
            top += lines as f64 * (Self::CHIP_HEIGHT + Self::CHIP_GAP) - Self::CHIP_GAP + Self::ROW_GAP;
            rows.push(top);
        }
        rows
    }

    pub(super) fn is_compact(&self) -> bool {
        self.across.is_none()
    }

    pub(super) fn column(&self, at: usize) -> f64 {
        Self::MARGIN + self.names_width + at as f64 * (self.cell_width + Self::GAP)
    }

    pub(super) fn header_end(&self) -> f64 {
        Self::TOP + (self.title_lines + 2) as f64 * Self::LINE + 14.0
    }

    pub(super) fn row(&self, row: usize) -> f64 {
        self.rows[row]
    }

    pub(super) fn row_height(&self, row: usize) -> f64 {
        self.rows[row + 1] - self.rows[row]
    }

    pub(super) fn middle(&self, row: usize) -> f64 {
        f64::midpoint(self.rows[row], self.rows[row + 1])
    }

    pub(super) fn rows_end(&self) -> f64 {
        self.rows[self.rows.len() - 1]
    }

    pub(super) fn slot(&self, column: usize, row: usize, slot: usize) -> Point {
        let across = self.across.unwrap_or(1);
        let (line, at) = (slot / across, slot % across);
        Point {
            x: self.column(column) + self.load_width + at as f64 * (self.chip_width + Self::CHIP_GAP),
            y: self.row(row) + Self::ROW_GAP / 2.0 + line as f64 * (Self::CHIP_HEIGHT + Self::CHIP_GAP),
        }
    }

    /// A title in lines that fit above a column.
    pub(super) fn wrapped(&self, title: &str) -> Vec<String> {
        let fits = ((self.cell_width + Self::GAP - 8.0) / Self::CHARACTER) as usize;
        let mut lines: Vec<String> = Vec::new();
        for word in title.split(' ') {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + word.chars().count() <= fits => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        if lines.len() > Self::MOST_LINES {
            lines.truncate(Self::MOST_LINES);
            lines[Self::MOST_LINES - 1].push_str(" …");
        }
        lines.iter().map(|line| shortened(line, fits)).collect()
    }

    /// A name that fits before its row.
    pub(super) fn shortened(&self, name: &str) -> String {
        shortened(&one_line(name), Self::LONGEST_NAME)
    }
}

/// How many partitions stand side by side so that the picture is about as wide as a page.
fn across(scene: &Scene<'_>, chip_width: f64, load_width: f64) -> usize {
    const SHAPE: f64 = 1.8;
    let lines = |across: usize| -> usize {
        let most = |row: usize| {
            scene.columns.iter().filter_map(move |column| Some(column.cells[row].as_ref()?.slots.len())).max()
        };
        (0..scene.members.len()).map(|row| most(row).unwrap_or(0).div_ceil(across).max(1)).sum()
    };
    let shape = |across: usize| {
        let chips = across as f64 * (chip_width + Layout::CHIP_GAP);
        let width = scene.columns.len() as f64 * (load_width + chips + Layout::GAP);
        let height = lines(across) as f64 * (Layout::CHIP_HEIGHT + Layout::CHIP_GAP)
            + scene.members.len() as f64 * Layout::ROW_GAP;
        (width / height / SHAPE).ln().abs()
    };
    let most = scene.most_slots().clamp(2, Layout::MOST_ACROSS);
    (2..=most).min_by(|a, b| shape(*a).total_cmp(&shape(*b))).unwrap_or(most)
}

/// Of what is too long, the beginning and the end: ids differ in either.
fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let (first, last) = (most / 2, most - most / 2 - 1);
    text.chars().take(first).chain(['…']).chain(text.chars().skip(length - last)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_keeps_its_ends() {
        assert_eq!(shortened("consumer-1", 10), "consumer-1");
        assert_eq!(shortened("consumer-0b1c2d3e-1", 10), "consu…3e-1");
    }
}
