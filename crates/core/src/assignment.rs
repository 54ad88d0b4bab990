//! An assignment by name.

use crate::{
    certificate::Certificate,
    dense::{self, NOBODY},
    group::{Group, Identity},
    report::{Reason, Report},
    shares::Shares,
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

impl<'a> Assignment<'a> {
    pub(crate) fn new(group: &Group<'a>, dense: dense::Assignment) -> Self {
        let members = group.identities().to_vec();
        let mut by_id: Vec<u32> = (0..members.len() as u32).collect();
        by_id.sort_unstable_by_key(|&at| members[at as usize].id);
        let shares = |target: &[u32]| Shares::of(group.dense(), target, &dense.loads);
        let target = shares(dense.target.as_slice());
        let withheld = (!dense.withheld.is_empty()).then(|| {
            let mut assigned = dense.target.as_slice().to_vec();
            let mut withheld = vec![NOBODY; assigned.len()];
            for id in &dense.withheld {
                std::mem::swap(&mut withheld[id.index()], &mut assigned[id.index()]);
            }
            Withheld { withheld: shares(&withheld), assigned: shares(&assigned) }
        });
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
        let member = dense::MemberId(self.at as u32);
        let runs = shares.into_iter().flat_map(move |shares| shares.of_member(member));
        runs.map(|(topic, numbers)| (topics[topic.index()], numbers))
    }
}
