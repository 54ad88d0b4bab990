//! From a group to its assignment, objective by objective.

use crate::{
    certificate::{Certificate, Potential},
    claims::Owners,
    dense::{Assignment, Group, NOBODY, Target},
    racks::RackSwitch,
    report::{Options, Proven, report},
    verify::verify,
    withhold::withheld,
};

use balance::{Block, Cutter, Part};
use deal::Dealer;
use mismatches::{Local, Tight};
use network::Network;
use place::Keep;
use release::Releaser;
use returns::Returns;
use spread::Allowance;
use work::Work;

mod balance;
mod complete;
mod deal;
mod extend;
mod flow;
mod mismatches;
mod moves;
mod network;
mod place;
mod release;
mod returns;
mod spread;
mod work;

/// The optimal assignment of a group, within a bound on the work.
pub(crate) fn assign(group: &Group, options: &Options) -> Assignment {
    let owners = Owners::of(group);
    let racks = RackSwitch::of(group);
    let network = Network::of(group, racks);
    let mut solver = Solver {
        flow: Vec::new(),
        tight: Tight::nothing(&network),
        local: Local::new(&network),
        scratch: Scratch::new(group, &network),
        state: State {
            target: vec![NOBODY; group.partition_count()],
            potentials: vec![[0; 4]; group.member_count()],
        },
        network: &network,
        owners: &owners,
        work: Work::new(options.budget),
        allowance: Allowance::default(),
    };
    let exact = solver.solve();
    let State { target, potentials } = solver.state;
    let target = Target::new(target);
    let certificate = Certificate::new(potentials);
    let proven = if exact {
        Proven::first(4)
    } else {
        verify(group, &target, &certificate).map_or_else(|_| Proven::default(), |verdict| verdict.proven)
    };
    let (report, loads) = report(group, racks, &owners, target.as_slice(), proven);
    Assignment { withheld: withheld(group, target.as_slice()), target, loads, report, certificate }
}

struct Solver<'s> {
    network: &'s Network,
    owners: &'s Owners,
    /// How many partitions go along each route.
    flow: Vec<u32>,
    tight: Tight,
    local: Local,
    scratch: Scratch,
    state: State,
    work: Work,
    allowance: Allowance,
}

/// What the stages fill in.
#[derive(Debug)]
struct State {
    target: Vec<u32>,
    potentials: Vec<Potential>,
}

/// Arrays that the stages share, so that small blocks cost little.
#[derive(Debug)]
struct Scratch {
    /// Per member; all zero between uses.
    owned: Vec<u32>,
    /// Per member; all zero between uses.
    passed: Vec<u32>,
    /// Per member; all false between uses.
    in_block: Vec<bool>,
    /// Per member, only valid within a block.
    node_of_member: Vec<u32>,
    /// Per class, only valid within a block.
    circle_of_class: Vec<u32>,
    /// Per class; all zero between uses.
    units_of_class: Vec<u32>,
    /// Per route of a bypass or a gate, only valid within a block.
    open_route: Vec<u32>,
    dealer: Dealer,
    releaser: Releaser,
}

impl Scratch {
    fn new(group: &Group, network: &Network) -> Self {
        Self {
            owned: vec![0; group.member_count()],
            passed: vec![0; group.member_count()],
            in_block: vec![false; group.member_count()],
            node_of_member: vec![0; group.member_count()],
            circle_of_class: vec![0; network.class_count()],
            units_of_class: vec![0; network.class_count()],
            open_route: vec![0; if network.has_gates() { network.route_count() } else { 0 }],
            dealer: Dealer::new(group.member_count()),
            releaser: Releaser::new(group.member_count()),
        }
    }
}

