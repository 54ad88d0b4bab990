//! Fewest partitions taken from their owner, within a balanced block.
//!
//! A flow from hubs to members in which what stays with its owner costs nothing and all else costs
//! one. It starts from everything that may stay, thinned to what its owners may have, which is
//! optimal as far as it goes, and sends the rest along shortest paths.

use super::{
    Scratch, Solver,
    balance::{Block, hubs},
    flow::{ArcId, Flow, Outcome, Plan, UNBOUNDED},
    network::{Network, Route},
    place::Keep,
};

impl Solver<'_> {
    /// Decides who keeps what in one block: prices its members, sets what the dealer is to deal,
    /// and leaves on the routes what is to be dealt. None where the bound on the work stopped it;
    /// then nothing is changed.
    pub(super) fn decide_moves(&mut self, block: &Block) -> Option<Vec<Keep>> {
        let network = self.network;
        self.local.number(block);
        let mut keep = self.may_stay(block);
        if keep.is_empty() {
            self.want_by_flow(block);
            return Some(keep);
        }
        let nodes = Nodes::of(network, block, &mut self.scratch.node_of_member);
        let mut problem = self.start_from_kept(block, &nodes, &keep);
        let routes = self.add_routes(block, &nodes, &mut problem.plan);
        let dealt = self.add_dealing(block, &nodes, &mut problem.plan);
        let mut run = problem.plan.finish(nodes.count());
        run.excess = problem.excess;
        run.spare = problem.spare;
        if run.run(&mut self.work) != Outcome::Complete {
            debug_assert!(self.work.is_exhausted());
            return None;
        }
        for (keep, &arc) in keep.iter_mut().zip(&problem.kept) {
            keep.count = run.on(arc);
        }
        self.read_dealing(block, &routes, &dealt, &run);
        let base = if block.extra > 0 { run.price(nodes.shared) } else { 0 };
        for &member in block.classes.iter().flat_map(|&class| network.members_of(class)) {
            let node = self.scratch.node_of_member[member as usize];
            self.state.potentials[member as usize][2] = run.price(node) - base;
        }
        Some(keep)
    }

    /// Sets what the dealer is to deal where the flow at hand is as good as any: alike for alike
    /// members.
    fn want_by_flow(&mut self, block: &Block) {
        let network = self.network;
        let Scratch { units_of_class, dealer, .. } = &mut self.scratch;
        for &sender in &block.senders {
            for id in network.route_range(sender) {
                if let Route::Class(class) = network.route(id) {
                    units_of_class[class as usize] += self.flow[id];
                }
            }
        }
        for &class in &block.classes {
            let units = std::mem::take(&mut units_of_class[class as usize]);
            let members = network.members_of(class);
            let (least, extra) = (units / members.len() as u32, units as usize % members.len());
            for (at, &member) in members.iter().enumerate() {
                dealer.wants[member as usize] = least + u32::from(at < extra);
            }
        }
    }

    fn add_routes(&self, block: &Block, nodes: &Nodes, plan: &mut Plan) -> Vec<(u32, ArcId)> {
        let network = self.network;
        let mut routes: Vec<(u32, ArcId)> = Vec::new();
        for (tail, &sender) in (0..).zip(&block.senders) {
            let cost = i32::from((sender as usize) < network.hub_count());
            for (id, &route) in network.route_range(sender).zip(network.routes_of(sender)) {
                let head = match route {
                    _ if !self.tight.open[id] => None,
                    Route::Class(class) => self.local.class(class).map(|at| nodes.of_class[at as usize]),
                    Route::Via(via) => self.local.sender(via),
                };
                if let Some(head) = head {
                    routes.push((id as u32, plan.add(tail, head, UNBOUNDED, cost)));
                }
            }
        }
        routes
    }

    fn add_dealing(&self, block: &Block, nodes: &Nodes, plan: &mut Plan) -> Vec<(u32, ArcId)> {
        let mut dealt: Vec<(u32, ArcId)> = Vec::new();
        for (at, &class) in block.classes.iter().enumerate() {
            let members = self.network.members_of(class);
            for &member in members.iter().filter(|_| members.len() > 1) {
                let node = self.scratch.node_of_member[member as usize];
                dealt.push((member, plan.add(nodes.of_class[at], node, UNBOUNDED, 0)));
            }
        }
        dealt
    }

    /// Reads from a flow what goes along which route, and what each member is dealt.
    pub(super) fn read_dealing(
        &mut self,
        block: &Block,
        routes: &[(u32, ArcId)],
        dealt: &[(u32, ArcId)],
        run: &Flow,
    ) {
        let network = self.network;
        let wants = &mut self.scratch.dealer.wants;
        for &sender in &block.senders {
            self.flow[network.route_range(sender)].fill(0);
        }
        for &member in block.classes.iter().flat_map(|&class| network.members_of(class)) {
            wants[member as usize] = 0;
        }
        for &(id, arc) in routes {
            self.flow[id as usize] = run.on(arc);
        }
        for &(member, arc) in dealt {
            wants[member as usize] = run.on(arc);
        }
        for &sender in &block.senders {
            for (id, &route) in network.route_range(sender).zip(network.routes_of(sender)) {
                if let Route::Class(class) = route
                    && let [only] = network.members_of(class)
                {
                    wants[*only as usize] += self.flow[id];
                }
            }
        }
    }

    /// For each hub and owner, how many partitions of the one the other may keep, as far as the
    /// objectives before go.
    pub(super) fn may_stay(&mut self, block: &Block) -> Vec<Keep> {
        let network = self.network;
        let mut keep: Vec<Keep> = Vec::new();
        let mut place_of = std::mem::take(&mut self.scratch.owned);
        for hub in hubs(network, &block.senders) {
            let first = keep.len();
            for segment in network.segments_of(hub) {
                for &member in &self.owners.owner[segment.range()] {
                    // The place of the member's entry for this hub, plus one.
                    let Some(place) = place_of.get_mut(member as usize) else { continue };
                    if *place == 0 {
                        keep.push(Keep { hub, member, owned: 0, count: 0 });
                        *place = (keep.len() - first) as u32;
                    }
                    keep[first + *place as usize - 1].owned += 1;
                }
            }
            keep[first..].iter().for_each(|keep| place_of[keep.member as usize] = 0);
            let mut kept = first;
            for at in first..keep.len() {
                let class = network.class_of[keep[at].member as usize];
                if self.may_stay_in(block, hub, class) {
                    keep[kept] = keep[at];
                    kept += 1;
                }
            }
            keep.truncate(kept);
        }
        self.scratch.owned = place_of;
        keep
    }

    /// Whether members of the class may keep partitions of the hub, as far as balance and
    /// mismatches go.
    pub(super) fn may_stay_in(&self, block: &Block, hub: u32, class: u32) -> bool {
        self.local.class(class).is_some()
            && (block.is_complete || self.tight.allows(self.network, hub, class))
    }

    /// Adds the arcs of what may stay and of the loads, with as much on them as the loads allow.
    fn start_from_kept(&mut self, block: &Block, nodes: &Nodes, keep: &[Keep]) -> Problem {
        let network = self.network;
        let Scratch { owned, passed, node_of_member, .. } = &mut self.scratch;
        let members = || block.classes.iter().flat_map(|&class| network.members_of(class)).copied();
        let routes = block.senders.iter().map(|&sender| network.route_range(sender).len());
        let mut plan = Plan::with_capacity(keep.len() + 2 * members().count() + routes.sum::<usize>());
        let mut excess = vec![0; nodes.count()];
        let mut spare = vec![0; nodes.count()];
        for keep in keep {
            owned[keep.member as usize] += keep.owned;
        }

        let above = self.tight.fix_loads(network, block, node_of_member, &mut spare);
        let mut rich: Vec<u32> = Vec::new();
        for &class in block.classes.iter().filter(|&&class| self.tight.is_free(block, class)) {
            let members = network.members_of(class).iter();
            rich.extend(members.filter(|&&member| owned[member as usize] > block.least));
        }
        // Of those who may have one more, those who own most start with it.
        if rich.len() > above as usize {
            rich.sort_unstable_by_key(|&member| (std::cmp::Reverse(owned[member as usize]), member));
            rich.truncate(above as usize);
        }
        rich.sort_unstable();
        spare[nodes.shared as usize] = above - rich.len() as u32;
        let starts_above = |member: u32| u32::from(rich.binary_search(&member).is_ok());
        for &class in block.classes.iter().filter(|&&class| self.tight.is_free(block, class)) {
            for &member in network.members_of(class) {
                let arc = plan.add(node_of_member[member as usize], nodes.shared, 1, 0);
                plan.start_with(arc, starts_above(member));
            }
        }

        // What stays at first is cut down in proportion, so that all hubs have something to send.
        for (at, &sender) in block.senders.iter().enumerate() {
            excess[at] = network.supply.get(sender as usize).copied().unwrap_or(0);
        }
        let mut kept = Vec::with_capacity(keep.len());
        for keep in keep {
            let member = keep.member as usize;
            let node = node_of_member[member];
            let hub = self.local.sender(keep.hub).unwrap_or_default();
            let all = u64::from(owned[member]);
            let limit = all.min(u64::from(spare[node as usize] + starts_above(keep.member)));
            let before = u64::from(passed[member]) * limit / all;
            passed[member] += keep.owned;
            let stays = (u64::from(passed[member]) * limit / all - before) as u32;
            let arc = plan.add(hub, node, keep.owned, 0);
            plan.start_with(arc, stays);
            excess[hub as usize] -= stays;
            kept.push(arc);
        }
        for member in members() {
            let spare = &mut spare[node_of_member[member as usize] as usize];
            let above = starts_above(member);
            *spare -= owned[member as usize].min(*spare + above) - above;
            owned[member as usize] = 0;
            passed[member as usize] = 0;
        }
        Problem { plan, excess, spare, kept }
    }
}

/// A flow problem under construction.
struct Problem {
    plan: Plan,
    excess: Vec<u32>,
    spare: Vec<u32>,
    kept: Vec<ArcId>,
}

/// Where senders, classes and members are in the flow. A class of one member is that member.
pub(super) struct Nodes {
    pub(super) of_class: Vec<u32>,
    pub(super) shared: u32,
}

impl Nodes {
    pub(super) fn of(network: &Network, block: &Block, node_of_member: &mut [u32]) -> Self {
        let mut next = block.senders.len() as u32;
        let mut fresh = || {
            next += 1;
            next - 1
        };
        let of_class = block
            .classes
            .iter()
            .map(|&class| {
                let members = network.members_of(class);
                let node = fresh();
                for &member in members {
                    node_of_member[member as usize] = if members.len() == 1 { node } else { fresh() };
                }
                node
            })
            .collect();
        Self { of_class, shared: fresh() }
    }

    pub(super) fn count(&self) -> usize {
        self.shared as usize + 1
    }
}
