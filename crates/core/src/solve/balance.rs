//! The most even loads, by cuts.
//!
//! In a connected part with `W` partitions and `M` members, no split is more even than loads of `b
//! = ⌊W/M⌋` and `b + 1`. A maximum flow with all loads capped at `b`, and another one at `b + 1`,
//! show where that is possible: what cannot be sent at `b + 1` can only reach members that need
//! more, and who is not reached at `b` can only have less. In between is a block in which every
//! load is `b` or `b + 1`. Every optimum respects these cuts, so that the rests are problems of
//! their own. (Optimal semi-matchings: Harvey, Ladner, Lovász, Tamir 2006.)

use super::{
    flow::{ArcId, Flow, Outcome, Plan, UNBOUNDED},
    network::{Network, Route, Way},
    work::Work,
};

/// Members and partitions among which the loads differ by at most one.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Sorted: hubs, then bypasses, then gates.
    pub(super) senders: Vec<u32>,
    pub(super) classes: Vec<u32>,
    /// The lesser load, and how many members have one more.
    pub(super) least: u32,
    pub(super) extra: u32,
    /// Every hub reaches every class. The flow is then left open.
    pub(super) is_complete: bool,
}

/// The group cut into blocks, and a flow that balances each.
#[derive(Debug)]
pub(super) struct Balance {
    pub(super) blocks: Vec<Block>,
    /// How many partitions go along each route.
    pub(super) flow: Vec<u32>,
    /// What the bound on the work left undone: sent somewhere, but not balanced.
    pub(super) unfinished: Option<Part>,
}

/// Senders and classes that only have to do with each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    pub(super) senders: Vec<u32>,
    pub(super) classes: Vec<u32>,
}

impl<'n> Cutter<'n> {
    pub(super) fn new(network: &'n Network) -> Self {
        Self {
            network,
            part_of_class: vec![0; network.class_count()],
            part_of_sender: vec![0; network.sender_count()],
            parts: 1,
            local: vec![0; network.sender_count() + network.class_count()],
            loads: vec![0; network.class_count()],
            balance: Balance { blocks: Vec::new(), flow: vec![0; network.route_count()], unfinished: None },
        }
    }

    /// The connected components of the whole network, as blocks, for the case that they are.
    /// Members without any partition to take are in none.
    pub(super) fn whole(&mut self) -> Vec<Block> {
        let everything = Part {
            senders: (0..self.network.sender_count() as u32).collect(),
            classes: (0..self.network.class_count() as u32).collect(),
        };
        let components = self.components(everything);
        let with_hubs =
            components.into_iter().filter(|part| !part.senders.is_empty() && !part.classes.is_empty());
        with_hubs.map(|part| self.as_block(part)).collect()
    }

    /// Cuts components until only blocks are left.
    pub(super) fn cut_all(mut self, components: Vec<Block>, work: &mut Work) -> Balance {
        let mut open: Vec<Part> =
            components.into_iter().map(|Block { senders, classes, .. }| Part { senders, classes }).collect();
        while let Some(part) = open.pop() {
            if work.is_exhausted() {
                self.leave(part);
                continue;
            }
            for rest in self.cut(part, work) {
                let components = self.components(rest);
                open.extend(components);
            }
        }
        if let Some(unfinished) = &mut self.balance.unfinished {
            unfinished.senders.sort_unstable();
            unfinished.classes.sort_unstable();
        }
        self.balance
    }
}

/// Finds components and cuts them.
pub(super) struct Cutter<'n> {
    network: &'n Network,
    /// Routes that lead out of a part are closed.
    part_of_class: Vec<u32>,
    part_of_sender: Vec<u32>,
    parts: u32,
    /// For senders, then classes: union-find parents, or places in the flow at hand.
    local: Vec<u32>,
    /// Per class, only valid within a part that is given up.
    loads: Vec<u64>,
    balance: Balance,
}

