//! A block in which every member may take every partition.
//!
//! Greedy is exact here: whoever keeps most gets the greater quotas.

use super::{
    Scratch, State,
    balance::{Block, hubs},
    deal::Destination,
    network::{Network, Segment},
};
use crate::claims::Owners;

/// Assigns a complete block, moving least.
pub(super) fn solve(
    network: &Network,
    owners: &Owners,
    block: &Block,
    scratch: &mut Scratch,
    state: &mut State,
) {
    let mut members: Vec<u32> =
        block.classes.iter().flat_map(|&class| network.members_of(class)).copied().collect();
    members.sort_unstable();
    let mut segments: Vec<Segment> =
        hubs(network, &block.senders).flat_map(|hub| network.segments_of(hub)).copied().collect();
    segments.sort_unstable_by_key(|segment| segment.start);

    // Per member of the block: what it owns, then what it owns too much.
    let owned = &mut scratch.owned;
    for &member in &members {
        owned[member as usize] = 0;
        scratch.in_block[member as usize] = true;
    }
    for segment in &segments {
        let of = segment.start as usize..segment.end as usize;
        for (owner, target) in owners.owner[of.clone()].iter().zip(&mut state.target[of]) {
            if scratch.in_block.get(*owner as usize) == Some(&true) {
                owned[*owner as usize] += 1;
                *target = *owner;
            }
        }
    }
    let quotas = Quotas::of(&members, owned, block);
    quotas.price(&members, owned, state);
    let mut surplus = false;
    for &member in &members {
        let at = member as usize;
        let quota = quotas.of_member(at);
        scratch.dealer.wants[at] = quota.saturating_sub(owned[at]);
        owned[at] = owned[at].saturating_sub(quota);
        surplus |= owned[at] > 0;
        scratch.in_block[at] = false;
    }
    if surplus {
        scratch.releaser.release(&segments, owned, &mut state.target);
    }
    members.iter().for_each(|&member| owned[member as usize] = 0);
    scratch.dealer.clear();
    let circle = scratch.dealer.circle(members.iter().copied());
    scratch.dealer.deal(&segments, &mut vec![Destination { circle, units: u32::MAX }], &mut state.target);
}

/// The load of each member: the greater one for those who own most, between equals the first.
struct Quotas {
    least: u32,
    uneven: bool,
    /// Sorted.
    greater: Vec<u32>,
}

impl Quotas {
    fn of(members: &[u32], owned: &[u32], block: &Block) -> Self {
        let (least, extra) = (block.least, block.extra as usize);
        let mut greater: Vec<u32> =
            members.iter().copied().filter(|&member| owned[member as usize] > least).collect();
        if greater.len() > extra {
            greater.sort_unstable_by_key(|&member| (std::cmp::Reverse(owned[member as usize]), member));
            greater.truncate(extra);
        } else {
            let others = members.iter().copied().filter(|&member| owned[member as usize] <= least);
            let missing = extra - greater.len();
            greater.extend(others.take(missing));
        }
        greater.sort_unstable();
        Self { least, uneven: extra > 0, greater }
    }

    fn of_member(&self, member: usize) -> u32 {
        self.least + u32::from(self.greater.binary_search(&(member as u32)).is_ok())
    }

    /// The potentials that prove it: what a member gives up costs one more than what a member takes.
    fn price(&self, members: &[u32], owned: &[u32], state: &mut State) {
        let gives = |at: usize| owned[at] > self.of_member(at);
        let takes = |at: usize| owned[at] < self.of_member(at);
        let balance = 2 * i64::from(self.least) + i64::from(self.uneven);
        let lesser = |at: usize| self.uneven && self.of_member(at) == self.least;
        let lesser_gives = members.iter().any(|&member| gives(member as usize) && lesser(member as usize));
        for at in members.iter().map(|&member| member as usize) {
            let moves = i64::from(gives(at) && !lesser_gives) - i64::from(takes(at) && lesser_gives);
            state.potentials[at] = [balance, 0, moves, 0];
        }
    }
}
