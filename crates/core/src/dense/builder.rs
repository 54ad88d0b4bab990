//! Building a group from dense ids.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable, hash_table::Entry};

use super::{
    Group, MemberId, PartitionId, PartitionRange, RackId, SubscriptionId, TopicId,
    group::{ListingHead, Listings},
};

/// Builds a [`Group`]. Ids are given out in the order of the calls, and that order breaks ties.
#[derive(Debug, Clone)]
pub struct GroupBuilder {
    group: Group,
    /// Each with the hash of its topics.
    subscriptions: HashTable<(u64, SubscriptionId)>,
    hasher: DefaultHashBuilder,
    rack_sets: HashMap<Box<[RackId]>, RackSet>,
}

/// The racks that the replicas of some partitions are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RackSet(u32);

impl RackSet {
    const EMPTY: Self = Self(0);
}

impl Default for GroupBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl GroupBuilder {
    /// A group without topics and members.
    #[must_use]
    pub fn new() -> Self {
        Self {
            group: Group {
                topic_start: vec![0],
                subscription_start: vec![0],
                subscription_topics: Vec::new(),
                member_subscription: Vec::new(),
                member_rack: Vec::new(),
                partition_rack_set: Vec::new(),
                rack_set_start: vec![0, 0],
                rack_set_racks: Vec::new(),
                claims: Listings::default(),
                holds: Listings::default(),
                forming: None,
            },
            subscriptions: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            rack_sets: HashMap::from([(Box::default(), RackSet::EMPTY)]),
        }
    }

    /// Adds a topic with this many partitions.
    ///
    /// # Panics
    /// If all topics together would have 2³² − 1 partitions or more.
    pub fn topic(&mut self, partitions: u32) -> TopicId {
        let id = TopicId(self.group.topic_count() as u32);
        let end = (self.group.partition_count() as u32).checked_add(partitions);
        let end = end.filter(|&end| end < u32::MAX).expect("fewer than 2^32 - 1 partitions in all");
        self.group.topic_start.push(end);
        if !self.group.partition_rack_set.is_empty() {
            self.group.partition_rack_set.resize(end as usize, 0);
        }
        id
    }

    /// Says on which racks the replicas of a topic's partitions are: one list for each partition,
    /// in order of number. Lists that are missing at the end are empty, superfluous ones are
    /// ignored.
    pub fn replica_racks<I>(&mut self, topic: TopicId, racks: I)
    where
        I: IntoIterator,
        I::Item: IntoIterator<Item = RackId>,
    {
        let partitions = self.partitions_of(topic);
        for (partition, racks) in partitions.zip(racks) {
            let set = self.rack_set(racks.into_iter().collect());
            self.replica_rack_set(partition, set);
        }
    }

    /// The same with sets that this builder knows.
    pub(crate) fn replica_rack_sets(&mut self, topic: TopicId, sets: impl IntoIterator<Item = RackSet>) {
        let partitions = self.partitions_of(topic);
        for (partition, set) in partitions.zip(sets) {
            self.replica_rack_set(partition, set);
        }
    }

    fn replica_rack_set(&mut self, partition: PartitionId, set: RackSet) {
        if set != RackSet::EMPTY {
            let all = self.group.partition_count();
            self.group.partition_rack_set.resize(all, 0);
            self.group.partition_rack_set[partition.index()] = set.0;
        }
    }

    /// A subscription to these topics. The same topics give the same id; order and repeats do not
    /// count.
    ///
    /// # Panics
    /// If a topic has not been added.
    pub fn subscription(&mut self, topics: impl IntoIterator<Item = TopicId>) -> SubscriptionId {
        let mut topics: Vec<TopicId> = topics.into_iter().collect();
        if !topics.is_sorted_by(|a, b| a < b) {
            topics.sort_unstable();
            topics.dedup();
        }
        let Self { group, subscriptions, hasher, .. } = self;
        let hash = hasher.hash_one(&topics);
        let same = |&(known, id): &(u64, SubscriptionId)| known == hash && group.topics_of(id) == topics;
        let place = subscriptions.entry(hash, same, |(hash, _)| *hash);
        let place = match place {
            Entry::Occupied(known) => return known.get().1,
            Entry::Vacant(place) => place,
        };
        if let Some(last) = topics.last() {
            assert!(last.index() < group.topic_count(), "a subscription to a topic that was not added");
        }
        let id = SubscriptionId(group.subscription_count() as u32);
        place.insert((hash, id));
        group.subscription_topics.extend_from_slice(&topics);
        let end = u32::try_from(group.subscription_topics.len()).expect("fewer than 2^32 subscribed topics");
        group.subscription_start.push(end);
        id
    }

