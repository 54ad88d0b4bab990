//! The best that was possible, by a plain min-cost flow over single partitions: slow, obvious, and independent of the
//! solver that it judges.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::seen::Partition;

/// What an assignment costs, in the order in which it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Σ load² over the members.
    pub sum_of_squares: u64,
    /// Partitions at a member with a rack that none of their replicas is on; 0 while racks make no difference.
    pub rack_mismatches: u64,
    /// Partitions taken from their owner.
    pub moves: u64,
}

/// A group as seen from outside.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// The topics that each member subscribes to.
    pub subscriptions: BTreeMap<String, BTreeSet<String>>,
    /// How many partitions each topic has.
    pub topics: BTreeMap<String, i32>,
    /// Who had a partition before.
    pub owners: BTreeMap<Partition, String>,
    /// The racks of the members that have one.
    pub racks: BTreeMap<String, String>,
    /// The racks of each partition's replicas.
    pub replicas: BTreeMap<Partition, BTreeSet<String>>,
}

impl Question {
    /// The partitions that somebody subscribes to.
    pub fn partitions(&self) -> BTreeSet<Partition> {
        let wanted: BTreeSet<&String> = self.subscriptions.values().flatten().collect();
        self.topics
            .iter()
            .filter(|(topic, _)| wanted.contains(topic))
            .flat_map(|(topic, count)| (0..*count).map(move |partition| (topic.clone(), partition)))
            .collect()
    }

    /// The owner of a partition, if it could keep it: it is still a member and still subscribes.
    pub fn owner(&self, partition: &Partition) -> Option<&String> {
        let owner = self.owners.get(partition)?;
        self.subscriptions.get(owner)?.contains(&partition.0).then_some(owner)
    }

    /// What an assignment costs, given by member.
    pub fn cost(&self, assignment: &BTreeMap<String, BTreeSet<Partition>>) -> Cost {
        let sum_of_squares = assignment.values().map(|partitions| (partitions.len() as u64).pow(2)).sum();
        let moves = self
            .partitions()
            .iter()
            .filter(|partition| {
                self.owner(partition)
                    .is_some_and(|owner| !assignment.get(owner).is_some_and(|kept| kept.contains(*partition)))
            })
            .count() as u64;
        let rack_mismatches = if self.racks_matter() {
            let mismatches = |(member, partitions): (&String, &BTreeSet<Partition>)| {
                partitions.iter().filter(|partition| self.mismatches(member, partition)).count() as u64
            };
            assignment.iter().map(mismatches).sum()
        } else {
            0
        };
        Cost { sum_of_squares, rack_mismatches, moves }
    }

    /// KIP-881: whether racks count at all. Some member's rack must be among those of the replicas, and some partition
    /// must lack a replica on one of these.
    fn racks_matter(&self) -> bool {
        let partitions = self.partitions();
        let replicas: Vec<&BTreeSet<String>> =
            partitions.iter().filter_map(|partition| self.replicas.get(partition)).collect();
        let all: BTreeSet<&String> = replicas.iter().copied().flatten().collect();
        let subscribed = |member: &String| {
            let topics = self.subscriptions.get(member);
            topics.is_some_and(|topics| topics.iter().any(|topic| self.topics.contains_key(topic)))
        };
        let some_member = self.racks.iter().any(|(member, rack)| subscribed(member) && all.contains(rack));
        let everywhere =
            |partition: &Partition| self.replicas.get(partition).map_or(0, BTreeSet::len) == all.len();
        some_member && !partitions.iter().all(everywhere)
    }

    fn mismatches(&self, member: &String, partition: &Partition) -> bool {
        let Some(rack) = self.racks.get(member) else { return false };
        !self.replicas.get(partition).is_some_and(|racks| racks.contains(rack))
    }

