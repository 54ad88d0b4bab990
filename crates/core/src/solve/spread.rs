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

/// How many arcs the search may look at in all, and how often it should be able to look at each.
const BUDGET: u64 = 3_000_000;
const ROUNDS: u64 = 10;

/// What is left of the bound on the work.
#[derive(Debug)]
pub(super) struct Allowance(u64);

impl Default for Allowance {
    fn default() -> Self {
        Self(BUDGET)
    }
}

/// Partitions of one topic and hub that may go to any of the same members.
#[derive(Debug)]
struct Pool {
    /// Its partitions are `movable[start..end]`.
    start: usize,
    end: usize,
    /// Its members are `takers[first_taker..end_taker]`.
    first_taker: usize,
    end_taker: usize,
}

/// A partition that could be elsewhere.
#[derive(Debug, Clone, Copy)]
struct Movable {
    id: u32,
    /// The entry of its topic and the member that has it.
    at: u32,
    /// Whether it may go to its pool.
    dealt: bool,
    /// The entries of its owner and its earlier owner, where they may have it.
    special: [u32; 2],
}

/// How a node was reached: from which node, and by which partition.
#[derive(Debug, Clone, Copy)]
struct Step {
    from: u32,
    movable: u32,
}

const NO_STEP: Step = Step { from: NOBODY, movable: NOBODY };

/// The members of a block and what they could exchange.
#[derive(Debug, Default)]
struct Exchange {
    pools: Vec<Pool>,
    movable: Vec<Movable>,
    /// Entries: who may take from a pool.
    takers: Vec<u32>,
    /// A topic at a member: the member's node, and how many it has.
    entry_node: Vec<u32>,
    entry_count: Vec<u32>,
    /// Of which of these topics; and where the pools of each topic begin.
    entry_topic: Vec<u32>,
    first_pool_of: Vec<u32>,
    /// How much the sum of squares has to go down for topics to be even.
    to_gain: i64,
    /// Per node of a member: its id, its load beyond the lesser one, and whether that may change.
    members: Vec<u32>,
    above: Vec<bool>,
    free: Vec<bool>,
    /// Those of `movable` that may go to an owner.
    special: Vec<u32>,
    distance: Vec<i64>,
    /// In which round the arcs from each node were last in need of being looked at.
    due_in: Vec<u32>,
    round: u32,
    step: Vec<Step>,
}

