//! An assignment by name.

use crate::{
    certificate::Certificate,
    dense::{self, NOBODY, PartitionId},
    group::{Group, Identity},
    report::{Reason, Report},
};

/// Who gets what, what is withheld for now, and what that comes to.
#[derive(Debug, Clone)]
pub struct Assignment<'a> {
    members: Vec<Identity<'a>>,
    topics: Vec<&'a str>,
    /// Positions in `members`, sorted by member id.
    by_id: Vec<u32>,
    target: Shares,
    /// None where nothing is withheld: what is assigned is then the target.
    withheld: Option<Withheld>,
    dense: dense::Assignment,
}

/// What one member gets.
#[derive(Debug, Clone, Copy)]
pub struct MemberShare<'s, 'a> {
    assignment: &'s Assignment<'a>,
    at: usize,
}

/// A partition that its owner does not keep, or that had none, and why it is where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The partition's number.
    pub partition: i32,
    /// The member id of its owner.
    pub from: Option<&'a str>,
    /// The member id of its target.
    pub to: &'a str,
    /// Why.
    pub reason: Reason,
}

#[derive(Debug, Clone)]
struct Withheld {
    withheld: Shares,
    assigned: Shares,
}

/// Partition numbers by member and topic.
#[derive(Debug, Clone)]
struct Shares {
    /// Member `m` has the runs `member_start[m]..member_start[m + 1]`.
    member_start: Vec<u32>,
    runs: Vec<Run>,
    numbers: Vec<i32>,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    topic: u32,
    /// Where its numbers start; they end where the next run's start.
    start: u32,
}

impl<'a> Assignment<'a> {
    pub(crate) fn new(group: &Group<'a>, dense: dense::Assignment) -> Self {
        let members = group.identities().to_vec();
        let mut by_id: Vec<u32> = (0..members.len() as u32).collect();
        by_id.sort_unstable_by_key(|&at| members[at as usize].id);
        let target = dense.target.as_slice();
        let mut is_withheld = vec![false; if dense.withheld.is_empty() { 0 } else { target.len() }];
        for id in &dense.withheld {
            is_withheld[id.index()] = true;
        }
        let shares = |counts: &dyn Fn(usize) -> bool| Shares::of(group.dense(), target, counts);
        let withheld = (!dense.withheld.is_empty()).then(|| Withheld {
            withheld: shares(&|id| is_withheld[id]),
            assigned: shares(&|id| !is_withheld[id]),
        });
        let target = shares(&|_| true);
        Self { members, topics: group.topics().to_vec(), by_id, target, withheld, dense }
    }

    /// What each member gets, in tie-break order.
    pub fn members(&self) -> impl ExactSizeIterator<Item = MemberShare<'_, 'a>> {
        (0..self.members.len()).map(|at| MemberShare { assignment: self, at })
    }

    /// What the member with this id gets. O(log members).
    #[must_use]
    pub fn member(&self, member_id: &str) -> Option<MemberShare<'_, 'a>> {
        let found = self.by_id.binary_search_by_key(&member_id, |&at| self.members[at as usize].id).ok()?;
        Some(MemberShare { assignment: self, at: self.by_id[found] as usize })
    }

    /// What came out, in numbers.
    #[must_use]
    pub fn report(&self) -> &Report {
        self.dense.report()
    }

    /// What proves the assignment optimal.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        self.dense.certificate()
    }

    /// The assignment in dense ids.
    #[must_use]
    pub fn dense(&self) -> &dense::Assignment {
        &self.dense
    }

    /// Whether anything is withheld, so that a follow-up rebalance is needed.
    #[must_use]
    pub fn withholds(&self) -> bool {
        self.withheld.is_some()
    }

    /// Each partition that is not kept and why, sorted by topic and partition. `group` is the group
    /// that was assigned.
    ///
    /// Linear in partitions and claims: worked out when asked for.
    #[must_use]
    pub fn changes(&self, group: &Group<'a>) -> Vec<Change<'a>> {
        let named = |change: dense::Change| {
            let (topic, number) = group.dense().topic_of(change.partition);
            Change {
                topic: self.topics[topic.index()],
                partition: number as i32,
                from: change.from.map(|member| self.members[member.index()].id),
                to: self.members[change.to.index()].id,
                reason: change.reason,
            }
        };
        self.dense.changes(group.dense()).into_iter().map(named).collect()
    }
}

