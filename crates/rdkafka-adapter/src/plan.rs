//! What a leader answers, and what makes an answer valid.

use std::collections::HashMap;
use std::sync::Arc;

use kafka_sticky_core::{Assignment, Group, Reason, Report};

use crate::membership::Change;
use crate::round::{Gone, Listing, Round};

/// Who gets what, in the indices of a [`Round`], and what each member is told with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    shares: Vec<Share>,
    pub(crate) report: Option<Report>,
    /// Where there is a report.
    pub(crate) changes: Vec<Change>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Share {
    /// Topic and partition number, in the order given.
    partitions: Vec<(usize, u32)>,
    user_data: Option<Vec<u8>>,
}

/// Why a plan cannot be handed out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan was made for another round.
    #[error("the plan has shares for {planned} members, the round has {members}")]
    Members {
        /// Shares of the plan.
        planned: usize,
        /// Members of the round.
        members: usize,
    },
    /// There is no such topic or partition.
    #[error("member {member} was given partition {partition} of topic number {topic}, which does not exist")]
    NoSuchPartition {
        /// The member's id.
        member: String,
        /// The topic's index.
        topic: usize,
        /// The partition number.
        partition: u32,
    },
    /// A member was given what it does not subscribe to.
    #[error("member {member} was given {topic}-{partition}, but does not subscribe to {topic}")]
    NotSubscribed {
        /// The member's id.
        member: String,
        /// The topic's name.
        topic: String,
        /// The partition number.
        partition: u32,
    },
    /// A partition was given twice.
    #[error("{topic}-{partition} was given to {first} and to {second}")]
    GivenTwice {
        /// The topic's name.
        topic: String,
        /// The partition number.
        partition: u32,
        /// The id of one.
        first: String,
        /// The id of the other.
        second: String,
    },
    /// A partition that somebody subscribes to, and that nobody holds, was given to nobody.
    #[error("{topic}-{partition} was given to nobody: its messages would not be read")]
    Forgotten {
        /// The topic's name.
        topic: String,
        /// The partition number.
        partition: u32,
    },
}

impl Plan {
    /// A plan for this round that gives nothing to anybody yet.
    pub fn new(round: &Round<'_>) -> Self {
        Self { shares: vec![Share::default(); round.members.len()], report: None, changes: Vec::new() }
    }

    /// What `kafka-sticky-core` assigned for [`Round::group`] of this round, without what it withholds, and what changes
    /// hands by that. Linear in the size of the round, but for sorting what members had that are gone.
    pub fn from_core<'r>(round: &'r Round<'_>, group: &Group<'r>, assignment: &Assignment<'r>) -> Self {
        let mut plan = Self::new(round);
        let topics = topic_indices(round);
        for (share, member) in plan.shares.iter_mut().zip(&round.members) {
            let Some(assigned) = assignment.member(member.id) else { continue };
            for (topic, partitions) in assigned.assigned() {
                let Some(&index) = topics.get(topic) else { continue };
                share.partitions.extend(partitions.iter().map(|partition| (index, partition.unsigned_abs())));
            }
        }
        plan.report = Some(*assignment.report());
        if assignment.report().owned > 0 || !round.gone.is_empty() {
            plan.changes = changes(round, group, assignment);
        }
        plan
    }

    /// Gives a partition to a member.
    ///
    /// # Panics
    ///
    /// If the round has no such member. A topic or partition that there is not makes the plan invalid instead.
    pub fn give(&mut self, member: usize, topic: usize, partition: u32) {
        self.shares[member].partitions.push((topic, partition));
    }

    /// Sends user data to a member with its assignment; null without it.
    ///
    /// # Panics
    ///
    /// If the round has no such member.
    pub fn tell(&mut self, member: usize, user_data: Vec<u8>) {
        self.shares[member].user_data = Some(user_data);
    }

    /// What a member is given: topics by their index, and partition numbers.
    ///
    /// # Panics
    ///
    /// If the round has no such member.
    pub fn given(&self, member: usize) -> impl ExactSizeIterator<Item = (usize, u32)> + '_ {
        self.shares[member].partitions.iter().copied()
    }

    pub(crate) fn told(&self, member: usize) -> Option<&[u8]> {
        self.shares[member].user_data.as_deref()
    }

    /// Checks that every partition with a subscriber goes to one member, which subscribes to it; one that is held may go
    /// to nobody for now. Linear in the size of the round.
    ///
    /// # Errors
    ///
    /// What is wrong first.
    pub fn check(&self, round: &Round<'_>) -> Result<(), PlanError> {
        if self.shares.len() != round.members.len() {
            return Err(PlanError::Members { planned: self.shares.len(), members: round.members.len() });
        }
        let topics = topic_indices(round);
        let id = |member: usize| round.members[member].id.to_owned();
        let name = |topic: usize| round.topics[topic].name.to_owned();
        // The last member found to subscribe to a topic, by topic.
        let mut subscriber: Vec<Option<usize>> = vec![None; round.topics.len()];
        let mut owner = PerPartition::<Option<usize>>::new(round);
        for (member, share) in self.shares.iter().enumerate() {
            for topic in round.members[member].subscription.iter().filter_map(|name| topics.get(name)) {
                subscriber[*topic] = Some(member);
            }
            for &(topic, partition) in &share.partitions {
                let Some(before) = owner.at(topic, partition) else {
                    return Err(PlanError::NoSuchPartition { member: id(member), topic, partition });
                };
                if subscriber[topic] != Some(member) {
                    return Err(PlanError::NotSubscribed {
                        member: id(member),
                        topic: name(topic),
                        partition,
                    });
                }
                if let Some(first) = before.replace(member) {
                    let (first, second) = (id(first), id(member));
                    return Err(PlanError::GivenTwice { topic: name(topic), partition, first, second });
                }
            }
        }
        let held = holders(round, &topics);
        for (topic, partition, _) in owner.iter().filter(|(_, _, owner)| owner.is_none()) {
            if subscriber[topic].is_some() && !held.contains_key(&(topic, partition)) {
                return Err(PlanError::Forgotten { topic: name(topic), partition });
            }
        }
        Ok(())
    }

    /// Takes back what somebody else still holds, unless who gets it holds it too, in a later generation than every
    /// other: that one goes on by right, and the others' word is out of date.
    pub(crate) fn withhold(&mut self, round: &Round<'_>) {
        let holders = holders(round, &topic_indices(round));
        if holders.is_empty() {
            return;
        }
        for (member, share) in self.shares.iter_mut().enumerate() {
            share.partitions.retain(|partition| {
                let Some(holders) = holders.get(partition) else { return true };
                let latest = |of: &dyn Fn(usize) -> bool| {
                    holders.iter().filter(|(holder, _)| of(*holder)).map(|(_, generation)| *generation).max()
                };
                let others = latest(&|holder| holder != member);
                others.is_none() || latest(&|holder| holder == member) > others
            });
        }
    }
}

