//! From claims to owners.

use crate::dense::{Group, Listing, MemberId, NOBODY, PartitionId};

/// Who owned each partition, as far as the claims agree on it.
#[derive(Debug)]
pub(crate) struct Owners {
    /// The owner of each partition, or nobody.
    pub(crate) owner: Vec<u32>,
    /// The earlier owner of each partition, or nobody. Empty where no partition has one.
    pub(crate) earlier: Vec<u32>,
    /// Partitions that several members claim for the same, deciding generation. Sorted.
    pub(crate) contested: Vec<PartitionId>,
}

/// More than one member claims the partition: a second look decides.
const SEVERAL: u32 = NOBODY - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    partition: PartitionId,
    /// Negated, and wide enough for that: later generations sort first.
    age: i64,
    member: MemberId,
}

impl Owners {
    /// Reads all claims. Those of members that do not subscribe to the topic, of partitions that do
    /// not exist, and repeats do not count; of a member's claims to one partition the latest
    /// counts.
    ///
    /// Linear where each partition is claimed by one member; claims in conflict are sorted.
    pub(crate) fn of(group: &Group) -> Self {
        let mut owner = vec![NOBODY; group.partition_count()];
        let mut several = false;
        each_counting(group, |member, partition, _| {
            let owner = &mut owner[partition.index()];
            if *owner == NOBODY {
                *owner = member.0;
            } else if *owner != member.0 {
                *owner = SEVERAL;
                several = true;
            }
        });
        let mut owners = Self { owner, earlier: Vec::new(), contested: Vec::new() };
        if several {
            owners.settle_conflicts(group);
        }
        owners
    }

    fn settle_conflicts(&mut self, group: &Group) {
        let mut claims = Vec::new();
        each_counting(group, |member, partition, generation| {
            if self.owner[partition.index()] == SEVERAL {
                claims.push(Claim { partition, age: -i64::from(generation), member });
            }
        });
        claims.sort_unstable();
        for claims in claims.chunk_by_mut(|a, b| a.partition == b.partition) {
            self.settle(claims);
        }
    }

    fn settle(&mut self, claims: &mut [Claim]) {
        let partition = claims[0].partition;
        let claims = latest_of_each_member(claims);
        let mut generations = claims.chunk_by(|a, b| a.age == b.age);
        let deciding = generations.next().map_or(NOBODY, only_claimant);
        let earlier = generations.next().map_or(NOBODY, only_claimant);
        self.owner[partition.index()] = deciding;
        if deciding == NOBODY {
            self.contested.push(partition);
        }
        if earlier != NOBODY {
            self.earlier.resize(self.owner.len(), NOBODY);
            self.earlier[partition.index()] = earlier;
        }
    }
}

/// Thins claims to one partition, sorted latest first, to the latest one of each member. The order
/// stays.
fn latest_of_each_member(claims: &mut [Claim]) -> &[Claim] {
    claims.sort_unstable_by_key(|claim| (claim.member, claim.age));
    let mut kept = 1;
    for at in 1..claims.len() {
        if claims[at].member != claims[kept - 1].member {
            claims[kept] = claims[at];
            kept += 1;
        }
    }
    let claims = &mut claims[..kept];
    claims.sort_unstable_by_key(|claim| (claim.age, claim.member));
    claims
}

fn only_claimant(claims: &[Claim]) -> u32 {
    match claims {
        [only] => only.member.0,
        _ => NOBODY,
    }
}

/// Calls `act` for each claim to an existing partition of a topic that the member subscribes to.
fn each_counting(group: &Group, mut act: impl FnMut(MemberId, PartitionId, i32)) {
    let partitions = group.partition_count();
    let exists = |partition: &&PartitionId| partition.index() < partitions;
    let everything = |listing: &Listing<'_>| {
        group.topics_of(group.subscription_of(listing.member)).len() == group.topic_count()
    };
    let mut partial = Vec::new();
    for (at, listing) in group.claims().enumerate() {
        if everything(&listing) {
            listing
                .partitions
                .iter()
                .filter(exists)
                .for_each(|&id| act(listing.member, id, listing.generation));
        } else {
            partial.push((group.subscription_of(listing.member), at as u32));
        }
    }
    if partial.is_empty() {
        return;
    }

    partial.sort_unstable();
    let topic_of = topic_of_each_partition(group);
    let mut subscribed = vec![u32::MAX; group.topic_count()];
    for listings in partial.chunk_by(|a, b| a.0 == b.0) {
        let subscription = listings[0].0;
        for topic in group.topics_of(subscription) {
            subscribed[topic.index()] = subscription.0;
        }
        for &(_, at) in listings {
            let listing = group.claim(at as usize);
            for &id in listing.partitions.iter().filter(exists) {
                if subscribed[topic_of[id.index()] as usize] == subscription.0 {
                    act(listing.member, id, listing.generation);
                }
            }
        }
    }
}

/// The topic of each partition.
pub(crate) fn topic_of_each_partition(group: &Group) -> Vec<u32> {
    let mut topics = Vec::with_capacity(group.partition_count());
    for (topic, bounds) in group.topic_starts().windows(2).enumerate() {
        topics.resize(topics.len() + (bounds[1] - bounds[0]) as usize, topic as u32);
    }
    topics
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::{GroupBuilder, TopicId};

    /// One topic of one partition; what its owner and earlier owner are when members claim it for
    /// these generations, in order of member.
    fn owners(generations: &[&[i32]]) -> (Option<usize>, Option<usize>, bool) {
        let mut builder = GroupBuilder::new();
        builder.topic(1);
        let subscription = builder.subscription([TopicId(0)]);
        for generations in generations {
            let member = builder.member(subscription);
            for &generation in *generations {
                builder.claim(member, generation, [PartitionId(0)]);
            }
        }
        let owners = Owners::of(&builder.build());
        let somebody = |id: u32| (id != NOBODY).then_some(id as usize);
        (
            somebody(owners.owner[0]),
            owners.earlier.first().copied().and_then(somebody),
            !owners.contested.is_empty(),
        )
    }

    #[test]
    fn the_only_claimant_owns() {
        assert_eq!(owners(&[&[], &[3]]), (Some(1), None, false));
    }

    #[test]
    fn the_highest_generation_decides_and_the_next_one_is_earlier() {
        assert_eq!(owners(&[&[1], &[3], &[2]]), (Some(1), Some(2), false));
    }

    #[test]
    fn several_claimants_of_the_deciding_generation_cancel_each_other() {
        assert_eq!(owners(&[&[3], &[3], &[2]]), (None, Some(2), true));
        assert_eq!(owners(&[&[3], &[2], &[2], &[1]]), (Some(0), None, false));
    }

    #[test]
    fn repeats_count_once_and_at_their_latest() {
        assert_eq!(owners(&[&[3, 3], &[2]]), (Some(0), Some(1), false));
        assert_eq!(owners(&[&[1, 3], &[2]]), (Some(0), Some(1), false));
        assert_eq!(owners(&[&[3, 2], &[2]]), (Some(0), Some(1), false));
    }

    #[test]
    fn negative_generations_are_all_the_same() {
        assert_eq!(owners(&[&[i32::MIN], &[-1]]), (None, None, true));
        assert_eq!(owners(&[&[i32::MIN], &[i32::MAX]]), (Some(1), Some(0), false));
    }
}
