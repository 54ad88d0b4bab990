//! Which partitions a member gives up, and who takes what is up for grabs, where the earlier
//! objectives leave that open: topics are to be spread evenly.

use crate::dense::{Group, NOBODY, PartitionId, TopicId};

/// Takes `surplus[m]` partitions away from each member `m`, where it has most of a topic first, and of a topic
/// the last ones.
pub(super) fn release(group: &Group, topics: &[u32], surplus: &[u32], target: &mut [u32]) {
    let partitions = || topics.iter().flat_map(|&topic| group.partitions_of(TopicId(topic)));
    let gives = |target: &[u32], partition: PartitionId| {
        let member = target[partition.index()];
        (member != NOBODY && surplus[member as usize] > 0).then_some(member as usize)
    };
    let mut end = vec![0_u32; surplus.len() + 1];
    for member in partitions().filter_map(|partition| gives(target, partition)) {
        end[member + 1] += 1;
    }
    for at in 0..surplus.len() {
        end[at + 1] += end[at];
    }
    let start = end.clone();
    let mut held = vec![(TopicId(0), PartitionId(0)); end[surplus.len()] as usize];
    for &topic in topics {
        for partition in group.partitions_of(TopicId(topic)) {
            if let Some(member) = gives(target, partition) {
                held[end[member] as usize] = (TopicId(topic), partition);
                end[member] += 1;
            }
        }
    }
    let mut releaser = Releaser::default();
    for member in 0..surplus.len() {
        let held = &held[start[member] as usize..start[member + 1] as usize];
        if !held.is_empty() {
            releaser.release(held, surplus[member] as usize, |partition| target[partition.index()] = NOBODY);
        }
    }
}

/// Chooses what a member gives up.
#[derive(Debug, Default)]
struct Releaser {
    /// Turns on with each partition, so that not everybody gives up the same topic.
    turn: usize,
    /// How many topics the member has at least this many partitions of.
    topics_with: Vec<usize>,
}

impl Releaser {
    /// `held` is sorted. Calls `act` for `surplus` of the partitions.
    fn release(&mut self, held: &[(TopicId, PartitionId)], surplus: usize, mut act: impl FnMut(PartitionId)) {
        let runs = || held.chunk_by(|a, b| a.0 == b.0);
        self.topics_with.clear();
        for run in runs() {
            if self.topics_with.len() < run.len() {
                self.topics_with.resize(run.len(), 0);
            }
            self.topics_with[run.len() - 1] += 1;
        }
        for at in (1..self.topics_with.len()).rev() {
            self.topics_with[at - 1] += self.topics_with[at];
        }
        // Everything above `level` partitions of a topic goes, and of some topics one more.
        let mut level = self.topics_with.len();
        let mut left = surplus;
        while level > 0 && self.topics_with[level - 1] <= left {
            left -= self.topics_with[level - 1];
            level -= 1;
        }
        let candidates = if level == 0 { 0 } else { self.topics_with[level - 1] };
        let first = if candidates == 0 { 0 } else { self.turn % candidates };
        self.turn += left;
        let mut candidate = 0;
        for run in runs() {
            let mut keep = run.len().min(level);
            if level > 0 && run.len() >= level {
                let behind_first = (candidate + candidates - first) % candidates;
                keep -= usize::from(behind_first < left);
                candidate += 1;
            }
            run[keep..].iter().for_each(|&(_, partition)| act(partition));
        }
    }
}

/// Deals partitions to the members that still want some, in turn.
#[derive(Debug)]
pub(super) struct Dealer<'d> {
    /// What each member still wants.
    deficit: &'d mut [u32],
    /// The members that want some, and which comes next in the circle.
    open: Vec<u32>,
    next: usize,
    /// How many of the topic at hand each member has.
    count: Vec<u32>,
}

/// How many members are looked at for one that has less of the topic.
const WINDOW: usize = 32;

impl<'d> Dealer<'d> {
    pub(super) fn new(members: &[u32], deficit: &'d mut [u32]) -> Self {
        let open = members.iter().copied().filter(|&member| deficit[member as usize] > 0).collect();
        let count = vec![0; deficit.len()];
        Self { deficit, open, next: 0, count }
    }

    /// Deals those of a topic's partitions that are nobody's.
    pub(super) fn deal(&mut self, topic: impl Iterator<Item = PartitionId> + Clone, target: &mut [u32]) {
        if topic.clone().all(|partition| target[partition.index()] != NOBODY) {
            return;
        }
        for partition in topic.clone() {
            if let Some(count) = self.count.get_mut(target[partition.index()] as usize) {
                *count += 1;
            }
        }
        let mut level = 0;
        for partition in topic.clone() {
            if target[partition.index()] == NOBODY {
                target[partition.index()] = self.take(&mut level);
            }
        }
        for partition in topic {
            if let Some(count) = self.count.get_mut(target[partition.index()] as usize) {
                *count = 0;
            }
        }
    }

    /// The next member that has at most `level` of the topic; raises the level where there is none near.
    fn take(&mut self, level: &mut u32) -> u32 {
        let mut best = self.next;
        for ahead in 0..WINDOW.min(self.open.len()) {
            let at = (self.next + ahead) % self.open.len();
            let count = self.count[self.open[at] as usize];
            if count < self.count[self.open[best] as usize] {
                best = at;
            }
            if count <= *level {
                best = at;
                break;
            }
        }
        let member = self.open[best];
        *level = (*level).max(self.count[member as usize]);
        self.count[member as usize] += 1;
        self.deficit[member as usize] -= 1;
        self.next = best + 1;
        if self.deficit[member as usize] == 0 {
            self.open.remove(best);
            self.next = best;
        }
        if self.next >= self.open.len() {
            self.next = 0;
        }
        member
    }
}
