//! Judges a group by what its members saw.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::history::{Name, Read, Record, Revocation};
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

/// Partitions that a member was given in a generation in which another had yet to give them up.
///
/// Those named in `cooperative` go on with what they have through a rebalance, so what such a member gives up in a
/// generation is its own to the end of it. The others give everything up before each.
pub fn given_while_held(record: &Record, cooperative: &BTreeSet<Name>) -> Vec<String> {
    let mut faults = Vec::new();
    for name in cooperative {
        let assignments = record.assignments.get(name).map_or(&[][..], Vec::as_slice);
        for revocation in record.revocations.get(name).into_iter().flatten() {
            // What it says next it says of the generation in which it gave them up. After the last, it left.
            let Some(told) = assignments.get(revocation.after) else { continue };
            for (other, assigned) in &record.assignments {
                let given = assigned.iter().filter(|assigned| assigned.generation == told.generation);
                for given in given.filter(|_| other != name) {
                    for (topic, number) in given.partitions.intersection(&revocation.partitions) {
                        faults.push(format!(
                            "{other} was given {topic}-{number} in generation {}, in which {name} gave it up",
                            told.generation
                        ));
                    }
                }
            }
        }
    }
    faults
}

/// Members other than those named in `cooperative` that gave up only a part of what they had.
pub fn eager_by_halves(record: &Record, cooperative: &BTreeSet<Name>) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, revocations) in record.revocations.iter().filter(|(name, _)| !cooperative.contains(*name)) {
        for Revocation { partitions, after } in revocations {
            // Two calls in a row: the second has nothing to give up.
            if partitions.is_empty() {
                continue;
            }
            let had = after.checked_sub(1).map(|last| &record.assignments[name][last].partitions);
            if had.is_some_and(|had| had != partitions) {
                faults.push(format!("{name} gave up {partitions:?}, and had {had:?}"));
            }
        }
    }
    faults
}

/// Messages that were read again although that cannot have been for want of a commit.
///
/// Who is given a partition begins where its group has committed, and that never goes back: so nobody begins before a place
/// at which somebody began in an earlier generation, and nobody reads a message twice in one generation. Those named in
/// `cooperative` begin only once with what they keep from one generation to the next.
pub fn read_again_for_no_reason(record: &Record, cooperative: &BTreeSet<Name>) -> Vec<String> {
    let mut faults = Vec::new();
    for ((topic, number), reads) in &record.reads {
        let mut spans = BTreeMap::<(i32, &Name), BTreeSet<i64>>::new();
        for Read { by, generation, offset } in reads {
            if !spans.entry((*generation, by)).or_default().insert(*offset) {
                faults.push(format!("{topic}-{number}: {by} read {offset} twice in generation {generation}"));
            }
        }
        let mut before: Option<(&Name, i64)> = None;
        let mut latest_begin = 0;
        for ((generation, by), offsets) in spans {
            let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else { continue };
            let goes_on = cooperative.contains(by) && before == Some((by, first - 1));
            if !goes_on && first < latest_begin {
                faults.push(format!(
                    "{topic}-{number}: {by} began at {first} in generation {generation}, and somebody at \
                     {latest_begin} before"
                ));
            }
            if !goes_on {
                latest_begin = first;
            }
            before = Some((by, last));
        }
    }
    faults
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
