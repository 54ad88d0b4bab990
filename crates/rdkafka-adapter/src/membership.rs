//! What a consumer can see of its place in the group.

use std::sync::Arc;

use kafka_sticky_core::Report;
use rdkafka::consumer::{Consumer, ConsumerContext};

use crate::ffi;
use crate::member::Shared;
use crate::strategy::Strategy;

/// A consumer's place in its group, as librdkafka told the assignor; it is always ahead of the rebalance callbacks.
///
/// Cheap to clone, and of use after the consumer is gone. Its methods never wait for librdkafka, so they may be called
/// from any callback.
#[derive(Debug, Clone)]
pub struct Membership {
    shared: Arc<Shared>,
}

impl Membership {
    /// The membership of a consumer that offers a strategy of this crate's; `None` of any other.
    pub fn of<C: ConsumerContext>(consumer: &impl Consumer<C>) -> Option<Self> {
        let shared = ffi::installed(consumer, Strategy::Sticky.name())?.shared();
        Some(Self { shared })
    }

    /// The last assignment that this member was given; `None` before the first. It stays through revocation and loss:
    /// it is what the member will claim when it joins again.
    pub fn assigned(&self) -> Option<Arc<Assigned>> {
        self.shared.assigned()
    }
}

/// What a member was given in one generation of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assigned {
    /// The generation of the group.
    pub generation: i32,
    /// The member id that the broker gave.
    pub member_id: String,
    /// The topics that this member named when it joined this generation, patterns expanded, sorted.
    pub subscription: Vec<String>,
    /// Topic by topic, the partitions given, both sorted. No topic is without partitions.
    pub partitions: Vec<(String, Vec<i32>)>,
    /// What the assignment of the whole group came to, if this member led the group.
    pub led: Option<Report>,
}

impl Assigned {
    /// How many partitions were given.
    pub fn load(&self) -> usize {
        self.partitions.iter().map(|(_, partitions)| partitions.len()).sum()
    }
}
