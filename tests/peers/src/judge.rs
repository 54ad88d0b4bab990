//! What an answer is worth.
//!
//! Whether it is valid at all is for [`kafka_sticky_core::verify`] to say; the rest is counted here, from the claims and
//! the answer alone.

use anyhow::{Result, bail, ensure};
use kafka_sticky_core::dense::{GroupBuilder, MemberId, Target};
use kafka_sticky_core::{Certificate, verify};

use crate::groups::{Claims, Group, Share};

/// An answer in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Worth {
    /// Σ load².
    pub(crate) sum_of_squares: u64,
    /// Σ over topics and members of count².
    pub(crate) topic_sum_of_squares: u64,
    /// How many partitions a member with a rack has without a replica there. No racks, no mismatches.
    pub(crate) mismatches: u64,
    /// How many partitions are taken from their owner.
    pub(crate) moves: u64,
}

impl Worth {
    /// What is to be least, in this order.
    pub(crate) fn objectives(&self) -> (u64, u64, u64) {
        (self.sum_of_squares, self.mismatches, self.moves)
    }
}

/// Counts what an answer is worth.
///
/// # Errors
/// Where the answer is not one member that subscribes to it for each partition that somebody subscribes to.
pub(crate) fn worth(group: &Group, shares: &[Share]) -> Result<Worth> {
    let placed = Placed::of(group, shares)?;
    check(group, &placed)?;
    Ok(placed.worth(group))
}

/// How many partitions are given to nobody because their owner has them still.
///
/// # Errors
/// Where a partition is given to nobody and has no owner to wait for.
pub(crate) fn withheld(group: &Group, shares: &[Share]) -> Result<usize> {
    let placed = Placed::of(group, shares)?;
    let owners = owners(group);
    let subscribed = subscribed(group);
    let mut withheld = 0;
    for (topic, start) in starts(group).into_iter().enumerate() {
        for number in 0..group.topics[topic].partitions as usize {
            if placed.members[start + number].is_some() || !subscribed[topic] {
                continue;
            }
            ensure!(
                owners[start + number].is_some(),
                "{}-{number} is given to nobody and has no owner",
                group.topics[topic].name
            );
            withheld += 1;
        }
    }
    Ok(withheld)
}

/// The group after everybody took its share.
pub(crate) fn after(group: &Group, shares: &[Share]) -> Group {
    let mut after = group.clone();
    for (member, share) in after.members.iter_mut().zip(shares) {
        member.claims = Claims { generation: group.generation, partitions: share.clone() };
    }
    after.generation += 1;
    after
}

/// The member of each partition, and how many of each topic each member has.
struct Placed {
    members: Vec<Option<u32>>,
    loads: Vec<u64>,
    topic_sum_of_squares: u64,
}

impl Placed {
    fn of(group: &Group, shares: &[Share]) -> Result<Self> {
        ensure!(
            shares.len() == group.members.len(),
            "{} shares for {} members",
            shares.len(),
            group.members.len()
        );
        let starts = starts(group);
        let mut placed = Self {
            members: vec![None; group.partition_count()],
            loads: vec![0; shares.len()],
            topic_sum_of_squares: 0,
        };
        for (at, share) in shares.iter().enumerate() {
            for (topic, numbers) in share {
                let Some(described) = group.topics.get(*topic as usize) else {
                    bail!("there is no topic {topic}")
                };
                placed.loads[at] += numbers.len() as u64;
                placed.topic_sum_of_squares += (numbers.len() as u64).pow(2);
                for number in numbers {
                    let name = format_args!("{}-{number}", described.name);
                    ensure!((0..described.partitions as i32).contains(number), "there is no {name}");
                    let place = &mut placed.members[starts[*topic as usize] + *number as usize];
                    ensure!(place.is_none(), "{name} is given to two members");
                    *place = Some(at as u32);
                }
            }
        }
        Ok(placed)
    }

    fn worth(&self, group: &Group) -> Worth {
        let owners = owners(group);
        let taken = |(owner, member): &(&Option<u32>, &Option<u32>)| owner.is_some() && owner != member;
        Worth {
            sum_of_squares: self.loads.iter().map(|load| load * load).sum(),
            topic_sum_of_squares: self.topic_sum_of_squares,
            mismatches: self.mismatches(group),
            moves: owners.iter().zip(&self.members).filter(taken).count() as u64,
        }
    }

    fn mismatches(&self, group: &Group) -> u64 {
        let mut mismatches = 0;
        for (topic, start) in group.topics.iter().zip(starts(group)) {
            if topic.replicas == 0 {
                continue;
            }
            for (racks, member) in topic.racks.chunks(topic.replicas as usize).zip(&self.members[start..]) {
                let rack = member.and_then(|member| group.members[member as usize].rack);
                mismatches += u64::from(rack.is_some_and(|rack| !racks.contains(&rack)));
            }
        }
        mismatches
    }
}

fn check(group: &Group, placed: &Placed) -> Result<()> {
    let mut builder = GroupBuilder::new();
    let topics: Vec<_> = group.topics.iter().map(|topic| builder.topic(topic.partitions)).collect();
    let subscriptions: Vec<_> = group
        .subscriptions
        .iter()
        .map(|subscription| builder.subscription(subscription.iter().map(|topic| topics[*topic as usize])))
        .collect();
    for member in &group.members {
        builder.member(subscriptions[member.subscription as usize]);
    }
    let target = Target::from_members(placed.members.iter().map(|member| member.map(MemberId)));
    // Whether it is also optimal is not asked, so any certificate will do.
    let certificate = Certificate::new(vec![[0; 4]; group.members.len()]);
    verify(&builder.build(), &target, &certificate)?;
    Ok(())
}

/// Who had each partition: the only claimant of the latest generation that has one, if it subscribes to it still.
fn owners(group: &Group) -> Vec<Option<u32>> {
    let starts = starts(group);
    let mut latest: Vec<(i32, Option<u32>)> = vec![(i32::MIN, None); group.partition_count()];
    for (at, member) in (0..).zip(&group.members) {
        let subscription = group.topics_of(member);
        for (topic, numbers) in &member.claims.partitions {
            let partitions = group.topics[*topic as usize].partitions as i32;
            if subscription.binary_search(topic).is_err() {
                continue;
            }
            for number in numbers.iter().filter(|number| (0..partitions).contains(number)) {
                let (generation, owner) = &mut latest[starts[*topic as usize] + *number as usize];
                if member.claims.generation > *generation {
                    (*generation, *owner) = (member.claims.generation, Some(at));
                } else if member.claims.generation == *generation {
                    *owner = None;
                }
            }
        }
    }
    latest.into_iter().map(|(_, owner)| owner).collect()
}

fn subscribed(group: &Group) -> Vec<bool> {
    let mut subscribed = vec![false; group.topics.len()];
    for member in &group.members {
        for topic in group.topics_of(member) {
            subscribed[*topic as usize] = true;
        }
    }
    subscribed
}

/// Where each topic's partitions start among all.
fn starts(group: &Group) -> Vec<usize> {
    let mut next = 0;
    let start = |topic: &crate::groups::Topic| {
        let start = next;
        next += topic.partitions as usize;
        start
    };
    group.topics.iter().map(start).collect()
}
