//! Whether racks count, and who is on the wrong one.

use crate::dense::{Group, MemberId, PartitionId, RackId, TopicId};

/// Whether rack-awareness is on ([KIP-881]): some subscribed member's rack holds a replica of a
/// subscribed partition, and not every subscribed partition has a replica on every rack that
/// appears.
///
/// [KIP-881]: https://cwiki.apache.org/confluence/display/KAFKA/KIP-881%3A+Rack-aware+Partition+Assignment+for+Kafka+Consumers
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RackSwitch {
    on: bool,
}

impl RackSwitch {
    pub(crate) fn of(group: &Group) -> Self {
        Self { on: rack_awareness(group) }
    }

    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    /// Whether racks count, the member has one, and it holds no replica of the partition.
    pub(crate) fn mismatch(self, group: &Group, member: MemberId, partition: PartitionId) -> bool {
        self.on
            && group
                .rack_of(member)
                .is_some_and(|rack| group.racks_of(partition).binary_search(&rack).is_err())
    }
}

fn rack_awareness(group: &Group) -> bool {
    if group.rack_set_count() == 1 {
        return false;
    }
    let mut sets_in_use = vec![false; group.rack_set_count()];
    for topic in subscribed_topics(group) {
        for partition in group.partitions_of(topic) {
            sets_in_use[group.rack_set_of(partition) as usize] = true;
        }
    }
    let in_use = |set: &u32| sets_in_use[*set as usize];
    let sets = || (0..group.rack_set_count() as u32).filter(in_use);
    let mut all: Vec<RackId> = sets().flat_map(|set| group.rack_set(set)).copied().collect();
    all.sort_unstable();
    all.dedup();
    let on_every_rack = sets().all(|set| group.rack_set(set).len() == all.len());
    !on_every_rack
        && (0..group.member_count() as u32).map(MemberId).any(|member| {
            let subscribed = !group.topics_of(group.subscription_of(member)).is_empty();
            subscribed && group.rack_of(member).is_some_and(|rack| all.binary_search(&rack).is_ok())
        })
}

fn subscribed_topics(group: &Group) -> impl Iterator<Item = TopicId> {
    let mut subscribed = vec![false; group.topic_count()];
    let mut seen = vec![false; group.subscription_count()];
    for member in (0..group.member_count() as u32).map(MemberId) {
        let subscription = group.subscription_of(member);
        if !std::mem::replace(&mut seen[subscription.index()], true) {
            for topic in group.topics_of(subscription) {
                subscribed[topic.index()] = true;
            }
        }
    }
    (0..).map(TopicId).zip(subscribed).filter_map(|(topic, yes)| yes.then_some(topic))
}