impl Cutter<'_> {
    /// Splits a part into its connected components. Members without any partition to take are left
    /// out: they are blocks of their own.
    fn components(&mut self, part: Part) -> Vec<Part> {
        let label = self.parts;
        self.parts += 1;
        let class_node = |class: u32| self.network.sender_count() as u32 + class;
        for &sender in &part.senders {
            self.part_of_sender[sender as usize] = label;
            self.local[sender as usize] = sender;
        }
        for &class in &part.classes {
            self.part_of_class[class as usize] = label;
            self.local[class_node(class) as usize] = class_node(class);
        }
        let parent = &mut self.local;
        for &sender in &part.senders {
            for &route in self.network.routes_of(sender) {
                let (open, node) = match route {
                    Route::Class(class) => (self.part_of_class[class as usize] == label, class_node(class)),
                    Route::Via(via) => (self.part_of_sender[via as usize] == label, via),
                };
                if open {
                    let (a, b) = (root(parent, sender), root(parent, node));
                    parent[a.max(b) as usize] = a.min(b);
                }
            }
        }
        let mut components: Vec<Part> = Vec::new();
        let mut of_root: Vec<(u32, u32)> = Vec::with_capacity(part.senders.len() + part.classes.len());
        for &sender in &part.senders {
            of_root.push((root(parent, sender), sender));
        }
        for &class in &part.classes {
            of_root.push((root(parent, class_node(class)), class_node(class)));
        }
        of_root.sort_unstable();
        let senders = self.network.sender_count() as u32;
        for nodes in of_root.chunk_by(|a, b| a.0 == b.0) {
            let classes = nodes.partition_point(|&(_, node)| node < senders);
            components.push(Part {
                senders: nodes[..classes].iter().map(|&(_, node)| node).collect(),
                classes: nodes[classes..].iter().map(|&(_, node)| node - senders).collect(),
            });
        }
        components.iter().for_each(|component| self.label(component));
        components
    }

    /// Closes all routes into and out of a part.
    fn label(&mut self, part: &Part) {
        for &sender in &part.senders {
            self.part_of_sender[sender as usize] = self.parts;
        }
        for &class in &part.classes {
            self.part_of_class[class as usize] = self.parts;
        }
        self.parts += 1;
    }

    /// Finishes a connected part, or a block in its middle. Returns the rests.
    fn cut(&mut self, part: Part, work: &mut Work) -> Vec<Part> {
        if part.classes.is_empty() || part.senders.is_empty() {
            return Vec::new();
        }
        if self.is_complete(&part) {
            self.finish(part);
            return Vec::new();
        }
        let least = self.supply(&part) / self.size(&part);
        let mut local = self.local_flow(&part, least);
        // Taking a part apart is work as well.
        work.scan(4 * (local.arcs.len() + part.senders.len() + part.classes.len()));
        let mut outcome = local.flow.run(work);
        if outcome == Outcome::Complete {
            self.store(&local);
            self.finish(part);
            return Vec::new();
        }
        let reached_at = |local: &LocalFlow| {
            let reached = |node: usize| local.flow.is_reached(node as u32);
            (0..part.senders.len() + part.classes.len()).map(reached).collect::<Vec<_>>()
        };
        let reached_at_least = reached_at(&local);
        if outcome == Outcome::Stuck {
            for (at, &class) in part.classes.iter().enumerate() {
                local.flow.spare[part.senders.len() + at] += self.network.members_of(class).len() as u32;
            }
            outcome = local.flow.run(work);
        }
        if outcome == Outcome::Exhausted {
            self.store(&local);
            self.leave(part);
            return Vec::new();
        }
        let reached_above = match outcome {
            Outcome::Stuck => reached_at(&local),
            _ => vec![false; reached_at_least.len()],
        };
        self.store(&local);
        let select = |wanted: fn(bool, bool) -> bool| {
            let is_wanted = |at: usize| wanted(reached_at_least[at], reached_above[at]);
            let senders = part.senders.iter().enumerate().filter(|(at, _)| is_wanted(*at));
            let classes = part.classes.iter().enumerate();
            let classes = classes.filter(|(at, _)| is_wanted(part.senders.len() + *at));
            Part {
                senders: senders.map(|(_, &id)| id).collect(),
                classes: classes.map(|(_, &id)| id).collect(),
            }
        };
        let finished = select(|at_least, above| at_least && !above);
        if !finished.classes.is_empty() {
            self.finish(finished);
        }
        [select(|_, above| above), select(|at_least, _| !at_least)]
            .into_iter()
            .filter(|rest| !rest.classes.is_empty())
            .collect()
    }

    fn is_complete(&self, part: &Part) -> bool {
        part.classes.len() == 1
            || part.senders.iter().all(|&sender| {
                let label = self.part_of_sender[sender as usize];
                let open = |route: &&Route| matches!(**route, Route::Class(class) if self.part_of_class[class as usize] == label);
                let routes = self.network.routes_of(sender);
                (sender as usize) < self.network.hub_count()
                    && routes.len() >= part.classes.len()
                    && routes.iter().filter(open).count() == part.classes.len()
            })
    }

    fn supply(&self, part: &Part) -> u32 {
        hubs(self.network, &part.senders).map(|hub| self.network.supply[hub as usize]).sum()
    }

    fn size(&self, part: &Part) -> u32 {
        part.classes.iter().map(|&class| self.network.members_of(class).len() as u32).sum()
    }

    fn finish(&mut self, part: Part) {
        self.label(&part);
        let block = self.as_block(part);
        self.balance.blocks.push(block);
    }

    fn as_block(&self, part: Part) -> Block {
        let (supply, size) = (self.supply(&part), self.size(&part));
        let is_complete = self.is_complete(&part);
        let Part { senders, classes } = part;
        Block { senders, classes, least: supply / size, extra: supply % size, is_complete }
    }

    /// Gives a part up: what is not sent yet goes where least is.
    fn leave(&mut self, part: Part) {
        let mut loads = std::mem::take(&mut self.loads);
        for &class in &part.classes {
            loads[class as usize] = 0;
        }
        for &sender in &part.senders {
            for (id, &route) in self.network.route_range(sender).zip(self.network.routes_of(sender)) {
                if let Route::Class(class) = route {
                    loads[class as usize] += u64::from(self.balance.flow[id]);
                }
            }
        }
        for hub in hubs(self.network, &part.senders) {
            self.pour(hub, &mut loads);
        }
        self.loads = loads;
        let unfinished = self.balance.unfinished.get_or_insert_default();
        unfinished.senders.extend(&part.senders);
        unfinished.classes.extend(&part.classes);
    }

    /// Fills up the least loaded of a hub's classes with what it has not sent.
    fn pour(&mut self, hub: u32, loads: &mut [u64]) {
        let label = self.part_of_sender[hub as usize];
        let sent: u32 = self.balance.flow[self.network.route_range(hub)].iter().sum();
        let mut left = u64::from(self.network.supply[hub as usize] - sent);
        if left == 0 {
            return;
        }
        // A class that can also be reached directly is.
        let mut ways = self.network.sorted_ways(hub);
        ways.dedup_by_key(|way| way.class);
        let is_open = |way: &Way| {
            way.routes().all(|id| match self.network.route(id) {
                Route::Via(via) => self.part_of_sender[via as usize] == label,
                Route::Class(class) => self.part_of_class[class as usize] == label,
            })
        };
        ways.retain(is_open);
        let size = |class: u32| self.network.members_of(class).len() as u64;
        ways.sort_by(|a, b| {
            let (of_a, of_b) =
                (loads[a.class as usize] * size(b.class), loads[b.class as usize] * size(a.class));
            of_a.cmp(&of_b)
        });
        // The first few are filled up to the load per member that this gives them.
        let (mut members, mut sum, mut filled) = (0, left, 0);
        for way in &ways {
            if filled > 0 && sum * size(way.class) <= loads[way.class as usize] * members {
                break;
            }
            members += size(way.class);
            sum += loads[way.class as usize];
            filled += 1;
        }
        let level = sum / members;
        for round in [level, level + 1] {
            for way in &ways[..filled] {
                let class = way.class as usize;
                let amount = (round * size(way.class)).saturating_sub(loads[class]).min(left);
                loads[class] += amount;
                left -= amount;
                for route in way.routes() {
                    self.balance.flow[route] += amount as u32;
                }
            }
        }
        debug_assert_eq!(left, 0);
    }

    /// The part as a flow problem with loads capped at `load`, some of it sent already.
    fn local_flow(&mut self, part: &Part, load: u32) -> LocalFlow {
        for (at, &sender) in (0..).zip(&part.senders) {
            self.local[sender as usize] = at;
        }
        let class_node = |class: u32| self.network.sender_count() + class as usize;
        for (at, &class) in (part.senders.len() as u32..).zip(&part.classes) {
            self.local[class_node(class)] = at;
        }
        let mut arcs = Vec::new();
        let mut plan = Plan::default();
        let mut spare = vec![0_u32; part.senders.len() + part.classes.len()];
        for (at, &class) in (part.senders.len()..).zip(&part.classes) {
            spare[at] = load.saturating_mul(self.network.members_of(class).len() as u32);
        }
        let mut excess = vec![0; spare.len()];
        let mut direct = Vec::new();
        for (tail, &sender) in (0..).zip(&part.senders) {
            let label = self.part_of_sender[sender as usize];
            direct.clear();
            for (id, &route) in self.network.route_range(sender).zip(self.network.routes_of(sender)) {
                let head = match route {
                    Route::Class(class) if self.part_of_class[class as usize] == label => class_node(class),
                    Route::Via(via) if self.part_of_sender[via as usize] == label => via as usize,
                    _ => continue,
                };
                let arc = plan.add(tail, self.local[head], UNBOUNDED, 0);
                arcs.push((id, arc));
                if let Route::Class(class) = route {
                    direct.push((arc, self.local[head], self.network.members_of(class).len() as u32));
                }
            }
            if let Some(&supply) = self.network.supply.get(sender as usize) {
                excess[tail as usize] = supply;
            }
            if !direct.is_empty() && (sender as usize) < self.network.hub_count() {
                let supply = excess[tail as usize];
                excess[tail as usize] = supply - deal_evenly(supply, tail, &direct, &mut spare, &mut plan);
            }
        }
        let mut flow = plan.finish(spare.len());
        flow.excess = excess;
        flow.spare = spare;
        LocalFlow { flow, arcs }
    }

    fn store(&mut self, local: &LocalFlow) {
        for &(route, arc) in &local.arcs {
            self.balance.flow[route] = local.flow.on(arc);
        }
    }
}

