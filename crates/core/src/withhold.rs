//! What may not be handed over yet.

use crate::dense::{Group, MemberId, NOBODY, PartitionId};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hold {
    partition: PartitionId,
    generation: i32,
    member: MemberId,
}

/// The partitions that a member other than their target still holds, unless the target holds them
/// too, in a later generation than everybody else. Sorted.
///
/// Holds count whether or not the member still subscribes. Linear, and `n log n` in the holds of
/// partitions that someone other than the target holds.
pub(crate) fn withheld(group: &Group, target: &[u32]) -> Vec<PartitionId> {
    let held = |partition: PartitionId| target.get(partition.index()).copied().filter(|&to| to != NOBODY);
    let mut disputed = Vec::new();
    for listing in group.holds() {
        let by_another = |id: &PartitionId| held(*id).is_some_and(|to| to != listing.member.0);
        disputed.extend(listing.partitions.iter().copied().filter(by_another));
    }
    if disputed.is_empty() {
        return disputed;
    }
    disputed.sort_unstable();
    disputed.dedup();

    let mut holds = Vec::new();
    for listing in group.holds() {
        let of_disputed = |id: &&PartitionId| held(**id).is_some() && disputed.binary_search(id).is_ok();
        holds.extend(listing.partitions.iter().filter(of_disputed).map(|&partition| Hold {
            partition,
            generation: listing.generation,
            member: listing.member,
        }));
    }
    holds.sort_unstable();
    let rightly_goes_on = |holds: &[Hold]| {
        let to = target[holds[0].partition.index()];
        let latest_other = holds.iter().rfind(|hold| hold.member.0 != to).map(|hold| hold.generation);
        holds.iter().any(|hold| hold.member.0 == to && Some(hold.generation) > latest_other)
    };
    let by_partition = holds.chunk_by(|a, b| a.partition == b.partition);
    by_partition.filter(|holds| !rightly_goes_on(holds)).map(|holds| holds[0].partition).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::{GroupBuilder, TopicId};

    /// One partition meant for member 0, and the generations that members 0, 1, … hold it in.
    fn is_withheld(generations: &[&[i32]]) -> bool {
        let mut builder = GroupBuilder::new();
        builder.topic(1);
        let subscription = builder.subscription([TopicId(0)]);
        for generations in generations {
            let member = builder.member(subscription);
            for &generation in *generations {
                builder.hold(member, generation, [PartitionId(0), PartitionId(7)]);
            }
        }
        !withheld(&builder.build(), &[0]).is_empty()
    }

    #[test]
    fn what_another_member_holds_is_withheld() {
        assert!(is_withheld(&[&[], &[4]]));
        assert!(is_withheld(&[&[4], &[4]]));
        assert!(is_withheld(&[&[3], &[4], &[2]]));
        assert!(is_withheld(&[&[-1], &[-7]]));
    }

    #[test]
    fn what_nobody_else_holds_is_not() {
        assert!(!is_withheld(&[&[], &[]]));
        assert!(!is_withheld(&[&[4], &[]]));
    }

    #[test]
    fn a_zombie_does_not_stop_who_rightly_goes_on() {
        assert!(!is_withheld(&[&[4], &[3], &[-1]]));
        assert!(!is_withheld(&[&[2, 4], &[3]]));
    }
}
