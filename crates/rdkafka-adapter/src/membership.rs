//! What a consumer can see of its place in the group.

use std::sync::Arc;
use std::time::Duration;

use kafka_sticky_core::Report;
use rdkafka::consumer::{Consumer, ConsumerContext};

use crate::events::Events;
use crate::ffi;
use crate::member::Shared;

/// A consumer's place in its group, as librdkafka told the assignor; it is always ahead of the rebalance callbacks.
///
/// Cheap to clone, and of use after the consumer is gone. Its methods never wait for librdkafka, so they may be called
/// from any callback.
#[derive(Debug, Clone)]
pub struct Membership {
    shared: Arc<Shared>,
}

impl Membership {
    /// The membership of a consumer that was created, or given its strategies, by this crate; `None` of any other.
    pub fn of<C: ConsumerContext>(consumer: &impl Consumer<C>) -> Option<Self> {
        Some(Self { shared: ffi::installed(consumer)?.shared() })
    }

    /// The last assignment that this member was given; `None` before the first. It stays through revocation and loss:
    /// it is what the member will claim when it joins again.
    pub fn assigned(&self) -> Option<Arc<Assigned>> {
        self.shared.assigned()
    }

    /// What happens to this member from now on.
    pub fn events(&self) -> Events {
        self.shared.events()
    }
}

/// What a member was given in one generation of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assigned {
    /// The generation of the group.
    pub generation: i32,
    /// The strategy that the group uses.
    pub strategy: String,
    /// The member id that the broker gave.
    pub member_id: String,
    /// The topics that this member named when it joined this generation, patterns expanded, sorted; none where it offers
    /// only strategies of librdkafka's.
    pub subscription: Vec<String>,
    /// Topic by topic, the partitions given, both sorted. No topic is without partitions.
    pub partitions: Vec<(String, Vec<i32>)>,
    /// How the group was assigned, if this member led it.
    pub led: Option<Led>,
}

impl Assigned {
    /// An assignment of your own making, to try an assignor on: of a follower whose member id is not set.
    pub fn new(strategy: &str, generation: i32, partitions: Vec<(String, Vec<i32>)>) -> Self {
        Self {
            generation,
            strategy: strategy.to_owned(),
            member_id: String::new(),
            subscription: partitions.iter().map(|(topic, _)| topic.clone()).collect(),
            partitions,
            led: None,
        }
    }

    /// How many partitions were given.
    pub fn load(&self) -> usize {
        self.partitions.iter().map(|(_, partitions)| partitions.len()).sum()
    }
}

/// How a leader assigned its group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Led {
    /// What the assignment came to, where `kafka-sticky-core` made it.
    pub report: Option<Report>,
    /// How many members' claims were this leader's own memory.
    pub remembered: usize,
    /// How long it took on librdkafka's main thread, reading what the members sent included; what librdkafka does before,
    /// matching members and topics, is not.
    pub took: Duration,
}
