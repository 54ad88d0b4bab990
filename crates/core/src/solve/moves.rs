//! Fewest partitions taken from their owner, within a balanced block.
//!
//! A flow from hubs to members in which what stays with its owner costs nothing and all else costs one. It
//! starts from everything that may stay, thinned to what its owners may have, which is optimal as far as
//! it goes, and sends the rest along shortest paths.

use super::{
    Scratch, State,
    balance::Block,
    flow::{ArcId, Outcome, Plan, UNBOUNDED},
    mismatches::{Local, Tight},
    network::{Network, Route},
    place::Keep,
    work::Work,
};
use crate::claims::Owners;

/// What the loads of a class's members may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    Fixed(u32),
    /// This or one more.
    Either(u32),
}

/// Decides who keeps what in one block: prices its members, sets what the dealer is to deal, and leaves on the routes what is
/// to be dealt. None where the bound on the work stopped it; then nothing is changed.
#[expect(clippy::too_many_arguments)]
pub(super) fn solve(
    network: &Network,
    owners: &Owners,
    block: &Block,
    tight: &Tight,
    flow: &mut [u32],
    local: &mut Local,
    scratch: &mut Scratch,
    state: &mut State,
    work: &mut Work,
) -> Option<Vec<Keep>> {
    local.number(block);
    let mut keep = may_stay(network, owners, block, tight, local, scratch);
    let nodes = Nodes::of(network, block, scratch);
    let mut plan = Plan::with_capacity(keep.len());
    let mut excess = vec![0_u32; nodes.count()];
    let mut spare = vec![0_u32; nodes.count()];

    let kept_arcs = start_from_kept(
        network,
        block,
        tight,
        local,
        &nodes,
        scratch,
        &mut keep,
        &mut plan,
        &mut excess,
        &mut spare,
    );
    let mut routes: Vec<(u32, ArcId)> = Vec::new();
    for (tail, &sender) in (0..).zip(&block.senders) {
        let cost = i32::from((sender as usize) < network.hub_count());
        for (id, &route) in network.route_range(sender).zip(network.routes_of(sender)) {
            let head = match route {
                _ if !tight.open[id] => None,
                Route::Class(class) => local.class(class).map(|at| nodes.of_class[at as usize]),
                Route::Bypass(bypass) => local.sender(bypass),
            };
            if let Some(head) = head {
                routes.push((id as u32, plan.add(tail, head, UNBOUNDED, cost)));
            }
        }
    }
    let mut dealt: Vec<(u32, ArcId)> = Vec::new();
    for (at, &class) in block.classes.iter().enumerate() {
        let members = network.members_of(class);
        for &member in members.iter().filter(|_| members.len() > 1) {
            let node = scratch.node_of_member[member as usize];
            dealt.push((member, plan.add(nodes.of_class[at], node, UNBOUNDED, 0)));
        }
    }
    let mut run = plan.finish(nodes.count());
    run.excess = excess;
    run.spare = spare;
    if run.run(work) != Outcome::Complete {
        debug_assert!(work.is_exhausted());
        return None;
    }

    for (keep, &arc) in keep.iter_mut().zip(&kept_arcs) {
        keep.count = run.on(arc);
    }
    for &sender in &block.senders {
        flow[network.route_range(sender)].fill(0);
    }
    let wants = &mut scratch.dealer.wants;
    for &class in &block.classes {
        network.members_of(class).iter().for_each(|&member| wants[member as usize] = 0);
    }
    for (id, arc) in routes {
        flow[id as usize] = run.on(arc);
    }
    for (member, arc) in dealt {
        wants[member as usize] = run.on(arc);
    }
    for &sender in &block.senders {
        for (id, &route) in network.route_range(sender).zip(network.routes_of(sender)) {
            if let Route::Class(class) = route
                && let [only] = network.members_of(class)
            {
                wants[*only as usize] += flow[id];
            }
        }
    }
    let base = if block.extra > 0 { run.price(nodes.shared) } else { 0 };
    for &member in block.classes.iter().flat_map(|&class| network.members_of(class)) {
        state.potentials[member as usize][2] = run.price(scratch.node_of_member[member as usize]) - base;
    }
    Some(keep)
}

/// Where senders, classes and members are in the flow. A class of one member is that member.
struct Nodes {
    of_class: Vec<u32>,
    shared: u32,
}

impl Nodes {
    fn of(network: &Network, block: &Block, scratch: &mut Scratch) -> Self {
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
                    scratch.node_of_member[member as usize] = if members.len() == 1 { node } else { fresh() };
                }
                node
            })
            .collect();
        Self { of_class, shared: fresh() }
    }

    fn count(&self) -> usize {
        self.shared as usize + 1
    }
}