impl Solver<'_> {
    /// Spreads the topics of a block. Its potentials must be final.
    pub(super) fn spread(&mut self, block: &Block) {
        let Some(to_gain) = self.worth_gaining(block) else { return };
        let mut exchange = self.exchange(block);
        if exchange.movable.is_empty() {
            return;
        }
        exchange.to_gain = to_gain;
        while exchange.to_gain > 0 && exchange.improve(&mut self.allowance, &mut self.state.target) {}
    }

    /// How much there is to gain, if that is enough for what it costs to look.
    fn worth_gaining(&mut self, block: &Block) -> Option<i64> {
        let cost = self.cost_of_spreading(block);
        let is_affordable = cost > 0 && cost * ROUNDS <= self.allowance.0;
        is_affordable.then(|| self.unevenness(block)).filter(|to_gain| *to_gain > 0)
    }

    /// How many arcs there are to look at.
    fn cost_of_spreading(&self, block: &Block) -> u64 {
        let even = self.moves_are_even(block);
        let mut cost = 0;
        for hub in hubs(self.network, &block.senders) {
            let size = self.reach_of(hub);
            for segment in self.network.segments_of(hub) {
                let of = segment.range();
                if !even || self.state.target[of.clone()] != self.owners.owner[of.clone()] {
                    cost += size + of.len() as u64;
                }
            }
        }
        cost
    }

    /// How many members the partitions of a hub may go to.
    fn reach_of(&self, hub: u32) -> u64 {
        let routes = self.network.routes_of(hub).iter();
        routes.map(|&route| self.network.reach(route) as u64).sum::<u64>().max(1)
    }

    /// By how much the squares exceed what counts as even: about what they would be if nothing else counted.
    fn unevenness(&mut self, block: &Block) -> i64 {
        let (mut found, mut least, mut partitions) = (0_u64, 0_u64, 0_u64);
        for hub in hubs(self.network, &block.senders) {
            let size = self.reach_of(hub);
            let count = &mut self.scratch.owned;
            for segment in self.network.segments_of(hub) {
                let members = &self.state.target[segment.range()];
                let supply = members.len() as u64;
                let (share, more) = (supply / size, supply % size);
                least += share * share * (size - more) + (share + 1) * (share + 1) * more;
                partitions += supply;
                for &member in members {
                    found += 2 * u64::from(count[member as usize]) + 1;
                    count[member as usize] += 1;
                }
                for &member in members {
                    count[member as usize] = 0;
                }
            }
        }
        let enough = least + if partitions > 1000 { least / 200 } else { 0 };
        found as i64 - enough as i64
    }

    /// Whether owners keep what they keep in any case.
    fn moves_are_even(&self, block: &Block) -> bool {
        let mut members = block.classes.iter().flat_map(|&class| self.network.members_of(class));
        let price = |member: &u32| self.state.potentials[*member as usize][2];
        members.next().is_none_or(|first| members.all(|member| price(member) == price(first)))
    }

    fn exchange(&mut self, block: &Block) -> Exchange {
        let network = self.network;
        self.local.number(block);
        let mut exchange = Exchange::default();
        for &member in block.classes.iter().flat_map(|&class| network.members_of(class)) {
            self.scratch.node_of_member[member as usize] = exchange.members.len() as u32;
            exchange.members.push(member);
        }
        let potential = |&member: &u32| self.state.potentials[member as usize];
        let is_free = |member: &u32| block.extra > 0 && potential(member)[1..] == [0; 3];
        exchange.free = exchange.members.iter().map(is_free).collect();
        let mut loads = vec![0_u32; exchange.members.len()];
        let segments = || hubs(network, &block.senders).flat_map(|hub| network.segments_of(hub));
        for segment in segments() {
            for &member in &self.state.target[segment.range()] {
                loads[self.scratch.node_of_member[member as usize] as usize] += 1;
            }
        }
        exchange.above = loads.iter().map(|&load| load > block.least).collect();

        // By topic, since hubs of one topic share its entries.
        let mut by_topic: Vec<(Segment, u32)> = hubs(network, &block.senders)
            .flat_map(|hub| network.segments_of(hub).iter().map(move |&segment| (segment, hub)))
            .collect();
        by_topic.sort_unstable_by_key(|(segment, hub)| (segment.topic, *hub, segment.start));
        let even = self.moves_are_even(block);
        let stays = |id: u32| even && self.state.target[id as usize] == self.owners.owner[id as usize];
        let mut entries = Entries { of_node: vec![(NOBODY, 0); exchange.members.len()] };
        let mut cheapest: (u32, Vec<u32>, Potential) = (NOBODY, Vec::new(), [0; 4]);
        for topic in by_topic.chunk_by(|a, b| a.0.topic == b.0.topic) {
            if ids(topic).all(stays) {
                continue;
            }
            exchange.first_pool_of.push(exchange.pools.len() as u32);
            for id in ids(topic) {
                let node = self.scratch.node_of_member[self.state.target[id as usize] as usize];
                let entry = entries.entry(topic[0].0.topic.0, node, &mut exchange);
                exchange.entry_count[entry as usize] += 1;
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
                let start = exchange.movable.len();
                for id in ids(pool).filter(|&id| !stays(id)) {
                    self.add_movable(hub, id, cheapest.2, topic[0].0.topic.0, &mut entries, &mut exchange);
                }
                if !exchange.movable[start..].iter().any(|movable| movable.dealt) {
                    continue;
                }
                let first_taker = exchange.takers.len();
                for &member in &cheapest.1 {
                    let node = self.scratch.node_of_member[member as usize];
                    let entry = entries.entry(topic[0].0.topic.0, node, &mut exchange);
                    exchange.takers.push(entry);
                }
                let (end, end_taker) = (exchange.movable.len(), exchange.takers.len());
                exchange.pools.push(Pool { start, end, first_taker, end_taker });
            }
        }
        exchange.first_pool_of.push(exchange.pools.len() as u32);
        let nodes = exchange.members.len() + exchange.pools.len() + 1;
        let is_special = |movable: &Movable| movable.special != [NOBODY; 2];
        let special = (0..).zip(&exchange.movable).filter(|(_, movable)| is_special(movable));
        exchange.special = special.map(|(at, _)| at).collect();
        exchange.distance = vec![0; nodes];
        exchange.due_in = vec![0; nodes];
        exchange.step = vec![NO_STEP; nodes];
        exchange
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

    fn add_movable(
        &self,
        hub: u32,
        id: u32,
        floor: Potential,
        topic: u32,
        entries: &mut Entries,
        exchange: &mut Exchange,
    ) {
        let owner = self.owners.owner[id as usize];
        let earlier = self.owners.earlier.get(id as usize).copied().unwrap_or(NOBODY);
        let taken = i64::from(owner != NOBODY);
        let dealt = [0, floor[1], floor[2] + taken, floor[3] + i64::from(earlier != NOBODY)];
        // Owners subscribe: if they are in the block, they are among the hub's members.
        let here = |class: u32| self.local.class(class).is_some();
        let cost_at = |member: u32, taken: i64| {
            let class = self.network.class_of.get(member as usize).copied();
            let cost = class.is_some_and(here).then(|| self.cost(hub, member))?;
            Some([0, cost[1], cost[2] + taken, cost[3]])
        };
        let specials = [cost_at(owner, 0), cost_at(earlier, taken)];
        let least = specials.into_iter().flatten().fold(dealt, Potential::min);
        let ties = specials.iter().filter(|cost| **cost == Some(least)).count() + usize::from(dealt == least);
        if ties < 2 && dealt != least {
            return;
        }
        let mut entry_of = |member: u32, cost: Option<Potential>| {
            if cost != Some(least) {
                return NOBODY;
            }
            entries.entry(topic, self.scratch.node_of_member[member as usize], exchange)
        };
        let special = [entry_of(owner, specials[0]), entry_of(earlier, specials[1])];
        let at = entries.entry(
            topic,
            self.scratch.node_of_member[self.state.target[id as usize] as usize],
            exchange,
        );
        exchange.movable.push(Movable { id, at, dealt: dealt == least, special });
    }
}

