//! From names to dense ids.

use std::collections::VecDeque;

use hashbrown::HashMap;

use crate::{
    dense::{self, MemberId, PartitionId, RackId, SubscriptionId, TopicId},
    group::{GroupError, Identity, Listings, Member, Topic},
};

/// Turns what members say into dense ids, one member after the other, so that nothing of what they said has
/// to be kept.
pub(crate) struct Interner<'a> {
    builder: dense::GroupBuilder,
    topics: HashMap<&'a str, TopicId>,
    /// Lists of topics as members gave them last, the latest first.
    recent: VecDeque<(Vec<&'a str>, SubscriptionId)>,
}

/// How many lists are remembered. Members mostly subscribe to the same few topics in the same order, and a
/// list that is known is compared, not looked up name by name.
const RECENT: usize = 4;

impl<'a> Interner<'a> {
    /// With these topics, sorted by name.
    pub(crate) fn new(generation: i32, topics: &[Topic<'a>]) -> Self {
        let mut builder = dense::GroupBuilder::new();
        builder.forming(generation);
        let topics = topics.iter().map(|topic| (topic.name, builder.topic(topic.partitions))).collect();
        Self { builder, topics, recent: VecDeque::with_capacity(RECENT) }
    }

    /// Adds a member. What is left of it is who it is, and its rack.
    pub(crate) fn member(&mut self, member: Member<'a>) -> (Identity<'a>, Option<&'a str>) {
        let subscription = self.subscription(member.subscription);
        let id = self.builder.member(subscription);
        self.listings(&member.claims, |builder, generation, partitions| {
            builder.claim(id, generation, partitions);
        });
        self.listings(&member.holds, |builder, generation, partitions| {
            builder.hold(id, generation, partitions);
        });
        (member.identity, member.rack)
    }

    fn subscription(&mut self, names: Vec<&'a str>) -> SubscriptionId {
        if let Some((_, id)) = self.recent.iter().find(|(known, _)| *known == names) {
            return *id;
        }
        let topics = names.iter().filter_map(|name| self.topics.get(name).copied());
        let id = self.builder.subscription(topics);
        self.recent.truncate(RECENT - 1);
        self.recent.push_front((names, id));
        id
    }

    /// Passes on what there is of the partitions listed.
    fn listings(
        &mut self,
        listings: &Listings<'a>,
        mut pass_on: impl FnMut(&mut dense::GroupBuilder, i32, &mut dyn Iterator<Item = PartitionId>),
    ) {
        for (head, numbers) in listings.iter() {
            let Some(&topic) = self.topics.get(head.topic) else { continue };
            let partitions = self.builder.partitions_of(topic);
            let existing = |&number: &i32| partitions.nth_partition(u32::try_from(number).ok()?);
            let generation = head.generation.unwrap_or(-1);
            pass_on(&mut self.builder, generation, &mut numbers.iter().filter_map(existing));
        }
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