impl Solver<'_> {
    /// Whether all objectives were decided exactly.
    fn solve(&mut self) -> bool {
        let mut cutter = Cutter::new(self.network);
        let mut exact = true;
        let mut rest = Vec::new();
        self.flow = vec![0; self.network.route_count()];
        for component in cutter.whole() {
            if component.is_complete {
                exact &= self.solve_complete(&component);
            } else if let Some(keep) = self.extend_kept(&component) {
                exact &= self.return_and_place(&component, &keep);
            } else {
                rest.push(component);
            }
        }
        let balance = cutter.cut_all(rest, &mut self.work);
        self.flow = balance.flow;
        for block in &balance.blocks {
            exact &= self.solve_block(block);
        }
        if let Some(part) = balance.unfinished {
            let Part { senders, classes } = part;
            self.follow(&Block { senders, classes, least: 0, extra: 0, is_complete: false });
            exact = false;
        }
        exact
    }

    fn solve_block(&mut self, block: &Block) -> bool {
        if block.is_complete {
            return self.solve_complete(block);
        }
        let decided = !self.has_gates(block) || self.decide_mismatches(block);
        self.price(block);
        let keep = if decided { self.decide_moves(block) } else { None };
        let Some(keep) = keep else {
            self.follow(block);
            return false;
        };
        self.return_and_place(block, &keep)
    }

    /// Decides returns, given what stays and what is dealt, and puts partitions where that says.
    fn return_and_place(&mut self, block: &Block, keep: &[Keep]) -> bool {
        let returns = self.decide_returns(block, keep);
        if returns != Returns::Placed {
            self.place_kept(keep);
        }
        self.place_dealt(block);
        if returns == Returns::Exhausted {
            return false;
        }
        self.spread(block);
        true
    }

    fn solve_complete(&mut self, block: &Block) -> bool {
        let exact = self.complete(block);
        if exact {
            self.spread(block);
        }
        exact
    }

    /// Whether racks count in the block.
    fn has_gates(&self, block: &Block) -> bool {
        block.senders.last().is_some_and(|&last| last as usize >= self.network.hub_count())
    }

    /// Prices members as far as balance and mismatches go.
    fn price(&mut self, block: &Block) {
        let level = 2 * i64::from(block.least) + i64::from(block.extra > 0);
        for &class in &block.classes {
            for &member in self.network.members_of(class) {
                self.state.potentials[member as usize] = [level, self.tight.price[class as usize], 0, 0];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        dense::{Group, GroupBuilder, MemberId, PartitionId, RackId, TopicId},
        report::Options,
        verify::verify,
    };

    /// SplitMix64.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) % bound
        }
    }

    /// Any group: subscriptions of some density, claims of random generations, racks or none.
    fn random_group(seed: u64, size: u64, with_racks: bool, with_generations: bool) -> Group {
        let random = &mut Random(seed);
        let mut builder = GroupBuilder::new();
        let topics = 1 + random.below(size);
        let members = 1 + random.below(size * 2);
        let most = 1 + random.below(8);
        for _ in 0..topics {
            let partitions = random.below(most + 1) as u32;
            builder.topic(partitions);
        }
        let racks = 1 + random.below(4);
        if with_racks {
            for topic in (0..topics as u32).map(TopicId) {
                let sets: Vec<Vec<RackId>> = builder
                    .partitions_of(topic)
                    .map(|_| (0..random.below(3)).map(|_| RackId(random.below(racks) as u32)).collect())
                    .collect();
                builder.replica_racks(topic, sets);
            }
        }
        let density = 1 + random.below(10);
        let patterns: Vec<Vec<TopicId>> = (0..1 + random.below(size * 2))
            .map(|_| (0..topics as u32).filter(|_| random.below(10) < density).map(TopicId).collect())
            .collect();
        for _ in 0..members {
            let pattern = random.below(patterns.len() as u64) as usize;
            let subscription = builder.subscription(patterns[pattern].iter().copied());
            let member = builder.member(subscription);
            if with_racks && random.below(4) > 0 {
                builder.member_rack(member, RackId(random.below(racks + 1) as u32));
            }
        }
        let total = builder.clone().build().partition_count() as u64;
        let claimed = random.below(4);
        for id in (0..total as u32).map(PartitionId) {
            let claims =
                if with_generations { random.below(4) } else { u64::from(random.below(4) < claimed) };
            for _ in 0..claims {
                // Skewed, so that some own too much.
                let member = random.below(members).min(random.below(members)) as u32;
                let generation = if with_generations { random.below(3) as i32 } else { 1 };
                builder.claim(MemberId(member), generation, [id]);
            }
        }
        builder.build()
    }

    fn check(group: &Group, seed: u64) {
        let assignment = group.assign();
        let verdict = verify(group, assignment.target(), assignment.certificate())
            .unwrap_or_else(|flaw| panic!("seed {seed}: {flaw}"));
        assert!(verdict.proven.all(), "seed {seed}: {:?} in {group:?} -> {assignment:?}", verdict.gap);
    }

    /// The example of docs/algorithm.md.
    #[test]
    fn the_worked_example_of_the_documentation_comes_out_as_described() {
        let mut builder = GroupBuilder::new();
        let [a, b, c] = [8, 5, 1].map(|partitions| builder.topic(partitions));
        let members = [vec![a, b], vec![b], vec![b, c], vec![c]].map(|topics| {
            let subscription = builder.subscription(topics);
            builder.member(subscription)
        });
        let owned = builder.partitions_of(b).take(4);
        builder.claim(members[2], 1, owned);
        let group = builder.build();
        let assignment = group.assign();
        let potentials = [[16, 0, 0, 0], [5, 0, 0, 0], [5, 0, 1, 0], [2, 0, 0, 0]];
        assert_eq!(assignment.certificate().potentials(), potentials);
        assert_eq!(assignment.report().sum_of_squares, 64 + 4 + 9 + 1);
        assert_eq!(assignment.report().moved, 1);
        check(&group, 0);
    }

    #[test]
    fn groups_without_racks_and_earlier_owners_are_proven() {
        for seed in 0..4000 {
            check(&random_group(seed, 2 + seed % 9, false, false), seed);
        }
    }

    #[test]
    fn groups_with_racks_are_proven() {
        for seed in 0..4000 {
            check(&random_group(seed, 2 + seed % 9, true, false), seed);
        }
    }

    #[test]
    fn groups_with_earlier_owners_are_proven() {
        for seed in 0..4000 {
            check(&random_group(seed, 2 + seed % 9, seed % 2 == 0, true), seed);
        }
    }

    #[test]
    fn whatever_the_budget_the_result_is_valid_and_says_what_is_proven() {
        for seed in 0..1500 {
            let group = random_group(seed, 2 + seed % 9, seed % 2 == 0, seed % 3 == 0);
            for budget in [0, 1, 10, 30, 60, 100, 130, 200, 400, 1000] {
                let assignment = group.assign_with(&Options::default().with_budget(budget));
                let verdict = verify(&group, assignment.target(), assignment.certificate())
                    .unwrap_or_else(|flaw| panic!("seed {seed}, budget {budget}: {flaw}"));
                assert_eq!(assignment.report().proven, verdict.proven, "seed {seed}, budget {budget}");
            }
        }
    }
}
