//! Which partitions a member gives up, where the objectives 1 to 4 leave that open: it gives up what it has most
//! of, and of a topic the last ones.

use super::network::Segment;
use crate::dense::{NOBODY, PartitionId, TopicId};

/// Chooses what members give up.
#[derive(Debug)]
pub(super) struct Releaser {
    /// Turns on with each partition, so that not everybody gives up the same topic.
    turn: usize,
    /// How many topics the member has at least this many partitions of.
    topics_with: Vec<usize>,
    /// The partitions at hand, by member.
    held: Vec<(TopicId, PartitionId)>,
    /// Per member: where its next partition goes; nobody's place between uses.
    place: Vec<u32>,
}

/// A member that gives something up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Giver {
    pub(super) member: u32,
    /// How many of the partitions at hand it has.
    pub(super) held: u32,
    /// How many of them it gives up.
    pub(super) surplus: u32,
}

impl Releaser {
    pub(super) fn new(members: usize) -> Self {
        Self { turn: 0, topics_with: Vec::new(), held: Vec::new(), place: vec![NOBODY; members] }
    }

    /// Takes their surplus away from these members.
    pub(super) fn release(&mut self, segments: &[Segment], givers: &mut [Giver], target: &mut [u32]) {
        if givers.is_empty() {
            return;
        }
        givers.sort_unstable_by_key(|giver| giver.member);
        let mut end = 0;
        for giver in &*givers {
            self.place[giver.member as usize] = end;
            end += giver.held;
        }
        let mut held = std::mem::take(&mut self.held);
        held.clear();
        held.resize(end as usize, (TopicId(0), PartitionId(0)));
        for segment in segments {
            for (id, &member) in (segment.start..).zip(&target[segment.range()]) {
                let Some(place) = self.place.get_mut(member as usize) else { continue };
                if *place != NOBODY {
                    held[*place as usize] = (segment.topic, PartitionId(id));
                    *place += 1;
                }
            }
        }
        let mut rest = &held[..];
        for giver in &*givers {
            let of_member;
            (of_member, rest) = rest.split_at(giver.held as usize);
            self.release_of_one(of_member, giver.surplus as usize, |id| target[id.index()] = NOBODY);
            self.place[giver.member as usize] = NOBODY;
        }
        self.held = held;
    }

    fn release_of_one(
        &mut self,
        held: &[(TopicId, PartitionId)],
        surplus: usize,
        mut act: impl FnMut(PartitionId),
    ) {
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
