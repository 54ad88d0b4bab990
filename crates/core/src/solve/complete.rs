//! A block in which every member may take every partition.
//!
//! Greedy is exact here: whoever keeps most gets the greater quotas.

use super::{
    Scratch, Solver,
    balance::{Block, hubs},
    deal::Destination,
    network::Segment,
    release::Giver,
    returns::Returns,
};
use crate::certificate::Potential;

impl Solver<'_> {
    /// Assigns a complete block, moving least. False where the bound on the work stopped the
    /// decision on returns.
    pub(super) fn complete(&mut self, block: &Block) -> bool {
        let Self { network, owners, scratch, state, .. } = self;
        let mut members: Vec<u32> =
            block.classes.iter().flat_map(|&class| network.members_of(class)).copied().collect();
        members.sort_unstable();
        let mut segments: Vec<Segment> =
            hubs(network, &block.senders).flat_map(|hub| network.segments_of(hub)).copied().collect();
        segments.sort_unstable_by_key(|segment| segment.start);

        let Scratch { owned, in_block, dealer, .. } = scratch;
        members.iter().for_each(|&member| in_block[member as usize] = true);
        for segment in &segments {
            let of = segment.range();
            for (owner, target) in owners.owner[of.clone()].iter().zip(&mut state.target[of]) {
                if in_block.get(*owner as usize) == Some(&true) {
                    owned[*owner as usize] += 1;
                    *target = *owner;
                }
            }
        }
        let quotas = Quotas::of(&members, owned, block);
        quotas.price(&members, owned, &mut state.potentials);
        let mut givers: Vec<Giver> = Vec::new();
        for &member in &members {
            let at = member as usize;
            let quota = quotas.of_member(member);
            let owned = std::mem::take(&mut owned[at]);
            dealer.wants[at] = quota.saturating_sub(owned);
            if owned > quota {
                givers.push(Giver { member, held: owned, surplus: owned - quota });
            }
            in_block[at] = false;
        }
        let returns = self.complete_returns(block, &quotas);
        if returns == Returns::Placed {
            return true;
        }
        let Self { scratch, state, .. } = self;
        let Scratch { dealer, releaser, .. } = scratch;
        releaser.release(&segments, &mut givers, &mut state.target);
        dealer.clear();
        let circle = dealer.circle(members.iter().copied());
        let mut everybody = vec![Destination { circle, units: u32::MAX }];
        dealer.deal(&segments, &mut everybody, &mut state.target);
        returns != Returns::Exhausted
    }

    fn complete_returns(&mut self, block: &Block, quotas: &Quotas) -> Returns {
        if self.owners.earlier.is_empty() {
            return Returns::Open;
        }
        self.local.number(block);
        let mut keep = self.may_stay(block);
        let kept = &mut self.scratch.owned;
        for keep in &mut keep {
            let kept = &mut kept[keep.member as usize];
            keep.count = keep.owned.min(quotas.of_member(keep.member) - *kept);
            *kept += keep.count;
        }
        keep.iter().for_each(|keep| kept[keep.member as usize] = 0);
        let returns = self.decide_returns(block, &keep);
        if returns == Returns::Placed {
            self.place_dealt(block);
        }
        returns
    }
}

/// The load of each member: the greater one for those who own most, between equals the first.
pub(super) struct Quotas {
    pub(super) least: u32,
    pub(super) uneven: bool,
    /// Who has one more. Sorted.
    pub(super) greater: Vec<u32>,
}

impl Quotas {
    fn of(members: &[u32], owned: &[u32], block: &Block) -> Self {
        let mut quotas = Self::of_richest(members, owned, block);
        let others = members.iter().copied().filter(|&member| owned[member as usize] <= block.least);
        let missing = block.extra as usize - quotas.greater.len();
        quotas.greater.extend(others.take(missing));
        quotas.greater.sort_unstable();
        quotas
    }

    /// Gives greater loads only to members that own more than the lesser one.
    pub(super) fn of_richest(members: &[u32], owned: &[u32], block: &Block) -> Self {
        let mut greater: Vec<u32> =
            members.iter().copied().filter(|&member| owned[member as usize] > block.least).collect();
        if greater.len() > block.extra as usize {
            greater.sort_unstable_by_key(|&member| (std::cmp::Reverse(owned[member as usize]), member));
            greater.truncate(block.extra as usize);
            greater.sort_unstable();
        }
        Self { least: block.least, uneven: block.extra > 0, greater }
    }

    pub(super) fn of_member(&self, member: u32) -> u32 {
        self.least + u32::from(self.greater.binary_search(&member).is_ok())
    }

    /// The potentials that prove it: what a member gives up costs one more than what a member
    /// takes.
    pub(super) fn price(&self, members: &[u32], owned: &[u32], potentials: &mut [Potential]) {
        let gives = |member: u32| owned[member as usize] > self.of_member(member);
        let takes = |member: u32| owned[member as usize] < self.of_member(member);
        let balance = 2 * i64::from(self.least) + i64::from(self.uneven);
        let lesser = |member: u32| self.uneven && self.of_member(member) == self.least;
        let lesser_gives = members.iter().any(|&member| gives(member) && lesser(member));
        for &member in members {
            let moves = i64::from(gives(member) && !lesser_gives) - i64::from(takes(member) && lesser_gives);
            potentials[member as usize] = [balance, 0, moves, 0];
        }
    }
}
