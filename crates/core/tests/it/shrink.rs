//! Makes a failing group as small as it gets, so that a person can see why it fails.

use crate::case::Case;

/// The smallest group reached by leaving things out one at a time, for which `fails` still holds.
pub(crate) fn shrunk(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut smallest = case.clone();
    for halving in 1..8 {
        let chunk = case.members.len() >> halving;
        for start in (0..case.members.len()).step_by(chunk.max(1)).rev().filter(|_| chunk > 1) {
            let mut candidate = smallest.clone();
            candidate
                .members
                .drain(start.min(candidate.members.len())..(start + chunk).min(candidate.members.len()));
            if candidate != smallest && fails(&candidate) {
                smallest = candidate;
            }
        }
    }
    for _ in 0..MOST_STEPS {
        match simpler(&smallest).into_iter().find(|candidate| fails(candidate)) {
            Some(smaller) => smallest = smaller,
            None => break,
        }
    }
    smallest
}

/// Enough for what a person would read; the largest groups are left as they are then.
const MOST_STEPS: usize = 400;

fn simpler(case: &Case) -> Vec<Case> {
    let mut candidates: Vec<Case> = Vec::new();
    let mut without = |edit: &dyn Fn(&mut Case)| {
        let mut candidate = case.clone();
        edit(&mut candidate);
        if candidate != *case {
            candidates.push(candidate);
        }
    };
    for index in 0..case.members.len() {
        without(&|case| {
            case.members.remove(index);
        });
    }
    for index in 0..case.topics.len() {
        without(&|case| {
            let name = case.topics.remove(index).name;
            for member in &mut case.members {
                member.subscription.retain(|topic| *topic != name);
            }
        });
        without(&|case| case.topics[index].racks = None);
        without(&|case| shorten(case, index));
    }
    for index in 0..case.members.len() {
        let member = &case.members[index];
        without(&|case| case.members[index].holds.clear());
        without(&|case| case.members[index].claims.clear());
        without(&|case| case.members[index].rack = None);
        without(&|case| case.members[index].instance = None);
        for at in 0..member.subscription.len() {
            without(&|case| {
                case.members[index].subscription.remove(at);
            });
        }
        for at in 0..member.claims.len() {
            without(&|case| {
                case.members[index].claims.remove(at);
            });
        }
        for at in 0..member.holds.len() {
            without(&|case| {
                case.members[index].holds.remove(at);
            });
        }
    }
    without(&|case| case.generation = None);
    candidates
}

fn shorten(case: &mut Case, index: usize) {
    let topic = &mut case.topics[index];
    if topic.partitions > 0 {
        topic.partitions -= 1;
        if let Some(racks) = &mut topic.racks {
            racks.pop();
        }
    }
}
