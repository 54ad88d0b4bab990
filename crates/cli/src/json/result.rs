//! A result as it is written.

use std::fmt::Write as _;

use kafka_sticky_core::{Assignment, Change, Group, MemberShare, Report};
use serde::{Serialize, Serializer};

use crate::table::{counted, spread};

/// What `assign` prints for one group.
#[derive(Serialize)]
pub(crate) struct ResultJson<'r, 'a> {
    assignment: Shares<'r, 'a>,
    withheld: Shares<'r, 'a>,
    report: ReportJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<ChangeJson<'a>>>,
}

/// Partitions by member and topic.
pub(crate) enum Shares<'r, 'a> {
    /// What each member gets; every member is listed.
    Assigned(&'r [MemberShare<'r, 'a>]),
    /// What each will get; only those with something withheld are listed.
    Withheld(&'r [MemberShare<'r, 'a>]),
}

/// A partition that is not kept.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ChangeJson<'a> {
    pub(crate) topic: &'a str,
    pub(crate) partition: i32,
    pub(crate) from: Option<&'a str>,
    pub(crate) to: &'a str,
    pub(crate) reason: &'static str,
}

/// The report of core.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ReportJson {
    members: u64,
    partitions: u64,
    unassignable: u64,
    min_load: u64,
    max_load: u64,
    sum_of_squares: u64,
    topic_sum_of_squares: u64,
    rack_mismatches: u64,
    owned: u64,
    kept: u64,
    moved: u64,
    proven: ProvenJson,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct ProvenJson {
    balance: bool,
    racks: bool,
    moves: bool,
    returns: bool,
}

impl<'r, 'a> ResultJson<'r, 'a> {
    /// `members` as [`by_member_id`] has them.
    pub(crate) fn new(
        group: &Group<'a>,
        assignment: &Assignment<'a>,
        members: &'r [MemberShare<'r, 'a>],
        explain: bool,
    ) -> Self {
        Self {
            assignment: Shares::Assigned(members),
            withheld: Shares::Withheld(members),
            report: assignment.report().into(),
            changes: explain.then(|| changes(group, assignment)),
        }
    }
}

/// The members in the order of their ids.
pub(crate) fn by_member_id<'r, 'a>(assignment: &'r Assignment<'a>) -> Vec<MemberShare<'r, 'a>> {
    let mut members: Vec<_> = assignment.members().collect();
    members.sort_unstable_by_key(MemberShare::id);
    members
}

/// Each partition that is not kept, and why.
pub(crate) fn changes<'a>(group: &Group<'a>, assignment: &Assignment<'a>) -> Vec<ChangeJson<'a>> {
    assignment.changes(group).into_iter().map(ChangeJson::from).collect()
}

impl<'a> From<Change<'a>> for ChangeJson<'a> {
    fn from(change: Change<'a>) -> Self {
        let Change { topic, partition, from, to, reason } = change;
        Self { topic, partition, from, to, reason: reason.as_str() }
    }
}

impl ReportJson {
    /// `3 to 4`: the least load and the greatest.
    pub(crate) fn loads(&self) -> String {
        spread(self.min_load, self.max_load)
    }

    /// All of it in a few sentences.
    pub(crate) fn summary(&self) -> String {
        let mut said = format!(
            "{} and {}: {} each. ",
            counted(self.members, "member"),
            counted(self.partitions, "partition"),
            self.loads()
        );
        let _ = match (self.owned, self.moved) {
            (0, _) => write!(said, "Nothing had an owner."),
            (owned, 0) => write!(said, "All {owned} that had an owner stay."),
            (owned, moved) => {
                write!(said, "Of {owned} that had an owner, {} stay and {moved} move.", self.kept)
            }
        };
        if self.rack_mismatches > 0 {
            let _ = write!(said, " {} on the wrong rack.", self.rack_mismatches);
        }
        if self.unassignable > 0 {
            let _ = write!(said, " {} of topics that nobody subscribes to.", self.unassignable);
        }
        let ProvenJson { balance, racks, moves, returns } = self.proven;
        said.push_str(if balance && racks && moves && returns {
            " Proven optimal."
        } else {
            " Not all of it is proven optimal: the bound on the work was reached."
        });
        said
    }
}

impl From<&Report> for ReportJson {
    fn from(report: &Report) -> Self {
        Self {
            members: report.members,
            partitions: report.partitions,
            unassignable: report.unassignable,
            min_load: report.min_load,
            max_load: report.max_load,
            sum_of_squares: report.sum_of_squares,
            topic_sum_of_squares: report.topic_sum_of_squares,
            rack_mismatches: report.rack_mismatches,
            owned: report.owned,
            kept: report.kept,
            moved: report.moved,
            proven: ProvenJson {
                balance: report.proven.balance,
                racks: report.proven.racks,
                moves: report.proven.moves,
                returns: report.proven.returns,
            },
        }
    }
}

impl Serialize for Shares<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Assigned(members) => serializer.collect_map(
                members.iter().map(|member| (member.id(), ByTopic(*member, MemberShare::assigned))),
            ),
            Self::Withheld(members) => serializer.collect_map(
                members
                    .iter()
                    .filter(|member| member.withheld().next().is_some())
                    .map(|member| (member.id(), ByTopic(*member, MemberShare::withheld))),
            ),
        }
    }
}

struct ByTopic<'r, 'a, F>(MemberShare<'r, 'a>, F);

impl<'r, 'a, F, I> Serialize for ByTopic<'r, 'a, F>
where
    F: Fn(&MemberShare<'r, 'a>) -> I,
    I: Iterator<Item = (&'a str, &'r [i32])>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((self.1)(&self.0))
    }
}
