//! What a simulation is given.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    failure::one_line,
    json::{Entries, GroupInput, MemberInput, Name, Object, PartitionCount, TopicInput},
};

/// A group and what happens to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run<'a> {
    #[serde(borrow, default)]
    pub(super) group: Object<GroupInput<'a>>,
    #[serde(borrow, default)]
    pub(super) events: Vec<Event<'a>>,
}

/// Something that makes a group rebalance.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event<'a> {
    /// Members join.
    Join(#[serde(borrow)] Entries<'a, Object<MemberInput<'a>>>),
    /// A member leaves.
    Leave(#[serde(borrow)] Name<'a>),
    /// Members change what they subscribe to.
    Subscribe(#[serde(borrow)] Entries<'a, Vec<Name<'a>>>),
    /// Topics get more partitions: the new number of them.
    Grow(#[serde(borrow)] Entries<'a, PartitionCount>),
    /// Topics are created.
    Create(#[serde(borrow)] Entries<'a, TopicInput<'a>>),
    /// A topic is deleted.
    Delete(#[serde(borrow)] Name<'a>),
}

/// The event in a few words.
impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = match self {
            Self::Join(members) => match &members[..] {
                [(member, _)] => format!("{member} joins"),
                _ => format!("{} members join", members.len()),
            },
            Self::Leave(member) => format!("{member} leaves"),
            Self::Subscribe(members) => match &members[..] {
                [(member, topics)] => format!("{member} subscribes to {}", listed(topics)),
                _ => format!("{} members change their subscription", members.len()),
            },
            Self::Grow(topics) => match &topics[..] {
                [(topic, count)] => format!("{topic} grows to {}", count.0),
                _ => format!("{} topics grow", topics.len()),
            },
            Self::Create(topics) => match &topics[..] {
                [(topic, created)] => format!("{topic} is created with {}", created.partitions),
                _ => format!("{} topics are created", topics.len()),
            },
            Self::Delete(topic) => format!("{topic} is deleted"),
        };
        f.write_str(&one_line(&said))
    }
}

fn listed(topics: &[Name<'_>]) -> String {
    match topics {
        [] => "nothing".to_owned(),
        [one] => one.to_string(),
        [one, two] => format!("{one}, {two}"),
        more => format!("{} topics", more.len()),
    }
}
