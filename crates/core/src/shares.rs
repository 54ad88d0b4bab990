//! From a member for each partition to partitions for each member.

use crate::dense::{Group, MemberId, NOBODY, TopicId};

/// Partition numbers by member and topic.
#[derive(Debug, Clone)]
pub(crate) struct Shares {
    /// Member by member, for each of its topics in order: the topic, negative as [`heading`] writes it, and the
    /// numbers of its partitions.
    words: Vec<i32>,
    /// Where the words of each member are.
    bounds: Vec<(usize, usize)>,
}

impl Shares {
    /// `target` is the member of each partition, or nobody. `loads` says how many partitions of each member there
    /// are, or more; it gets room for them, in as many topics as there may be.
    pub(crate) fn of(group: &Group, target: &[u32], loads: &[u32]) -> Self {
        let topics = group.topic_count() as u32;
        // Per member, the topic at hand and where its next word goes.
        let mut cursors: Vec<(u32, usize)> = Vec::with_capacity(loads.len());
        let mut room = 0;
        for &load in loads {
            cursors.push((u32::MAX, room));
            room += load as usize + load.min(topics) as usize;
        }
        let mut bounds: Vec<(usize, usize)> = cursors.iter().map(|&(_, start)| (start, start)).collect();
        let mut words = vec![0; room];
        for (topic, ids) in (0..).zip(group.topic_starts().windows(2)) {
            let members = &target[ids[0] as usize..ids[1] as usize];
            for (number, &member) in (0..).zip(members).filter(|(_, member)| **member != NOBODY) {
                let (last, next) = &mut cursors[member as usize];
                if *last != topic {
                    *last = topic;
                    words[*next] = heading(topic);
                    *next += 1;
                }
                words[*next] = number;
                *next += 1;
            }
        }
        for ((_, end), (_, next)) in bounds.iter_mut().zip(cursors) {
            *end = next;
        }
        Self { words, bounds }
    }

    /// The topics of a member, in order, and the numbers of its partitions of each.
    pub(crate) fn of_member(&self, member: MemberId) -> impl Iterator<Item = (TopicId, &[i32])> {
        let (start, end) = self.bounds[member.index()];
        let mut words = &self.words[start..end];
        std::iter::from_fn(move || {
            let (&topic, rest) = words.split_first()?;
            let count = rest.iter().position(|word| is_heading(*word)).unwrap_or(rest.len());
            let (numbers, rest) = rest.split_at(count);
            words = rest;
            Some((TopicId(heading(topic as u32) as u32), numbers))
        })
    }
}

/// A topic as a negative number, and back again.
const fn heading(topic: u32) -> i32 {
    !(topic as i32)
}

const fn is_heading(word: i32) -> bool {
    word < 0
}
