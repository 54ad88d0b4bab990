//! From names to dense ids.

use std::collections::VecDeque;

use hashbrown::HashMap;

use crate::{
    dense::{self, MemberId, PartitionId, PartitionRange, RackId, SubscriptionId, TopicId},
    group::{GroupError, Identity, Member, Topic},
};

/// Turns what members say into dense ids, one member after the other, so that nothing of what they said has
/// to be kept.
pub(crate) struct Interner<'a> {
    builder: dense::GroupBuilder,
    topics: HashMap<&'a str, Known>,
    /// Lists of topics as members gave them last, the latest first.
    recent: VecDeque<(Vec<&'a str>, SubscriptionId)>,
}

/// A topic that exists.
struct Known {
    id: TopicId,
    partitions: PartitionRange,
}

/// How many lists are remembered. Members mostly subscribe to the same few topics in the same order, and a
/// list that is known is compared, not looked up name by name.
const RECENT: usize = 4;

impl<'a> Interner<'a> {
    /// With these topics, sorted by name.
    pub(crate) fn new(generation: i32, topics: &[Topic<'a>]) -> Self {
        let mut builder = dense::GroupBuilder::new();
        builder.forming(generation);
        let mut known = |topic: &Topic<'_>| {
            let id = builder.topic(topic.partitions);
            Known { id, partitions: builder.partitions_of(id) }
        };
        let topics = topics.iter().map(|topic| (topic.name, known(topic))).collect();
        Self { builder, topics, recent: VecDeque::with_capacity(RECENT) }
    }

    /// Adds a member. What is left of it is who it is, and its rack.
    pub(crate) fn member(&mut self, member: Member<'a>) -> (Identity<'a>, Option<&'a str>) {
        let subscription = self.subscription(member.subscription);
        let id = self.builder.member(subscription);
        let Self { builder, topics, .. } = self;
        for (head, numbers) in member.claims.iter() {
            if let Some(topic) = topics.get(head.topic) {
                builder.claim(id, head.generation.unwrap_or(-1), topic.existing(numbers));
            }
        }
        for (head, numbers) in member.holds.iter() {
            if let Some(topic) = topics.get(head.topic) {
                builder.hold(id, head.generation.unwrap_or(-1), topic.existing(numbers));
            }
        }
        (member.identity, member.rack)
    }

    fn subscription(&mut self, names: Vec<&'a str>) -> SubscriptionId {
        if let Some((_, id)) = self.recent.iter().find(|(known, _)| *known == names) {
            return *id;
        }
        let topics = names.iter().filter_map(|name| Some(self.topics.get(name)?.id));
        let id = self.builder.subscription(topics);
        self.recent.truncate(RECENT - 1);
        self.recent.push_front((names, id));
        id
    }

    /// Says where replicas and members are: `racks` has the rack of each member. Racks are numbered in order of
    /// name.
    pub(crate) fn racks(
        &mut self,
        topics: &[Topic<'a>],
        racks: &[Option<&'a str>],
    ) -> Result<(), GroupError> {
        let of_replicas = topics.iter().flat_map(|topic| &topic.racks).flatten().flatten().copied();
        let mut names: Vec<&str> = of_replicas.chain(racks.iter().copied().flatten()).collect();
        names.sort_unstable();
        names.dedup();
        let ids: HashMap<&str, RackId> = names.into_iter().zip((0..).map(RackId)).collect();
        for (id, topic) in (0..).map(TopicId).zip(topics) {
            let Some(racks) = &topic.racks else { continue };
            if racks.len() != topic.partitions as usize {
                return Err(GroupError::RackCount {
                    topic: topic.name.to_owned(),
                    partitions: topic.partitions,
                    racks: racks.len(),
                });
            }
            self.builder.replica_racks(id, racks.iter().map(|racks| racks.iter().map(|rack| ids[rack])));
        }
        for (id, rack) in (0..).map(MemberId).zip(racks) {
            if let Some(rack) = rack {
                self.builder.member_rack(id, ids[rack]);
            }
        }
        Ok(())
    }

    /// The group with its members in this order.
    pub(crate) fn finish(self, order: &[u32]) -> dense::Group {
        self.builder.build_in_order(order)
    }
}

impl Known {
    /// The partitions of these numbers, as far as they exist.
    fn existing(&self, numbers: &[i32]) -> impl Iterator<Item = PartitionId> {
        let exists = |&number: &i32| self.partitions.nth_partition(u32::try_from(number).ok()?);
        numbers.iter().filter_map(exists)
    }
}
