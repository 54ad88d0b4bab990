//! What a message says, whoever wrote it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Subscription,
    Assignment,
    /// The user data of `sticky`.
    Sticky,
    /// The user data of `cooperative-sticky`, as Java and Sarama write it.
    Cooperative,
}

/// One message. What its kind or version has no field for is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Message {
    pub(crate) kind: Kind,
    #[serde(default)]
    pub(crate) version: i16,
    /// Those subscribed to.
    #[serde(default)]
    pub(crate) topics: Option<Vec<String>>,
    /// In hexadecimal; null is not the same as empty.
    #[serde(default)]
    pub(crate) user_data: Option<String>,
    /// Owned, assigned or claimed.
    #[serde(default)]
    pub(crate) partitions: Option<Partitions>,
    /// -1 where it is not known.
    #[serde(default)]
    pub(crate) generation: Option<i32>,
    #[serde(default)]
    pub(crate) rack: Option<String>,
}

pub(crate) type Partitions = Vec<(String, Vec<i32>)>;

impl Message {
    /// The same without what its version does not carry, in order, and with null for nothing: two that are the same so
    /// mean the same.
    pub(crate) fn sorted(&self) -> Self {
        let mut sorted = self.clone();
        if sorted.kind == Kind::Subscription {
            if sorted.version < 1 {
                sorted.partitions = None;
            }
            if sorted.version < 2 {
                sorted.generation = None;
            }
            if sorted.version < 3 {
                sorted.rack = None;
            }
        }
        if sorted.kind == Kind::Sticky && sorted.version < 1 {
            sorted.generation = None;
        }
        sorted.generation = sorted.generation.filter(|generation| *generation >= 0);
        if let Some(topics) = &mut sorted.topics {
            topics.sort();
        }
        sorted.topics = sorted.topics.filter(|topics| !topics.is_empty());
        if let Some(partitions) = &mut sorted.partitions {
            partitions.sort();
            partitions.iter_mut().for_each(|(_, numbers)| numbers.sort_unstable());
        }
        sorted.partitions = sorted.partitions.filter(|partitions| !partitions.is_empty());
        sorted
    }
}
