//! The network of what may change places, and the search for cycles in it.
//!
//! A member's node leads to a pool's by giving up any of what it has of it, a pool's node to those who may take it, and
//! a member's to an owner's by giving up that very partition. Members who may have one more or less without harm are
//! joined by a node that they share. Arcs go by slots, so what it takes to look at all does not grow with how many
//! partitions a member has of a topic.

use super::Allowance;

/// No partition, slot or node.
pub(super) const NONE: u32 = u32::MAX;

/// A partition that could be elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Movable {
    id: u32,
    /// The slot where it is.
    at: u32,
    /// Whether it may go to whoever takes from its pool.
    is_dealt: bool,
    /// The slots of its owner and its earlier owner, where they may have it.
    owners: [u32; 2],
    /// Its neighbours among the dealt of the slot.
    before: u32,
    after: u32,
}

impl Movable {
    pub(super) fn new(id: u32, at: u32, is_dealt: bool, owners: [u32; 2]) -> Self {
        Self { id, at, is_dealt, owners, before: NONE, after: NONE }
    }
}

/// A pool at a member: partitions of one topic and hub.
#[derive(Debug, Clone, Copy)]
struct Slot {
    node: u32,
    pool: u32,
    /// How many partitions the member has of the topic, of this pool or not.
    count: u32,
    /// Of `movable`, the first of the dealt that are here.
    first: u32,
    /// The next slot of the same topic and member, in a circle.
    twin: u32,
}

impl Slot {
    /// What it costs to have one less.
    fn less(&self) -> i64 {
        1 - 2 * i64::from(self.count)
    }

    /// What it costs to have one more.
    fn more(&self) -> i64 {
        1 + 2 * i64::from(self.count)
    }
}

/// Partitions of one topic and hub.
#[derive(Debug, Clone, Copy)]
struct Pool {
    topic: u32,
    /// The slots of who may take from it.
    first_taker: u32,
    end_taker: u32,
}

/// How a node was reached.
#[derive(Debug, Clone, Copy)]
struct Step {
    from: u32,
    /// To a pool: the slot it came from. From a pool: the slot it goes to. To an owner: twice which of `movable`, and
    /// one more to the earlier owner.
    by: u32,
    /// Steps of searches before this one do not count any more.
    round: u32,
}

/// The members of a block and what they could exchange.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// By how much the sum of squares has gone down; in the middle of a cycle it may have gone up.
    gained: i64,
    /// Per node of a member: its id, and whether its load is the greater one.
    pub(super) members: Vec<u32>,
    pub(super) above: Vec<bool>,
    /// The nodes of members whose load may change.
    pub(super) free: Vec<u32>,
    pub(super) movable: Vec<Movable>,
    slots: Vec<Slot>,
    pools: Vec<Pool>,
    /// Where the pools of each topic begin, and where they end.
    first_pool_of: Vec<u32>,
    /// The slots of each member, and where they end, after a zero.
    slots_of: Vec<u32>,
    end_slots: Vec<u32>,
    /// Those of `movable` that may go to an owner.
    owned: Vec<u32>,
    distance: Vec<i64>,
    step: Vec<Step>,
    round: u32,
    /// The round in which the search for the next cycle began.
    began: u32,
    /// Nodes from which some arc may have become shorter, and whether a node is among them.
    due_members: Vec<u32>,
    due_pools: Vec<u32>,
    is_due: Vec<bool>,
    /// The members that were due when the round began, and in which round each was last.
    looked_at: Vec<u32>,
    looked_in: Vec<u32>,
    /// From which walk back a node was seen last.
    seen_from: Vec<u32>,
    walks: u32,
}

impl Exchange {
    pub(super) fn begin_topic(&mut self) {
        self.first_pool_of.push(self.pools.len() as u32);
    }

    pub(super) fn begin_pool(&mut self) {
        let first = self.slots.len() as u32;
        self.pools.push(Pool { topic: self.topic(), first_taker: first, end_taker: first });
    }

    /// All slots that the last pool has by now are of who may take from it, and none of those to come.
    pub(super) fn end_takers(&mut self) {
        let end = self.slots.len() as u32;
        self.pools.last_mut().expect("a pool was begun").end_taker = end;
    }

    /// The last topic.
    pub(super) fn topic(&self) -> u32 {
        self.first_pool_of.len() as u32 - 1
    }

    /// The last pool.
    pub(super) fn pool(&self) -> u32 {
        self.pools.len() as u32 - 1
    }

    /// Adds a slot of the last pool. Its twin is another one of the same topic and node, if there is one.
    pub(super) fn add_slot(&mut self, node: u32, count: u32, twin: Option<u32>) -> u32 {
        let number = self.slots.len() as u32;
        let twin = match twin {
            Some(twin) => std::mem::replace(&mut self.slots[twin as usize].twin, number),
            None => number,
        };
        self.slots.push(Slot { node, pool: self.pool(), count, first: NONE, twin });
        number
    }