    /// The least that any assignment costs.
    pub fn optimum(&self) -> Cost {
        let partitions: Vec<Partition> = self.partitions().into_iter().collect();
        let members: Vec<&String> = self.subscriptions.keys().collect();
        let racks_matter = self.racks_matter();
        // No number of moves outweighs one mismatch, and no number of both one step in the sum of squares.
        let mismatch = partitions.len() as i64 + 1;
        let weight = mismatch * mismatch;

        let mut network = Network::default();
        let (source, sink) = (network.node(), network.node());
        let member_nodes: Vec<usize> = members.iter().map(|_| network.node()).collect();
        for &node in &member_nodes {
            // The l-th partition of a member adds 2l - 1 to its square.
            for load in 1..=partitions.len() as i64 {
                network.arc(node, sink, (2 * load - 1) * weight);
            }
        }
        for partition in &partitions {
            let node = network.node();
            network.arc(source, node, 0);
            let owner = self.owner(partition);
            for (member, &member_node) in members.iter().zip(&member_nodes) {
                if self.subscriptions[*member].contains(&partition.0) {
                    let taken = owner.is_some_and(|owner| owner != *member);
                    let mismatches = racks_matter && self.mismatches(member, partition);
                    network.arc(node, member_node, i64::from(mismatches) * mismatch + i64::from(taken));
                }
            }
        }
        let cost = network.least_cost_of_all_flow(source, sink);
        Cost {
            sum_of_squares: (cost / weight) as u64,
            rack_mismatches: (cost % weight / mismatch) as u64,
            moves: (cost % mismatch) as u64,
        }
    }
}

/// Arcs of capacity one, each followed by its reverse.
#[derive(Default)]
struct Network {
    leaving: Vec<Vec<usize>>,
    arcs: Vec<Arc>,
}

struct Arc {
    to: usize,
    free: bool,
    cost: i64,
}

impl Network {
    fn node(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.leaving.len() - 1
    }

    fn arc(&mut self, from: usize, to: usize, cost: i64) {
        self.leaving[from].push(self.arcs.len());
        self.arcs.push(Arc { to, free: true, cost });
        self.leaving[to].push(self.arcs.len());
        self.arcs.push(Arc { to: from, free: false, cost: -cost });
    }

    /// Successive shortest paths (Bellman and Ford's, as a queue), one unit each, until none is left.
    fn least_cost_of_all_flow(&mut self, source: usize, sink: usize) -> i64 {
        let mut total = 0;
        while let Some((cost, path)) = self.shortest_path(source, sink) {
            total += cost;
            for arc in path {
                self.arcs[arc].free = false;
                self.arcs[arc ^ 1].free = true;
            }
        }
        total
    }

