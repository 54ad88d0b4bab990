//! The short way: everybody keeps what an even split allows, and the rest finds room.
//!
//! If what is left over can be dealt so that all loads are `b` or `b + 1`, the split is as even as
//! can be, and no such split keeps more. Then neither cuts nor least-cost flow are needed, and only
//! hubs with something left over have to be looked at.

use super::{
    Scratch, Solver,
    balance::Block,
    complete::Quotas,
    flow::{ArcId, Outcome, Plan, UNBOUNDED},
    network::Route,
    place::Keep,
};

impl Solver<'_> {
    /// Decides balance and moves of a component this way, if it can. Then its members are priced,
    /// what is to be dealt is on the routes and in the dealer's `wants`, and what everybody keeps
    /// is returned.
    pub(super) fn extend_kept(&mut self, block: &Block) -> Option<Vec<Keep>> {
        let network = self.network;
        if self.has_gates(block) {
            return None;
        }
        self.local.number(block);
        let mut keep = self.may_stay(block);
        let owned: u64 = keep.iter().map(|keep| u64::from(keep.owned)).sum();
        let supply: u64 = block.senders.iter().map(|&hub| u64::from(network.supply[hub as usize])).sum();
        if 2 * owned < supply {
            return None;
        }
        let mut members: Vec<u32> =
            block.classes.iter().flat_map(|&class| network.members_of(class)).copied().collect();
        members.sort_unstable();
        let Scratch { owned, passed, .. } = &mut self.scratch;
        for keep in &keep {
            owned[keep.member as usize] += keep.owned;
        }
        let mut quotas = Quotas::of_richest(&members, owned, block);
        thin(&mut keep, &quotas, owned, passed);
        let dealt = self.deal_left_over(block, &mut quotas, &keep);
        let Scratch { owned, dealer, .. } = &mut self.scratch;
        if dealt {
            quotas.price(&members, owned, &mut self.state.potentials);
            for &member in &members {
                let owned = owned[member as usize];
                dealer.wants[member as usize] = quotas.of_member(member).saturating_sub(owned);
            }
        }
        members.iter().for_each(|&member| owned[member as usize] = 0);
        dealt.then_some(keep)
    }

    /// Finds room for what nobody keeps: leaves it on the routes, and completes the quotas. False
    /// if it finds none.
    fn deal_left_over(&mut self, block: &Block, quotas: &mut Quotas, keep: &[Keep]) -> bool {
        let network = self.network;
        let shared = (block.senders.len() + block.classes.len()) as u32;
        let mut excess: Vec<u32> = block.senders.iter().map(|&hub| network.supply[hub as usize]).collect();
        for keep in keep {
            let hub = self.local.sender(keep.hub).unwrap_or_default();
            excess[hub as usize] -= keep.count;
        }
        // What each class must take, and how many of its members may take one more.
        let owned = &self.scratch.owned;
        let mut spare = vec![0; shared as usize + 1];
        let mut may_above = vec![0; block.classes.len()];
        for (at, &class) in block.classes.iter().enumerate() {
            for &member in network.members_of(class) {
                let owned = owned[member as usize];
                spare[block.senders.len() + at] += block.least.saturating_sub(owned);
                may_above[at] += u32::from(owned <= block.least);
            }
        }
        let mut plan = Plan::default();
        let mut routes: Vec<(u32, ArcId)> = Vec::new();
        let mut is_near = vec![false; block.classes.len()];
        for (tail, &hub) in (0..).zip(&block.senders).filter(|(tail, _)| excess[*tail as usize] > 0) {
            for (id, &route) in network.route_range(hub).zip(network.routes_of(hub)) {
                let Route::Class(class) = route else { continue };
                let Some(at) = self.local.class(class) else { continue };
                let head = block.senders.len() as u32 + at;
                if spare[head as usize] > 0 || may_above[at as usize] > 0 {
                    is_near[at as usize] = true;
                    routes.push((id as u32, plan.add(tail, head, UNBOUNDED, 0)));
                }
            }
        }
        let mut above: Vec<(u32, ArcId)> = Vec::new();
        for (at, &class) in block.classes.iter().enumerate() {
            if is_near[at] && may_above[at] > 0 {
                let node = (block.senders.len() + at) as u32;
                above.push((class, plan.add(node, shared, may_above[at], 0)));
            }
        }
        spare[shared as usize] = block.extra - quotas.greater.len() as u32;
        excess.resize(spare.len(), 0);
        let mut run = plan.finish(spare.len());
        run.excess = excess;
        run.spare = spare;
        if run.run(&mut self.work) != Outcome::Complete {
            return false;
        }
        for (id, arc) in routes {
            self.flow[id as usize] = run.on(arc);
        }
        for (class, arc) in above {
            let may =
                network.members_of(class).iter().filter(|&&member| owned[member as usize] <= block.least);
            quotas.greater.extend(may.take(run.on(arc) as usize));
        }
        quotas.greater.sort_unstable();
        true
    }
}

/// Cuts what members keep down to their quotas, in proportion, so that all hubs have something left
/// over.
fn thin(keep: &mut [Keep], quotas: &Quotas, owned: &[u32], passed: &mut [u32]) {
    for keep in keep.iter_mut() {
        let all = u64::from(owned[keep.member as usize]);
        let limit = all.min(quotas.of_member(keep.member).into());
        let passed = &mut passed[keep.member as usize];
        let before = u64::from(*passed) * limit / all;
        *passed += keep.owned;
        keep.count = (u64::from(*passed) * limit / all - before) as u32;
    }
    keep.iter().for_each(|keep| passed[keep.member as usize] = 0);
}
