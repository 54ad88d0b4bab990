//! What a member sees of its group.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::claims::Claimed;

/// A partition by topic and number.
pub type Partition = (String, i32);

/// One thing that a member saw. A member in a process of its own writes them as lines of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Seen {
    /// The rebalance callback said what the member has in a generation.
    Assigned(Assigned),
    /// The rebalance callback took partitions back: the member is done with them.
    Revoked(BTreeSet<Partition>),
    /// The member learned that partitions are no longer its own: somebody else may have them already.
    Lost(BTreeSet<Partition>),
    /// The member computed an assignment.
    Led(Led),
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
    /// This project's adapter told the application of something that asks for attention, in these words.
    Told(String),
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

/// What a leader took the members to have had, as far as its client shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Led {
    /// The claims that it read, by member id, or its memory of what the member was given.
    #[serde(default)]
    pub claims: Option<BTreeMap<String, Claimed>>,
    /// All that it decided by, and what it decided; ours alone shows that.
    #[serde(default)]
    pub round: Option<LedRound>,
}

/// What a leader of ours decided by, and what it decided, by member id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedRound {
    /// The generation being formed.
    pub generation: i32,
    /// Who subscribes to what.
    pub subscriptions: BTreeMap<String, BTreeSet<String>>,
    /// How many partitions each topic has.
    pub topics: BTreeMap<String, i32>,
    /// The members for which it spoke itself, from memory.
    pub remembered: BTreeSet<String>,
    /// The racks of the members that have one.
    pub racks: BTreeMap<String, String>,
    /// The racks of each partition's replicas, where any member has a rack.
    pub replicas: Vec<(Partition, BTreeSet<String>)>,
    /// What each is given, without what is withheld while somebody else still holds it.
    pub plan: BTreeMap<String, BTreeSet<Partition>>,
}
