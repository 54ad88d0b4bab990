//! From flows to partitions.

use super::{
    Scratch, Solver,
    balance::{Block, hubs},
    deal::Destination,
    network::{Network, Route, Way},
    release::Giver,
};

/// How many of a hub's partitions their owner keeps. At most as many as it owns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keep {
    pub(super) hub: u32,
    pub(super) member: u32,
    pub(super) owned: u32,
    pub(super) count: u32,
}

impl Solver<'_> {
    /// Leaves with their owners what they keep; of several topics, evenly. `keep` is sorted by hub.
    pub(super) fn place_kept(&mut self, keep: &[Keep]) {
        let (network, target) = (self.network, &mut self.state.target);
        for keep in keep.chunk_by(|a, b| a.hub == b.hub) {
            let segments = network.segments_of(keep[0].hub);
            let one_topic = segments[0].topic == segments[segments.len() - 1].topic;
            let left = &mut self.scratch.owned;
            for keep in keep {
                left[keep.member as usize] = if one_topic { keep.count } else { keep.owned };
            }
            for segment in segments {
                let of = segment.range();
                for (owner, target) in self.owners.owner[of.clone()].iter().zip(&mut target[of]) {
                    if let Some(left) = left.get_mut(*owner as usize).filter(|left| **left > 0) {
                        *left -= 1;
                        *target = *owner;
                    }
                }
            }
            if !one_topic {
                let givers = keep.iter().filter(|keep| keep.count < keep.owned).map(|keep| Giver {
                    member: keep.member,
                    held: keep.owned,
                    surplus: keep.owned - keep.count,
                });
                let mut givers: Vec<Giver> = givers.collect();
                self.scratch.releaser.release(segments, &mut givers, target);
            }
        }
    }

    /// Deals what is nobody's along the flow. The dealer's `wants` say what each member gets; the
    /// flow is used up.
    pub(super) fn place_dealt(&mut self, block: &Block) {
        let Self { network, flow, scratch, state, .. } = self;
        let Scratch { dealer, circle_of_class, open_route, .. } = scratch;
        dealer.clear();
        for &class in &block.classes {
            circle_of_class[class as usize] = dealer.circle(network.members_of(class).iter().copied());
        }
        let others = &block.senders[hubs(network, &block.senders).count()..];
        let next = others.iter().map(|&sender| network.route_range(sender).start).collect();
        for id in others.iter().flat_map(|&sender| network.route_range(sender)) {
            open_route[id] = if flow[id] > 0 { id as u32 } else { id as u32 + 1 };
        }
        let mut drain = Drain { network, flow, others, next, open: open_route, found: Vec::new() };
        let mut destinations = Vec::new();
        for hub in hubs(network, &block.senders) {
            drain.hub(hub);
            destinations.clear();
            destinations.extend(
                drain
                    .found
                    .drain(..)
                    .map(|(class, units)| Destination { circle: circle_of_class[class as usize], units }),
            );
            if !destinations.is_empty() {
                dealer.deal(network.segments_of(hub), &mut destinations, &mut state.target);
            }
        }
    }

    /// Assigns a block along a flow of all its partitions, keeping what fits: valid and as balanced
    /// as the flow, but not the least that has to move.
    pub(super) fn follow(&mut self, block: &Block) {
        let Self { network, owners, flow, scratch, state, .. } = self;
        let Scratch { dealer, owned, units_of_class, .. } = scratch;
        for segment in hubs(network, &block.senders).flat_map(|hub| network.segments_of(hub)) {
            for &owner in &owners.owner[segment.range()] {
                if let Some(owned) = owned.get_mut(owner as usize) {
                    *owned += 1;
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
            let segments = network.segments_of(hub);
            let mut ways: Option<Vec<Way>> = None;
            for id in segments.iter().flat_map(|segment| segment.range()) {
                let owner = owners.owner[id];
                let Some(owned) = owned.get_mut(owner as usize) else { continue };
                *owned = 0;
                let ways = ways.get_or_insert_with(|| network.sorted_ways(hub));
                let class = network.class_of[owner as usize];
                let first = ways.partition_point(|way| way.class < class);
                let here = ways[first..].iter().take_while(|way| way.class == class);
                let open = here.copied().find(|way| way.routes().all(|id| flow[id] > 0));
                if let Some(way) = open.filter(|_| dealer.wants[owner as usize] > 0) {
                    way.routes().for_each(|id| flow[id] -= 1);
                    dealer.wants[owner as usize] -= 1;
                    state.target[id] = owner;
                }
            }
        }
        self.place_dealt(block);
    }
}

/// Follows the flow of one hub after the other to its classes, and uses it up.
struct Drain<'d> {
    network: &'d Network,
    flow: &'d mut [u32],
    /// The bypasses and gates of the block, sorted, and which of its routes each is at.
    others: &'d [u32],
    next: Vec<usize>,
    /// For each of their routes that one itself while something flows there, else a later one.
    open: &'d mut [u32],
    /// Classes, and how much went there.
    found: Vec<(u32, u32)>,
}

impl Drain<'_> {
    fn hub(&mut self, hub: u32) {
        for id in self.network.route_range(hub) {
            let units = std::mem::take(&mut self.flow[id]);
            self.follow(self.network.route(id), units);
        }
    }

    /// Goes two deep: over a bypass and a gate.
    fn follow(&mut self, route: Route, mut units: u32) {
        if units == 0 {
            return;
        }
        let via = match route {
            Route::Class(class) => {
                self.found.push((class, units));
                return;
            }
            Route::Via(via) => via,
        };
        let Ok(at) = self.others.binary_search(&via) else { return };
        let routes = self.network.route_range(via);
        // A unit or two of each in turn, so that a topic is spread.
        let share = units.div_ceil(routes.len() as u32);
        while units > 0 {
            let id = self.first_open(self.next[at], routes.end);
            if id == routes.end {
                self.next[at] = routes.start;
                continue;
            }
            let amount = share.min(units).min(self.flow[id]);
            self.flow[id] -= amount;
            units -= amount;
            if self.flow[id] == 0 {
                self.open[id] = id as u32 + 1;
            }
            self.next[at] = id + 1;
            self.follow(self.network.route(id), amount);
        }
    }

    /// The first route from this one on along which something flows, or the end. Shortens the
    /// links.
    fn first_open(&mut self, mut id: usize, end: usize) -> usize {
        while id < end && self.open[id] as usize != id {
            let ahead = self.open[id] as usize;
            let ahead = if ahead < end { self.open[ahead] as usize } else { ahead };
            self.open[id] = ahead as u32;
            id = ahead;
        }
        id
    }
}
