//! The oracle judged: against itself by two methods, and against figures worked out by hand.

use crate::{
    case::Case,
    generate::{Size, Structure, group},
    optimum::{by_exhaustion, by_flow},
    rules::{Reason, Score, changes, facts, invalid, racks_are_on, score, withheld},
    text::case,
};

#[test]
fn both_ways_to_the_optimum_agree_on_tiny_groups() {
    let mut compared = 0;
    for structure in Structure::ALL {
        for seed in 0..700 {
            let group = group(structure, Size::TINY, seed);
            let facts = facts(&group);
            let Some(exhaustive) = by_exhaustion(&group, &facts, 4096) else { continue };
            let (by_flow, target) = by_flow(&group, &facts);
            assert_eq!(by_flow, exhaustive, "{structure:?} {seed}\n{group}");
            assert_eq!(invalid(&group, &facts, &target), None, "{structure:?} {seed}\n{group}");
            compared += 1;
        }
    }
    assert!(compared > 4_000, "only {compared} groups were small enough");
}

/// The optimum worked out by hand: Σ load², rack mismatches, taken, not returned, Σ topic count².
#[track_caller]
fn optimum_is(text: &str, expected: [u64; 5]) {
    let group = case(text);
    let (score, _) = by_flow(&group, &facts(&group));
    let Score { sum_of_squares, rack_mismatches, taken, not_returned, topic_sum_of_squares } = score;
    let found = [sum_of_squares, rack_mismatches, taken, not_returned, topic_sum_of_squares];
    assert_eq!(found, expected, "\n{group}");
}

#[test]
fn the_optimum_of_small_groups_is_what_one_finds_by_hand() {
    optimum_is("", [0, 0, 0, 0, 0]);
    optimum_is("topic t 3", [0, 0, 0, 0, 0]);
    optimum_is("topic t 3\n member a [t]", [9, 0, 0, 0, 9]);
    optimum_is("topic t 3\n member a [t]\n member b [t]", [5, 0, 0, 0, 5]);
    // The chain: 1, 2, 3 partitions between four members; 2 + 2 + 1 + 1.
    optimum_is(
        "topic t1 1\n topic t2 2\n topic t3 3
         member a [t1]\n member b [t1 t2]\n member c [t2 t3]\n member d [t3]",
        [1 + 1 + 4 + 4, 0, 0, 0, 1 + 1 + 1 + 1 + 4],
    );
    // Two topics of 12 between two members: 6 and 6 of each.
    optimum_is("topic t1 12\n topic t2 12\n member a [t1 t2]\n member b [t1 t2]", [288, 0, 0, 0, 4 * 36]);
    // What is owned stays, so the topics cannot be spread: one moves, of three owned.
    optimum_is(
        "topic t1 2\n topic t2 2\n member a [t1 t2] owns t1:0,1@7 t2:0@7\n member b [t1 t2]",
        [8, 0, 1, 0, 4],
    );
    // The stale claimant is an earlier owner: what must leave b for balance returns to a, not to c.
    optimum_is(
        "generation 8\n topic t 3\n member a [t] owns t:0@5\n member b [t] owns t:0..2@7\n member c [t]",
        [3, 0, 2, 0, 3],
    );
    // Contested at 7, so nobody owns it; the earlier owner does not take it back, as it is busy.
    optimum_is(
        "generation 8\n topic t 1\n topic u 1
         member a [t] claims t:0@7\n member b [t] claims t:0@7\n member c [t u] claims t:0@6",
        [2, 0, 0, 1, 2],
    );
    // A claim of the generation being formed cannot be true.
    optimum_is(
        "generation 8\n topic t 1\n topic u 1\n member a [t u] claims t:0@8\n member b [t] claims t:0@7",
        [2, 0, 0, 0, 2],
    );
    // Racks come before moves: each gives up one of its two partitions.
    optimum_is(
        "topic t 2 racks a,b\n member x [t] owns t:1@7 rack a\n member y [t] owns t:0@7 rack b",
        [2, 0, 2, 0, 2],
    );
    // Nobody lives on c: whoever has those partitions keeps them.
    optimum_is(
        "topic t 3 racks c,c,a\n topic u 1 racks a
         member x [t u] owns t:0@7 u:0@7 rack a\n member y [t u] owns t:1,2@7 rack a",
        [8, 2, 0, 0, 6],
    );
}

