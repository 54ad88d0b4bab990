//! Judges a group by what its members saw.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::history::{Name, Record};
use crate::optimum::{Cost, Question};
use crate::seen::{Assigned, Partition};

/// A generation in which every member was assigned and every partition had an owner.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The generation.
    pub generation: i32,
    /// What changed for each member.
    pub changes: BTreeMap<Name, Change>,
    /// What the assignment cost.
    pub cost: Cost,
    /// The least that one could have cost, given who had what.
    pub least: Cost,
    /// The member that computed it.
    pub leader: Option<Name>,
}

/// What a rebalance changed for one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Change {
    /// Partitions that it had and has.
    pub kept: usize,
    /// Partitions that it has and had not.
    pub gained: usize,
    /// Partitions that it had and has not.
    pub lost: usize,
}

impl Settled {
    /// The generation in which `members` share all that they subscribe to; `None` while they are not all in the same.
    pub fn of(record: &Record, members: &BTreeSet<Name>, topics: &BTreeMap<String, i32>) -> Option<Self> {
        let generation = record.common_generation(members)?;
        Self::in_generation(record, generation, topics, generation)
    }

    /// What `generation` came to, as those saw it who were assigned in it; `None` where they do not cover all that they
    /// subscribe to, as when one of them was assigned but has not said so yet.
    ///
    /// It is compared with what they had before the generation `before`: the same one where each rebalance stands by
    /// itself, the first of several where partitions change hands in steps.
    pub fn in_generation(
        record: &Record,
        generation: i32,
        topics: &BTreeMap<String, i32>,
        before: i32,
    ) -> Option<Self> {
        let assigned = record.in_generation(generation);
        if assigned.is_empty() {
            return None;
        }
        let assignment: BTreeMap<String, BTreeSet<Partition>> = assigned
            .iter()
            .map(|(name, assigned)| ((*name).to_owned(), assigned.partitions.clone()))
            .collect();
        let question = Question {
            subscriptions: assigned
                .iter()
                .map(|(name, assigned)| ((*name).to_owned(), assigned.subscription.clone()))
                .collect(),
            topics: topics.clone(),
            owners: owners(record, assigned.keys().copied(), before),
            ..Question::default()
        };
        // That two have the same is for `doubly_owned` to report, not to wait for.
        let covered: BTreeSet<Partition> = assignment.values().flatten().cloned().collect();
        if covered != question.partitions() {
            return None;
        }
        let change = |(name, assigned): (&&str, &&Assigned)| {
            let before = record.before(name, before).map(|before| &before.partitions);
            let kept = before.map_or(0, |before| before.intersection(&assigned.partitions).count());
            let gained = assigned.partitions.len() - kept;
            let lost = before.map_or(0, BTreeSet::len) - kept;
            ((*name).to_owned(), Change { kept, gained, lost })
        };
        Some(Self {
            generation,
            changes: assigned.iter().map(change).collect(),
            cost: question.cost(&assignment),
            least: question.optimum(),
            leader: assigned.iter().find(|(_, assigned)| assigned.leader).map(|(name, _)| (*name).to_owned()),
        })
    }

    /// Whether it was the most even and, among those, moved the least.
    pub fn is_optimal(&self) -> bool {
        self.cost == self.least
    }
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, Change { kept, gained, lost }) in &self.changes {
            let leads = if self.leader.as_ref() == Some(name) { "  leader" } else { "" };
            writeln!(f, "    {name:<10} kept {kept:>3}   gained {gained:>3}   lost {lost:>3}{leads}")?;
        }
        let verdict = if self.is_optimal() { "" } else { "   NOT OPTIMAL" };
        write!(
            f,
            "    moved {} of at least {}; sum of squared loads {}, at best {}{verdict}",
            self.cost.moves, self.least.moves, self.cost.sum_of_squares, self.least.sum_of_squares
        )
    }
}

/// Who had what before `generation`: of those who say they had a partition the one of the latest generation, and nobody
/// where two say so of the same.
fn owners<'r>(
    record: &Record,
    members: impl Iterator<Item = &'r str>,
    generation: i32,
) -> BTreeMap<Partition, String> {
    let mut latest: BTreeMap<Partition, (i32, Vec<&str>)> = BTreeMap::new();
    for name in members {
        let Some(before) = record.before(name, generation) else { continue };
        for partition in &before.partitions {
            let (of, claimants) = latest.entry(partition.clone()).or_insert((i32::MIN, Vec::new()));
            if before.generation > *of {
                (*of, *claimants) = (before.generation, Vec::new());
            }
            if before.generation == *of {
                claimants.push(name);
            }
        }
    }
    latest
        .into_iter()
        .filter_map(|(partition, (_, claimants))| match claimants[..] {
            [only] => Some((partition, only.to_owned())),
            _ => None,
        })
        .collect()
}

/// Partitions that two members had in one generation, by what the callbacks said or by messages read.
pub fn doubly_owned(record: &Record) -> Vec<String> {
    let mut owners: BTreeMap<(i32, &Partition), BTreeSet<&str>> = BTreeMap::new();
    for (name, assignments) in &record.assignments {
        for assigned in assignments {
            for partition in &assigned.partitions {
                owners.entry((assigned.generation, partition)).or_default().insert(name);
            }
        }
    }
    for (partition, reads) in &record.reads {
        for read in reads {
            owners.entry((read.generation, partition)).or_default().insert(&read.by);
        }
    }
    owners
        .into_iter()
        .filter(|(_, owners)| owners.len() > 1)
        .map(|((generation, (topic, partition)), owners)| {
            format!("{topic}-{partition} belonged to {owners:?} in generation {generation}")
        })
        .collect()
}

/// Messages read by a member that had not been given their partition in that generation.
pub fn read_without_owning(record: &Record) -> Vec<String> {
    let mut faults = Vec::new();
    for (partition, reads) in &record.reads {
        for read in reads {
            let owned = record.assignments.get(&read.by).is_some_and(|assignments| {
                assignments.iter().any(|assigned| {
                    assigned.generation == read.generation && assigned.partitions.contains(partition)
                })
            });
            if !owned {
                let (topic, number) = partition;
                let (by, generation) = (&read.by, read.generation);
                faults
                    .push(format!("{by} read {topic}-{number} in generation {generation} without owning it"));
            }
        }
    }
    faults
}

/// How many of the offsets `0..written` of each partition nobody read, and how many reads were repeats.
pub fn unread_and_repeated(record: &Record, written: &BTreeMap<Partition, i64>) -> (u64, u64) {
    let (mut unread, mut repeated) = (0, 0);
    for (partition, &count) in written {
        let reads = record.reads.get(partition).map_or(&[][..], Vec::as_slice);
        let distinct: BTreeSet<i64> =
            reads.iter().map(|read| read.offset).filter(|offset| *offset < count).collect();
        unread += count as u64 - distinct.len() as u64;
        repeated += (reads.len() - distinct.len()) as u64;
    }
    (unread, repeated)
}
