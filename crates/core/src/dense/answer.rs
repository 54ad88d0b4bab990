//! An assignment in flat arrays.

use super::{Group, MemberId, PartitionId};
use crate::{
    certificate::Certificate,
    report::{Reason, Report},
};

/// In place of a member id: nobody.
pub(crate) const NOBODY: u32 = u32::MAX;

/// Who each partition is meant for, whether withheld for now or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    members: Vec<u32>,
}

/// The answer to a [`Group`]'s question, in dense ids.
#[derive(Debug, Clone)]
pub struct Assignment {
    pub(crate) target: Target,
    /// Per member.
    pub(crate) loads: Vec<u32>,
    pub(crate) withheld: Vec<PartitionId>,
    pub(crate) report: Report,
    pub(crate) certificate: Certificate,
}

/// A partition that its owner does not keep, or that had none, and why it is where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The partition.
    pub partition: PartitionId,
    /// Its owner.
    pub from: Option<MemberId>,
    /// Its target.
    pub to: MemberId,
    /// Why.
    pub reason: Reason,
}

impl Target {
    /// A target from the member of each partition, in order of partition.
    #[must_use]
    pub fn from_members(members: impl IntoIterator<Item = Option<MemberId>>) -> Self {
        Self { members: members.into_iter().map(|member| member.map_or(NOBODY, |id| id.0)).collect() }
    }

    pub(crate) fn new(members: Vec<u32>) -> Self {
        Self { members }
    }

    /// Who the partition is meant for; none where nobody subscribes to its topic.
    #[must_use]
    pub fn member_of(&self, partition: PartitionId) -> Option<MemberId> {
        self.members.get(partition.index()).copied().filter(|&id| id != NOBODY).map(MemberId)
    }

    /// The member of each partition, in order of partition.
    pub fn members(&self) -> impl ExactSizeIterator<Item = Option<MemberId>> {
        self.members.iter().map(|&id| (id != NOBODY).then_some(MemberId(id)))
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.members
    }
}

impl Assignment {
    /// Who each partition is meant for.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// How many partitions are meant for the member.
    ///
    /// # Panics
    /// If the group has no such member.
    #[must_use]
    pub fn load_of(&self, member: MemberId) -> u32 {
        self.loads[member.index()]
    }

    /// The partitions that their target does not get in this round, because another member still
    /// processes them. Sorted.
    #[must_use]
    pub fn withheld(&self) -> &[PartitionId] {
        &self.withheld
    }

    /// What came out, in numbers.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What proves the assignment optimal.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Each partition that is not kept and why, sorted by partition. `group` is the group that was
    /// assigned. Linear in partitions and claims.
    #[must_use]
    pub fn changes(&self, group: &Group) -> Vec<Change> {
        crate::report::changes(group, &self.target)
    }
}
