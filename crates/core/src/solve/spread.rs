//! Topics spread evenly, among all assignments that are as good in the objectives before.
//!
//! With `n` partitions of a topic at a member, one more costs `2n + 1` and one less saves `2n − 1`.
//! Partitions that may change places without harm to the objectives before are arcs between
//! members, over a *pool* for what may go to any of a hub's cheapest members. A cycle of negative
//! cost is an improvement; without one there is none (Klein 1967). Bellman and Ford's method finds
//! them, within a bound on the work of its own.

use super::{
    Solver,
    balance::{Block, hubs},
    network::Segment,
};
use crate::{certificate::Potential, dense::NOBODY};

use exchange::{Exchange, Movable, NONE};

mod exchange;

/// How many arcs the search may look at in all, and how often it should be able to look at each.
const BUDGET: u64 = 3_000_000;
const ROUNDS: u64 = 10;
/// A look at each arc must take one in so many off the sum of squares. That is seen to after this many arcs.
const WORTH: u64 = 300;
const WINDOW: u64 = 5_000;
/// Of more partitions than these, a sum of squares that exceeds the least by one in so many counts as least.
const FEW: u64 = 1_000;
const EVEN: u64 = 40;

/// What is left of the bound on the work.
#[derive(Debug)]
pub(super) struct Allowance(u64);

impl Default for Allowance {
    fn default() -> Self {
        Self(BUDGET)
    }
}

/// Of how many partitions of a topic a member has, summed up.
struct Squares {
    found: u64,
    /// What counts as even: about what they would be if nothing else counted.
    enough: u64,
}