    fn shortest_path(&self, source: usize, sink: usize) -> Option<(i64, Vec<usize>)> {
        let mut distance = vec![i64::MAX; self.leaving.len()];
        let mut arrived_by = vec![usize::MAX; self.leaving.len()];
        let mut queue = VecDeque::from([source]);
        distance[source] = 0;
        while let Some(node) = queue.pop_front() {
            for &arc in self.leaving[node].iter().filter(|&&arc| self.arcs[arc].free) {
                let Arc { to, cost, .. } = self.arcs[arc];
                if distance[node] + cost < distance[to] {
                    distance[to] = distance[node] + cost;
                    arrived_by[to] = arc;
                    queue.push_back(to);
                }
            }
        }
        if distance[sink] == i64::MAX {
            return None;
        }
        let mut path = Vec::new();
        let mut node = sink;
        while node != source {
            path.push(arrived_by[node]);
            node = self.arcs[arrived_by[node] ^ 1].to;
        }
        Some((distance[sink], path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(
        subscriptions: &[(&str, &[&str])],
        topics: &[(&str, i32)],
        owners: &[(&str, i32, &str)],
    ) -> Question {
        Question {
            subscriptions: subscriptions
                .iter()
                .map(|(member, topics)| {
                    ((*member).into(), topics.iter().map(|topic| (*topic).into()).collect())
                })
                .collect(),
            topics: topics.iter().map(|(topic, count)| ((*topic).into(), *count)).collect(),
            owners: owners
                .iter()
                .map(|(topic, partition, owner)| (((*topic).into(), *partition), (*owner).into()))
                .collect(),
            ..Question::default()
        }
    }

    fn with_racks(mut question: Question, replicas: &[&[&str]]) -> Question {
        question.racks = [("a", "1"), ("b", "2")].map(|(member, rack)| (member.into(), rack.into())).into();
        let replicas = (0..).zip(replicas).map(|(partition, racks)| {
            (("t".into(), partition), racks.iter().map(|rack| (*rack).into()).collect())
        });
        question.replicas = replicas.collect();
        question
    }

    #[test]
    fn partitions_go_home_to_their_racks_and_no_further_than_balance_allows() {
        let owners = [("t", 0, "a"), ("t", 1, "a"), ("t", 2, "b"), ("t", 3, "b")];
        let question = question(&[("a", &["t"]), ("b", &["t"])], &[("t", 4)], &owners);
        let question = with_racks(question, &[&["2"], &["1"], &["1"], &["1"]]);
        // Rack 1 has three partitions, and balance allows its member two.
        assert_eq!(question.optimum(), Cost { sum_of_squares: 8, rack_mismatches: 1, moves: 2 });
    }

    #[test]
    fn racks_do_not_count_where_every_partition_is_on_all_of_them() {
        let owners = [("t", 0, "a"), ("t", 1, "b")];
        let question = question(&[("a", &["t"]), ("b", &["t"])], &[("t", 2)], &owners);
        let everywhere = with_racks(question.clone(), &[&["3", "4"], &["3", "4"]]);
        assert_eq!(everywhere.optimum(), Cost { sum_of_squares: 2, rack_mismatches: 0, moves: 0 });
        let nowhere_near = with_racks(question, &[&["3"], &["4"]]);
        assert_eq!(nowhere_near.optimum(), Cost { sum_of_squares: 2, rack_mismatches: 0, moves: 0 });
    }

    #[test]
    fn a_newcomer_costs_its_share() {
        let owners: Vec<_> = (0..6).map(|partition| ("t", partition, "a")).collect();
        let question = question(&[("a", &["t"]), ("b", &["t"])], &[("t", 6)], &owners);
        assert_eq!(question.optimum(), Cost { sum_of_squares: 18, rack_mismatches: 0, moves: 3 });
    }

    #[test]
    fn a_chain_of_subscriptions_is_balanced_through_its_middle() {
        // b can only be relieved by handing u to c, so that a may give t to b.
        let owners = [("t", 0, "a"), ("t", 1, "a"), ("t", 2, "a"), ("u", 0, "b"), ("u", 1, "b")];
        let question =
            question(&[("a", &["t"]), ("b", &["t", "u"]), ("c", &["u"])], &[("t", 3), ("u", 2)], &owners);
        assert_eq!(question.optimum(), Cost { sum_of_squares: 9, rack_mismatches: 0, moves: 2 });
    }

    #[test]
    fn every_assignment_of_a_tiny_group_costs_at_least_the_optimum() {
        let owners = [("t", 0, "a"), ("t", 1, "b"), ("u", 0, "b"), ("u", 1, "b")];
        let question = question(&[("a", &["t"]), ("b", &["t", "u"])], &[("t", 2), ("u", 2)], &owners);
        let least = (0..4)
            .map(|choice| {
                let mut assignment: BTreeMap<String, BTreeSet<Partition>> = BTreeMap::new();
                for partition in 0..2 {
                    let member = if choice >> partition & 1 == 0 { "a" } else { "b" };
                    assignment.entry(member.into()).or_default().insert(("t".into(), partition));
                    assignment.entry("b".into()).or_default().insert(("u".into(), partition));
                }
                question.cost(&assignment)
            })
            .min();
        assert_eq!(Some(question.optimum()), least);
    }
}