struct LocalFlow {
    flow: Flow,
    /// The route of each arc.
    arcs: Vec<(usize, ArcId)>,
}

/// Sends a hub's supply to its classes, as much as they can take, as evenly as is easy. Returns how
/// much that is.
fn deal_evenly(
    supply: u32,
    turn: u32,
    classes: &[(ArcId, u32, u32)],
    spare: &mut [u32],
    plan: &mut Plan,
) -> u32 {
    let size: u32 = classes.iter().map(|&(_, _, size)| size).sum();
    if size == 0 {
        return 0;
    }
    let mut left = supply;
    let mut flows: Vec<u32> = Vec::with_capacity(classes.len());
    for &(_, node, size_of_class) in classes {
        let share = u64::from(supply) * u64::from(size_of_class) / u64::from(size);
        let flow = (share as u32).min(spare[node as usize]);
        spare[node as usize] -= flow;
        left -= flow;
        flows.push(flow);
    }
    // One more for each in turn, beginning somewhere else each time.
    let first = turn as usize * 7 % classes.len();
    while left > 0 {
        let before = left;
        for at in (0..classes.len()).map(|at| (first + at) % classes.len()) {
            let (_, node, size_of_class) = classes[at];
            let flow = left.min(spare[node as usize]).min(size_of_class);
            spare[node as usize] -= flow;
            left -= flow;
            flows[at] += flow;
            if left == 0 {
                break;
            }
        }
        if left == before {
            break;
        }
    }
    for (&(arc, _, _), &flow) in classes.iter().zip(&flows) {
        plan.start_with(arc, flow);
    }
    supply - left
}

pub(super) fn hubs<'s>(network: &Network, senders: &'s [u32]) -> impl Iterator<Item = u32> + use<'s> {
    let count = network.hub_count();
    senders.iter().copied().filter(move |&sender| (sender as usize) < count)
}

/// Union-find with path halving; roots are the lowest of their set.
fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let above = parent[parent[node as usize] as usize];
        parent[node as usize] = above;
        node = above;
    }
    node
}
