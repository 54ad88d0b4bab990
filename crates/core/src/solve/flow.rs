//! Least-cost flow on small integer costs, by shortest paths and blocking flows.
//!
//! The primal-dual method: distances on reduced costs from all nodes that have something left to send,
//! then a blocking flow along shortest paths (Dinitz), until nothing is left or no path is. With costs 0 it is
//! plain maximum flow.

use super::work::Work;

/// The capacity of an arc that takes everything.
pub(super) const UNBOUNDED: u32 = u32::MAX;

const FAR: u32 = u32::MAX;

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
    /// Node `u` has the half arcs `start[u]..start[u + 1]`.
    start: Vec<u32>,
    arcs: Vec<HalfArc>,
    /// Where the forward half of each planned arc is.
    position: Vec<u32>,
    /// What each node has left to send, and to take.
    pub(super) excess: Vec<u32>,
    pub(super) spare: Vec<u32>,
    potential: Vec<i32>,
    search: Search,
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

#[derive(Debug, Default)]
struct Search {
    /// Cost distance of each node that was reached; within the same distance, `hop` counts arcs.
    distance: Vec<u32>,
    hop: Vec<u32>,
    settled: Vec<bool>,
    /// Which half arc to try next.
    current: Vec<u32>,
    reached: Vec<u32>,
    buckets: Vec<Vec<u32>>,
    path: Vec<u32>,
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
        debug_assert!(arc.cost == 0 && flow <= arc.capacity);
        arc.flow = flow;
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
        Flow {
            start,
            arcs,
            position,
            excess: vec![0; nodes],
            spare: vec![0; nodes],
            potential: vec![0; nodes],
            search: Search {
                distance: vec![FAR; nodes],
                hop: vec![0; nodes],
                settled: vec![false; nodes],
                current: vec![0; nodes],
                ..Search::default()
            },
        }
    }
}

impl Flow {
    /// Sends as much as can be sent, at least cost.
    pub(super) fn run(&mut self, work: &mut Work) -> Outcome {
        let mut sources: Vec<u32> =
            (0..self.excess.len() as u32).filter(|&node| self.excess[node as usize] > 0).collect();
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

    /// The price of a node. After [`Outcome::Complete`], whatever a node sends goes where cost plus price is least.
    pub(super) fn price(&self, node: u32) -> i64 {
        -i64::from(self.potential[node as usize])
    }

    /// Whether what could not be sent could at least reach this node. After [`Outcome::Stuck`].
    pub(super) fn is_reached(&self, node: u32) -> bool {
        self.search.distance[node as usize] != FAR
    }

    /// Distances from the sources, up to the nearest node that can take something, and in hops as far as those.
    fn find_shortest(&mut self, sources: &[u32], work: &mut Work) -> Option<u32> {
        let Self { start, arcs, spare, potential, search, .. } = self;
        let Search { distance, hop, settled, current, reached, buckets, .. } = search;
        for node in reached.drain(..) {
            distance[node as usize] = FAR;
            settled[node as usize] = false;
        }
        buckets.iter_mut().for_each(Vec::clear);
        if buckets.is_empty() {
            buckets.push(Vec::new());
        }
        for &source in sources {
            distance[source as usize] = 0;
            hop[source as usize] = 0;
            reached.push(source);
            buckets[0].push(source);
        }
        let mut at_distance = 0;
        while at_distance < buckets.len() {
            let mut bucket = std::mem::take(&mut buckets[at_distance]);
            let mut found_at = None;
            let mut next = 0;
            while next < bucket.len() {
                let node = bucket[next] as usize;
                next += 1;
                if settled[node] || distance[node] as usize != at_distance {
                    continue;
                }
                if found_at.is_some_and(|found| hop[node] > found) {
                    break;
                }
                settled[node] = true;
                current[node] = start[node];
                if spare[node] > 0 {
                    found_at = Some(hop[node]);
                    continue;
                }
                let out = &arcs[start[node] as usize..start[node + 1] as usize];
                work.scan(out.len());
                for arc in out {
                    if arc.residual == 0 {
                        continue;
                    }
                    let head = arc.head as usize;
                    if settled[head] {
                        continue;
                    }
                    let reduced = arc.cost + potential[node] - potential[head];
                    debug_assert!(reduced >= 0, "an arc that pays for itself");
                    let reduced = reduced as u32;
                    let reach = at_distance as u32 + reduced;
                    if reach >= distance[head] {
                        continue;
                    }
                    if distance[head] == FAR {
                        reached.push(arc.head);
                    }
                    distance[head] = reach;
                    if reduced == 0 {
                        hop[head] = hop[node] + 1;
                        bucket.push(arc.head);
                    } else {
                        hop[head] = 0;
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
        for &node in &self.search.reached {
            let near = self.search.distance[node as usize];
            if near < distance {
                self.potential[node as usize] -= (distance - near) as i32;
            }
        }
    }

    /// Sends what a source has to its neighbours at the end of shortest paths, to each about the same: a
    /// topic should not go to one member as a whole.
    fn send_evenly_from(&mut self, source: u32, work: &mut Work) {
        let Self { start, arcs, excess, spare, potential, .. } = self;
        let (first, end) = (start[source as usize], start[source as usize + 1]);
        let takes = |arc: &HalfArc, spare: &[u32]| {
            let head = arc.head as usize;
            arc.residual > 0 && spare[head] > 0 && arc.cost + potential[source as usize] == potential[head]
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

    /// Sends what a source has along shortest paths, as far as they carry.
    fn send_from(&mut self, source: u32, work: &mut Work) {
        let Self { start, arcs, excess, spare, potential, search, .. } = self;
        let Search { distance, hop, settled, current, path, .. } = search;
        path.clear();
        let mut node = source as usize;
        while excess[source as usize] > 0 && !work.is_exhausted() {
            if spare[node] > 0 {
                let narrowest = path.iter().map(|&at| arcs[at as usize].residual).min().unwrap_or(UNBOUNDED);
                let amount = narrowest.min(spare[node]).min(excess[source as usize]);
                excess[source as usize] -= amount;
                spare[node] -= amount;
                for &at in path.iter() {
                    arcs[at as usize].residual -= amount;
                    let mate = arcs[at as usize].mate;
                    arcs[mate as usize].residual += amount;
                }
                work.scan(path.len());
                // Go on from where the path is now closed.
                if let Some(closed) = path.iter().position(|&at| arcs[at as usize].residual == 0) {
                    let mate = arcs[path[closed] as usize].mate;
                    node = arcs[mate as usize].head as usize;
                    path.truncate(closed);
                }
                if spare[node] > 0 {
                    continue;
                }
            }
            let from = current[node];
            let open = (from..start[node + 1]).find(|&at| {
                let arc = &arcs[at as usize];
                let head = arc.head as usize;
                arc.residual > 0
                    && settled[head]
                    && (if distance[head] == distance[node] {
                        hop[head] == hop[node] + 1
                    } else {
                        hop[head] == 0 && distance[head] > distance[node]
                    })
                    && arc.cost + potential[node] == potential[head]
            });
            work.scan((open.unwrap_or(start[node + 1]) - from) as usize + 1);
            match open {
                Some(at) => {
                    current[node] = at;
                    path.push(at);
                    node = arcs[at as usize].head as usize;
                }
                None => {
                    current[node] = start[node + 1];
                    let Some(at) = path.pop() else { return };
                    let mate = arcs[at as usize].mate;
                    node = arcs[mate as usize].head as usize;
                    current[node] += 1;
                }
            }
        }
    }
}
