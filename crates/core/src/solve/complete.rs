//! A block in which every member may take every partition.
//!
//! Greedy is exact here: whoever keeps most gets the greater quotas.

use super::{
    State,
    deal::{Dealer, release},
};
use crate::{
    claims::Owners,
    dense::{Group, NOBODY, TopicId},
};

/// Assigns all partitions of `topics` to `members`, both sorted, as evenly as can be and moving least.
pub(super) fn solve(group: &Group, owners: &Owners, members: &[u32], topics: &[u32], state: &mut State) {
    if members.is_empty() {
        return;
    }
    let partitions = || topics.iter().flat_map(|&topic| group.partitions_of(TopicId(topic)));
    let total: usize = topics.iter().map(|&topic| group.partitions_of(TopicId(topic)).len()).sum();
    let mut owned = vec![0_u32; group.member_count()];
    for partition in partitions() {
        if let Some(owned) = owned.get_mut(owners.owner[partition.index()] as usize) {
            *owned += 1;
        }
    }
    let quota = quotas(members, &owned, total as u32);
    price(members, &owned, &quota, total as u32, state);

    let mut surplus = vec![0_u32; group.member_count()];
    let mut deficit = vec![0_u32; group.member_count()];
    for &member in members {
        let at = member as usize;
        surplus[at] = owned[at].saturating_sub(quota[at]);
        deficit[at] = quota[at].saturating_sub(owned[at]);
    }
    for partition in partitions() {
        state.target[partition.index()] = owners.owner[partition.index()];
    }
    if members.iter().any(|&member| surplus[member as usize] > 0) {
        release(group, topics, &surplus, &mut state.target);
    }
    let mut dealer = Dealer::new(members, &mut deficit);
    for &topic in topics {
        dealer.deal(group.partitions_of(TopicId(topic)), &mut state.target);
    }
    debug_assert!(partitions().all(|partition| state.target[partition.index()] != NOBODY));
}

/// The load of each member: the greater one for those who own most, between equals the first.
fn quotas(members: &[u32], owned: &[u32], total: u32) -> Vec<u32> {
    let least = total / members.len() as u32;
    let mut greater = (total % members.len() as u32) as usize;
    let mut quota = vec![0; owned.len()];
    for &member in members {
        quota[member as usize] = least;
    }
    let mut most: Vec<u32> =
        members.iter().copied().filter(|&member| owned[member as usize] > least).collect();
    if most.len() > greater {
        most.sort_unstable_by_key(|&member| (std::cmp::Reverse(owned[member as usize]), member));
        most.truncate(greater);
    }
    for &member in &most {
        quota[member as usize] += 1;
    }
    greater -= most.len();
    let others = members.iter().filter(|&&member| owned[member as usize] <= least);
    for &member in others.take(greater) {
        quota[member as usize] += 1;
    }
    quota
}

/// The potentials that prove it: what a member gives up costs one more than what a member takes.
fn price(members: &[u32], owned: &[u32], quota: &[u32], total: u32, state: &mut State) {
    let least = total / members.len() as u32;
    let uneven = !total.is_multiple_of(members.len() as u32);
    let gives = |at: usize| owned[at] > quota[at];
    let takes = |at: usize| owned[at] < quota[at];
    let lesser_gives = uneven && members.iter().any(|&m| gives(m as usize) && quota[m as usize] == least);
    for at in members.iter().map(|&member| member as usize) {
        let balance = 2 * i64::from(least) + i64::from(uneven);
        let moves = i64::from(gives(at) && !lesser_gives) - i64::from(takes(at) && lesser_gives);
        state.potentials[at] = [balance, 0, moves, 0];
    }
}
