//! Least-cost flow on small integer costs, by shortest paths and blocking flows.
//!
//! The primal-dual method: distances on reduced costs from all nodes that have something left to
//! send, then a blocking flow along shortest paths (Dinitz), until nothing is left or no path is.
//! With costs 0 it is plain maximum flow.

use super::work::Work;

/// The capacity of an arc that takes everything.
pub(super) const UNBOUNDED: u32 = u32::MAX;

const FAR: u32 = u32::MAX;

/// How many neighbours of a neighbour are looked at for one with room.
const LOOKS: u32 = 16;

/// A network under construction.
#[derive(Debug, Default)]
pub(super) struct Plan {
    arcs: Vec<PlannedArc>,
}

#[derive(Debug, Clone, Copy)]
struct PlannedArc {
    tail: u32,
    head: u32,
    capacity: u32,
    flow: u32,
    cost: i32,
}

/// An arc of a [`Plan`], valid in the [`Flow`] made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArcId(u32);

/// A network with a flow on it.
#[derive(Debug)]
pub(super) struct Flow {
    /// One more than there are, as the end of the last one's arcs.
    nodes: Vec<Node>,
    arcs: Vec<HalfArc>,
    /// Where the forward half of each planned arc is.
    position: Vec<u32>,
    /// What each node has left to send, and to take.
    pub(super) excess: Vec<u32>,
    pub(super) spare: Vec<u32>,
    /// The nodes that the last search reached.
    reached: Vec<u32>,
    /// Nodes still to be looked at, by distance.
    buckets: Vec<Vec<u32>>,
    /// The half arcs from a source to the node at hand.
    path: Vec<u32>,
}

/// What is known about a node, together since it is needed together.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// It has the half arcs from here to the start of the next node.
    start: u32,
    potential: i32,
    /// How far it is from the sources in cost; among equals, `hop` counts arcs.
    distance: u32,
    hop: u32,
    /// Which half arc to try next.
    current: u32,
    settled: bool,
}

/// One direction of an arc: what could still flow this way.
#[derive(Debug, Clone, Copy)]
struct HalfArc {
    head: u32,
    residual: u32,
    mate: u32,
    cost: i32,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Everything is sent, at least cost.
    Complete,
    /// No more can be sent. [`Flow::is_reached`] tells what the rest could reach.
    Stuck,
    /// The bound on the work was reached.
    Exhausted,
}

impl Plan {
    pub(super) fn with_capacity(arcs: usize) -> Self {
        Self { arcs: Vec::with_capacity(arcs) }
    }

    pub(super) fn add(&mut self, tail: u32, head: u32, capacity: u32, cost: i32) -> ArcId {
        self.arcs.push(PlannedArc { tail, head, capacity, flow: 0, cost });
        ArcId(self.arcs.len() as u32 - 1)
    }

    /// Lets something flow from the start. Only on arcs that cost nothing, so that this is optimal
    /// as far as it goes. What the ends have to send and to take is the caller's to say.
    pub(super) fn start_with(&mut self, arc: ArcId, flow: u32) {
        let arc = &mut self.arcs[arc.0 as usize];
        arc.flow += flow;
        debug_assert!(arc.cost == 0 && arc.flow <= arc.capacity);
    }

    pub(super) fn finish(self, nodes: usize) -> Flow {
        let mut start = vec![0_u32; nodes + 1];
        for arc in &self.arcs {
            start[arc.tail as usize + 1] += 1;
            start[arc.head as usize + 1] += 1;
        }
        for at in 0..nodes {
            start[at + 1] += start[at];
        }
        let mut next = start.clone();
        let nothing = HalfArc { head: 0, residual: 0, mate: 0, cost: 0 };
        let mut arcs = vec![nothing; 2 * self.arcs.len()];
        let mut position = Vec::with_capacity(self.arcs.len());
        for arc in &self.arcs {
            let (forth, back) = (next[arc.tail as usize], next[arc.head as usize]);
            next[arc.tail as usize] += 1;
            next[arc.head as usize] += 1;
            arcs[forth as usize] =
                HalfArc { head: arc.head, residual: arc.capacity - arc.flow, mate: back, cost: arc.cost };
            arcs[back as usize] =
                HalfArc { head: arc.tail, residual: arc.flow, mate: forth, cost: -arc.cost };
            position.push(forth);
        }
        let node = |start| Node { start, potential: 0, distance: FAR, hop: 0, current: 0, settled: false };
        Flow {
            nodes: start.into_iter().map(node).collect(),
            arcs,
            position,
            excess: vec![0; nodes],
            spare: vec![0; nodes],
            reached: Vec::new(),
            buckets: Vec::new(),
            path: Vec::new(),
        }
    }
}

