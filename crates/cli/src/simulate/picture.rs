//! A simulation as a picture: members are rows, time goes right.

use svg::{
    Document,
    node::element::{Group, Path, Rectangle, Style, Text, Title},
};

use self::{
    layout::{Layout, Point},
    palette::{Ink, Palette},
    scene::{Cell, Chip, Column, Scene, State},
};
use super::history::History;
use crate::failure::one_line;

mod layout;
mod legend;
mod palette;
mod scene;

/// Works in print without colours too: what state a partition is in shows in its outline, its topic in its label.
const STYLE: &str = "text { font-family: 'DejaVu Sans', Verdana, Arial, sans-serif; font-size: 11px; fill: #111 } \
    .title { font-size: 15px; font-weight: bold } .event { font-weight: bold } .quiet { fill: #555 } \
    .chip { text-anchor: middle; font-size: 10px } .light { fill: #fff } .load { text-anchor: end; fill: #555 } \
    .stays { stroke: #777; stroke-width: 0.6 } .received { stroke: #000; stroke-width: 2.2 } \
    .leaves { stroke: #000; stroke-width: 1.3; stroke-dasharray: 3 2 } \
    .waits { stroke: #000; stroke-width: 1; stroke-dasharray: 1 2; fill: #fff } \
    .way { fill: none; stroke: #333; stroke-opacity: 0.75 } .head { fill: #333; stroke: none } \
    .here { fill: #fff; stroke: #bbb } .band { fill: #eef1f4 }";

/// The picture as SVG.
pub(super) fn draw(history: &History<'_>) -> String {
    let scene = Scene::of(history);
    let palette = Palette::of(&scene);
    let layout = Layout::of(&scene, &palette);
    let mut document = Document::new()
        .set("viewBox", (0, 0, layout.width.round(), layout.height.round()))
        .set("width", layout.width.round())
        .set("height", layout.height.round())
        .add(Title::new(scene.title.clone()))
        .add(Style::new(STYLE))
        .add(Rectangle::new().set("width", "100%").set("height", "100%").set("fill", "#fff"))
        .add(label(&scene.title, Point { x: Layout::MARGIN, y: 24.0 }, "title"));
    for (at, column) in scene.columns.iter().enumerate() {
        document = document.add(header(at, column, &layout));
    }
    for (row, member) in scene.members.iter().enumerate() {
        document = document.add(name(row, member, &layout));
    }
    for (at, column) in scene.columns.iter().enumerate() {
        for (row, cell) in column.cells.iter().enumerate() {
            if let Some(cell) = cell {
                document = document.add(draw_cell(&layout, &palette, (at, row), cell));
            }
        }
        document = document.add(ways(at, column, &layout));
    }
    format!("{}\n", document.add(legend::draw(&scene, &palette, &layout)))
}

/// What happened, above its column; rebalances of one event stand on one band.
fn header(at: usize, column: &Column, layout: &Layout) -> Group {
    let left = layout.column(at);
    let mut header = Group::new();
    if column.step % 2 == 1 {
        let band = Rectangle::new()
            .set("class", "band")
            .set("x", left - Layout::GAP / 2.0)
            .set("y", Layout::TOP - 8.0)
            .set("width", layout.cell_width + Layout::GAP)
            .set("height", layout.rows_end() - Layout::TOP + 12.0);
        header = header.add(band);
    }
    let mut y = Layout::TOP + 8.0;
    for line in layout.wrapped(&column.title) {
        header = header.add(label(&line, Point { x: left, y }, "event"));
        y += Layout::LINE;
    }
    for (line, y) in
        column.said.iter().zip([layout.header_end() - Layout::LINE - 8.0, layout.header_end() - 8.0])
    {
        header = header.add(label(line, Point { x: left, y }, "quiet"));
    }
    header
}

fn name(row: usize, member: &str, layout: &Layout) -> Group {
    let y = layout.middle(row) + 4.0;
    let short = layout.shortened(member);
    let name = label(&short, Point { x: Layout::MARGIN, y }, "event");
    Group::new().add(Title::new(one_line(member))).add(name)
}

