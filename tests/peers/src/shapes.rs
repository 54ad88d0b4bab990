//! The groups that are timed, each the same every time.

use std::collections::HashMap;
use std::fmt;

use anyhow::Result;
use kafka_sticky_protocol::Strategy;

use crate::groups::{Claims, Group, Member, Topic};
use crate::leader::Joined;
use crate::random::Random;

/// Who subscribes to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Subscriptions {
    /// Everybody to everything.
    Identical,
    /// The same, but the last member to the first topic alone.
    OneOdd,
    /// A quarter of the members to the first half of the topics, the others to the second (KAFKA-15106).
    Halves,
    /// Five disjoint buckets of topics, and each member to one of them.
    Buckets,
    /// Each member to each topic with this chance in a hundred, and to one at least.
    Random(usize),
}

/// The group and how it got its claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Nobody has anything.
    Fresh,
    /// Everybody has what it was given, and one member is gone.
    Leaves,
    /// Everybody has what it was given, and one member is new.
    Joins,
    /// Everybody has what it was given, and the first topic has twice as many partitions.
    Grows,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) topics: u32,
    pub(crate) sizes: Sizes,
    pub(crate) members: u32,
    pub(crate) subscriptions: Subscriptions,
    /// On three racks, each partition on this many of them.
    pub(crate) replicas: Option<u32>,
}

/// How many partitions the topics have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sizes {
    Each(u32),
    /// Any number below this one.
    Below(u32),
}

const RACKS: u32 = 3;
/// The generation in which everybody was given what it claims.
const LAST_GENERATION: i32 = 41;

impl Step {
    pub(crate) const ALL: [Self; 4] = [Self::Fresh, Self::Leaves, Self::Joins, Self::Grows];
    /// Those of which figures of other clients are known from elsewhere.
    pub(crate) const USUAL: [Self; 3] = [Self::Fresh, Self::Leaves, Self::Joins];
}

impl Shape {
    pub(crate) const fn new(
        topics: u32,
        partitions_each: u32,
        members: u32,
        subscriptions: Subscriptions,
    ) -> Self {
        Self { topics, sizes: Sizes::Each(partitions_each), members, subscriptions, replicas: None }
    }

    pub(crate) const fn with_racks(self, replicas: u32) -> Self {
        Self { replicas: Some(replicas), ..self }
    }

    /// About how many partitions there are.
    pub(crate) fn partitions(&self) -> u32 {
        match self.sizes {
            Sizes::Each(each) => self.topics * each,
            Sizes::Below(bound) => self.topics * (bound / 2),
        }
    }

    /// How much an assignor that compares every member with every partition has to do.
    pub(crate) fn size(&self) -> u64 {
        u64::from(self.partitions()) * u64::from(self.members)
    }

    /// The groups of these steps, in their order.
    pub(crate) fn groups(&self, steps: &[Step]) -> Result<Vec<Group>> {
        let mut maker = Maker::new(self);
        let fresh = maker.fresh();
        let mut settled = None;
        let mut groups = Vec::new();
        for step in steps {
            if *step == Step::Fresh {
                groups.push(fresh.clone());
                continue;
            }
            let had = match &settled {
                Some(settled) => settled,
                None => settled.insert(settle(&fresh)?),
            };
            let mut group = had.clone();
            maker.change(&mut group, *step);
            groups.push(group);
        }
        Ok(groups)
    }
}

/// The group after everybody took what our leader gives it.
pub(crate) fn settle(group: &Group) -> Result<Group> {
    let shares = Joined::of(group, Strategy::Sticky)?.shares()?;
    let mut settled = group.clone();
    for (member, partitions) in settled.members.iter_mut().zip(shares) {
        member.claims = Claims { generation: group.generation, partitions };
    }
    settled.generation = group.generation + 1;
    Ok(settled)
}

struct Maker<'s> {
    shape: &'s Shape,
    random: Random,
    /// The distinct subscriptions, and where they stand in the group.
    known: HashMap<Vec<u32>, u32>,
}

impl<'s> Maker<'s> {
    fn new(shape: &'s Shape) -> Self {
        Self { shape, random: Random(7), known: HashMap::new() }
    }