    /// Readies the network for the search, once all is in it.
    pub(super) fn link(&mut self) {
        self.first_pool_of.push(self.pools.len() as u32);
        for number in 0..self.movable.len() as u32 {
            if self.movable[number as usize].is_dealt {
                self.put_first(number);
            }
        }
        let has_owner = |movable: &Movable| movable.owners != [NONE; 2];
        let owned = (0..).zip(&self.movable).filter(|(_, movable)| has_owner(movable));
        self.owned = owned.map(|(number, _)| number).collect();
        self.link_slots();

        let members = self.members.len() as u32;
        let nodes = members + self.pools.len() as u32 + 1;
        self.distance = vec![0; nodes as usize];
        self.step = vec![Step { from: NONE, by: NONE, round: 0 }; nodes as usize];
        self.due_members = (0..members).collect();
        self.due_pools = (members..nodes - 1).collect();
        // The node that members share is looked at in every round.
        self.is_due = vec![true; nodes as usize];
        self.looked_in = vec![0; members as usize];
        self.seen_from = vec![0; nodes as usize];
    }

    /// Sorts the slots by member: by counting.
    fn link_slots(&mut self) {
        let mut end = vec![0_u32; self.members.len() + 1];
        self.slots.iter().for_each(|slot| end[slot.node as usize + 1] += 1);
        for node in 0..self.members.len() {
            end[node + 1] += end[node];
        }
        let mut next = end.clone();
        self.slots_of = vec![NONE; self.slots.len()];
        for (number, slot) in (0..).zip(&self.slots) {
            let next = &mut next[slot.node as usize];
            self.slots_of[*next as usize] = number;
            *next += 1;
        }
        self.end_slots = end;
    }

    /// By how much the sum of squares has gone down.
    pub(super) fn gained(&self) -> u64 {
        self.gained.max(0) as u64
    }

    /// Carries out exchanges that pay. False if there are none, or no more may be looked for.
    ///
    /// Distances go on from those of the call before: any will do to begin with, and few change.
    pub(super) fn improve(&mut self, allowance: &mut Allowance, target: &mut [u32]) -> bool {
        self.began = self.round;
        for _ in 0..self.distance.len() {
            let scanned = self.relax();
            let Some(left) = allowance.0.checked_sub(scanned) else {
                allowance.0 = 0;
                return false;
            };
            allowance.0 = left;
            if self.due_members.is_empty() {
                return false;
            }
            if self.carry_out_cycles(target) {
                return true;
            }
        }
        false
    }

    /// One round over the arcs from all nodes that are due. How much was looked at.
    fn relax(&mut self) -> u64 {
        self.round += 1;
        std::mem::swap(&mut self.due_members, &mut self.looked_at);
        for &node in &self.looked_at {
            self.is_due[node as usize] = false;
            self.looked_in[node as usize] = self.round;
        }
        let mut scanned = self.looked_at.len() as u64;
        for at in 0..self.looked_at.len() {
            scanned += self.give_to_pools(self.looked_at[at]);
        }
        self.looked_at.clear();
        scanned += self.give_to_owners() + self.share_loads();
        while let Some(pool) = self.due_pools.pop() {
            self.is_due[pool as usize] = false;
            scanned += self.take_from(pool);
        }
        scanned
    }

    fn give_to_pools(&mut self, node: u32) -> u64 {
        let of_node = self.end_slots[node as usize] as usize..self.end_slots[node as usize + 1] as usize;
        let (here, first_pool) = (self.distance[node as usize], self.members.len() as u32);
        let Self { slots_of, slots, distance, step, is_due, due_pools, round, .. } = self;
        let slots_of = &slots_of[of_node];
        for &number in slots_of {
            let slot = &slots[number as usize];
            let pool = (first_pool + slot.pool) as usize;
            let reached = here + slot.less();
            if slot.first != NONE && reached < distance[pool] {
                distance[pool] = reached;
                step[pool] = Step { from: node, by: number, round: *round };
                if !std::mem::replace(&mut is_due[pool], true) {
                    due_pools.push(pool as u32);
                }
            }
        }
        slots_of.len() as u64
    }

    fn take_from(&mut self, pool: u32) -> u64 {
        let Pool { first_taker, end_taker, .. } = self.pools[pool as usize - self.members.len()];
        let here = self.distance[pool as usize];
        let Self { slots, distance, step, is_due, due_members, round, .. } = self;
        let takers = &slots[first_taker as usize..end_taker as usize];
        for (number, slot) in (first_taker..).zip(takers) {
            let node = slot.node as usize;
            let reached = here + slot.more();
            if reached < distance[node] {
                distance[node] = reached;
                step[node] = Step { from: pool, by: number, round: *round };
                if !std::mem::replace(&mut is_due[node], true) {
                    due_members.push(slot.node);
                }
            }
        }
        takers.len() as u64
    }

    fn give_to_owners(&mut self) -> u64 {
        for at in 0..self.owned.len() {
            let number = self.owned[at];
            let Movable { at, owners, .. } = self.movable[number as usize];
            let from = self.slots[at as usize];
            if self.looked_in[from.node as usize] != self.round {
                continue;
            }
            for (by, to) in (2 * number..).zip(owners).filter(|&(_, to)| to != NONE && to != at) {
                let to = self.slots[to as usize];
                self.reach(to.node, from.node, from.less() + to.more(), by);
            }
        }
        self.owned.len() as u64
    }