    /// Adds a member with a subscription.
    ///
    /// # Panics
    /// If the subscription does not come from this builder.
    pub fn member(&mut self, subscription: SubscriptionId) -> MemberId {
        assert!(subscription.index() < self.group.subscription_count(), "a subscription of another builder");
        let id = MemberId(self.group.member_count() as u32);
        self.group.member_subscription.push(subscription);
        self.group.member_rack.push(None);
        id
    }

    /// Says on which rack a member is.
    pub fn member_rack(&mut self, member: MemberId, rack: RackId) {
        self.group.member_rack[member.index()] = Some(rack);
    }

    /// Adds claims of a member: partitions it had in that generation. Any generation and any
    /// partition is accepted; −1 is "unknown".
    ///
    /// # Panics
    /// If the member has not been added.
    pub fn claim(
        &mut self,
        member: MemberId,
        generation: i32,
        partitions: impl IntoIterator<Item = PartitionId>,
    ) {
        self.check_member(member);
        self.group.claims.add(member, generation, partitions);
    }

    /// Adds holds of a member: partitions it still processes since that generation.
    ///
    /// # Panics
    /// If the member has not been added.
    pub fn hold(
        &mut self,
        member: MemberId,
        generation: i32,
        partitions: impl IntoIterator<Item = PartitionId>,
    ) {
        self.check_member(member);
        self.group.holds.add(member, generation, partitions);
    }

    /// Says which generation is being formed. Claims and holds of this or a later one cannot be
    /// true and count as of generation −1. A negative number is "unknown", the default.
    pub fn forming(&mut self, generation: i32) {
        self.group.forming = (generation >= 0).then_some(generation);
    }

    /// The partitions of a topic.
    #[must_use]
    pub fn partitions_of(&self, topic: TopicId) -> PartitionRange {
        self.group.partitions_of(topic)
    }

    /// The finished group.
    #[must_use]
    pub fn build(self) -> Group {
        self.group
    }

    /// The finished group with its members in another order: the one that was added as `order[0]`-th comes first.
    pub(crate) fn build_in_order(self, order: &[u32]) -> Group {
        let mut group = self.group;
        let mut rank = vec![MemberId(0); order.len()];
        for (id, &added) in (0..).map(MemberId).zip(order) {
            rank[added as usize] = id;
        }
        let subscriptions = &group.member_subscription;
        group.member_subscription = order.iter().map(|&added| subscriptions[added as usize]).collect();
        let racks = &group.member_rack;
        group.member_rack = order.iter().map(|&added| racks[added as usize]).collect();
        for head in group.claims.heads.iter_mut().chain(&mut group.holds.heads) {
            head.member = rank[head.member.index()];
        }
        group
    }

    fn check_member(&self, member: MemberId) {
        assert!(member.index() < self.group.member_count(), "a claim or hold of a member that was not added");
    }

    /// The set of these racks. Order and repeats do not count.
    pub(crate) fn rack_set(&mut self, mut racks: Vec<RackId>) -> RackSet {
        racks.sort_unstable();
        racks.dedup();
        if let Some(&known) = self.rack_sets.get(racks.as_slice()) {
            return known;
        }
        let id = RackSet(self.group.rack_set_count() as u32);
        self.group.rack_set_racks.extend_from_slice(&racks);
        self.group.rack_set_start.push(self.group.rack_set_racks.len() as u32);
        self.rack_sets.insert(racks.into_boxed_slice(), id);
        id
    }
}

impl Listings {
    fn add(&mut self, member: MemberId, generation: i32, partitions: impl IntoIterator<Item = PartitionId>) {
        self.partitions.extend(partitions);
        let end = u32::try_from(self.partitions.len()).expect("fewer than 2^32 claims");
        match self.heads.last_mut() {
            None if end == 0 => {}
            Some(head) if head.end == end => {}
            Some(head) if head.member == member && head.generation == generation => head.end = end,
            _ => self.heads.push(ListingHead { member, generation, end }),
        }
    }
}