/// What changes hands: all that is claimed and not kept, and what members had that are gone.
fn changes<'r>(round: &'r Round<'_>, group: &Group<'r>, assignment: &Assignment<'r>) -> Vec<Change> {
    let mut had_by_gone = Vec::new();
    for Gone { id, had } in &round.gone {
        for Listing { topic, partitions, .. } in had {
            had_by_gone.extend(partitions.iter().map(|partition| (*topic, *partition, *id)));
        }
    }
    // In the order of the changes, so that one pass over both finds them.
    had_by_gone.sort_unstable();
    let mut had_by_gone = had_by_gone.into_iter().peekable();
    let mut names = HashMap::<&str, Arc<str>>::new();
    let mut shared = |name: &'r str| Arc::clone(names.entry(name).or_insert_with(|| name.into()));
    let mut changes = Vec::new();
    for change in assignment.changes(group) {
        let from = match change.reason {
            Reason::Unclaimed => {
                let at = (change.topic, change.partition);
                while had_by_gone.next_if(|&(topic, partition, _)| (topic, partition) < at).is_some() {}
                match had_by_gone.peek() {
                    Some(&(topic, partition, gone)) if (topic, partition) == at => Some(gone),
                    _ => continue,
                }
            }
            _ => change.from,
        };
        changes.push(Change {
            topic: shared(change.topic),
            partition: change.partition,
            from: from.map(&mut shared),
            to: shared(change.to),
            reason: change.reason,
        });
    }
    changes
}

fn topic_indices<'r>(round: &Round<'r>) -> HashMap<&'r str, usize> {
    round.topics.iter().enumerate().map(|(index, topic)| (topic.name, index)).collect()
}

/// The members that hold a partition, with the generation, by topic and partition number.
fn holders(round: &Round<'_>, topics: &HashMap<&str, usize>) -> HashMap<(usize, u32), Vec<(usize, i32)>> {
    let mut holders: HashMap<(usize, u32), Vec<(usize, i32)>> = HashMap::new();
    for (member, holding) in round.members.iter().enumerate() {
        for Listing { topic, partitions, generation } in &holding.holds {
            let Some(&topic) = topics.get(topic) else { continue };
            // A hold since the generation being formed, or a later one, cannot be true.
            let generation = generation.filter(|generation| *generation < round.generation).unwrap_or(-1);
            let exists = |partition: &u32| *partition < round.topics[topic].partitions;
            for partition in
                partitions.iter().filter_map(|partition| u32::try_from(*partition).ok()).filter(exists)
            {
                holders.entry((topic, partition)).or_default().push((member, generation));
            }
        }
    }
    holders
}

