//! Fewest partitions that go to somebody else than their earlier owner, of those that their owner
//! does not keep.
//!
//! What the objectives before leave open is a partition's choice between its owner, its earlier
//! owner and being dealt. Partitions of a hub with the same choice form a *bundle*. Staying and
//! returning cost nothing, being dealt costs one where there is an earlier owner.

use super::{
    Scratch, Solver,
    balance::{Block, hubs},
    flow::{ArcId, Flow, Outcome, Plan, UNBOUNDED},
    moves::Nodes,
    network::Route,
    place::Keep,
};
use crate::dense::NOBODY;

/// How the decision on returns ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Returns {
    /// The moves leave nothing to decide.
    Open,
    /// What stays and what returns is placed; what is to be dealt is on the routes.
    Placed,
    /// The bound on the work stopped it; nothing is changed.
    Exhausted,
}

/// Partitions of a hub with the same choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    hub: u32,
    /// The owner, if it may keep the partition as well as lose it.
    owner: u32,
    /// The earlier owner, if it may take the partition as well as anybody.
    earlier: u32,
    /// Whether being dealt costs.
    astray: bool,
}

struct Bundle {
    /// Its partitions are `choices[start..end]`.
    start: usize,
    end: usize,
    to_owner: Option<ArcId>,
    to_earlier: Option<ArcId>,
    /// How many the moves have room for at their earlier owner.
    returned_at_first: u32,
}

/// What the moves have fixed.
struct Fixed {
    /// Per class and sender of the block: the least price at which it takes a partition that is
    /// dealt.
    class_floor: Vec<i64>,
    sender_floor: Vec<i64>,
    /// Partitions with a choice.
    choices: Vec<(Choice, u32)>,
    /// Partitions that can only be dealt, per sender of the block.
    dealt: Vec<u32>,
    /// Partitions that stay in any case, with their owner.
    staying: Vec<(u32, u32)>,
}