impl Solver<'_> {
    /// Spreads the topics of a block. Its potentials must be final.
    pub(super) fn spread(&mut self, block: &Block) {
        let cost = self.cost_of_spreading(block);
        if cost == 0 || cost * ROUNDS > self.allowance.0 {
            return;
        }
        let by_topic = self.by_topic(block);
        let Squares { found, enough } = self.squares(&by_topic);
        if found <= enough {
            return;
        }
        let mut exchange = self.exchange(block, &by_topic);
        if exchange.movable.is_empty() {
            return;
        }
        // Since what is gained was last compared with what it took.
        let (mut left, mut gained) = (self.allowance.0, 0);
        while exchange.gained() < found - enough
            && exchange.improve(&mut self.allowance, &mut self.state.target)
        {
            let looked_at = left - self.allowance.0;
            if looked_at < WINDOW {
                continue;
            }
            let gain = exchange.gained() - gained;
            if u128::from(gain * WORTH) * u128::from(cost) < u128::from(found) * u128::from(looked_at) {
                return;
            }
            (left, gained) = (self.allowance.0, exchange.gained());
        }
    }

    /// How many arcs there are to look at.
    fn cost_of_spreading(&self, block: &Block) -> u64 {
        let even = self.moves_are_even(block);
        let stays = |segment: &Segment| {
            even && self.state.target[segment.range()] == self.owners.owner[segment.range()]
        };
        let mut cost = 0;
        for hub in hubs(self.network, &block.senders) {
            let size = self.reach_of(hub);
            for topic in self.network.segments_of(hub).chunk_by(|a, b| a.topic == b.topic) {
                if !topic.iter().all(stays) {
                    cost += size + topic.iter().map(|segment| segment.range().len() as u64).sum::<u64>();
                }
            }
        }
        cost
    }

    /// The segments of a block, each with its hub. Hubs of one topic are next to each other.
    fn by_topic(&self, block: &Block) -> Vec<(Segment, u32)> {
        let segments = |hub| self.network.segments_of(hub).iter().map(move |&segment| (segment, hub));
        let mut by_topic: Vec<_> = hubs(self.network, &block.senders).flat_map(segments).collect();
        by_topic.sort_unstable_by_key(|(segment, hub)| (segment.topic, *hub, segment.start));
        by_topic
    }

    /// How many members the partitions of a hub may go to.
    fn reach_of(&self, hub: u32) -> u64 {
        let routes = self.network.routes_of(hub).iter();
        routes.map(|&route| self.network.reach(route) as u64).sum::<u64>().max(1)
    }

    fn squares(&mut self, by_topic: &[(Segment, u32)]) -> Squares {
        let (mut found, mut least, mut partitions) = (0_u64, 0_u64, 0_u64);
        for topic in by_topic.chunk_by(|a, b| a.0.topic == b.0.topic) {
            let hubs = topic.chunk_by(|a, b| a.1 == b.1).map(|segments| segments[0].1);
            let size = hubs.map(|hub| self.reach_of(hub)).fold(1, u64::max);
            let count = &mut self.scratch.owned;
            let mut supply = 0;
            for id in ids(topic) {
                let count = &mut count[self.state.target[id as usize] as usize];
                found += 2 * u64::from(*count) + 1;
                *count += 1;
                supply += 1;
            }
            for id in ids(topic) {
                count[self.state.target[id as usize] as usize] = 0;
            }
            let (share, more) = (supply / size, supply % size);
            least += share * share * (size - more) + (share + 1) * (share + 1) * more;
            partitions += supply;
        }
        Squares { found, enough: least + if partitions > FEW { least / EVEN } else { 0 } }
    }

    /// Whether owners keep what they keep in any case.
    fn moves_are_even(&self, block: &Block) -> bool {
        let mut members = block.classes.iter().flat_map(|&class| self.network.members_of(class));
        let price = |member: &u32| self.state.potentials[*member as usize][2];
        members.next().is_none_or(|first| members.all(|member| price(member) == price(first)))
    }

    fn exchange(&mut self, block: &Block, by_topic: &[(Segment, u32)]) -> Exchange {
        let network = self.network;
        self.local.number(block);
        let mut exchange = Exchange::default();
        for &member in block.classes.iter().flat_map(|&class| network.members_of(class)) {
            self.scratch.node_of_member[member as usize] = exchange.members.len() as u32;
            exchange.members.push(member);
        }
        let potential = |&member: &u32| self.state.potentials[member as usize];
        let is_free = |member: &u32| block.extra > 0 && potential(member)[1..] == [0; 3];
        let free = (0..).zip(&exchange.members).filter(|(_, member)| is_free(member));
        exchange.free = free.map(|(node, _)| node).collect();
        let mut loads = vec![0_u32; exchange.members.len()];
        for id in ids(by_topic) {
            loads[self.node_of(self.state.target[id as usize]) as usize] += 1;
        }
        exchange.above = loads.iter().map(|&load| load > block.least).collect();

        let even = self.moves_are_even(block);
        let stays = |id: u32| even && self.state.target[id as usize] == self.owners.owner[id as usize];
        let mut places = Places::new(exchange.members.len());
        let mut cheapest: (u32, Vec<u32>, Potential) = (NOBODY, Vec::new(), [0; 4]);
        let mut loose = Vec::new();
        for topic in by_topic.chunk_by(|a, b| a.0.topic == b.0.topic) {
            if ids(topic).all(stays) {
                continue;
            }
            exchange.begin_topic();
            for id in ids(topic) {
                places.count(self.node_of(self.state.target[id as usize]), &exchange);
            }
            for pool in topic.chunk_by(|a, b| a.1 == b.1) {
                let hub = pool[0].1;
                if ids(pool).all(stays) {
                    continue;
                }
                if cheapest.0 != hub {
                    let (members, floor) = self.cheapest_of(hub);
                    cheapest = (hub, members, floor);
                }
                loose.clear();
                loose.extend(
                    ids(pool).filter(|&id| !stays(id)).filter_map(|id| self.loose(hub, id, cheapest.2)),
                );
                exchange.begin_pool();
                if loose.iter().any(|loose| loose.is_dealt) {
                    for &member in &cheapest.1 {
                        places.slot(self.node_of(member), &mut exchange);
                    }
                }
                exchange.end_takers();
                for loose in &loose {
                    let mut slot_of = |member: u32| places.slot(self.node_of(member), &mut exchange);
                    let at = slot_of(self.state.target[loose.id as usize]);
                    let owners = loose.owners.map(|owner| owner.map_or(NONE, &mut slot_of));
                    exchange.movable.push(Movable::new(loose.id, at, loose.is_dealt, owners));
                }
            }
        }
        exchange.link();
        exchange
    }

    fn node_of(&self, member: u32) -> u32 {
        self.scratch.node_of_member[member as usize]
    }

    /// The members at which a hub's partitions cost least, but for owners, and what they cost
    /// there.
    fn cheapest_of(&self, hub: u32) -> (Vec<u32>, Potential) {
        let mut floor = [i64::MAX; 4];
        let mut members = Vec::new();
        for way in self.network.ways(hub).into_iter().filter(|way| self.local.class(way.class).is_some()) {
            for &member in self.network.members_of(way.class) {
                let cost = self.cost(hub, member);
                if cost < floor {
                    floor = cost;
                    members.clear();
                }
                if cost == floor {
                    members.push(member);
                }
            }
        }
        members.sort_unstable();
        members.dedup();
        (members, floor)
    }

    /// What a partition of the hub costs at a member, but for what owners save.
    fn cost(&self, hub: u32, member: u32) -> Potential {
        let mut cost = self.state.potentials[member as usize];
        cost[0] = 0;
        cost[1] += i64::from(self.network.mismatch(hub, self.network.class_of[member as usize]));
        cost
    }

    /// Where else a partition may be, if anywhere.
    fn loose(&self, hub: u32, id: u32, floor: Potential) -> Option<Loose> {
        let owner = self.owners.owner[id as usize];
        let earlier = self.owners.earlier.get(id as usize).copied().unwrap_or(NOBODY);
        if owner == NOBODY && earlier == NOBODY {
            return Some(Loose { id, is_dealt: true, owners: [None; 2] });
        }
        let taken = i64::from(owner != NOBODY);
        let dealt = [0, floor[1], floor[2] + taken, floor[3] + i64::from(earlier != NOBODY)];
        // Owners subscribe: if they are in the block, they are among the hub's members.
        let here = |class: u32| self.local.class(class).is_some();
        let cost_at = |member: u32, taken: i64| {
            let class = self.network.class_of.get(member as usize).copied();
            let cost = class.is_some_and(here).then(|| self.cost(hub, member))?;
            Some([0, cost[1], cost[2] + taken, cost[3]])
        };
        let costs = [cost_at(owner, 0), cost_at(earlier, taken)];
        let least = costs.into_iter().flatten().fold(dealt, Potential::min);
        let is_dealt = dealt == least;
        let [owner, earlier] = [(owner, costs[0]), (earlier, costs[1])]
            .map(|(member, cost)| (cost == Some(least)).then_some(member));
        let is_bound = !is_dealt && (owner.is_none() || earlier.is_none());
        (!is_bound).then_some(Loose { id, is_dealt, owners: [owner, earlier] })
    }
}