impl Flow {
    /// Sends as much as can be sent, at least cost.
    pub(super) fn run(&mut self, work: &mut Work) -> Outcome {
        let mut sources: Vec<u32> =
            (0..self.excess.len() as u32).filter(|&node| self.excess[node as usize] > 0).collect();
        let mut is_first = true;
        loop {
            sources.retain(|&node| self.excess[node as usize] > 0);
            if sources.is_empty() {
                return Outcome::Complete;
            }
            let Some(distance) = self.find_shortest(&sources, work) else {
                return if work.is_exhausted() { Outcome::Exhausted } else { Outcome::Stuck };
            };
            self.raise_potentials(distance);
            for &source in &sources {
                self.send_evenly_from(source, work);
            }
            if std::mem::take(&mut is_first) {
                for &source in &sources {
                    self.send_evenly_over_neighbours(source, work);
                }
                for &node in &self.reached {
                    self.nodes[node as usize].current = self.nodes[node as usize].start;
                }
            }
            for &source in &sources {
                self.send_from(source, work);
                if work.is_exhausted() {
                    return Outcome::Exhausted;
                }
            }
        }
    }

    /// How much flows on an arc.
    pub(super) fn on(&self, arc: ArcId) -> u32 {
        self.arcs[self.arcs[self.position[arc.0 as usize] as usize].mate as usize].residual
    }

    /// The price of a node. After [`Outcome::Complete`], whatever a node sends goes where cost plus
    /// price is least.
    pub(super) fn price(&self, node: u32) -> i64 {
        -i64::from(self.nodes[node as usize].potential)
    }

    /// Whether what could not be sent could at least reach this node. After [`Outcome::Stuck`].
    pub(super) fn is_reached(&self, node: u32) -> bool {
        self.nodes[node as usize].distance != FAR
    }

    /// Distances from the sources, up to the nearest node that can take something, and in hops as
    /// far as those.
    fn find_shortest(&mut self, sources: &[u32], work: &mut Work) -> Option<u32> {
        let Self { arcs, nodes, spare, reached, buckets, .. } = self;
        for node in reached.drain(..) {
            nodes[node as usize].distance = FAR;
            nodes[node as usize].settled = false;
        }
        buckets.iter_mut().for_each(Vec::clear);
        if buckets.is_empty() {
            buckets.push(Vec::new());
        }
        for &source in sources {
            nodes[source as usize].distance = 0;
            nodes[source as usize].hop = 0;
            reached.push(source);
            buckets[0].push(source);
        }
        let mut at_distance = 0;
        while at_distance < buckets.len() {
            let mut bucket = std::mem::take(&mut buckets[at_distance]);
            let mut found_at = None;
            let mut next = 0;
            while next < bucket.len() {
                let at = bucket[next] as usize;
                next += 1;
                let Node { potential, distance, hop, settled, .. } = nodes[at];
                if settled || distance as usize != at_distance {
                    continue;
                }
                if found_at.is_some_and(|found| hop > found) {
                    break;
                }
                nodes[at].settled = true;
                nodes[at].current = nodes[at].start;
                if spare[at] > 0 {
                    found_at = Some(hop);
                    continue;
                }
                let out = &arcs[nodes[at].start as usize..nodes[at + 1].start as usize];
                work.scan(out.len());
                for arc in out.iter().filter(|arc| arc.residual > 0) {
                    let head = &mut nodes[arc.head as usize];
                    if head.settled {
                        continue;
                    }
                    let reduced = arc.cost + potential - head.potential;
                    debug_assert!(reduced >= 0, "an arc that pays for itself");
                    let reach = distance + reduced as u32;
                    if reach >= head.distance {
                        continue;
                    }
                    if head.distance == FAR {
                        reached.push(arc.head);
                    }
                    head.distance = reach;
                    if reduced == 0 {
                        head.hop = hop + 1;
                        bucket.push(arc.head);
                    } else {
                        head.hop = 0;
                        if buckets.len() <= reach as usize {
                            buckets.resize_with(reach as usize + 1, Vec::new);
                        }
                        buckets[reach as usize].push(arc.head);
                    }
                }
            }
            bucket.clear();
            buckets[at_distance] = bucket;
            if work.is_exhausted() {
                return None;
            }
            if found_at.is_some() {
                return Some(at_distance as u32);
            }
            at_distance += 1;
        }
        None
    }

    /// Makes the shortest paths free. Nodes farther away stay as they are, nearer ones go down.
    fn raise_potentials(&mut self, distance: u32) {
        if distance == 0 {
            return;
        }
        for &node in &self.reached {
            let node = &mut self.nodes[node as usize];
            if node.distance < distance {
                node.potential -= (distance - node.distance) as i32;
            }
        }
    }

    /// Sends what a source has to its neighbours at the end of shortest paths, to each about the
    /// same: a topic should not go to one member as a whole.
    fn send_evenly_from(&mut self, source: u32, work: &mut Work) {
        let Self { arcs, nodes, excess, spare, .. } = self;
        let (first, end) = (nodes[source as usize].start, nodes[source as usize + 1].start);
        let takes = |arc: &HalfArc, spare: &[u32]| {
            let head = arc.head as usize;
            arc.residual > 0
                && spare[head] > 0
                && arc.cost + nodes[source as usize].potential == nodes[head].potential
        };
        work.scan((end - first) as usize);
        let takers = arcs[first as usize..end as usize].iter().filter(|arc| takes(arc, spare)).count() as u32;
        if takers == 0 {
            return;
        }
        let share = excess[source as usize].div_ceil(takers);
        let turn = first + source % (end - first);
        for at in (turn..end).chain(first..turn) {
            if !takes(&arcs[at as usize], spare) {
                continue;
            }
            let HalfArc { head, residual, mate, .. } = arcs[at as usize];
            let amount = share.min(residual).min(spare[head as usize]).min(excess[source as usize]);
            arcs[at as usize].residual -= amount;
            arcs[mate as usize].residual += amount;
            spare[head as usize] -= amount;
            excess[source as usize] -= amount;
        }
    }