fn draw_cell(layout: &Layout, palette: &Palette, (at, row): (usize, usize), cell: &Cell) -> Group {
    let (left, top) = (layout.column(at), layout.row(row));
    let here = Rectangle::new()
        .set("class", "here")
        .set("x", left)
        .set("y", top + 2.0)
        .set("width", layout.cell_width)
        .set("height", layout.row_height(row) - 4.0)
        .set("rx", 3);
    let load = Point { x: left + layout.load_width - 5.0, y: layout.middle(row) + 4.0 };
    let mut drawn = Group::new().add(here).add(label(&cell.load.to_string(), load, "load"));
    if layout.is_compact() {
        return drawn.add(bar(layout, (at, row), cell));
    }
    for (slot, chip) in cell.slots.iter().enumerate() {
        if let Some(chip) = chip {
            drawn = drawn.add(draw_chip(layout, palette, layout.slot(at, row, slot), chip));
        }
    }
    drawn
}

fn draw_chip(layout: &Layout, palette: &Palette, corner: Point, chip: &Chip) -> Group {
    let (class, ink) = match chip.state {
        State::Stays => ("stays", Ink::Pale),
        State::Received => ("received", Ink::Full),
        State::Leaves => ("leaves", Ink::Pale),
        State::Waits => ("waits", Ink::None),
    };
    let colour = palette.colour(chip.topic, ink);
    let outline = Rectangle::new()
        .set("class", class)
        .set("x", corner.x)
        .set("y", corner.y)
        .set("width", layout.chip_width)
        .set("height", Layout::CHIP_HEIGHT)
        .set("rx", 3);
    let outline = if ink == Ink::None { outline } else { outline.set("fill", colour.fill) };
    let middle = Point { x: corner.x + layout.chip_width / 2.0, y: corner.y + Layout::CHIP_HEIGHT - 4.5 };
    let class = if colour.is_dark { "chip light" } else { "chip" };
    Group::new().add(Title::new(one_line(&chip.said))).add(outline).add(label(
        &palette.code(chip.topic, chip.partition),
        middle,
        class,
    ))
}

/// How much stays, goes and came, where there are too many partitions to draw each.
fn bar(layout: &Layout, (at, row): (usize, usize), cell: &Cell) -> Group {
    let mut drawn = Group::new();
    let mut corner = layout.slot(at, row, 0);
    let states = [
        (State::Stays, "stays", "#bfc7cf"),
        (State::Leaves, "leaves", "#e4e8eb"),
        (State::Received, "received", "#0072B2"),
        (State::Waits, "waits", "#fff"),
    ];
    for (state, class, fill) in states {
        let count = cell.slots.iter().flatten().filter(|chip| chip.state == state).count();
        if count == 0 {
            continue;
        }
        let width = count as f64 * layout.bar_scale;
        let part = Rectangle::new()
            .set("class", class)
            .set("x", tenth(corner.x))
            .set("y", corner.y)
            .set("width", tenth(width))
            .set("height", Layout::CHIP_HEIGHT)
            .set("fill", fill);
        drawn = drawn.add(Group::new().add(Title::new(format!("{count}"))).add(part));
        corner.x += width;
    }
    drawn
}

/// From the column before, who gives to whom: the more partitions, the thicker.
fn ways(at: usize, column: &Column, layout: &Layout) -> Group {
    let mut drawn = Group::new();
    for (&(from, to), &count) in &column.ways {
        let right = layout.column(at);
        let (x0, y0) = (right - Layout::GAP, layout.middle(from));
        let (x1, y1) = (right - 6.0, layout.middle(to));
        let bend = Layout::GAP * 0.55;
        let width = tenth(1.2 + 0.5 * (count as f64).min(8.0));
        let path = format!("M{x0} {y0} C{} {y0} {} {y1} {x1} {y1}", tenth(x0 + bend), tenth(x1 - bend));
        let head = format!("M{} {y1} l-7 -4 v8 z", right - 1.0);
        let said = if count == 1 { "1 partition".to_owned() } else { format!("{count} partitions") };
        drawn = drawn.add(
            Group::new()
                .add(Title::new(said))
                .add(Path::new().set("class", "way").set("stroke-width", width).set("d", path))
                .add(Path::new().set("class", "head").set("d", head)),
        );
    }
    drawn
}

fn label(text: &str, at: Point, class: &str) -> Text {
    Text::new(one_line(text)).set("class", class).set("x", tenth(at.x)).set("y", tenth(at.y))
}

/// Coordinates need no more digits.
fn tenth(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}
