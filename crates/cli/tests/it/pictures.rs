//! The picture of a simulation shows what its JSON says.

use std::{collections::HashSet, fs, path::Path};

use roxmltree::{Document, Node};
use serde_json::{Value, json};

use crate::command::{json as printed, kafka_sticky, root};

/// Draws a run, and reads the picture.
fn drawn(run: &str, file: &Path) -> (String, Value) {
    let history = printed(kafka_sticky(["simulate", "--svg"]).arg(file).arg(run));
    (fs::read_to_string(file).unwrap(), history)
}

fn scratch(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn titles<'d>(document: &'d Document<'_>) -> impl Iterator<Item = &'d str> {
    let titles = document.descendants().filter(|node| node.has_tag_name("title"));
    titles.filter_map(|node| node.text())
}

/// `cargo test` says where they differ; draw them again with `kafka-sticky simulate --svg`.
#[test]
fn the_pictures_in_the_docs_are_what_is_drawn() {
    for name in ["run", "cooperative", "large"] {
        let (svg, _) = drawn(&format!("docs/cli/{name}.json"), &scratch(&format!("{name}.svg")));
        let checked_in = fs::read_to_string(root().join(format!("docs/cli/{name}.svg"))).unwrap();
        assert!(svg == checked_in, "docs/cli/{name}.svg differs from what is drawn now");
    }
}

#[test]
fn every_partition_of_every_rebalance_is_drawn_once() {
    for name in ["run", "cooperative", "large"] {
        let (svg, history) = drawn(&format!("docs/cli/{name}.json"), &scratch(&format!("{name}-once.svg")));
        let document = Document::parse(&svg).unwrap();
        let mut expected = 0;
        let mut waiting = 0;
        for step in history["steps"].as_array().unwrap() {
            for rebalance in std::iter::once(step).chain(step["follow_ups"].as_array().unwrap()) {
                expected += count(&rebalance["assignment"]);
                waiting += count(&rebalance["withheld"]);
            }
        }
        let said: Vec<&str> = titles(&document).filter(|title| title.contains(": ")).collect();
        assert_eq!(said.iter().filter(|title| !title.contains("withheld")).count(), expected, "{name}");
        assert_eq!(said.iter().filter(|title| title.contains("withheld")).count(), waiting, "{name}");
    }
}

fn count(shares: &Value) -> usize {
    let of_member = |share: &Value| -> usize {
        share.as_object().unwrap().values().map(|partitions| partitions.as_array().unwrap().len()).sum()
    };
    shares.as_object().unwrap().values().map(of_member).sum()
}

/// Nothing lies outside the picture, and no two partitions on each other.
#[test]
fn nothing_is_hidden() {
    for name in ["run", "cooperative", "large"] {
        let (svg, _) = drawn(&format!("docs/cli/{name}.json"), &scratch(&format!("{name}-inside.svg")));
        let document = Document::parse(&svg).unwrap();
        let number = |node: Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let (width, height) =
            (number(document.root_element(), "width"), number(document.root_element(), "height"));
        let mut corners = HashSet::new();
        let rectangles =
            document.descendants().filter(|node| node.has_tag_name("rect") && node.has_attribute("x"));
        for node in rectangles.filter(|node| node.attribute("class") != Some("band")) {
            let (x, y) = (number(node, "x"), number(node, "y"));
            assert!(x >= 0.0 && x + number(node, "width") <= width, "{node:?}");
            assert!(y >= 0.0 && y + number(node, "height") <= height, "{node:?}");
            assert!(corners.insert((x.to_bits(), y.to_bits())), "{node:?}");
        }
    }
}

#[test]
fn what_was_received_stands_where_it_came_to() {
    let (svg, _) = drawn("docs/cli/run.json", &scratch("received.svg"));
    let document = Document::parse(&svg).unwrap();
    let received = |said: &str| titles(&document).filter(|title| *title == said).count();
    assert_eq!(received("clicks 2: just received"), 1);
    assert_eq!(received("clicks 2: about to leave"), 1);
    assert_eq!(received("clicks 1: just received"), 0);
}

#[test]
fn names_cannot_break_the_picture() {
    let name = "<a href='x'>&\"\u{1}";
    let run = json!({"group": {"topics": {name: 2}, "members": {name: {"topics": [name]}}},
        "events": [{"join": {"</svg>": {"topics": [name]}}}]});
    let file = scratch("names.svg");
    let command = kafka_sticky(["simulate", "--svg"]).arg(&file).stdin(run.to_string());
    printed(command);
    let svg = fs::read_to_string(&file).unwrap();
    let document = Document::parse(&svg).unwrap();
    assert!(document.descendants().any(|node| node.text() == Some("</svg>")));
}

#[test]
fn too_many_partitions_to_draw_each_are_drawn_as_bars() {
    let members = json!({"a": {"topics": ["t"]}, "b": {"topics": ["t"]}});
    let run = json!({"group": {"topics": {"t": 5000}, "members": members},
        "events": [{"join": {"c": {"topics": ["t"]}}}]});
    let file = scratch("bars.svg");
    printed(kafka_sticky(["simulate", "--svg"]).arg(&file).stdin(run.to_string()));
    let svg = fs::read_to_string(&file).unwrap();
    let document = Document::parse(&svg).unwrap();
    assert!(svg.len() < 20_000, "{}", svg.len());
    // 834 of a's 2,500 stay behind when c joins, and c has all it gets at once.
    assert!(titles(&document).any(|title| title == "1666"), "{svg}");
}

#[test]
fn a_run_of_nothing_has_a_picture() {
    let file = scratch("nothing.svg");
    printed(kafka_sticky(["simulate", "--svg"]).arg(&file).stdin("{}"));
    assert!(Document::parse(&fs::read_to_string(&file).unwrap()).is_ok());
}
