//! The two scenarios on racks that close Kafka's shared list: t1 (6), t2 (7) and t3 (2) between three members.

use super::{FORMING, Round, withheld};
use crate::{
    case::Case,
    rules::{facts, score},
    text,
};

/// The replicas of one partition after another start at the next rack, so that they are evenly spread.
fn group(
    replica_racks: &[&str],
    replicas: usize,
    member_racks: [&str; 3],
    third: &str,
    owned: [&str; 3],
) -> Case {
    let text = format!(
        "topic t1 6\n topic t2 7\n topic t3 2
         member c1 [t1 t2 t3] {}\n member c2 [t1 t2 t3] {}\n member c3 [{third}] {}",
        owned[0], owned[1], owned[2]
    );
    let mut case = Case { generation: Some(FORMING), ..text::case(&text) };
    let mut next = 0;
    for topic in case.topics.iter_mut().filter(|_| !replica_racks.is_empty()) {
        let mut racks = Vec::new();
        for _ in 0..topic.partitions {
            let on = (next..next + replicas).map(|at| replica_racks[at % replica_racks.len()].to_owned());
            racks.push(on.collect());
            next += 1;
        }
        topic.racks = Some(racks);
    }
    for (member, rack) in case.members.iter_mut().zip(member_racks) {
        member.rack = (!rack.is_empty()).then(|| rack.to_owned());
    }
    case
}

const NOTHING: [&str; 3] = [""; 3];
const ABC: [&str; 3] = ["a", "b", "c"];

/// Loads of 5 each and this many mismatches, and again when fed back.
#[track_caller]
fn mismatches(case: Case, expected: u64) {
    let round = Round::judge(case);
    assert_eq!(round.loads(), [5, 5, 5]);
    assert_eq!(round.outcome.report.rack_mismatches, expected);
    let again = round.then(|_| {});
    assert_eq!(again.outcome.target, round.outcome.target);
}

/// 40
#[test]
fn rack_aware_assignment_with_uniform_subscription() {
    let uniform = |replica_racks: &[&str], replicas, members| {
        group(replica_racks, replicas, members, "t1 t2 t3", NOTHING)
    };
    let plain = Round::judge(uniform(&[], 0, ["", "", ""]));
    let same_without_racks = |case: Case| {
        mismatches(case.clone(), 0);
        assert_eq!(Round::judge(case).outcome.target, plain.outcome.target);
    };
    same_without_racks(uniform(&[], 0, ABC));
    same_without_racks(uniform(&ABC, 3, ["", "", ""]));
    same_without_racks(uniform(&ABC, 3, ABC));
    same_without_racks(uniform(&["a", "b", "c", "d"], 4, ABC));
    same_without_racks(uniform(&["d", "e", "f"], 1, ABC));
    same_without_racks(uniform(&["d", "e", "f"], 1, ["", "a", "b"]));
    mismatches(uniform(&ABC, 1, ABC), 0);
    mismatches(uniform(&ABC, 2, ABC), 0);
    mismatches(uniform(&["a", "b"], 1, ABC), 5);
}

/// 40, the partitions owned before racks were known
#[test]
fn rack_aware_assignment_with_uniform_subscription_and_misaligned_owned_partitions() {
    let owned = ["owns t1:0..4@7", "owns t1:5@7 t2:0..3@7", "owns t2:4..6@7 t3:0,1@7"];
    let cooperative = Round::judge(group(&ABC, 1, ABC, "t1 t2 t3", owned));
    assert_eq!((cooperative.loads(), cooperative.outcome.report.rack_mismatches), (vec![5, 5, 5], 0));
    let given = ["c1", "c2", "c3"].map(|member| cooperative.given(member));
    assert_eq!(given, ["t1:0 t1:3", "t2:1", "t2:5 t3:1"], "only what stays");
    assert_eq!(withheld(&cooperative).len(), 10);
    let settled = cooperative.follow_up();
    assert_eq!(settled.outcome.target, cooperative.outcome.target);
    assert!(settled.outcome.withheld.is_empty());

    let mut eager = cooperative.case.clone();
    eager.members.iter_mut().for_each(|member| member.holds.clear());
    let at_once = Round::judge(eager);
    assert_eq!(at_once.outcome.target, cooperative.outcome.target);
    assert!(at_once.outcome.withheld.is_empty());
}

/// 41
#[test]
fn rack_aware_assignment_with_non_equal_subscription() {
    let mixed =
        |replica_racks: &[&str], replicas, members| group(replica_racks, replicas, members, "t1 t3", NOTHING);
    let plain = Round::judge(mixed(&[], 0, ["", "", ""]));
    let same_without_racks = |case: Case| {
        mismatches(case.clone(), 0);
        assert_eq!(Round::judge(case).outcome.target, plain.outcome.target);
    };
    same_without_racks(mixed(&[], 0, ABC));
    same_without_racks(mixed(&ABC, 3, ["", "", ""]));
    same_without_racks(mixed(&ABC, 3, ABC));
    same_without_racks(mixed(&["a", "b", "c", "d"], 4, ABC));
    same_without_racks(mixed(&["d", "e", "f"], 1, ABC));
    mismatches(mixed(&ABC, 1, ABC), 4);
    mismatches(mixed(&ABC, 2, ABC), 0);
    mismatches(mixed(&["a", "b"], 1, ABC), 5);
}

/// 41, the partitions owned before racks were known: cooperative needs one follow-up, eager none
#[test]
fn rack_aware_assignment_with_non_equal_subscription_and_misaligned_owned_partitions() {
    let owned = ["owns t2:0..4@7", "owns t2:5,6@7 t1:3..5@7", "owns t1:0..2@7 t3:0,1@7"];
    let cooperative = Round::judge(group(&ABC, 1, ABC, "t1 t3", owned));
    let score = score(&cooperative.case, &facts(&cooperative.case), &cooperative.outcome.target);
    assert_eq!((score.sum_of_squares, score.rack_mismatches), (75, 4));
    assert_eq!(withheld(&cooperative).len() as u64, cooperative.outcome.report.moved);
    let settled = cooperative.follow_up();
    assert_eq!(settled.outcome.target, cooperative.outcome.target);
    assert!(settled.outcome.withheld.is_empty());
}
