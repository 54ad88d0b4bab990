//! A first flow over gates, so that topics do not go to one member as a whole.

use super::{
    flow::{ArcId, Plan},
    network::{Network, Route},
};

/// Sends what can be sent at no cost from hubs over the gates of the right racks, a little to each class in turn.
#[derive(Debug)]
pub(super) struct Seeder<'s> {
    network: &'s Network,
    senders: &'s [u32],
    /// The arcs of each sender, and their routes, by sender.
    arcs: &'s [(usize, ArcId)],
}

/// How many classes of a gate are looked at for one with room.
const LOOKS: usize = 16;

impl<'s> Seeder<'s> {
    /// `arcs` has the routes in use in order, with the arcs that stand for them. The nodes of the
    /// senders come first.
    pub(super) fn new(network: &'s Network, senders: &'s [u32], arcs: &'s [(usize, ArcId)]) -> Self {
        Self { network, senders, arcs }
    }

    pub(super) fn seed(&self, plan: &mut Plan, excess: &mut [u32], spare: &mut [u32]) {
        if self.senders.last().is_none_or(|&last| (last as usize) < self.network.hub_count()) {
            return;
        }
        let bounds: Vec<(usize, usize)> = self.senders.iter().map(|&sender| self.bounds(sender)).collect();
        let mut turn: Vec<usize> = bounds.iter().map(|&(first, _)| first).collect();
        for (node, &hub) in self.senders.iter().enumerate() {
            if hub as usize >= self.network.hub_count() {
                break;
            }
            let gates: Vec<ArcId> = self.arcs[bounds[node].0..bounds[node].1]
                .iter()
                .filter(|&&(route, _)| !self.network.is_bypass(self.network.route(route)))
                .map(|&(_, arc)| arc)
                .collect();
            let reach: usize =
                gates.iter().map(|&arc| self.reach(self.senders[plan.head(arc) as usize])).sum();
            let share = excess[node].checked_div(reach as u32).unwrap_or(0).max(1);
            let mut dry = 0;
            let mut next = node;
            while excess[node] > 0 && dry < gates.len() {
                let gate = gates[next % gates.len()];
                next += 1;
                let via = plan.head(gate) as usize;
                let Some((arc, class, members)) = self.taker(bounds[via], &mut turn[via], plan, spare) else {
                    dry += 1;
                    continue;
                };
                dry = 0;
                let amount = (share * members).min(spare[class]).min(excess[node]);
                plan.start_with(gate, amount);
                plan.start_with(arc, amount);
                excess[node] -= amount;
                spare[class] -= amount;
            }
        }
    }

    fn bounds(&self, sender: u32) -> (usize, usize) {
        let routes = self.network.route_range(sender);
        let first = self.arcs.partition_point(|&(route, _)| route < routes.start);
        (first, self.arcs.partition_point(|&(route, _)| route < routes.end))
    }

    fn reach(&self, sender: u32) -> usize {
        self.network.reach(Route::Via(sender))
    }

    /// The next class of a gate that has room: its arc, its node and its members.
    fn taker(
        &self,
        (first, end): (usize, usize),
        turn: &mut usize,
        plan: &Plan,
        spare: &[u32],
    ) -> Option<(ArcId, usize, u32)> {
        for _ in 0..LOOKS.min(end - first) {
            let (route, arc) = self.arcs[*turn];
            *turn = if *turn + 1 == end { first } else { *turn + 1 };
            let class = plan.head(arc) as usize;
            if spare[class] > 0 {
                return Some((arc, class, self.network.reach(self.network.route(route)) as u32));
            }
        }
        None
    }
}