    /// The same for neighbours of neighbours. Each neighbour goes on, with the next source, where
    /// it left off.
    fn send_evenly_over_neighbours(&mut self, source: u32, work: &mut Work) {
        let Self { arcs, nodes, excess, spare, .. } = self;
        let is_free = |at: u32, from: u32, arcs: &[HalfArc], nodes: &[Node]| {
            let arc = &arcs[at as usize];
            arc.residual > 0
                && arc.cost + nodes[from as usize].potential == nodes[arc.head as usize].potential
        };
        let (first, end) = (nodes[source as usize].start, nodes[source as usize + 1].start);
        let mut next = first + source % (end - first).max(1);
        let mut dry = 0;
        while excess[source as usize] > 0 && dry < end - first {
            let at = next;
            next = if at + 1 == end { first } else { at + 1 };
            dry += 1;
            work.scan(1);
            if !is_free(at, source, arcs, nodes) {
                continue;
            }
            let via = arcs[at as usize].head;
            let (start, stop) = (nodes[via as usize].start, nodes[via as usize + 1].start);
            let share = excess[source as usize].div_ceil(stop - start);
            for _ in 0..LOOKS.min(stop - start) {
                let over = nodes[via as usize].current.clamp(start, stop - 1);
                nodes[via as usize].current = if over + 1 == stop { start } else { over + 1 };
                let HalfArc { head, residual, mate, .. } = arcs[over as usize];
                work.scan(1);
                if spare[head as usize] == 0 || !is_free(over, via, arcs, nodes) {
                    continue;
                }
                let amount = share.min(residual).min(arcs[at as usize].residual);
                let amount = amount.min(spare[head as usize]).min(excess[source as usize]);
                let back = arcs[at as usize].mate;
                arcs[at as usize].residual -= amount;
                arcs[back as usize].residual += amount;
                arcs[over as usize].residual -= amount;
                arcs[mate as usize].residual += amount;
                excess[source as usize] -= amount;
                spare[head as usize] -= amount;
                dry = 0;
                break;
            }
        }
    }

    /// Sends what a source has along shortest paths, as far as they carry.
    fn send_from(&mut self, source: u32, work: &mut Work) {
        self.path.clear();
        let mut node = source as usize;
        while self.excess[source as usize] > 0 && !work.is_exhausted() {
            if self.spare[node] > 0 {
                work.scan(self.path.len());
                node = self.send_along_path(source, node);
                if self.spare[node] > 0 {
                    continue;
                }
            }
            let (from, end) = (self.nodes[node].current, self.nodes[node + 1].start);
            let open = (from..end).find(|&at| self.is_on_shortest(node, &self.arcs[at as usize]));
            work.scan((open.unwrap_or(end) - from) as usize + 1);
            self.nodes[node].current = open.unwrap_or(end);
            if let Some(at) = open {
                self.path.push(at);
                node = self.arcs[at as usize].head as usize;
            } else {
                let Some(at) = self.path.pop() else { return };
                node = self.tail(at);
                self.nodes[node].current += 1;
            }
        }
    }

    /// Sends what the path carries from the source to the node at its end. Gives the node to go on
    /// from: the last one that can still be reached.
    fn send_along_path(&mut self, source: u32, node: usize) -> usize {
        let Self { arcs, excess, spare, path, .. } = self;
        let narrowest = path.iter().map(|&at| arcs[at as usize].residual).min().unwrap_or(UNBOUNDED);
        let amount = narrowest.min(spare[node]).min(excess[source as usize]);
        excess[source as usize] -= amount;
        spare[node] -= amount;
        for &at in path.iter() {
            arcs[at as usize].residual -= amount;
            let mate = arcs[at as usize].mate;
            arcs[mate as usize].residual += amount;
        }
        let Some(closed) = path.iter().position(|&at| arcs[at as usize].residual == 0) else { return node };
        let first_closed = path[closed];
        path.truncate(closed);
        self.tail(first_closed)
    }

    fn is_on_shortest(&self, node: usize, arc: &HalfArc) -> bool {
        if arc.residual == 0 {
            return false;
        }
        let (tail, head) = (&self.nodes[node], &self.nodes[arc.head as usize]);
        let is_next = if head.distance == tail.distance {
            head.hop == tail.hop + 1
        } else {
            head.hop == 0 && head.distance > tail.distance
        };
        head.settled && is_next && arc.cost + tail.potential == head.potential
    }

    fn tail(&self, arc: u32) -> usize {
        let mate = self.arcs[arc as usize].mate;
        self.arcs[mate as usize].head as usize
    }
}
