//! From flows to partitions.

use super::{
    Scratch, State,
    balance::{Block, hubs},
    deal::Destination,
    network::{Network, Route},
};
use crate::{claims::Owners, dense::NOBODY};

/// How many of a hub's partitions their owner keeps. At most as many as it owns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keep {
    pub(super) hub: u32,
    pub(super) member: u32,
    pub(super) owned: u32,
    pub(super) count: u32,
}

/// Leaves with their owners what they keep; of several topics, evenly. `keep` is sorted by hub.
pub(super) fn keep(
    network: &Network,
    owners: &Owners,
    keep: &[Keep],
    scratch: &mut Scratch,
    state: &mut State,
) {
    for keep in keep.chunk_by(|a, b| a.hub == b.hub) {
        let segments = network.segments_of(keep[0].hub);
        let one_topic = segments[0].topic == segments[segments.len() - 1].topic;
        let left = &mut scratch.owned;
        for keep in keep {
            left[keep.member as usize] = if one_topic { keep.count } else { keep.owned };
        }
        for segment in segments {
            let of = segment.start as usize..segment.end as usize;
            for (owner, target) in owners.owner[of.clone()].iter().zip(&mut state.target[of]) {
                if let Some(left) = left.get_mut(*owner as usize).filter(|left| **left > 0) {
                    *left -= 1;
                    *target = *owner;
                }
            }
        }
        if !one_topic && keep.iter().any(|keep| keep.count < keep.owned) {
            for keep in keep {
                left[keep.member as usize] = keep.owned - keep.count;
            }
            scratch.releaser.release(segments, left, &mut state.target);
            for keep in keep {
                left[keep.member as usize] = 0;
            }
        }
    }
}

/// Deals what is nobody's along the flow. The dealer's `wants` say what each member gets; `flow` is used up.
pub(super) fn deal(
    network: &Network,
    block: &Block,
    flow: &mut [u32],
    scratch: &mut Scratch,
    state: &mut State,
) {
    scratch.dealer.clear();
    for &class in &block.classes {
        scratch.circle_of_class[class as usize] =
            scratch.dealer.circle(network.members_of(class).iter().copied());
    }
    let mut destinations = Vec::new();
    for hub in hubs(network, &block.senders) {
        destinations.clear();
        let mut add = |class: u32, units: u32| {
            destinations.push(Destination { circle: scratch.circle_of_class[class as usize], units });
        };
        for (id, &route) in network.route_range(hub).zip(network.routes_of(hub)) {
            let mut units = std::mem::take(&mut flow[id]);
            match route {
                Route::Class(class) if units > 0 => add(class, units),
                Route::Class(_) => {}
                Route::Bypass(bypass) => {
                    for (id, &route) in network.route_range(bypass).zip(network.routes_of(bypass)) {
                        let Route::Class(class) = route else { continue };
                        let over = units.min(flow[id]);
                        if over > 0 {
                            flow[id] -= over;
                            units -= over;
                            add(class, over);
                        }
                    }
                    debug_assert_eq!(units, 0);
                }
            }
        }
        if !destinations.is_empty() {
            scratch.dealer.deal(network.segments_of(hub), &mut destinations, &mut state.target);
        }
    }
}

/// Assigns a block along a flow of all its partitions, keeping what fits: valid and as balanced as the flow, but
/// not the least that has to move.
pub(super) fn follow(
    network: &Network,
    owners: &Owners,
    block: &Block,
    flow: &mut [u32],
    scratch: &mut Scratch,
    state: &mut State,
) {
    let Scratch { dealer, owned, units_of_class, .. } = scratch;
    for hub in hubs(network, &block.senders) {
        for segment in network.segments_of(hub) {
            for &owner in &owners.owner[segment.start as usize..segment.end as usize] {
                if let Some(owned) = owned.get_mut(owner as usize) {
                    *owned += 1;
                }
            }
        }
    }
    for &sender in &block.senders {
        for (id, &route) in network.route_range(sender).zip(network.routes_of(sender)) {
            if let Route::Class(class) = route {
                units_of_class[class as usize] += flow[id];
            }
        }
    }
    for &class in &block.classes {
        let units = std::mem::take(&mut units_of_class[class as usize]);
        let members = network.members_of(class);
        let (least, extra) = (units / members.len() as u32, units as usize % members.len());
        let mut order = members.to_vec();
        order.sort_by_key(|&member| (std::cmp::Reverse(owned[member as usize]), member));
        for (at, &member) in order.iter().enumerate() {
            dealer.wants[member as usize] = least + u32::from(at < extra);
        }
    }
    for hub in hubs(network, &block.senders) {
        let ways = network.ways(hub);
        let mut of_class: Vec<(u32, usize)> =
            ways.iter().enumerate().map(|(at, way)| (way.class, at)).collect();
        of_class.sort_unstable();
        for segment in network.segments_of(hub) {
            for id in segment.start as usize..segment.end as usize {
                let owner = owners.owner[id];
                if owner == NOBODY {
                    continue;
                }
                owned[owner as usize] = 0;
                let class = network.class_of[owner as usize];
                let first = of_class.partition_point(|&(known, _)| known < class);
                let here = of_class[first..].iter().take_while(|&&(known, _)| known == class);
                let open = here.map(|&(_, at)| ways[at]).find(|way| way.routes().all(|id| flow[id] > 0));
                if let Some(way) = open.filter(|_| dealer.wants[owner as usize] > 0) {
                    way.routes().for_each(|id| flow[id] -= 1);
                    dealer.wants[owner as usize] -= 1;
                    state.target[id] = owner;
                }
            }
        }
    }
    deal(network, block, flow, scratch, state);
}
