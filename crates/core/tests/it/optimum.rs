//! The oracle: the best score a group allows, found in two ways that have only the rules in common.

use crate::{
    case::{Case, Target},
    flow::Network,
    rules::{Facts, Score, costs, score},
};

/// Beyond any sum a group of the tests can reach in one objective.
const RADIX: i128 = 1 << 24;

/// The optimum by trying every assignment; `None` if there are more than `limit`.
pub(crate) fn by_exhaustion(case: &Case, facts: &[Facts], limit: u64) -> Option<Score> {
    let open: Vec<&Facts> = facts.iter().filter(|partition| !partition.subscribers.is_empty()).collect();
    let choices = open
        .iter()
        .try_fold(1u64, |product, partition| product.checked_mul(partition.subscribers.len() as u64))?;
    if choices > limit {
        return None;
    }
    let mut best: Option<Score> = None;
    for mut choice in 0..choices {
        let mut target = Target::new();
        for partition in &open {
            let among = partition.subscribers.len() as u64;
            let member = partition.subscribers[(choice % among) as usize];
            choice /= among;
            let name = (case.topics[partition.topic].name.clone(), partition.number);
            target.insert(name, case.members[member].id.clone());
        }
        let found = score(case, facts, &target);
        best = Some(best.map_or(found, |best| best.min(found)));
    }
    best
}

/// The optimum by minimum-cost flow, with one assignment that reaches it.
///
/// Partition → (topic, member) → member → sink. The last two kinds of arc cost the square of what they carry;
/// the five objectives are the digits of one number.
pub(crate) fn by_flow(case: &Case, facts: &[Facts]) -> (Score, Target) {
    let mut network = Network::default();
    let sink = network.node();
    let members: Vec<usize> = case.members.iter().map(|_| network.node()).collect();
    for member in &members {
        network.arc(*member, sink, i128::MAX, 0, RADIX.pow(4));
    }
    let mut seats = vec![vec![None; members.len()]; case.topics.len()];
    let mut offers = Vec::new();
    for partition in facts.iter().filter(|partition| !partition.subscribers.is_empty()) {
        let node = network.node();
        for member in &partition.subscribers {
            let seat = *seats[partition.topic][*member].get_or_insert_with(|| {
                let seat = network.node();
                network.arc(seat, members[*member], i128::MAX, 0, 1);
                seat
            });
            let [mismatch, taken, not_returned] = costs(partition, *member).map(i128::from);
            let cost = (mismatch * RADIX + taken) * RADIX + not_returned;
            let arc = network.arc(node, seat, 1, cost * RADIX, 0);
            offers.push((arc, partition, *member));
        }
        assert!(network.send_one(node, sink), "a partition with a subscriber can always be placed");
    }
    let mut target = Target::new();
    for (arc, partition, member) in offers {
        if network.flow(arc) == 1 {
            let name = (case.topics[partition.topic].name.clone(), partition.number);
            target.insert(name, case.members[member].id.clone());
        }
    }
    (score(case, facts, &target), target)
}
