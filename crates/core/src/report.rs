//! What came out and why.

use crate::{
    claims::Owners,
    dense::{Change, Group, MemberId, NOBODY, PartitionId, Target},
    racks::RackSwitch,
};

/// How an assignment is to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How many arcs of its graphs the solver may look at before it finishes greedily, in
    /// near-linear time: valid, but from the objective at hand on no longer proven. Depends on
    /// nothing but the group, so the same group has the same result on any machine.
    pub budget: u64,
}

impl Options {
    /// The budget of [`Options::default`]: one or two seconds of a common processor.
    pub const DEFAULT_BUDGET: u64 = 50_000_000;

    /// The same with another budget.
    #[must_use]
    pub const fn with_budget(mut self, budget: u64) -> Self {
        self.budget = budget;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { budget: Self::DEFAULT_BUDGET }
    }
}

/// Which objectives are proven. One with nothing to decide is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Proven {
    /// 1: no valid assignment has a smaller sum of squared loads.
    pub balance: bool,
    /// 2: no assignment of that balance has fewer rack mismatches.
    pub racks: bool,
    /// 3: no assignment as good in 1 and 2 takes fewer partitions from their owner.
    pub moves: bool,
    /// 4: no assignment as good in 1 to 3 returns more of the others to their earlier owner.
    pub returns: bool,
}

impl Proven {
    /// The first `objectives` objectives are proven.
    #[must_use]
    pub const fn first(objectives: usize) -> Self {
        Self {
            balance: objectives >= 1,
            racks: objectives >= 2,
            moves: objectives >= 3,
            returns: objectives >= 4,
        }
    }

    /// All four are proven.
    #[must_use]
    pub const fn all(self) -> bool {
        self.balance && self.racks && self.moves && self.returns
    }
}

/// An assignment in numbers. Loads are those of the target, withheld or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// Members of the group.
    pub members: u64,
    /// Partitions with at least one subscriber.
    pub partitions: u64,
    /// Partitions of topics that nobody subscribes to.
    pub unassignable: u64,
    /// The least load of a member; 0 without members.
    pub min_load: u64,
    /// The greatest load of a member.
    pub max_load: u64,
    /// Sum over members of their load squared: objective 1.
    pub sum_of_squares: u64,
    /// Sum over topics and members of how many of the topic the member has, squared: objective 5.
    pub topic_sum_of_squares: u64,
    /// Partitions at a member whose rack has no replica of them: objective 2. 0 while
    /// rack-awareness is off.
    pub rack_mismatches: u64,
    /// Partitions that have an owner.
    pub owned: u64,
    /// Partitions whose owner is their target.
    pub kept: u64,
    /// Partitions that are taken from their owner, `owned - kept`: objective 3.
    pub moved: u64,
    /// Which of the objectives 1 to 4 are proven optimal.
    pub proven: Proven,
}

/// Why a partition is not kept: the first that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It has an owner whose rack holds no replica; its target's mismatches do not count or are
    /// none.
    Rack,
    /// It has an owner, and an even split needs it elsewhere.
    Balance,
    /// Members claim it that subscribe to it, but no single one for the deciding generation.
    Contested,
    /// Only members that do not subscribe to its topic claim it.
    Unsubscribed,
    /// Nobody claims it: it is new, or whoever had it is gone.
    Unclaimed,
}

impl Reason {
    /// The reason in one lower-case word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rack => "rack",
            Self::Balance => "balance",
            Self::Contested => "contested",
            Self::Unsubscribed => "unsubscribed",
            Self::Unclaimed => "unclaimed",
        }
    }
}

impl core::fmt::Display for Reason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Counts what an assignment comes to, and the load of each member.
pub(crate) fn report(
    group: &Group,
    racks: RackSwitch,
    owners: &Owners,
    target: &[u32],
    proven: Proven,
) -> (Report, Vec<u32>) {
    let mut report = Report { members: group.member_count() as u64, proven, ..Report::default() };
    let loads = count_loads(group, target, &mut report);
    report.min_load = loads.iter().min().copied().unwrap_or(0).into();
    report.max_load = loads.iter().max().copied().unwrap_or(0).into();
    report.sum_of_squares = loads.iter().map(|&load| u64::from(load) * u64::from(load)).sum();
    for (&owner, &target) in owners.owner.iter().zip(target) {
        report.owned += u64::from(owner != NOBODY);
        report.kept += u64::from(owner != NOBODY && owner == target);
    }
    report.moved = report.owned - report.kept;
    if racks.is_on() {
        report.rack_mismatches = (0u32..)
            .zip(target)
            .filter(|&(id, &member)| {
                member != NOBODY && racks.mismatch(group, MemberId(member), PartitionId(id))
            })
            .count() as u64;
    }
    (report, loads)
}

/// Counts partitions: all, by topic and member, and by member.
fn count_loads(group: &Group, target: &[u32], report: &mut Report) -> Vec<u32> {
    #[derive(Clone, Copy)]
    struct Count {
        topic: u32,
        of_topic: u32,
        load: u32,
    }
    let mut counts = vec![Count { topic: u32::MAX, of_topic: 0, load: 0 }; group.member_count()];
    for (topic, bounds) in (0..).zip(group.topic_starts().windows(2)) {
        let members = &target[bounds[0] as usize..bounds[1] as usize];
        if members.first().is_none_or(|&first| first == NOBODY) {
            report.unassignable += members.len() as u64;
            continue;
        }
        report.partitions += members.len() as u64;
        for &member in members {
            let count = &mut counts[member as usize];
            let before = if count.topic == topic { count.of_topic } else { 0 };
            report.topic_sum_of_squares += 2 * u64::from(before) + 1;
            *count = Count { topic, of_topic: before + 1, load: count.load + 1 };
        }
    }
    counts.into_iter().map(|count| count.load).collect()
}

/// Why each partition that is not kept is where it is.
pub(crate) fn changes(group: &Group, target: &Target) -> Vec<Change> {
    let owners = Owners::of(group);
    let racks = RackSwitch::of(group);
    let mut claimed = vec![false; group.partition_count()];
    for listing in group.claims() {
        for id in listing.partitions {
            if let Some(claimed) = claimed.get_mut(id.index()) {
                *claimed = true;
            }
        }
    }
    let reason_for = |partition: PartitionId, owner: u32, to: MemberId| {
        if owner != NOBODY {
            let from_mismatch = racks.mismatch(group, MemberId(owner), partition);
            if from_mismatch && !racks.mismatch(group, to, partition) {
                Reason::Rack
            } else {
                Reason::Balance
            }
        } else if owners.contested.binary_search(&partition).is_ok() {
            Reason::Contested
        } else if claimed[partition.index()] {
            Reason::Unsubscribed
        } else {
            Reason::Unclaimed
        }
    };
    let mut changes = Vec::new();
    for ((id, &owner), to) in (0..).zip(&owners.owner).zip(target.members()) {
        let Some(to) = to.filter(|to| to.0 != owner) else { continue };
        let partition = PartitionId(id);
        let from = (owner != NOBODY).then_some(MemberId(owner));
        changes.push(Change { partition, from, to, reason: reason_for(partition, owner, to) });
    }
    changes
}