fn ids(segments: &[(Segment, u32)]) -> impl Iterator<Item = u32> {
    segments.iter().flat_map(|(segment, _)| segment.start..segment.end)
}

/// Finds the entry of a topic and a node while one topic is looked at after the other.
struct Entries {
    of_node: Vec<(u32, u32)>,
}

impl Entries {
    fn entry(&mut self, topic: u32, node: u32, exchange: &mut Exchange) -> u32 {
        let known = &mut self.of_node[node as usize];
        if known.0 != topic {
            *known = (topic, exchange.entry_node.len() as u32);
            exchange.entry_node.push(node);
            exchange.entry_count.push(0);
            exchange.entry_topic.push(exchange.first_pool_of.len() as u32 - 1);
        }
        known.1
    }
}

impl Exchange {
    /// Carries out exchanges that pay. False if there are none, or no more may be looked for.
    ///
    /// Distances go on from those of the call before: any will do to begin with, and few change.
    fn improve(&mut self, allowance: &mut Allowance, target: &mut [u32]) -> bool {
        self.step.fill(NO_STEP);
        for _ in 0..self.distance.len() {
            let (nearer, scanned) = self.relax();
            let Some(left) = allowance.0.checked_sub(scanned) else {
                allowance.0 = 0;
                return false;
            };
            allowance.0 = left;
            if !nearer {
                return false;
            }
            if self.carry_out_cycles(target) {
                return true;
            }
        }
        false
    }