impl<'s, 'a> MemberShare<'s, 'a> {
    /// The member id.
    #[must_use]
    pub fn id(&self) -> &'a str {
        self.assignment.members[self.at].id
    }

    /// The group instance id.
    #[must_use]
    pub fn instance_id(&self) -> Option<&'a str> {
        self.assignment.members[self.at].instance_id
    }

    /// Everything that is meant for the member: topics in order of name, with their partitions in
    /// order of number.
    pub fn target(&self) -> impl Iterator<Item = (&'a str, &'s [i32])> + use<'s, 'a> {
        self.runs(Some(&self.assignment.target))
    }

    /// What it gets in this round: the target less what is withheld.
    pub fn assigned(&self) -> impl Iterator<Item = (&'a str, &'s [i32])> + use<'s, 'a> {
        let withheld = self.assignment.withheld.as_ref();
        self.runs(Some(withheld.map_or(&self.assignment.target, |withheld| &withheld.assigned)))
    }

    /// What it gets once the members that still process it have given it up.
    pub fn withheld(&self) -> impl Iterator<Item = (&'a str, &'s [i32])> + use<'s, 'a> {
        self.runs(self.assignment.withheld.as_ref().map(|withheld| &withheld.withheld))
    }

    fn runs(&self, shares: Option<&'s Shares>) -> impl Iterator<Item = (&'a str, &'s [i32])> + use<'s, 'a> {
        let topics: &'s [&'a str] = &self.assignment.topics;
        let at = self.at;
        let runs = shares
            .map_or(0..0, |shares| shares.member_start[at] as usize..shares.member_start[at + 1] as usize);
        runs.zip(std::iter::repeat(shares)).filter_map(move |(run, shares)| {
            let (topic, numbers) = shares?.run(run);
            Some((topics[topic as usize], numbers))
        })
    }
}

impl Shares {
    /// The partitions that count, by member: two passes of counting sort.
    fn of(group: &dense::Group, target: &[u32], counts: impl Fn(usize) -> bool) -> Self {
        let members = group.member_count();
        let counted = |id: usize| (target[id] != NOBODY && counts(id)).then_some(target[id] as usize);
        let mut run_end = vec![0_u32; members + 1];
        let mut number_end = vec![0_u32; members + 1];
        let mut last_topic = vec![u32::MAX; members];
        let partitions = |topic: u32| group.partitions_of(dense::TopicId(topic)).map(PartitionId::index);
        let topics = 0..group.topic_count() as u32;
        for topic in topics.clone() {
            for member in partitions(topic).filter_map(counted) {
                number_end[member + 1] += 1;
                run_end[member + 1] += u32::from(std::mem::replace(&mut last_topic[member], topic) != topic);
            }
        }
        for at in 0..members {
            run_end[at + 1] += run_end[at];
            number_end[at + 1] += number_end[at];
        }
        let member_start = run_end.clone();

        let mut runs = vec![Run { topic: 0, start: 0 }; run_end[members] as usize];
        let mut numbers = vec![0; number_end[members] as usize];
        last_topic.fill(u32::MAX);
        for topic in topics {
            for (number, id) in (0..).zip(partitions(topic)) {
                let Some(member) = counted(id) else { continue };
                let at = &mut number_end[member];
                if std::mem::replace(&mut last_topic[member], topic) != topic {
                    runs[run_end[member] as usize] = Run { topic, start: *at };
                    run_end[member] += 1;
                }
                numbers[*at as usize] = number;
                *at += 1;
            }
        }
        Self { member_start, runs, numbers }
    }

    fn run(&self, at: usize) -> (u32, &[i32]) {
        let Run { topic, start } = self.runs[at];
        let end = self.runs.get(at + 1).map_or(self.numbers.len(), |next| next.start as usize);
        (topic, &self.numbers[start as usize..end])
    }
}