/// For each hub and owner, how many partitions of the one the other may keep, as far as the objectives before go.
fn may_stay(
    network: &Network,
    owners: &Owners,
    block: &Block,
    tight: &Tight,
    local: &Local,
    scratch: &mut Scratch,
) -> Vec<Keep> {
    let mut keep: Vec<Keep> = Vec::new();
    let place_of = &mut scratch.owned;
    for hub in super::balance::hubs(network, &block.senders) {
        let first = keep.len();
        for segment in network.segments_of(hub) {
            for &member in &owners.owner[segment.start as usize..segment.end as usize] {
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
            if local.class(class).is_some() && tight.allows(network, hub, class) {
                keep[kept] = keep[at];
                kept += 1;
            }
        }
        keep.truncate(kept);
    }
    keep
}

/// Adds the arcs of what may stay and of the loads, with as much on them as the loads allow.
#[expect(clippy::too_many_arguments)]
fn start_from_kept(
    network: &Network,
    block: &Block,
    tight: &Tight,
    local: &Local,
    nodes: &Nodes,
    scratch: &mut Scratch,
    keep: &mut [Keep],
    plan: &mut Plan,
    excess: &mut [u32],
    spare: &mut [u32],
) -> Vec<ArcId> {
    let owned = &mut scratch.owned;
    for keep in keep.iter() {
        owned[keep.member as usize] += keep.owned;
    }
    spare[nodes.shared as usize] = block.extra;
    for &class in &block.classes {
        let load = load_of(block, tight, class);
        for &member in network.members_of(class) {
            let node = scratch.node_of_member[member as usize];
            match load {
                Load::Fixed(load) => {
                    spare[node as usize] = load;
                    spare[nodes.shared as usize] -= load - block.least;
                }
                Load::Either(least) => spare[node as usize] = least,
            }
        }
    }
    // Of those who may have one more, those who own most start with it.
    let above = spare[nodes.shared as usize] as usize;
    let mut rich: Vec<u32> = Vec::new();
    for &class in &block.classes {
        if let Load::Either(least) = load_of(block, tight, class) {
            rich.extend(network.members_of(class).iter().filter(|&&member| owned[member as usize] > least));
        }
    }
    if rich.len() > above {
        rich.sort_unstable_by_key(|&member| (std::cmp::Reverse(owned[member as usize]), member));
        rich.truncate(above);
    }
    rich.sort_unstable();
    for &class in &block.classes {
        if let Load::Either(_) = load_of(block, tight, class) {
            for &member in network.members_of(class) {
                let arc = plan.add(scratch.node_of_member[member as usize], nodes.shared, 1, 0);
                if rich.binary_search(&member).is_ok() {
                    plan.start_with(arc, 1);
                    spare[nodes.shared as usize] -= 1;
                }
            }
        }
    }
    // What stays at first is cut down in proportion, so that all hubs have something to send.
    let limit = |member: u32, spare: &[u32]| {
        spare[scratch.node_of_member[member as usize] as usize]
            + u32::from(rich.binary_search(&member).is_ok())
    };
    let limits: Vec<u32> = keep.iter().map(|keep| limit(keep.member, spare)).collect();
    let mut passed = vec![0_u32; if keep.is_empty() { 0 } else { owned.len() }];
    for (at, &sender) in block.senders.iter().enumerate() {
        excess[at] = network.supply.get(sender as usize).copied().unwrap_or(0);
    }
    let mut arcs = Vec::with_capacity(keep.len());
    for (keep, &limit) in keep.iter().zip(&limits) {
        let member = keep.member as usize;
        let hub = local.sender(keep.hub).unwrap_or_default();
        let node = scratch.node_of_member[member];
        let arc = plan.add(hub, node, keep.owned, 0);
        let all = u64::from(owned[member]);
        let limit = u64::from(limit).min(all);
        let before = u64::from(passed[member]) * limit / all;
        passed[member] += keep.owned;
        let stays = (u64::from(passed[member]) * limit / all - before) as u32;
        plan.start_with(arc, stays);
        excess[hub as usize] -= stays;
        arcs.push(arc);
    }
    // Take from what members may have what stays.
    for &member in block.classes.iter().flat_map(|&class| network.members_of(class)) {
        let node = scratch.node_of_member[member as usize] as usize;
        let above = u32::from(rich.binary_search(&member).is_ok());
        let stays = owned[member as usize].min(spare[node] + above);
        spare[node] -= stays - above;
        owned[member as usize] = 0;
    }
    arcs
}

fn load_of(block: &Block, tight: &Tight, class: u32) -> Load {
    match tight.price[class as usize] {
        _ if block.extra == 0 => Load::Fixed(block.least),
        ..0 => Load::Fixed(block.least),
        0 => Load::Either(block.least),
        1.. => Load::Fixed(block.least + 1),
    }
}
