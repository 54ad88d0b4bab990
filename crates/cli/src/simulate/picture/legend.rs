//! What the colours and outlines mean.

use svg::node::element::{Group, Path};

use super::{
    draw_chip, label,
    layout::{Layout, Point},
    palette::Palette,
    scene::{Chip, Scene, State, topics_counted},
};

/// More topics than this are not named.
const MOST_TOPICS: usize = 12;

pub(super) fn draw(scene: &Scene<'_>, palette: &Palette, layout: &Layout) -> Group {
    let y = layout.rows_end() + 24.0;
    Group::new().add(states(scene, palette, layout, y)).add(topics(scene, palette, layout, y + 26.0))
}

fn states(scene: &Scene<'_>, palette: &Palette, layout: &Layout, y: f64) -> Group {
    let mut legend = Group::new();
    let mut x = Layout::MARGIN;
    let any = scene.cells().flat_map(|cell| cell.slots.iter().flatten()).next();
    let mut says =
        vec![(State::Stays, "stays"), (State::Received, "just received"), (State::Leaves, "about to leave")];
    if scene.cells().flat_map(|cell| cell.slots.iter().flatten()).any(|chip| chip.state == State::Waits) {
        says.push((State::Waits, "waits for its holder to give it up"));
    }
    for (state, said) in says {
        let Some(any) = any else { break };
        let chip = Chip { state, said: said.to_owned(), ..any.clone() };
        legend = legend.add(draw_chip(layout, palette, Point { x, y }, &chip));
        x += layout.chip_width + 6.0;
        legend = legend.add(label(said, Point { x, y: y + 12.0 }, "said"));
        x += said.len() as f64 * 6.4 + 20.0;
    }
    let arrow =
        Path::new().set("class", "way").set("stroke-width", 1.7).set("d", format!("M{x} {} h24", y + 8.0));
    let head = Path::new().set("class", "head").set("d", format!("M{} {} l-7 -4 v8 z", x + 30.0, y + 8.0));
    legend.add(arrow).add(head).add(label("goes to", Point { x: x + 36.0, y: y + 12.0 }, "said"))
}

fn topics(scene: &Scene<'_>, palette: &Palette, layout: &Layout, y: f64) -> Group {
    let mut legend = Group::new();
    let mut x = Layout::MARGIN;
    if layout.is_compact() || scene.topics.len() > MOST_TOPICS {
        let said = format!("The number is how many partitions a member has, of {}.", topics_counted(scene));
        return legend.add(label(&said, Point { x, y: y + 12.0 }, "quiet"));
    }
    for (topic, name) in scene.topics.iter().enumerate() {
        let code = match palette.topic_code(topic) {
            "" => "0".to_owned(),
            code => format!("{code}0"),
        };
        let first = Chip { topic, partition: 0, state: State::Stays, said: format!("{name} 0") };
        legend = legend.add(draw_chip(layout, palette, Point { x, y }, &first));
        x += layout.chip_width + 6.0;
        let said = format!("{name} 0");
        legend = legend.add(label(&said, Point { x, y: y + 12.0 }, "said"));
        x += said.chars().count() as f64 * 6.8 + 20.0 + code.len() as f64;
    }
    legend.add(label("the number at the left is the load", Point { x, y: y + 12.0 }, "quiet"))
}