    /// Who has the lesser load may have one more if somebody has one less.
    fn share_loads(&mut self) -> u64 {
        let shared = self.shared();
        for above in [false, true] {
            for at in 0..self.free.len() {
                let node = self.free[at];
                if self.above[node as usize] == above {
                    let (to, from) = if above { (node, shared) } else { (shared, node) };
                    self.reach(to, from, 0, NONE);
                }
            }
        }
        2 * self.free.len() as u64
    }

    /// The node that members share whose load may change.
    fn shared(&self) -> u32 {
        self.distance.len() as u32 - 1
    }

    fn reach(&mut self, node: u32, from: u32, cost: i64, by: u32) {
        let reached = self.distance[from as usize] + cost;
        if reached < self.distance[node as usize] {
            self.distance[node as usize] = reached;
            self.step[node as usize] = Step { from, by, round: self.round };
            self.make_due(node);
        }
    }

    fn make_due(&mut self, node: u32) {
        if !std::mem::replace(&mut self.is_due[node as usize], true) {
            let is_member = (node as usize) < self.members.len();
            if is_member { &mut self.due_members } else { &mut self.due_pools }.push(node);
        }
    }

    /// Carries out all cycles among the steps of this search. Every one of them pays.
    fn carry_out_cycles(&mut self, target: &mut [u32]) -> bool {
        let mut cycles = Vec::new();
        let first_walk = self.walks + 1;
        // A cycle is closed by a step to a member: what shortens the way to a pool shortens those on from it.
        for &start in &self.due_members {
            self.walks += 1;
            let mut node = start;
            while self.seen_from[node as usize] < first_walk {
                self.seen_from[node as usize] = self.walks;
                let step = self.step[node as usize];
                if step.round <= self.began {
                    break;
                }
                node = step.from;
                if self.seen_from[node as usize] == self.walks {
                    cycles.push(node);
                }
            }
        }
        for &on_cycle in &cycles {
            self.carry_out(on_cycle, target);
        }
        !cycles.is_empty()
    }

    fn carry_out(&mut self, on_cycle: u32, target: &mut [u32]) {
        let members = self.members.len() as u32;
        let shared = self.shared();
        let mut node = on_cycle;
        loop {
            let Step { from, by, .. } = self.step[node as usize];
            if node == shared {
                // Somebody has one more from now on.
                self.above[from as usize] = true;
            } else if from == shared {
                self.above[node as usize] = false;
            } else if from >= members {
                // By way of a pool, whose own step says whence.
                let source = self.step[from as usize].by;
                self.move_to(self.slots[source as usize].first, by, target);
            } else if node < members {
                let to = self.movable[by as usize / 2].owners[by as usize % 2];
                self.move_to(by / 2, to, target);
            }
            if node < members {
                self.make_due(node);
            }
            node = from;
            if node == on_cycle {
                return;
            }
        }
    }

    /// Moves a partition to another slot of its pool.
    fn move_to(&mut self, number: u32, to: u32, target: &mut [u32]) {
        let Movable { id, at, is_dealt, .. } = self.movable[number as usize];
        if is_dealt {
            self.take_out(number);
        }
        self.movable[number as usize].at = to;
        if is_dealt {
            self.put_first(number);
        }
        let [had, has] = [at, to].map(|slot| self.slots[slot as usize]);
        target[id as usize] = self.members[has.node as usize];
        self.gained += 2 * (i64::from(had.count) - i64::from(has.count) - 1);
        self.set_count(at, had.count - 1);
        self.set_count(to, has.count + 1);
        // To who has one less it costs less to give.
        let topic = self.pools[had.pool as usize].topic as usize;
        for pool in self.first_pool_of[topic]..self.first_pool_of[topic + 1] {
            self.make_due(self.members.len() as u32 + pool);
        }
    }

    fn set_count(&mut self, slot: u32, count: u32) {
        let mut twin = slot;
        loop {
            self.slots[twin as usize].count = count;
            twin = self.slots[twin as usize].twin;
            if twin == slot {
                return;
            }
        }
    }

    fn put_first(&mut self, number: u32) {
        let slot = &mut self.slots[self.movable[number as usize].at as usize];
        let after = std::mem::replace(&mut slot.first, number);
        self.movable[number as usize].before = NONE;
        self.movable[number as usize].after = after;
        if let Some(after) = self.movable.get_mut(after as usize) {
            after.before = number;
        }
    }

    fn take_out(&mut self, number: u32) {
        let Movable { at, before, after, .. } = self.movable[number as usize];
        match self.movable.get_mut(before as usize) {
            Some(before) => before.after = after,
            None => self.slots[at as usize].first = after,
        }
        if let Some(after) = self.movable.get_mut(after as usize) {
            after.before = before;
        }
    }
}
