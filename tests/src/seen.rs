//! What a member sees of its group.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A partition by topic and number.
pub type Partition = (String, i32);

/// One thing that a member saw. A member in a process of its own writes them as lines of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Seen {
    /// The rebalance callback said what the member has in a generation.
    Assigned(Assigned),
    /// The rebalance callback took partitions back: the member is done with them.
    Revoked(BTreeSet<Partition>),
    /// A message arrived.
    Read {
        /// Its topic.
        topic: String,
        /// Its partition.
        partition: i32,
        /// Its offset.
        offset: i64,
        /// The generation in which the member was when it arrived.
        generation: i32,
    },
    /// The consumer reported an error, or the member came to an end because of one.
    Failed(String),
}

/// An assignment as its member saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assigned {
    /// The generation of the group.
    pub generation: i32,
    /// The id that the broker gave to the member.
    pub member_id: String,
    /// The topics that the member named when it joined.
    pub subscription: BTreeSet<String>,
    /// What the member has by what its callbacks were handed: everything, also where only a change was handed over.
    pub partitions: BTreeSet<Partition>,
    /// Whether this member computed the assignment.
    pub leader: bool,
}