/// A partition that could be elsewhere.
struct Loose {
    id: u32,
    /// Whether it may go to any of its hub's cheapest members.
    is_dealt: bool,
    /// Its owner and its earlier owner, where they may have it.
    owners: [Option<u32>; 2],
}

fn ids(segments: &[(Segment, u32)]) -> impl Iterator<Item = u32> {
    segments.iter().flat_map(|(segment, _)| segment.start..segment.end)
}

/// What each node has of a topic, and its slot in a pool, while one topic and pool is looked at after the other.
struct Places(Vec<Place>);

#[derive(Clone)]
struct Place {
    /// The last topic of which there was something here, and how much.
    topic: u32,
    count: u32,
    /// The last slot here, its pool and its topic.
    slot: u32,
    slot_pool: u32,
    slot_topic: u32,
}

impl Places {
    fn new(nodes: usize) -> Self {
        Self(vec![Place { topic: NONE, count: 0, slot: NONE, slot_pool: NONE, slot_topic: NONE }; nodes])
    }

    fn count(&mut self, node: u32, exchange: &Exchange) {
        let place = &mut self.0[node as usize];
        if place.topic != exchange.topic() {
            (place.topic, place.count) = (exchange.topic(), 0);
        }
        place.count += 1;
    }

    /// The node's slot in the last pool.
    fn slot(&mut self, node: u32, exchange: &mut Exchange) -> u32 {
        let place = &mut self.0[node as usize];
        let (topic, pool) = (exchange.topic(), exchange.pool());
        if place.slot_pool != pool {
            let count = if place.topic == topic { place.count } else { 0 };
            let twin = (place.slot_topic == topic).then_some(place.slot);
            place.slot = exchange.add_slot(node, count, twin);
            (place.slot_pool, place.slot_topic) = (pool, topic);
        }
        place.slot
    }
}
