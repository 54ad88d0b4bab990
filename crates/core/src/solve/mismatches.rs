//! Fewest rack mismatches within a balanced block, class by class.

use super::{
    Solver,
    balance::Block,
    flow::{Outcome, Plan, UNBOUNDED},
    network::{Network, Route},
};

/// Which ways stay open once an objective is decided, and what the members of a class must have.
#[derive(Debug)]
pub(super) struct Tight {
    /// Per route, whether an optimum may use it.
    pub(super) open: Vec<bool>,
    /// Per class: its price.
    pub(super) price: Vec<i64>,
    /// Per sender: least cost plus price over its classes.
    pub(super) floor: Vec<i64>,
}

impl Tight {
    /// Nothing is decided yet.
    pub(super) fn nothing(network: &Network) -> Self {
        Self {
            open: vec![true; network.route_count()],
            price: vec![0; network.class_count()],
            floor: vec![0; network.sender_count()],
        }
    }

    /// Whether an optimum may leave a partition of the hub with a member of the class.
    pub(super) fn allows(&self, network: &Network, hub: u32, class: u32) -> bool {
        self.price[class as usize] + i64::from(network.mismatch(hub, class)) <= self.floor[hub as usize]
    }

    /// Whether the members of the class may have the lesser or the greater load of the block.
    pub(super) fn is_free(&self, block: &Block, class: u32) -> bool {
        block.extra > 0 && self.price[class as usize] == 0
    }

    /// Gives each member's node what the member has to take at least. Returns how many may take one
    /// more.
    pub(super) fn fix_loads(
        &self,
        network: &Network,
        block: &Block,
        node_of_member: &[u32],
        spare: &mut [u32],
    ) -> u32 {
        let mut above = block.extra;
        for &class in &block.classes {
            let members = network.members_of(class);
            let fixed_above = block.extra > 0 && self.price[class as usize] > 0;
            above -= if fixed_above { members.len() as u32 } else { 0 };
            for &member in members {
                spare[node_of_member[member as usize] as usize] = block.least + u32::from(fixed_above);
            }
        }
        above
    }
}

/// The floor of a bypass or a gate whose classes are all in other blocks.
const NOWHERE: i64 = i64::MAX / 2;

impl Solver<'_> {
    /// Decides mismatches in one block: prices its classes, closes what is not tight, and leaves a
    /// flow with the fewest. False where the bound on the work stopped it; then nothing is changed.
    pub(super) fn decide_mismatches(&mut self, block: &Block) -> bool {
        let Self { network, local, flow, tight, work, .. } = self;
        let mut plan = Plan::default();
        let mut arcs = Vec::new();
        let senders = block.senders.len() as u32;
        let shared = senders + block.classes.len() as u32;
        local.number(block);
        for (tail, &sender) in (0..).zip(&block.senders) {
            for (id, &route) in network.route_range(sender).zip(network.routes_of(sender)) {
                let (head, cost) = match route {
                    Route::Class(class) => (local.class(class).map(|at| at + senders), 0),
                    Route::Via(via) => (local.sender(via), i32::from(network.is_bypass(route))),
                };
                if let Some(head) = head {
                    arcs.push((id, plan.add(tail, head, UNBOUNDED, cost)));
                }
            }
        }
        for (at, &class) in (senders..).zip(&block.classes) {
            if block.extra > 0 {
                plan.add(at, shared, network.members_of(class).len() as u32, 0);
            }
        }
        let mut excess = vec![0; shared as usize + 1];
        let mut spare = vec![0; shared as usize + 1];
        for (at, &sender) in block.senders.iter().enumerate() {
            excess[at] = network.supply.get(sender as usize).copied().unwrap_or(0);
        }
        for (at, &class) in (senders as usize..).zip(&block.classes) {
            spare[at] = block.least * network.members_of(class).len() as u32;
        }
        spare[shared as usize] = block.extra;
        let mut run = plan.finish(shared as usize + 1);
        run.excess = excess;
        run.spare = spare;
        if run.run(work) != Outcome::Complete {
            debug_assert!(work.is_exhausted());
            return false;
        }
        for (id, arc) in arcs {
            flow[id] = run.on(arc);
        }
        let base = if block.extra > 0 { run.price(shared) } else { 0 };
        for (at, &class) in (senders..).zip(&block.classes) {
            tight.price[class as usize] = run.price(at) - base;
        }
        // Senders come before those that they send to: these floors are needed first.
        for &sender in block.senders.iter().rev() {
            let cost_at = |tight: &Tight, route: Route| match route {
                Route::Class(class) => local.class(class).map(|_| tight.price[class as usize]),
                Route::Via(via) => {
                    local.sender(via).map(|_| tight.floor[via as usize] + i64::from(network.is_bypass(route)))
                }
            };
            let routes = network.routes_of(sender);
            let floor = routes.iter().filter_map(|&route| cost_at(tight, route)).min().unwrap_or(NOWHERE);
            tight.floor[sender as usize] = floor;
            for (id, &route) in network.route_range(sender).zip(routes) {
                tight.open[id] = cost_at(tight, route) == Some(floor);
            }
        }
        true
    }
}

/// Places of the senders and classes of a block.
#[derive(Debug)]
pub(super) struct Local {
    senders: Vec<(u32, u32)>,
    classes: Vec<(u32, u32)>,
    block: u32,
}

impl Local {
    pub(super) fn new(network: &Network) -> Self {
        Self {
            senders: vec![(0, 0); network.sender_count()],
            classes: vec![(0, 0); network.class_count()],
            block: 0,
        }
    }

    /// Numbers the senders and the classes of a block.
    pub(super) fn number(&mut self, block: &Block) {
        self.block += 1;
        for (at, &sender) in (0..).zip(&block.senders) {
            self.senders[sender as usize] = (self.block, at);
        }
        for (at, &class) in (0..).zip(&block.classes) {
            self.classes[class as usize] = (self.block, at);
        }
    }

    pub(super) fn sender(&self, sender: u32) -> Option<u32> {
        let (block, at) = self.senders[sender as usize];
        (block == self.block).then_some(at)
    }

    pub(super) fn class(&self, class: u32) -> Option<u32> {
        let (block, at) = self.classes[class as usize];
        (block == self.block).then_some(at)
    }
}
