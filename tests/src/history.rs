//! What all members of a group saw, in the order in which it was reported.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::seen::{Assigned, Led, Partition, Seen};

/// Members are known by names that outlast their processes and member ids.
pub type Name = String;

/// The history of one group, written by its members and read by its judge.
#[derive(Debug, Default)]
pub struct History {
    record: Mutex<Record>,
    changed: Notify,
}

/// What a history has come to.
#[derive(Debug, Default, Clone)]
pub struct Record {
    /// Every assignment of every member, oldest first.
    pub assignments: BTreeMap<Name, Vec<Assigned>>,
    /// The offsets read of each partition, by whom and in which generation.
    pub reads: BTreeMap<Partition, Vec<Read>>,
    /// Every assignment that somebody computed, oldest first.
    pub led: Vec<(Name, Led)>,
    /// Those who learned that what they had was no longer theirs.
    pub losers: BTreeSet<Name>,
    /// What members gave up, oldest first.
    pub revocations: BTreeMap<Name, Vec<Revocation>>,
    /// What the adapter told applications of, by member.
    pub told: Vec<(Name, String)>,
    /// What went wrong, by member.
    pub failures: Vec<(Name, String)>,
    /// Partitions that a member was given before another was done with them.
    pub overlaps: Vec<String>,
    /// Who has what at this moment.
    holders: BTreeMap<Partition, Name>,
}

/// Partitions that a member gave up because it was told to, not because it had lost them.
#[derive(Debug, Clone)]
pub struct Revocation {
    /// Which.
    pub partitions: BTreeSet<Partition>,
    /// How many assignments it had reported before.
    pub after: usize,
}

/// A message that a member read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Who read it.
    pub by: Name,
    /// In which generation.
    pub generation: i32,
    /// Its offset.
    pub offset: i64,
}

impl History {
    /// Adds what a member saw.
    pub fn add(&self, name: &str, seen: Seen) {
        let mut record = self.record.lock().expect("a writer panicked");
        match seen {
            Seen::Assigned(assigned) => {
                record.take(name, &assigned);
                record.assignments.entry(name.to_owned()).or_default().push(assigned);
            }
            Seen::Revoked(gone) => {
                record.let_go(name, &gone);
                let after = record.assignments.get(name).map_or(0, Vec::len);
                let revocation = Revocation { partitions: gone, after };
                record.revocations.entry(name.to_owned()).or_default().push(revocation);
            }
            Seen::Lost(gone) => {
                record.let_go(name, &gone);
                record.losers.insert(name.to_owned());
            }
            Seen::Led(led) => record.led.push((name.to_owned(), led)),
            Seen::Read { topic, partition, offset, generation } => {
                let read = Read { by: name.to_owned(), generation, offset };
                record.reads.entry((topic, partition)).or_default().push(read);
            }
            Seen::Told(what) => record.told.push((name.to_owned(), what)),
            Seen::Failed(reason) => record.failures.push((name.to_owned(), reason)),
        }
        drop(record);
        self.changed.notify_waiters();
    }

    /// Notes that a member will say nothing more, and has nothing.
    pub fn gone(&self, name: &str) {
        self.record.lock().expect("a writer panicked").forget(name);
    }

    /// A copy of all that is known now.
    pub fn record(&self) -> Record {
        self.record.lock().expect("a writer panicked").clone()
    }

    /// Waits until `ready` gives something.
    ///
    /// # Errors
    ///
    /// After `patience`, what `what` is and how far the group had come.
    pub async fn wait<T>(
        self: &Arc<Self>,
        what: &str,
        patience: Duration,
        mut ready: impl FnMut(&Record) -> Option<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + patience;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if let Some(value) = ready(&self.record.lock().expect("a writer panicked")) {
                return Ok(value);
            }
            if timeout_at(deadline, changed).await.is_err() {
                bail!("after {patience:?} still no {what}; {}", self.record().outline());
            }
        }
    }
}

impl Record {
    fn take(&mut self, name: &str, assigned: &Assigned) {
        for partition in &assigned.partitions {
            let before = self.holders.insert(partition.clone(), name.to_owned());
            if let Some(other) = before.filter(|other| other != name) {
                let ((topic, number), generation) = (partition, assigned.generation);
                self.overlaps.push(format!(
                    "{name} has {topic}-{number} in generation {generation}, and {other} still"
                ));
            }
        }
    }

    fn let_go(&mut self, name: &str, gone: &BTreeSet<Partition>) {
        self.holders.retain(|partition, by| by != name || !gone.contains(partition));
    }

    /// A member is gone without a word.
    fn forget(&mut self, name: &str) {
        self.holders.retain(|_, by| by != name);
    }

    /// As if the processes that `members` names had been one member each, by its name there.
    pub fn as_members(&self, members: &BTreeMap<Name, Name>) -> Self {
        let mut record = self.clone();
        for (process, member) in members {
            let assigned = record.assignments.remove(process).unwrap_or_default();
            record.assignments.entry(member.clone()).or_default().extend(assigned);
        }
        for read in record.reads.values_mut().flatten() {
            if let Some(member) = members.get(&read.by) {
                read.by.clone_from(member);
            }
        }
        record
    }

    /// The generation of the last assignment of each of `names`, if they all have the same one.
    pub fn common_generation(&self, names: &BTreeSet<Name>) -> Option<i32> {
        let mut generations = names.iter().map(|name| Some(self.assignments.get(name)?.last()?.generation));
        let first = generations.next()??;
        generations.all(|generation| generation == Some(first)).then_some(first)
    }

    /// Who was assigned what in `generation`.
    pub fn in_generation(&self, generation: i32) -> BTreeMap<&str, &Assigned> {
        let assigned_then = |(name, all)| {
            let all: &Vec<Assigned> = all;
            let name: &Name = name;
            Some((name.as_str(), all.iter().rev().find(|assigned| assigned.generation == generation)?))
        };
        self.assignments.iter().filter_map(assigned_then).collect()
    }

    /// What `name` was last given before `generation`.
    pub fn before(&self, name: &str, generation: i32) -> Option<&Assigned> {
        self.assignments.get(name)?.iter().rev().find(|assigned| assigned.generation < generation)
    }

    /// Where every member stands, in a line.
    pub fn outline(&self) -> String {
        let members: Vec<String> = self
            .assignments
            .iter()
            .filter_map(|(name, all)| {
                let last = all.last()?;
                Some(format!("{name}: {} in generation {}", last.partitions.len(), last.generation))
            })
            .collect();
        let failures: Vec<String> =
            self.failures.iter().rev().take(3).map(|(name, reason)| format!("{name}: {reason}")).collect();
        format!("assigned last: [{}]; last failures: [{}]", members.join(", "), failures.join(", "))
    }
}