impl Solver<'_> {
    /// Decides which partitions return, given what everybody keeps and is dealt (the dealer's
    /// `wants`).
    pub(super) fn decide_returns(&mut self, block: &Block, keep: &[Keep]) -> Returns {
        if self.owners.earlier.is_empty() {
            return Returns::Open;
        }
        self.local.number(block);
        let mut fixed = self.fixed_by_moves(block);
        let decides = |choice: &Choice| choice.earlier != NOBODY || choice.astray;
        if !fixed.choices.iter().any(|(choice, _)| decides(choice)) {
            return Returns::Open;
        }
        fixed.choices.sort_unstable();
        let network = self.network;
        let nodes = Nodes::of(network, block, &mut self.scratch.node_of_member);
        let mut plan = Plan::default();
        let mut bundles: Vec<Bundle> = Vec::new();
        let (excess, spare) = self.start_from_moves(block, &nodes, &fixed, keep, &mut bundles, &mut plan);
        let routes = self.add_tight_routes(block, &nodes, &fixed, &mut plan);
        let dealt = self.add_tight_dealing(block, &nodes, &fixed, &mut plan);
        let mut run = plan.finish(excess.len());
        run.excess = excess;
        run.spare = spare;
        if run.run(&mut self.work) != Outcome::Complete {
            debug_assert!(self.work.is_exhausted());
            for bundle in bundles {
                let earlier = fixed.choices[bundle.start].0.earlier;
                if let Some(wants) = self.scratch.dealer.wants.get_mut(earlier as usize) {
                    *wants += bundle.returned_at_first;
                }
            }
            return Returns::Exhausted;
        }
        self.place_choices(&fixed, &bundles, &run);
        self.read_dealing(block, &routes, &dealt, &run);
        let base = if block.extra > 0 { run.price(nodes.shared) } else { 0 };
        for &member in block.classes.iter().flat_map(|&class| network.members_of(class)) {
            let node = self.scratch.node_of_member[member as usize];
            self.state.potentials[member as usize][3] = run.price(node) - base;
        }
        Returns::Placed
    }

    fn price_of(&self, member: u32) -> i64 {
        self.state.potentials[member as usize][2]
    }

    fn fixed_by_moves(&self, block: &Block) -> Fixed {
        let network = self.network;
        let price_in =
            |class: u32| network.members_of(class).iter().map(|&member| self.price_of(member)).min();
        let class_floor: Vec<i64> =
            block.classes.iter().map(|&class| price_in(class).unwrap_or(i64::MAX)).collect();
        let mut fixed = Fixed {
            class_floor,
            sender_floor: vec![i64::MAX; block.senders.len()],
            choices: Vec::new(),
            dealt: vec![0; block.senders.len()],
            staying: Vec::new(),
        };
        // Senders come before those that they send to: these floors are needed first.
        for (at, &sender) in block.senders.iter().enumerate().rev() {
            let floors = network.route_range(sender).filter(|&id| self.tight.open[id]);
            let floors = floors.filter_map(|id| self.floor_behind(&fixed, network.route(id)));
            fixed.sender_floor[at] = floors.min().unwrap_or(i64::MAX);
        }
        for (at, hub) in hubs(network, &block.senders).enumerate() {
            let floor = fixed.sender_floor[at];
            for segment in network.segments_of(hub) {
                for id in segment.start..segment.end {
                    let owner = self.owners.owner[id as usize];
                    let owner_price = self.may_take(block, hub, owner).then(|| self.price_of(owner));
                    if owner_price.is_some_and(|price| price < floor + 1) {
                        fixed.staying.push((id, owner));
                        continue;
                    }
                    let earlier = self.owners.earlier[id as usize];
                    let is_open = self.may_take(block, hub, earlier) && self.price_of(earlier) == floor;
                    let choice = Choice {
                        hub,
                        owner: if owner_price == Some(floor + 1) { owner } else { NOBODY },
                        earlier: if is_open { earlier } else { NOBODY },
                        astray: earlier != NOBODY,
                    };
                    if choice.owner == NOBODY && choice.earlier == NOBODY {
                        fixed.dealt[at] += 1;
                    } else {
                        fixed.choices.push((choice, id));
                    }
                }
            }
        }
        fixed
    }

    /// Whether a member (or nobody) may have a partition of the hub, as far as balance and
    /// mismatches go.
    fn may_take(&self, block: &Block, hub: u32, member: u32) -> bool {
        self.network.class_of.get(member as usize).is_some_and(|&class| self.may_stay_in(block, hub, class))
    }

    fn floor_behind(&self, fixed: &Fixed, route: Route) -> Option<i64> {
        match route {
            Route::Class(class) => self.local.class(class).map(|at| fixed.class_floor[at as usize]),
            Route::Via(via) => self.local.sender(via).map(|at| fixed.sender_floor[at as usize]),
        }
    }

    /// Adds bundles and loads, and starts from what the moves left where it was and from the
    /// returns that fit with it. Gives what is left to send and to take.
    fn start_from_moves(
        &mut self,
        block: &Block,
        nodes: &Nodes,
        fixed: &Fixed,
        keep: &[Keep],
        bundles: &mut Vec<Bundle>,
        plan: &mut Plan,
    ) -> (Vec<u32>, Vec<u32>) {
        let network = self.network;
        // Of a hub and an owner, either all partitions have a choice or none has.
        let mut kept: Vec<(u32, u32, u32)> =
            keep.iter().map(|keep| (keep.hub, keep.member, keep.count)).collect();
        kept.sort_unstable();
        let Scratch { owned: has, node_of_member, dealer, .. } = &mut self.scratch;
        for &(_, owner) in &fixed.staying {
            has[owner as usize] += 1;
        }
        let mut excess = fixed.dealt.clone();
        let mut next = nodes.count() as u32;
        let mut start = 0;
        for alike in fixed.choices.chunk_by(|a, b| a.0 == b.0) {
            let choice = alike[0].0;
            let node = next;
            next += 1;
            let mut left = alike.len() as u32;
            let mut offer = |member: u32, most: u32| {
                let arc = plan.add(node, node_of_member[member as usize], alike.len() as u32, 0);
                let amount = most.min(left);
                plan.start_with(arc, amount);
                left -= amount;
                has[member as usize] += amount;
                (arc, amount)
            };
            let to_owner = (choice.owner != NOBODY).then(|| {
                let at = kept.binary_search_by_key(&(choice.hub, choice.owner), |entry| (entry.0, entry.1));
                let most = at.map_or(0, |at| kept[at].2);
                let (arc, amount) = offer(choice.owner, most);
                at.into_iter().for_each(|at| kept[at].2 -= amount);
                arc
            });
            let mut returned_at_first = 0;
            let to_earlier = (choice.earlier != NOBODY).then(|| {
                let wants = &mut dealer.wants[choice.earlier as usize];
                let (arc, amount) = offer(choice.earlier, *wants);
                *wants -= amount;
                returned_at_first = amount;
                arc
            });
            let hub = self.local.sender(choice.hub).unwrap_or_default();
            plan.add(node, hub, UNBOUNDED, i32::from(choice.astray));
            excess.resize(node as usize + 1, 0);
            excess[node as usize] = left;
            let end = start + alike.len();
            bundles.push(Bundle { start, end, to_owner, to_earlier, returned_at_first });
            start += alike.len();
        }
        excess.resize(next as usize, 0);

        let mut spare = vec![0; next as usize];
        let mut above = block.extra;
        for member in block.classes.iter().flat_map(|&class| network.members_of(class)).copied() {
            let [_, mismatches, moves, _] = self.state.potentials[member as usize];
            let is_above = block.extra > 0 && (mismatches, moves) > (0, 0);
            let is_free = block.extra > 0 && (mismatches, moves) == (0, 0);
            let node = node_of_member[member as usize];
            let has = std::mem::take(&mut has[member as usize]);
            let starts_above = is_free && has > block.least;
            above -= u32::from(is_above || starts_above);
            spare[node as usize] = block.least + u32::from(is_above || starts_above) - has;
            if is_free {
                let arc = plan.add(node, nodes.shared, 1, 0);
                plan.start_with(arc, u32::from(starts_above));
            }
        }
        spare[nodes.shared as usize] = above;
        (excess, spare)
    }

    fn add_tight_routes(
        &self,
        block: &Block,
        nodes: &Nodes,
        fixed: &Fixed,
        plan: &mut Plan,
    ) -> Vec<(u32, ArcId)> {
        let mut routes = Vec::new();
        for (tail, &sender) in (0..).zip(&block.senders) {
            for id in self.network.route_range(sender).filter(|&id| self.tight.open[id]) {
                let route = self.network.route(id);
                let floor = self.floor_behind(fixed, route);
                if floor != Some(fixed.sender_floor[tail as usize]) {
                    continue;
                }
                let head = match route {
                    Route::Class(class) => self.local.class(class).map(|at| nodes.of_class[at as usize]),
                    Route::Via(via) => self.local.sender(via),
                };
                routes.extend(head.map(|head| (id as u32, plan.add(tail, head, UNBOUNDED, 0))));
            }
        }
        routes
    }

    fn add_tight_dealing(
        &self,
        block: &Block,
        nodes: &Nodes,
        fixed: &Fixed,
        plan: &mut Plan,
    ) -> Vec<(u32, ArcId)> {
        let mut dealt = Vec::new();
        for (at, &class) in block.classes.iter().enumerate() {
            let members = self.network.members_of(class);
            for &member in members.iter().filter(|_| members.len() > 1) {
                if self.price_of(member) == fixed.class_floor[at] {
                    let node = self.scratch.node_of_member[member as usize];
                    dealt.push((member, plan.add(nodes.of_class[at], node, UNBOUNDED, 0)));
                }
            }
        }
        dealt
    }

    fn place_choices(&mut self, fixed: &Fixed, bundles: &[Bundle], run: &Flow) {
        for &(id, owner) in &fixed.staying {
            self.state.target[id as usize] = owner;
        }
        for bundle in bundles {
            let alike = &fixed.choices[bundle.start..bundle.end];
            let on = |arc: Option<ArcId>| arc.map_or(0, |arc| run.on(arc) as usize);
            let (stay, others) = alike.split_at(on(bundle.to_owner));
            let (back, dealt) = others.split_at(on(bundle.to_earlier));
            for (choice, id) in stay {
                self.state.target[*id as usize] = choice.owner;
            }
            for (choice, id) in back {
                self.state.target[*id as usize] = choice.earlier;
            }
            for (_, id) in dealt {
                self.state.target[*id as usize] = NOBODY;
            }
        }
    }
}
