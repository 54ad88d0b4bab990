//! What a leader does with what its members sent: from the bytes of their subscriptions to the bytes of their
//! assignments, with everything checked on the way.

use std::collections::{BTreeMap, BTreeSet};

use kafka_sticky_core::{Group, Member, Options, Topic, verify};
use kafka_sticky_protocol::{Assignment, AssignmentWriter, MemberClaims, Strategy, Subscription};

/// A topic name and a partition number.
pub(crate) type Partition = (String, i32);

/// A topic that exists.
#[derive(Debug, Clone)]
pub(crate) struct Existing {
    pub(crate) name: &'static str,
    pub(crate) partitions: u32,
    /// The racks of each partition's replicas.
    pub(crate) racks: Option<Vec<Vec<&'static str>>>,
}

/// A member as the leader hears of it.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) id: String,
    pub(crate) instance_id: Option<String>,
    pub(crate) subscription: Vec<u8>,
}

/// What there is to assign.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    pub(crate) strategy: Strategy,
    pub(crate) forming: i32,
    pub(crate) topics: Vec<Existing>,
    pub(crate) members: Vec<Heard>,
}

/// What a round comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The bytes of each member's assignment. Members whose subscription cannot be read have none, as in librdkafka.
    pub(crate) shares: BTreeMap<String, Vec<u8>>,
    /// How many partitions wait for their holders to give them up.
    pub(crate) withheld: usize,
}

impl Round {
    /// Assigns, checks what came out against what was said, and writes it down.
    pub(crate) fn assigned(&self, options: Options) -> Outcome {
        let read: Vec<(&Heard, Subscription<'_>)> = self
            .members
            .iter()
            .filter_map(|member| Some((member, Subscription::read_lossy(&member.subscription).ok()?)))
            .collect();
        let said: Vec<MemberClaims<'_>> =
            read.iter().map(|(_, subscription)| MemberClaims::read(self.strategy, subscription)).collect();
        let members =
            read.iter().zip(&said).map(|((heard, subscription), said)| described(heard, subscription, said));
        let topics = self.topics.iter().map(|topic| {
            let described = Topic::new(topic.name, topic.partitions);
            match &topic.racks {
                Some(racks) => described.with_racks(racks.iter().map(|racks| racks.iter().copied())),
                None => described,
            }
        });
        let group = Group::new_forming(self.forming, topics, members).expect("names are unique");
        let assignment = group.assign_with(&options);

        let verdict = verify(group.dense(), assignment.dense().target(), assignment.certificate())
            .expect("an assignment of everything to subscribers");
        let proven = assignment.report().proven;
        assert_eq!(verdict.proven, proven, "{:?}\n{self:#?}", verdict.gap);
        assert!(proven.all() || options.budget < Options::DEFAULT_BUDGET, "{proven:?}\n{self:#?}");

        let mut judge = Judge::new(self, &read, &said);
        for share in assignment.members() {
            judge.target(share.id(), share.target());
            judge.given(share.id(), share.assigned());
            judge.withheld(share.id(), share.withheld());
        }
        judge.complete();
        if proven.balance {
            judge.most_even();
        }
        let written = |share| AssignmentWriter::new(share).write(0).expect("shorter than a message can be");
        let shares = assignment.members().map(|share| (share.id().to_owned(), written(share.assigned())));
        Outcome { shares: shares.collect(), withheld: judge.withheld.len() }
    }

    fn exists(&self, topic: &str, partition: i32) -> bool {
        let partitions =
            self.topics.iter().find(|existing| existing.name == topic).map(|topic| topic.partitions);
        u32::try_from(partition).is_ok_and(|partition| Some(partition) < partitions)
    }

    /// The generation of something said, as far as it can be true.
    fn plausible(&self, generation: Option<i32>) -> i32 {
        let told = generation.filter(|generation| self.forming < 0 || *generation < self.forming);
        told.map_or(-1, |generation| generation.max(-1))
    }
}

fn described<'a>(
    heard: &'a Heard,
    subscription: &'a Subscription<'_>,
    said: &'a MemberClaims<'_>,
) -> Member<'a> {
    let mut member = Member::new(&heard.id).subscribe(subscription.topics());
    if let Some(instance_id) = &heard.instance_id {
        member = member.instance_id(instance_id);
    }
    if let Some(rack) = subscription.rack() {
        member = member.rack(rack);
    }
    for (topic, partitions) in said.claims() {
        member.add_claim(topic, partitions, said.claims_generation());
    }
    for (topic, partitions) in said.holds() {
        member.add_hold(topic, partitions, said.holds_generation());
    }
    member
}

/// The partitions of an assignment's bytes.
pub(crate) fn partitions_of(assignment: &[u8]) -> BTreeSet<Partition> {
    let assignment = Assignment::read(assignment).expect("what was just written can be read");
    let pairs = assignment.assigned_partitions().pairs();
    let partitions: BTreeSet<Partition> =
        pairs.map(|(topic, partition)| (topic.to_owned(), partition)).collect();
    assert_eq!(partitions.len(), assignment.assigned_partitions().pairs().count(), "none is given twice");
    partitions
}

