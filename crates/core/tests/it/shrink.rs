//! Makes a failing group as small as it gets, so that a person can see why it fails.

use crate::case::Case;

/// The smallest group reached by leaving things out one at a time, for which `fails` still holds.
pub(crate) fn shrunk(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut smallest = case.clone();
    while let Some(smaller) = simpler(&smallest).into_iter().find(|candidate| fails(candidate)) {
        smallest = smaller;
    }
    smallest
}

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
