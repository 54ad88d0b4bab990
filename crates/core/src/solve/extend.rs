//! The short way: everybody keeps what an even split allows, and the rest finds room.
//!
//! If what is left over can be dealt so that all loads are `b` or `b + 1`, the split is as even as
//! can be, and no such split keeps more. Then neither cuts nor least-cost flow are needed, and only
//! hubs with something left over have to be looked at, or those that members with too little may take from.

use super::{
    Scratch, Solver,
    balance::Block,
    complete::Quotas,
    flow::{ArcId, Outcome, Plan, UNBOUNDED},
    network::Route,
    place::Keep,
};
use crate::dense::NOBODY;

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
        let all_owned: u64 = keep.iter().map(|keep| u64::from(keep.owned)).sum();
        let supply: u64 = block.senders.iter().map(|&hub| u64::from(network.supply[hub as usize])).sum();
        if 2 * all_owned < supply {
            return None;
        }
        let mut members: Vec<u32> =
            block.classes.iter().flat_map(|&class| network.members_of(class)).copied().collect();
        members.sort_unstable();
        for keep in &keep {
            self.scratch.owned[keep.member as usize] += keep.owned;
        }
        let quotas = self.give_in_proportion(block, &members, &mut keep);
        let quotas = quotas.or_else(|| self.give_what_is_taken(block, &members, &mut keep));
        let Scratch { owned, dealer, .. } = &mut self.scratch;
        if let Some(quotas) = &quotas {
            quotas.price(&members, owned, &mut self.state.potentials);
            for &member in &members {
                let owned = owned[member as usize];
                dealer.wants[member as usize] = quotas.of_member(member).saturating_sub(owned);
            }
        }
        members.iter().for_each(|&member| owned[member as usize] = 0);
        quotas.is_some().then_some(keep)
    }

    /// Settles who gives up how much, a little of everything, so that all hubs have something left over. The
    /// quotas, if that finds room.
    fn give_in_proportion(&mut self, block: &Block, members: &[u32], keep: &mut [Keep]) -> Option<Quotas> {
        let Scratch { owned, passed, .. } = &mut self.scratch;
        let quotas = Quotas::of_richest(members, owned, block);
        thin(keep, &quotas, owned, passed);
        let room = self.room(block, &quotas, keep, false);
        self.fill(room, block, quotas, keep)
    }

    /// Settles only how much is given up in all: who gives what is left to what finds room. The quotas, if
    /// something does.
    fn give_what_is_taken(&mut self, block: &Block, members: &[u32], keep: &mut [Keep]) -> Option<Quotas> {
        let owned = &self.scratch.owned;
        let rich = members.iter().copied().filter(|&member| owned[member as usize] > block.least);
        // Nobody has to be among those with less: some will be.
        let quotas = Quotas { least: block.least, uneven: block.extra > 0, greater: rich.collect() };
        keep.iter_mut().for_each(|keep| keep.count = keep.owned);
        let mut room = self.room(block, &quotas, keep, true);
        self.add_gifts(&mut room, block, &quotas, keep).then_some(())?;
        self.fill(room, block, quotas, keep)
    }

    /// The flow from what nobody keeps, or from all hubs, to those who may have more.
    fn room(&self, block: &Block, quotas: &Quotas, keep: &[Keep], all_hubs: bool) -> Room {
        let network = self.network;
        let mut excess: Vec<u32> = block.senders.iter().map(|&hub| network.supply[hub as usize]).collect();
        for keep in keep {
            let hub = self.local.sender(keep.hub).unwrap_or_default();
            excess[hub as usize] -= keep.count;
        }
        // What each class must take, and how many of its members may take one more.
        let shared = (block.senders.len() + block.classes.len()) as u32;
        let owned = &self.scratch.owned;
        let mut spare = vec![0; shared as usize + 1];
        let mut may_above = vec![0; block.classes.len()];
        spare[shared as usize] = block.extra.saturating_sub(quotas.greater.len() as u32);
        for (at, &class) in block.classes.iter().enumerate() {
            for &member in network.members_of(class) {
                let owned = owned[member as usize];
                spare[block.senders.len() + at] += block.least.saturating_sub(owned);
                may_above[at] += u32::from(spare[shared as usize] > 0 && owned <= block.least);
            }
        }
        let mut room = Room { sends: vec![false; block.senders.len()], ..Room::default() };
        let mut is_near = vec![false; block.classes.len()];
        for (tail, &hub) in (0..).zip(&block.senders) {
            if excess[tail as usize] == 0 && !all_hubs {
                continue;
            }
            for (id, &route) in network.route_range(hub).zip(network.routes_of(hub)) {
                let Route::Class(class) = route else { continue };
                let Some(at) = self.local.class(class) else { continue };
                let head = block.senders.len() as u32 + at;
                if spare[head as usize] > 0 || may_above[at as usize] > 0 {
                    is_near[at as usize] = true;
                    room.sends[tail as usize] = true;
                    room.routes.push((id as u32, room.plan.add(tail, head, UNBOUNDED, 0)));
                }
            }
        }
        for (at, &class) in block.classes.iter().enumerate() {
            if is_near[at] && may_above[at] > 0 {
                let node = (block.senders.len() + at) as u32;
                room.above.push((class, room.plan.add(node, shared, may_above[at], 0)));
            }
        }
        excess.resize(spare.len(), 0);
        Room { excess, spare, ..room }
    }

    /// Adds what the rich may give of what they own. False where one of them would have to give more than it can.
    fn add_gifts(&mut self, room: &mut Room, block: &Block, quotas: &Quotas, keep: &[Keep]) -> bool {
        let Scratch { owned, node_of_member, .. } = &mut self.scratch;
        quotas.greater.iter().for_each(|&member| node_of_member[member as usize] = NOBODY);
        let chooser = room.add_node((quotas.greater.len() as u32).saturating_sub(block.extra));
        for (at, keep) in keep.iter().enumerate() {
            let hub = self.local.sender(keep.hub).unwrap_or_default();
            let owned = owned[keep.member as usize];
            if owned <= block.least || !room.sends[hub as usize] {
                continue;
            }
            let node = &mut node_of_member[keep.member as usize];
            if *node == NOBODY {
                *node = room.add_node(owned - block.least - 1);
                room.givers.push((keep.member, room.plan.add(chooser, *node, 1, 0)));
            }
            room.gifts.push((at, room.plan.add(*node, hub, keep.owned, 0)));
        }
        let must_give = |member: u32| owned[member as usize] > block.least + 1;
        quotas.greater.iter().all(|&rich| !must_give(rich) || node_of_member[rich as usize] != NOBODY)
    }

    /// Finds room: leaves what is dealt on the routes, takes what is given from what is kept, and completes the
    /// quotas. None if there is not enough.
    fn fill(&mut self, room: Room, block: &Block, mut quotas: Quotas, keep: &mut [Keep]) -> Option<Quotas> {
        let mut run = room.plan.finish(room.spare.len());
        run.excess = room.excess;
        run.spare = room.spare;
        if run.run(&mut self.work) != Outcome::Complete {
            return None;
        }
        for (id, arc) in room.routes {
            self.flow[id as usize] = run.on(arc);
        }
        for (at, arc) in room.gifts {
            keep[at].count -= run.on(arc);
        }
        let mut lesser: Vec<u32> =
            room.givers.iter().filter(|(_, arc)| run.on(*arc) > 0).map(|(member, _)| *member).collect();
        lesser.sort_unstable();
        quotas.greater.retain(|member| lesser.binary_search(member).is_err());
        let owned = &self.scratch.owned;
        for (class, arc) in room.above {
            let members = self.network.members_of(class).iter().copied();
            let may = members.filter(|&member| owned[member as usize] <= block.least);
            quotas.greater.extend(may.take(run.on(arc) as usize));
        }
        quotas.greater.sort_unstable();
        Some(quotas)
    }
}

/// A flow that finds room for what nobody keeps. Its nodes are hubs, classes, the shared right to one more than the
/// least, and, where they are to be chosen, who chooses the givers, and they.
#[derive(Default)]
struct Room {
    plan: Plan,
    excess: Vec<u32>,
    spare: Vec<u32>,
    /// Per hub, whether a route leads from it to somebody who may have more.
    sends: Vec<bool>,
    routes: Vec<(u32, ArcId)>,
    /// The classes with members that may have one more than the least.
    above: Vec<(u32, ArcId)>,
    /// The members that may end up with the least, each giving one more.
    givers: Vec<(u32, ArcId)>,
    /// Of which entry of what may be kept something may be given.
    gifts: Vec<(usize, ArcId)>,
}

impl Room {
    fn add_node(&mut self, excess: u32) -> u32 {
        self.excess.push(excess);
        self.spare.push(0);
        self.spare.len() as u32 - 1
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