/// What must hold of any assignment, from what members said and nothing else.
struct Judge<'r> {
    round: &'r Round,
    subscriptions: BTreeMap<&'r str, BTreeSet<&'r str>>,
    /// Who holds each partition that exists, since when.
    holders: BTreeMap<(&'r str, i32), Vec<(&'r str, i32)>>,
    targets: BTreeMap<Partition, String>,
    given: BTreeSet<Partition>,
    withheld: BTreeSet<Partition>,
}

impl<'r> Judge<'r> {
    fn new(
        round: &'r Round,
        read: &'r [(&'r Heard, Subscription<'_>)],
        said: &'r [MemberClaims<'_>],
    ) -> Self {
        let subscriptions = read
            .iter()
            .map(|(heard, subscription)| (heard.id.as_str(), subscription.topics().iter().collect()))
            .collect();
        let mut holders: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for ((heard, _), said) in read.iter().zip(said) {
            let generation = round.plausible(said.holds_generation());
            for (topic, partition) in
                said.holds().pairs().filter(|(topic, number)| round.exists(topic, *number))
            {
                holders.entry((topic, partition)).or_default().push((heard.id.as_str(), generation));
            }
        }
        let (targets, given, withheld) = Default::default();
        Self { round, subscriptions, holders, targets, given, withheld }
    }

    fn target<'s>(&mut self, member: &str, share: impl Iterator<Item = (&'s str, &'s [i32])>) {
        for partition in pairs(share) {
            assert!(self.round.exists(&partition.0, partition.1), "{partition:?}\n{:#?}", self.round);
            assert!(
                self.subscriptions[member].contains(partition.0.as_str()),
                "{member} does not subscribe to {partition:?}\n{:#?}",
                self.round
            );
            let other = self.targets.insert(partition, member.to_owned());
            assert_eq!(other, None, "meant for {member} too\n{:#?}", self.round);
        }
    }

    fn given<'s>(&mut self, member: &str, share: impl Iterator<Item = (&'s str, &'s [i32])>) {
        for partition in pairs(share) {
            assert_eq!(self.targets.get(&partition).map(String::as_str), Some(member));
            assert!(
                self.may_have(member, &partition),
                "{partition:?} is held by another than {member}\n{:#?}",
                self.round
            );
            self.given.insert(partition);
        }
    }

    fn withheld<'s>(&mut self, member: &str, share: impl Iterator<Item = (&'s str, &'s [i32])>) {
        for partition in pairs(share) {
            assert_eq!(self.targets.get(&partition).map(String::as_str), Some(member));
            assert!(!self.may_have(member, &partition), "nobody else holds {partition:?}\n{:#?}", self.round);
            self.withheld.insert(partition);
        }
    }

    /// Nobody else holds it, or this member does since a later generation than everybody else.
    fn may_have(&self, member: &str, (topic, partition): &Partition) -> bool {
        let Some(holders) = self.holders.get(&(topic.as_str(), *partition)) else { return true };
        let latest = |own: bool| {
            let of = holders.iter().filter(|(holder, _)| (*holder == member) == own);
            of.map(|(_, generation)| *generation).max()
        };
        latest(false).is_none() || latest(true) > latest(false)
    }

    /// Everything that somebody subscribes to is given or withheld.
    fn complete(&self) {
        let wanted: BTreeSet<&str> = self.subscriptions.values().flatten().copied().collect();
        let topics = self.round.topics.iter().filter(|topic| wanted.contains(topic.name));
        let expected: u64 = topics.map(|topic| u64::from(topic.partitions)).sum();
        assert_eq!(self.targets.len() as u64, expected, "{:#?}", self.round);
        assert_eq!(self.given.len() + self.withheld.len(), self.targets.len(), "{:#?}", self.round);
        assert!(self.given.is_disjoint(&self.withheld));
    }

    /// No chain of hand-overs takes a partition from a member to one that has two or more fewer: then, and only then,
    /// the sum of squared loads is least.
    fn most_even(&self) {
        let mut has: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut loads: BTreeMap<&str, usize> = self.subscriptions.keys().map(|id| (*id, 0)).collect();
        for ((topic, _), member) in &self.targets {
            has.entry(member).or_default().insert(topic);
            *loads.get_mut(member.as_str()).expect("a member") += 1;
        }
        for (&giver, &load) in &loads {
            let mut reached = BTreeSet::from([giver]);
            let mut ahead = vec![giver];
            while let Some(member) = ahead.pop() {
                assert!(
                    loads[member] + 2 > load,
                    "{giver} has {load}, {member} could have one more\n{:#?}",
                    self.round
                );
                for topic in has.get(member).into_iter().flatten() {
                    let takers = self.subscriptions.iter().filter(|(_, topics)| topics.contains(topic));
                    ahead.extend(takers.map(|(taker, _)| *taker).filter(|taker| reached.insert(*taker)));
                }
            }
        }
    }
}

fn pairs<'s>(share: impl Iterator<Item = (&'s str, &'s [i32])>) -> impl Iterator<Item = Partition> {
    share.flat_map(|(topic, numbers)| numbers.iter().map(|number| (topic.to_owned(), *number)))
}