#[test]
fn the_rack_switch_is_read_as_kip_881_says() {
    let on = |text: &str| racks_are_on(&case(text));
    assert!(!on("topic t 2 racks a,b\n member x [t]\n member y [t]"), "no member has a rack");
    assert!(!on("topic t 2 racks a,b\n member x [t] rack "), "an empty rack is none");
    assert!(!on("topic t 2\n member x [t] rack a"), "no partition has");
    assert!(!on("topic t 2 racks a,b\n member x [t] rack c"), "disjoint");
    assert!(!on("topic t 2 racks a+b,a+b\n member x [t] rack a"), "every partition is everywhere");
    assert!(on("topic t 2 racks a+b,a\n member x [t] rack a"));
    assert!(
        on("topic t 2 racks a,-\n member x [t] rack a"),
        "a partition without rack data is not everywhere"
    );
    assert!(!on("topic t 2 racks a,b\n member x [] rack a\n member y [t]"), "x subscribes to nothing");
    assert!(
        !on("topic t 2 racks a,b\n member x [gone] rack a\n member y [t]"),
        "nor to anything that exists"
    );
    assert!(
        on("topic t 2 racks a,b\n topic none 0\n member x [none] rack a\n member y [t]"),
        "0 partitions exist"
    );
    assert!(!on("topic t 2 racks a+b,a+b\n topic u 1 racks a\n member x [t] rack a"), "u is not subscribed");
}

#[test]
fn reasons_and_withholding_are_what_one_finds_by_hand() {
    let group = case(
        "generation 8
         topic t 6 racks a,b,b,b,b,b
         member old [gone] owns t:5@7
         member x [t] owns t:0,1@7 t:3@4 t:4@7 rack b
         member y [t] owns t:2,3@6 t:4@7 rack a",
    );
    let target = [("y", 0), ("x", 1), ("x", 2), ("y", 3), ("x", 4), ("x", 5)]
        .map(|(member, number)| (("t".to_owned(), number), member.to_owned()))
        .into();
    let found: Vec<(u32, Option<String>, Reason)> = changes(&group, &facts(&group), &target)
        .into_iter()
        .map(|change| (change.partition.1, change.from, change.reason))
        .collect();
    let from = |member: &str| Some(member.to_owned());
    assert_eq!(
        found,
        [
            (0, from("x"), Reason::Rack),
            (2, from("y"), Reason::Rack),
            (4, None, Reason::Contested),
            (5, None, Reason::Unsubscribed)
        ],
    );
    // 3 goes on at y, whose word is the later; 4 is held by both in one generation, so nobody may start.
    let waiting: Vec<u32> = withheld(&group, &target).into_iter().map(|(_, number)| number).collect();
    assert_eq!(waiting, [0, 2, 4, 5]);
}

#[test]
fn an_invalid_assignment_is_seen() {
    let group = case("topic t 1\n topic u 1\n topic nobody 1\n member a [t]\n member b [u]");
    let facts = facts(&group);
    let to = |topic: &str, number, member: &str| ((topic.to_owned(), number), member.to_owned());
    let good: crate::case::Target = [to("t", 0, "a"), to("u", 0, "b")].into();
    assert_eq!(invalid(&group, &facts, &good), None);
    assert!(invalid(&group, &facts, &[to("t", 0, "a")].into()).is_some(), "u-0 is missing");
    assert!(
        invalid(&group, &facts, &[to("t", 0, "b"), to("u", 0, "b")].into()).is_some(),
        "b does not subscribe"
    );
    for extra in [to("t", 1, "a"), to("x", 0, "a"), to("nobody", 0, "a")] {
        let mut bad = good.clone();
        bad.extend([extra]);
        assert!(invalid(&group, &facts, &bad).is_some(), "{bad:?}");
    }
}

#[test]
fn the_groups_are_what_their_structures_promise() {
    let groups = |structure| (0..300).map(move |seed| group(structure, Size::MEDIUM, seed));
    let some = |test: &dyn Fn(&Case) -> bool| groups(Structure::Arbitrary).filter(test).count();
    assert!(groups(Structure::Identical).any(|group| group.members.len() > group.partition_count() as usize));
    assert!(some(&|group| group.members.is_empty()) > 0, "empty groups");
    assert!(some(&|group| group.members.iter().any(|member| member.subscription.is_empty())) > 0);
    assert!(some(&racks_are_on) > 20, "rack-awareness on");
    assert!(some(&|group| facts(group).iter().any(|partition| partition.subscribers.is_empty())) > 0);
    assert!(some(&|group| facts(group).iter().any(|partition| partition.contested)) > 20);
    assert!(some(&|group| facts(group).iter().any(|p| p.owner.is_some() && p.earlier.is_some())) > 20);
    let numbers = |group: &Case, number| {
        group.members.iter().flat_map(|member| &member.claims).any(|claim| claim.partition == number)
    };
    assert!(some(&|group| numbers(group, i32::MIN) || numbers(group, i32::MAX)) > 5);
    assert_eq!(group(Structure::Ring, Size::SMALL, 7), group(Structure::Ring, Size::SMALL, 7));
    let (by_flow, target) = {
        let group = group(Structure::Dense, Size::LARGE, 1);
        let facts = facts(&group);
        let (found, target) = by_flow(&group, &facts);
        (found, score(&group, &facts, &target))
    };
    assert_eq!(by_flow, target);
}