    fn fresh(&mut self) -> Group {
        let mut group = Group { generation: LAST_GENERATION, ..Group::default() };
        if self.shape.replicas.is_some() {
            group.racks = (0..RACKS).map(|rack| format!("rack-{rack}")).collect();
        }
        group.topics = (0..self.shape.topics).map(|number| self.topic(number)).collect();
        for number in 0..self.shape.members {
            self.join(&mut group, number);
        }
        group
    }

    fn topic(&mut self, number: u32) -> Topic {
        let partitions = match self.shape.sizes {
            Sizes::Each(each) => each,
            Sizes::Below(bound) => self.random.below(bound as usize) as u32,
        };
        let replicas = self.shape.replicas.unwrap_or(0);
        Topic {
            name: format!("topic-{number:04}"),
            partitions,
            replicas,
            racks: racks(number, partitions, replicas),
        }
    }

    fn join(&mut self, group: &mut Group, number: u32) {
        let topics = self.subscription(number);
        let next = self.known.len() as u32;
        let subscription = *self.known.entry(topics).or_insert_with_key(|topics| {
            group.subscriptions.push(topics.clone());
            next
        });
        // As the broker makes them: the client id and a UUID.
        let (high, low) = (self.random.next(), self.random.next());
        let uuid = format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) as u16,
            high as u16,
            (low >> 48) as u16,
            low & 0xffff_ffff_ffff
        );
        group.members.push(Member {
            id: format!("consumer-{number:05}-{uuid}"),
            subscription,
            rack: self.shape.replicas.map(|_| number % RACKS),
            claims: Claims::NONE,
        });
    }

    fn subscription(&mut self, number: u32) -> Vec<u32> {
        let topics = self.shape.topics;
        match self.shape.subscriptions {
            Subscriptions::Identical => (0..topics).collect(),
            // A member that joins later is not the odd one.
            Subscriptions::OneOdd if number + 1 == self.shape.members => vec![0],
            Subscriptions::OneOdd => (0..topics).collect(),
            Subscriptions::Halves if number.is_multiple_of(4) => (0..topics / 2).collect(),
            Subscriptions::Halves => (topics / 2..topics).collect(),
            Subscriptions::Buckets => (number % 5..topics).step_by(5).collect(),
            Subscriptions::Random(chance) => {
                let chosen: Vec<u32> = (0..topics).filter(|_| self.random.percent(chance)).collect();
                if chosen.is_empty() { vec![self.random.below(topics as usize) as u32] } else { chosen }
            }
        }
    }

    fn change(&mut self, group: &mut Group, step: Step) {
        match step {
            Step::Fresh => {}
            Step::Leaves => {
                group.members.remove(self.shape.members as usize / 2);
            }
            Step::Joins => self.join(group, self.shape.members),
            Step::Grows => {
                let first = &mut group.topics[0];
                first.partitions *= 2;
                first.racks = racks(0, first.partitions, first.replicas);
            }
        }
    }
}

/// Each partition on racks next to each other, from another one on for each.
fn racks(topic: u32, partitions: u32, replicas: u32) -> Vec<u32> {
    let of = |number| (0..replicas).map(move |replica| (topic + number + replica) % RACKS);
    (0..partitions).flat_map(of).collect()
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { topics, members, .. } = self;
        match self.sizes {
            Sizes::Each(each) => write!(f, "{} x {members}, {topics} topics", topics * each)?,
            Sizes::Below(bound) => write!(f, "{topics} topics below {bound} x {members}")?,
        }
        match self.subscriptions {
            Subscriptions::Identical => f.write_str(", identical")?,
            Subscriptions::OneOdd => f.write_str(", one odd")?,
            Subscriptions::Halves => f.write_str(", halves")?,
            Subscriptions::Buckets => f.write_str(", buckets")?,
            Subscriptions::Random(chance) => write!(f, ", p = 0.{}", chance / 10)?,
        }
        match self.replicas {
            Some(replicas) => write!(f, ", racks rf {replicas}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fresh => "fresh",
            Self::Leaves => "one leaves",
            Self::Joins => "one joins",
            Self::Grows => "a topic grows",
        })
    }
}