/// Something for each partition of a round.
struct PerPartition<T> {
    /// Where each topic's partitions begin in `values`, and where the last one's end.
    offsets: Vec<usize>,
    values: Vec<T>,
}

impl<T: Default + Clone> PerPartition<T> {
    fn new(round: &Round<'_>) -> Self {
        let mut offsets = vec![0];
        for topic in &round.topics {
            offsets.push(offsets[offsets.len() - 1] + topic.partitions as usize);
        }
        let values = vec![T::default(); offsets[offsets.len() - 1]];
        Self { offsets, values }
    }

    fn at(&mut self, topic: usize, partition: u32) -> Option<&mut T> {
        let (begin, end) = (*self.offsets.get(topic)?, *self.offsets.get(topic + 1)?);
        self.values[begin..end].get_mut(partition as usize)
    }

    fn iter(&self) -> impl Iterator<Item = (usize, u32, &T)> {
        self.offsets.windows(2).enumerate().flat_map(|(topic, bounds)| {
            (0..)
                .zip(&self.values[bounds[0]..bounds[1]])
                .map(move |(partition, value)| (topic, partition, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::{RoundMember, RoundTopic};

    fn round() -> Round<'static> {
        Round::new(
            5,
            [RoundTopic::new("t", 2), RoundTopic::new("u", 1)],
            [RoundMember::new("a").subscribe(["t"]), RoundMember::new("b").subscribe(["t", "u"])],
        )
    }

    fn plan(given: &[(usize, usize, u32)]) -> Plan {
        let mut plan = Plan::new(&round());
        for &(member, topic, partition) in given {
            plan.give(member, topic, partition);
        }
        plan
    }

    #[test]
    fn accepts_every_partition_once_and_to_a_subscriber() {
        assert_eq!(plan(&[(0, 0, 0), (1, 0, 1), (1, 1, 0)]).check(&round()), Ok(()));
    }

    #[test]
    fn refuses_what_does_not_exist() {
        let error = plan(&[(0, 0, 2)]).check(&round()).unwrap_err();
        assert!(matches!(error, PlanError::NoSuchPartition { topic: 0, partition: 2, .. }), "{error}");
        let error = plan(&[(0, 2, 0)]).check(&round()).unwrap_err();
        assert!(matches!(error, PlanError::NoSuchPartition { topic: 2, partition: 0, .. }), "{error}");
    }

    #[test]
    fn refuses_what_is_not_subscribed_to() {
        let error = plan(&[(0, 1, 0)]).check(&round()).unwrap_err();
        assert!(matches!(error, PlanError::NotSubscribed { .. }), "{error}");
    }

    #[test]
    fn refuses_a_partition_for_two() {
        let error = plan(&[(0, 0, 0), (1, 0, 0)]).check(&round()).unwrap_err();
        assert!(matches!(error, PlanError::GivenTwice { .. }), "{error}");
    }

    #[test]
    fn refuses_to_leave_a_partition_unread() {
        let error = plan(&[(0, 0, 0), (0, 0, 1)]).check(&round()).unwrap_err();
        assert_eq!(error, PlanError::Forgotten { topic: "u".into(), partition: 0 });
    }

    #[test]
    fn refuses_a_plan_for_another_round() {
        let other = Round::new(5, [], [RoundMember::new("a")]);
        assert_eq!(plan(&[]).check(&other), Err(PlanError::Members { planned: 2, members: 1 }));
    }

    /// One partition of one topic, held in these generations by a, who is to get it, and by b.
    fn is_withheld(by_a: Option<i32>, by_b: Option<i32>) -> bool {
        let member = |id, generation: Option<i32>| {
            let member = RoundMember::new(id).subscribe(["t"]);
            generation.map_or(member.clone(), |generation| member.hold("t", [0], generation))
        };
        let round = Round::new(5, [RoundTopic::new("t", 1)], [member("a", by_a), member("b", by_b)]);
        let mut plan = Plan::new(&round);
        plan.give(0, 0, 0);
        plan.withhold(&round);
        assert_eq!(plan.check(&round), Ok(()));
        plan.given(0).len() == 0
    }

    #[test]
    fn withholds_what_another_holds_unless_the_receiver_holds_it_by_a_later_right() {
        assert!(!is_withheld(None, None));
        assert!(!is_withheld(Some(3), None));
        assert!(is_withheld(None, Some(3)));
        assert!(!is_withheld(Some(4), Some(3)));
        assert!(is_withheld(Some(3), Some(3)));
        assert!(is_withheld(Some(3), Some(4)));
        // Generation 5 is only being formed.
        assert!(is_withheld(Some(5), Some(3)));
        assert!(is_withheld(None, Some(9)));
    }
}
