//! A group in flat arrays.

use super::{Assignment, MemberId, PartitionId, PartitionRange, RackId, SubscriptionId, TopicId};
use crate::{report::Options, solve};

/// A consumer group in dense ids: what [`crate::Group`] is without the names.
///
/// Made by [`super::GroupBuilder`]. Takes 4 bytes for each partition, subscribed topic (once for
/// all members with the same subscription) and claim, a few more where racks are known.
#[derive(Debug, Clone)]
pub struct Group {
    /// Topic `t` has the partitions `topic_start[t]..topic_start[t + 1]`.
    pub(super) topic_start: Vec<u32>,
    /// Subscription `s` has the topics
    /// `subscription_topics[subscription_start[s]..subscription_start[s + 1]]`, sorted.
    pub(super) subscription_start: Vec<u32>,
    pub(super) subscription_topics: Vec<TopicId>,
    pub(super) member_subscription: Vec<SubscriptionId>,
    pub(super) member_rack: Vec<Option<RackId>>,
    /// Which of the rack sets a partition's replicas are on. Empty where no topic's racks are
    /// known.
    pub(super) partition_rack_set: Vec<u32>,
    /// Set `s` has the racks `rack_set_racks[rack_set_start[s]..rack_set_start[s + 1]]`, sorted.
    /// Set 0 is empty.
    pub(super) rack_set_start: Vec<u32>,
    pub(super) rack_set_racks: Vec<RackId>,
    pub(super) claims: Listings,
    pub(super) holds: Listings,
    pub(super) forming: Option<i32>,
}

/// Partitions that one member listed for one generation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listing<'g> {
    pub(crate) member: MemberId,
    /// As it counts: −1 where the member gave none, or one that cannot be true.
    pub(crate) generation: i32,
    /// As given: repeats and ids that no partition has included.
    pub(crate) partitions: &'g [PartitionId],
}

#[derive(Debug, Clone, Default)]
pub(super) struct Listings {
    pub(super) heads: Vec<ListingHead>,
    pub(super) partitions: Vec<PartitionId>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ListingHead {
    pub(super) member: MemberId,
    pub(super) generation: i32,
    pub(super) end: u32,
}

impl Group {
    /// The optimal assignment. See [`crate::Group::assign`] for method and complexity.
    #[must_use]
    pub fn assign(&self) -> Assignment {
        self.assign_with(&Options::default())
    }

    /// The optimal assignment within a bound on the work. See [`crate::Group::assign_with`].
    #[must_use]
    pub fn assign_with(&self, options: &Options) -> Assignment {
        solve::assign(self, options)
    }

    /// How many members there are.
    #[must_use]
    pub fn member_count(&self) -> usize {
        self.member_subscription.len()
    }

    /// How many topics there are.
    #[must_use]
    pub fn topic_count(&self) -> usize {
        self.topic_start.len() - 1
    }

    /// How many partitions all topics have together.
    #[must_use]
    pub fn partition_count(&self) -> usize {
        self.topic_start[self.topic_count()] as usize
    }

    /// How many different subscriptions there are.
    #[must_use]
    pub fn subscription_count(&self) -> usize {
        self.subscription_start.len() - 1
    }

    /// The partitions of a topic.
    #[must_use]
    pub fn partitions_of(&self, topic: TopicId) -> PartitionRange {
        PartitionRange::new(self.topic_start[topic.index()]..self.topic_start[topic.index() + 1])
    }

    /// The topic of a partition, and the partition's number in it. O(log topics).
    #[must_use]
    pub fn topic_of(&self, partition: PartitionId) -> (TopicId, u32) {
        let topic = self.topic_start.partition_point(|&start| start <= partition.0) - 1;
        (TopicId(topic as u32), partition.0 - self.topic_start[topic])
    }

    /// The topics of a subscription, sorted and without repeats.
    #[must_use]
    pub fn topics_of(&self, subscription: SubscriptionId) -> &[TopicId] {
        let at = subscription.index();
        &self.subscription_topics
            [self.subscription_start[at] as usize..self.subscription_start[at + 1] as usize]
    }

    /// What a member subscribes to.
    #[must_use]
    pub fn subscription_of(&self, member: MemberId) -> SubscriptionId {
        self.member_subscription[member.index()]
    }

    /// The rack of a member.
    #[must_use]
    pub fn rack_of(&self, member: MemberId) -> Option<RackId> {
        self.member_rack[member.index()]
    }

    /// The racks that hold a replica of the partition, sorted; empty where unknown.
    #[must_use]
    pub fn racks_of(&self, partition: PartitionId) -> &[RackId] {
        self.rack_set(self.rack_set_of(partition))
    }

    pub(crate) fn topic_starts(&self) -> &[u32] {
        &self.topic_start
    }

    pub(crate) fn rack_set_of(&self, partition: PartitionId) -> u32 {
        self.partition_rack_set.get(partition.index()).copied().unwrap_or(0)
    }

    pub(crate) fn rack_set(&self, set: u32) -> &[RackId] {
        let at = set as usize;
        &self.rack_set_racks[self.rack_set_start[at] as usize..self.rack_set_start[at + 1] as usize]
    }

    pub(crate) fn rack_set_count(&self) -> usize {
        self.rack_set_start.len() - 1
    }

    pub(crate) fn claims(&self) -> impl ExactSizeIterator<Item = Listing<'_>> {
        (0..self.claims.heads.len()).map(|at| self.claim(at))
    }

    pub(crate) fn claim(&self, at: usize) -> Listing<'_> {
        self.listing(&self.claims, at)
    }

    pub(crate) fn holds(&self) -> impl ExactSizeIterator<Item = Listing<'_>> {
        (0..self.holds.heads.len()).map(|at| self.listing(&self.holds, at))
    }

    fn listing<'g>(&self, listings: &'g Listings, at: usize) -> Listing<'g> {
        let head = listings.heads[at];
        let start = if at == 0 { 0 } else { listings.heads[at - 1].end };
        Listing {
            member: head.member,
            generation: self.credible(head.generation),
            partitions: &listings.partitions[start as usize..head.end as usize],
        }
    }

    /// A generation as it counts: one that is negative, or not older than the one being formed, is
    /// −1.
    fn credible(&self, generation: i32) -> i32 {
        match self.forming {
            Some(forming) if generation >= forming => -1,
            _ => generation.max(-1),
        }
    }
}
