//! Minimum-cost flow as in the textbook: one shortest path at a time, by Bellman and Ford with a queue. Slow and plain.

use std::collections::VecDeque;

/// A network whose arcs cost `cost` per unit plus `square` × (flow²), so that the n-th unit costs
/// `cost + square × (2n − 1)`.
#[derive(Debug, Default)]
pub(crate) struct Network {
    arcs: Vec<Arc>,
    leaving: Vec<Vec<usize>>,
    entering: Vec<Vec<usize>>,
}

#[derive(Debug)]
struct Arc {
    from: usize,
    to: usize,
    capacity: i128,
    flow: i128,
    cost: i128,
    square: i128,
}

impl Network {
    pub(crate) fn node(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.entering.push(Vec::new());
        self.leaving.len() - 1
    }

    pub(crate) fn arc(&mut self, from: usize, to: usize, capacity: i128, cost: i128, square: i128) -> usize {
        let arc = self.arcs.len();
        self.arcs.push(Arc { from, to, capacity, flow: 0, cost, square });
        self.leaving[from].push(arc);
        self.entering[to].push(arc);
        arc
    }

    pub(crate) fn flow(&self, arc: usize) -> i128 {
        self.arcs[arc].flow
    }

    /// Sends one unit along a cheapest path; returns whether there was a path.
    ///
    /// Flow that was cheapest for what it carries stays so: no negative cycle arises from a shortest path.
    pub(crate) fn send_one(&mut self, from: usize, to: usize) -> bool {
        let mut distance: Vec<Option<i128>> = vec![None; self.leaving.len()];
        let mut arrived_by: Vec<Option<(usize, bool)>> = vec![None; self.leaving.len()];
        let mut queued = vec![false; self.leaving.len()];
        let mut queue = VecDeque::from([from]);
        distance[from] = Some(0);
        while let Some(node) = queue.pop_front() {
            queued[node] = false;
            let here = distance[node].expect("queued nodes were reached");
            let forward = self.leaving[node].iter().map(|arc| (*arc, true));
            let backward = self.entering[node].iter().map(|arc| (*arc, false));
            for (index, ahead) in forward.chain(backward) {
                let arc = &self.arcs[index];
                let open = if ahead { arc.flow < arc.capacity } else { arc.flow > 0 };
                if !open {
                    continue;
                }
                let (next, step) = if ahead {
                    (arc.to, arc.cost + arc.square * (2 * arc.flow + 1))
                } else {
                    (arc.from, -(arc.cost + arc.square * (2 * arc.flow - 1)))
                };
                if distance[next].is_some_and(|known| known <= here + step) {
                    continue;
                }
                distance[next] = Some(here + step);
                arrived_by[next] = Some((index, ahead));
                if !queued[next] {
                    queued[next] = true;
                    queue.push_back(next);
                }
            }
        }
        let mut node = to;
        while node != from {
            let Some((index, ahead)) = arrived_by[node] else { return false };
            let arc = &mut self.arcs[index];
            arc.flow += if ahead { 1 } else { -1 };
            node = if ahead { arc.from } else { arc.to };
        }
        true
    }
}