    /// One round over the arcs from all nodes that are due since the round before. Whether anything got
    /// nearer, and how much was looked at.
    fn relax(&mut self) -> (bool, u64) {
        self.round += 1;
        let first_pool = self.members.len() as u32;
        let shared = self.distance.len() as u32 - 1;
        let Self { distance, step, entry_node, entry_count, due_in, round, .. } = self;
        let mut scanned = (self.special.len() + self.movable.len() + distance.len()) as u64;
        let mut nearer = false;
        let less = |entry: u32| 1 - 2 * i64::from(entry_count[entry as usize]);
        let more = |entry: u32| 1 + 2 * i64::from(entry_count[entry as usize]);
        let is_due = |due_in: &[u32], node: u32| due_in[node as usize] + 1 >= *round;
        let mut reach = |due_in: &mut [u32], node: u32, from: u32, cost: i64, movable: u32| {
            let reached = distance[from as usize] + cost;
            if reached < distance[node as usize] {
                distance[node as usize] = reached;
                step[node as usize] = Step { from, movable };
                due_in[node as usize] = *round;
                nearer = true;
            }
        };
        for &at in &self.special {
            let movable = self.movable[at as usize];
            let from = entry_node[movable.at as usize];
            if is_due(due_in, from) {
                for &to in movable.special.iter().filter(|&&to| to != NOBODY && to != movable.at) {
                    reach(due_in, entry_node[to as usize], from, less(movable.at) + more(to), at);
                }
            }
        }
        for (node, pool) in (first_pool..).zip(&self.pools) {
            for (at, movable) in (pool.start as u32..).zip(&self.movable[pool.start..pool.end]) {
                let from = entry_node[movable.at as usize];
                if movable.dealt && is_due(due_in, from) {
                    reach(due_in, node, from, less(movable.at), at);
                }
            }
            if is_due(due_in, node) {
                let takers = &self.takers[pool.first_taker..pool.end_taker];
                scanned += takers.len() as u64;
                for &taker in takers {
                    reach(due_in, entry_node[taker as usize], node, more(taker), taker);
                }
                due_in[node as usize] = 0;
            }
        }
        for (node, (&free, &above)) in (0..).zip(self.free.iter().zip(&self.above)) {
            match (free, above) {
                (false, _) => {}
                (true, false) => reach(due_in, shared, node, 0, NOBODY),
                (true, true) => reach(due_in, node, shared, 0, NOBODY),
            }
        }
        (nearer, scanned)
    }

    /// Carries out all cycles among the steps. Every one of them pays.
    fn carry_out_cycles(&mut self, target: &mut [u32]) -> bool {
        let mut seen_from = vec![NOBODY; self.step.len()];
        let mut cycles = Vec::new();
        for start in 0..self.step.len() as u32 {
            let mut node = start;
            while node != NOBODY && seen_from[node as usize] == NOBODY {
                seen_from[node as usize] = start;
                node = self.step[node as usize].from;
            }
            if node != NOBODY && seen_from[node as usize] == start {
                cycles.push(node);
            }
        }
        for &on_cycle in &cycles {
            self.carry_out(on_cycle, target);
        }
        !cycles.is_empty()
    }

    fn carry_out(&mut self, on_cycle: u32, target: &mut [u32]) {
        let members = self.members.len() as u32;
        let shared = self.step.len() as u32 - 1;
        let mut node = on_cycle;
        loop {
            let Step { from, movable } = self.step[node as usize];
            if node == shared {
                // Somebody has one more from now on.
                self.above[from as usize] = true;
            } else if from == shared {
                self.above[node as usize] = false;
            } else if node < members {
                let (movable, to) = if from < members {
                    let leads_here = |&to: &u32| to != NOBODY && self.entry_node[to as usize] == node;
                    let to = self.movable[movable as usize].special.into_iter().find(leads_here);
                    (movable, to.unwrap_or_default())
                } else {
                    // By way of a pool: the pool's step says which partition, the own one where to.
                    (self.step[from as usize].movable, movable)
                };
                let moved = &mut self.movable[movable as usize];
                let [had, has] = [moved.at, to].map(|entry| entry as usize);
                self.to_gain -= 2 * (i64::from(self.entry_count[had]) - i64::from(self.entry_count[has]) - 1);
                self.entry_count[had] -= 1;
                self.entry_count[has] += 1;
                moved.at = to;
                target[moved.id as usize] = self.members[node as usize];
                // To who has one more it costs less to take from, and to who has one less, to give to.
                let topic = self.entry_topic[had] as usize;
                let pools = self.first_pool_of[topic]..self.first_pool_of[topic + 1];
                for pool in pools {
                    self.due_in[self.members.len() + pool as usize] = self.round;
                }
            }
            if node < members {
                self.due_in[node as usize] = self.round;
            }
            node = from;
            if node == on_cycle {
                return;
            }
        }
    }
}
