//! The groups to measure, in dense ids, each the same every time.

use std::collections::BTreeSet;

use kafka_sticky_core::dense::{Assignment, Group, GroupBuilder, MemberId, PartitionId, RackId, TopicId};

/// A group before it has ids: topics, who subscribes to which, racks, and what members claim.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// Partitions of each topic.
    pub(crate) topics: Vec<u32>,
    /// The topics of each member. Members with the same list share it.
    pub(crate) members: Vec<Subscription>,
    /// How many racks there are, and on how many of them each partition is.
    pub(crate) racks: Option<(u32, u32)>,
    /// The rack of each member, where racks are known. Later members go on in turn.
    pub(crate) member_racks: Vec<u32>,
    /// The partitions each member claims of the last generation, and of the one before it.
    pub(crate) claims: Vec<[Vec<PartitionId>; 2]>,
}

/// Topics by index, shared.
pub(crate) type Subscription = std::sync::Arc<[TopicId]>;

const LAST_GENERATION: i32 = 7;

impl Shape {
    /// Equal topics and a subscription for each member.
    pub(crate) fn new(
        topics: u32,
        partitions_each: u32,
        members: impl IntoIterator<Item = Subscription>,
    ) -> Self {
        Self {
            topics: vec![partitions_each; topics as usize],
            members: members.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Everybody subscribes to everything.
    pub(crate) fn identical(topics: u32, partitions_each: u32, members: usize) -> Self {
        let all: Subscription = (0..topics).map(TopicId).collect();
        Self::new(topics, partitions_each, std::iter::repeat_n(all, members))
    }

    /// Everybody subscribes to `each` random topics.
    pub(crate) fn random(
        topics: u32,
        partitions_each: u32,
        members: usize,
        each: usize,
        random: &mut Random,
    ) -> Self {
        let mut shape = Self::new(topics, partitions_each, []);
        shape.join_random(members, each, random);
        shape
    }

    /// Members that subscribe to `each` random topics, and claim nothing.
    pub(crate) fn join_random(&mut self, members: usize, each: usize, random: &mut Random) {
        for _ in 0..members {
            let mut subscription = BTreeSet::new();
            while subscription.len() < each {
                subscription.insert(TopicId(random.below(self.topics.len()) as u32));
            }
            self.members.push(subscription.into_iter().collect());
        }
    }

    /// The same with partitions on `replicas` of `racks` racks, and members on them too.
    pub(crate) fn with_racks(mut self, racks: u32, replicas: u32) -> Self {
        self.racks = Some((racks, replicas));
        self.member_racks = (0..racks).cycle().take(self.members.len()).collect();
        self
    }

    /// The same after everybody took its part of an assignment.
    pub(crate) fn after(&self, assignment: &Assignment) -> Self {
        let mut claims = vec![[const { Vec::new() }; 2]; self.members.len()];
        for (partition, member) in (0..).zip(assignment.target().members()) {
            if let Some(member) = member {
                claims[member.index()][0].push(PartitionId(partition));
            }
        }
        Self { claims, ..self.clone() }
    }

    /// The same fresh group, assigned, and everybody with its part.
    pub(crate) fn settled(&self) -> Self {
        self.after(&self.group().assign())
    }

    /// The same without one member.
    pub(crate) fn without(mut self, member: usize) -> Self {
        self.members.remove(member);
        if self.racks.is_some() {
            self.member_racks.remove(member);
        }
        if !self.claims.is_empty() {
            self.claims.remove(member);
        }
        self
    }

    /// The same with `joiners` more that subscribe to what the first member does.
    pub(crate) fn with_joiners(mut self, joiners: usize) -> Self {
        self.members.extend(std::iter::repeat_n(self.members[0].clone(), joiners));
        self
    }

    /// The same where every `every`-th partition was claimed a generation before too, by the next member that
    /// subscribes to it.
    pub(crate) fn with_earlier_owners(mut self, every: usize) -> Self {
        let group = self.group();
        let owned: Vec<(usize, PartitionId)> = (0..)
            .zip(&self.claims)
            .flat_map(|(member, claims)| claims[0].iter().map(move |partition| (member, *partition)))
            .collect();
        for (member, partition) in owned.into_iter().step_by(every) {
            let topic = group.topic_of(partition).0;
            let others = (member + 1..self.members.len()).chain(0..member);
            let next = others.into_iter().find(|other| self.members[*other].binary_search(&topic).is_ok());
            if let Some(earlier) = next {
                self.claims[earlier][1].push(partition);
            }
        }
        self
    }

    /// The group in dense ids.
    pub(crate) fn group(&self) -> Group {
        let mut builder = GroupBuilder::new();
        for &partitions in &self.topics {
            let topic = builder.topic(partitions);
            if let Some((racks, replicas)) = self.racks {
                let of = |number| (0..replicas).map(move |replica| RackId((number + replica) % racks));
                builder.replica_racks(topic, (0..partitions).map(of));
            }
        }
        for (index, topics) in (0..).zip(&self.members) {
            let subscription = builder.subscription(topics.iter().copied());
            let member = builder.member(subscription);
            if let Some((racks, _)) = self.racks {
                let rack = self.member_racks.get(index as usize).copied().unwrap_or(index % racks);
                builder.member_rack(member, RackId(rack));
            }
        }
        for (index, [last, before]) in (0..).zip(&self.claims) {
            builder.claim(MemberId(index), LAST_GENERATION, last.iter().copied());
            builder.claim(MemberId(index), LAST_GENERATION - 1, before.iter().copied());
        }
        builder.forming(LAST_GENERATION + 1);
        builder.build()
    }
}

/// Two halves of the topics; a quarter of the members on the first, the others on the second (KAFKA-15106).
pub(crate) fn two_halves(topics: u32, partitions_each: u32, members: usize) -> Shape {
    let first: Subscription = (0..topics / 2).map(TopicId).collect();
    let second: Subscription = (topics / 2..topics).map(TopicId).collect();
    let half = |member: usize| if member.is_multiple_of(4) { first.clone() } else { second.clone() };
    Shape::new(topics, partitions_each, (0..members).map(half))
}

/// 40,000 partitions of ten members that subscribe to all; then come 391 more, of three kinds.
pub(crate) fn ten_become_401() -> Shape {
    let ten = Shape::identical(200, 200, 10).settled();
    let all = ten.members[0].clone();
    let kinds: [Subscription; 3] = [all, (0..100).map(TopicId).collect(), (50..150).map(TopicId).collect()];
    let mut shape = ten;
    shape.members.extend((0..391).map(|member| kinds[member % 3].clone()));
    shape
}

/// Chains of 1, 2, … `chains` members, each topic shared by two neighbours. All of a topic is at its left end, and
/// the first has more than its share, so that something must travel the length of every chain.
pub(crate) fn chains(chains: u32, partitions_each: u32) -> Shape {
    let mut shape = Shape::default();
    let mut next_partition = 0;
    for length in 1..=chains {
        let first = shape.topics.len() as u32;
        for at in 0..length {
            let topics = [at.checked_sub(1), (at + 1 < length || length == 1).then_some(at)];
            shape.members.push(topics.into_iter().flatten().map(|topic| TopicId(first + topic)).collect());
            if at + 1 == length && length > 1 {
                shape.claims.push(Default::default());
                continue;
            }
            let partitions = partitions_each + if at == 0 { length } else { 0 };
            shape.topics.push(partitions);
            let owned = (next_partition..next_partition + partitions).map(PartitionId).collect();
            shape.claims.push([owned, Vec::new()]);
            next_partition += partitions;
        }
    }
    shape
}

/// Members in a ring, a topic of random size between each and the next, all of it at the first of the two.
pub(crate) fn ring(members: u32, most: usize, random: &mut Random) -> Shape {
    let edges = (0..members).map(|member| [member, (member + 1) % members]);
    between_neighbours(members, edges.collect(), most, random)
}

/// Members on a square grid, a topic of random size between neighbours, all of it at one of the two.
pub(crate) fn grid(side: u32, most: usize, random: &mut Random) -> Shape {
    let at = |row: u32, column: u32| row * side + column;
    let mut edges = Vec::new();
    for row in 0..side {
        for column in 0..side {
            edges.extend((column + 1 < side).then(|| [at(row, column), at(row, column + 1)]));
            edges.extend((row + 1 < side).then(|| [at(row, column), at(row + 1, column)]));
        }
    }
    between_neighbours(side * side, edges, most, random)
}

fn between_neighbours(members: u32, edges: Vec<[u32; 2]>, most: usize, random: &mut Random) -> Shape {
    let mut subscriptions = vec![Vec::new(); members as usize];
    let mut shape = Shape { claims: vec![Default::default(); members as usize], ..Shape::default() };
    let mut next_partition = 0;
    for (topic, ends) in (0..).zip(edges) {
        let partitions = 1 + random.below(most) as u32;
        shape.topics.push(partitions);
        for end in ends {
            subscriptions[end as usize].push(TopicId(topic));
        }
        let owned = (next_partition..next_partition + partitions).map(PartitionId);
        shape.claims[ends[0] as usize][0].extend(owned);
        next_partition += partitions;
    }
    shape.members = subscriptions.into_iter().map(Subscription::from).collect();
    shape
}

/// Random numbers that are the same every time (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}
