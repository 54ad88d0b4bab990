//! The table of cases.

use crate::bytes::message::{Kind, Message, Partitions};

/// Every kind of message, with and without each of its fields, in every version.
pub(crate) fn all() -> Vec<Message> {
    [subscriptions(), assignments(), sticky(), cooperative()].concat()
}

const VERSIONS: [i16; 4] = [0, 1, 2, 3];
const USER_DATA: [Option<&str>; 3] = [None, Some(""), Some("0102")];

fn partitions() -> [Partitions; 4] {
    let of = |listed: &[(&str, &[i32])]| {
        listed.iter().map(|(topic, numbers)| ((*topic).to_owned(), numbers.to_vec())).collect()
    };
    [
        of(&[]),
        of(&[("foo", &[0])]),
        of(&[("bar", &[7]), ("foo", &[0, 1])]),
        of(&[("a.dotted_name-0", &[0, 1, 2, 3]), ("bar", &[0]), ("foo", &[1, 300, 70_000, i32::MAX])]),
    ]
}

fn blank(kind: Kind, version: i16) -> Message {
    Message { kind, version, topics: None, user_data: None, partitions: None, generation: None, rack: None }
}

fn subscriptions() -> Vec<Message> {
    let mut cases = Vec::new();
    for version in VERSIONS {
        for (turn, user_data) in USER_DATA.into_iter().enumerate() {
            for (at, partitions) in partitions().into_iter().enumerate() {
                let topics = [&[][..], &["t"], &["bar", "foo"]][(turn + at) % 3];
                let (generation, rack) = match at {
                    0 => (-1, None),
                    1 => (0, None),
                    2 => (5, Some("r1")),
                    _ => (i32::MAX, Some("eu-central-1a")),
                };
                cases.push(Message {
                    topics: Some(topics.iter().map(|topic| (*topic).to_owned()).collect()),
                    user_data: user_data.map(str::to_owned),
                    partitions: Some(partitions),
                    generation: Some(generation),
                    rack: rack.map(str::to_owned),
                    ..blank(Kind::Subscription, version)
                });
            }
        }
    }
    cases
}

fn assignments() -> Vec<Message> {
    let mut cases = Vec::new();
    for version in VERSIONS {
        for user_data in USER_DATA {
            for partitions in partitions() {
                cases.push(Message {
                    user_data: user_data.map(str::to_owned),
                    partitions: Some(partitions),
                    ..blank(Kind::Assignment, version)
                });
            }
        }
    }
    cases
}

fn sticky() -> Vec<Message> {
    let mut cases = Vec::new();
    for version in [0, 1] {
        for generation in [-1, 0, 5, i32::MAX] {
            for partitions in partitions() {
                cases.push(Message {
                    partitions: Some(partitions),
                    generation: Some(generation),
                    ..blank(Kind::Sticky, version)
                });
            }
        }
    }
    cases
}

fn cooperative() -> Vec<Message> {
    let of = |generation| Message { generation: Some(generation), ..blank(Kind::Cooperative, 0) };
    [-1, 0, 5, i32::MAX].map(of).to_vec()
}
