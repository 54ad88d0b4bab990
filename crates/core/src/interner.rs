//! From names to dense ids.

use std::collections::VecDeque;

use hashbrown::HashMap;

use crate::{
    dense::{self, MemberId, PartitionId, PartitionRange, RackId, RackSet, SubscriptionId, TopicId},
    group::{GroupError, Identity, Member, RackLists, Topic},
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
        for topic in topics {
            let given = topic.racks.as_ref().map(RackLists::len);
            if let Some(given) = given.filter(|&given| given != topic.partitions as usize) {
                return Err(GroupError::RackCount {
                    topic: topic.name.to_owned(),
                    partitions: topic.partitions,
                    racks: given,
                });
            }
        }
        let lists = topics.iter().flat_map(|topic| &topic.racks).flat_map(RackLists::iter);
        let (distinct, of_partitions) = numbered(lists);
        let of_replicas = distinct.iter().copied().flatten().copied();
        let mut names: Vec<&str> = of_replicas.chain(racks.iter().copied().flatten()).collect();
        names.sort_unstable();
        names.dedup();
        let ids: HashMap<&str, RackId> = names.into_iter().zip((0..).map(RackId)).collect();
        let mut set_of = |list: &[&str]| self.builder.rack_set(list.iter().map(|rack| ids[rack]).collect());
        let sets: Vec<RackSet> = distinct.into_iter().map(&mut set_of).collect();
        let mut sets = of_partitions.into_iter().map(|list| sets[list]);
        for (id, topic) in (0..).map(TopicId).zip(topics).filter(|(_, topic)| topic.racks.is_some()) {
            self.builder.replica_rack_sets(id, sets.by_ref().take(topic.partitions as usize));
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

/// Numbers lists: those that differ, and which of them each is.
///
/// There are many, few differ, and they mostly go round: the one that came after the same before is tried first.
fn numbered<'l, 'a>(lists: impl Iterator<Item = &'l [&'a str]>) -> (Vec<&'l [&'a str]>, Vec<usize>) {
    let mut known: HashMap<&[&str], usize> = HashMap::new();
    let mut distinct: Vec<&[&str]> = Vec::new();
    let mut after: Vec<usize> = Vec::new();
    let mut last = None;
    let number = |list: &'l [&'a str]| {
        let guess = last.map(|last: usize| after[last]);
        if let Some(guess) = guess.filter(|&guess| distinct[guess] == list) {
            last = Some(guess);
            return guess;
        }
        let number = *known.entry(list).or_insert(distinct.len());
        if number == distinct.len() {
            distinct.push(list);
            after.push(number);
        }
        if let Some(last) = last {
            after[last] = number;
        }
        last = Some(number);
        number
    };
    let numbers = lists.map(number).collect();
    (distinct, numbers)
}

impl Known {
    /// The partitions of these numbers, as far as they exist.
    fn existing(&self, numbers: &[i32]) -> impl Iterator<Item = PartitionId> {
        let exists = |&number: &i32| self.partitions.nth_partition(u32::try_from(number).ok()?);
        numbers.iter().filter_map(exists)
    }
}
