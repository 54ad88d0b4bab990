//! Where Kafka's own assignors (and librdkafka's port) are known to fail, in the order they were found: each as the
//! group that shows it, done right here.

use super::{FORMING, Round, in_every_set_up, join, leave, withheld};
use crate::{case::Case, subject, text};

/// 1, KAFKA-16930's cousin: the first empty list met was mistaken for "none met yet"
#[test]
fn a_member_with_an_empty_topic_list_gets_nothing_in_any_order() {
    for text in ["member c1 []\n member c2 [t]", "member c1 [t]\n member c2 []"] {
        in_every_set_up(&format!("topic t 4\n {text}"), |round| {
            let reader = round.case.members.iter().find(|member| !member.subscription.is_empty());
            assert_eq!(round.load(&reader.expect("one reads").id), 4);
        });
    }
}

/// 2: a topic made anew with fewer partitions failed every rebalance, or gave away what does not exist
#[test]
fn claims_beyond_the_partitions_there_are_never_count() {
    for claims in ["t:0..5@7", "t:4,5,2147483647@7", "t:-1,0@7", "t:-2147483648..-2147483646@7 t:1@7"] {
        in_every_set_up(
            &format!("topic t 4\n topic u 0\n member c1 [t] owns {claims}\n member c2 [t]\n member c3 [u]"),
            |round| assert_eq!(round.loads(), [2, 2, 0]),
        );
    }
}

/// 3: who had a topic got it back after dropping it
#[test]
fn an_earlier_claimant_that_dropped_the_topic_does_not_get_it_back() {
    in_every_set_up(
        "topic t 2\n topic u 1\n topic v 4
         member c1 [u] owns t:0,1@5\n member c2 [t v] owns v:0..3@7 t:0,1@6\n member c3 [t]",
        |round| assert_eq!(round.target("c1"), "u:0"),
    );
}

/// 4 and 5: which of the claims counted depended on who was looked at first
#[test]
fn the_latest_generation_wins_whoever_is_met_first() {
    for [first, second, third] in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"], ["c", "a", "b"]] {
        let round = Round::of(&format!(
            "topic t 3
             member {first} [t] claims t:0,1@5\n member {second} [t] claims t:0,1@3\n member {third} [t]"
        ));
        assert!(round.target(first).contains("t:0") || round.target(first).contains("t:1"));
        let round = Round::of(&format!(
            "topic t 3
             member {first} [t] owns t:0@1\n member {second} [t] owns t:0@1\n member {third} [t] owns t:0@2"
        ));
        assert_eq!(round.given(third), "t:0", "who claims it for the latest generation keeps it");
    }
}

/// 6: division by zero
#[test]
fn an_empty_group_has_an_empty_assignment() {
    for text in ["", "topic t 3"] {
        let round = Round::of(text);
        assert!(round.outcome.target.is_empty() && round.outcome.report.members == 0);
    }
}

/// 7: a partition that had to move went to the lightest member, though another one lives where it is
#[test]
fn what_moves_for_balance_moves_to_its_rack() {
    let round = Round::of(
        "topic t 4 racks b,b,b,b\n topic u 1 racks a
         member c1 [t u] owns t:0..3@7 rack b\n member c2 [t] rack a\n member c3 [t] rack b",
    );
    assert_eq!(round.loads(), [2, 1, 2]);
    let again = Round::of(
        "topic t 3 racks b,b,b\n topic u 3 racks a,a,a
         member c1 [t u] owns t:0..2@7 u:0@7 rack b\n member c2 [t u] owns u:1,2@7 rack a
         member c3 [t u] rack a\n member c4 [t] rack b",
    );
    assert_eq!(again.outcome.report.rack_mismatches, 0);
    assert_eq!(again.outcome.report.moved, 2);
    assert!(again.transfers().contains(&"u:0 c1 c3".to_owned()));
}

/// 8: partitions on a rack where nobody lives were swapped for nothing
#[test]
fn a_mismatch_that_nobody_can_mend_is_kept() {
    let round = Round::of(
        "topic t 2 racks c,c\n topic u 2 racks a,b
         member x [t u] owns t:1@7 u:0@7 rack a\n member y [t u] owns t:0@7 u:1@7 rack b",
    );
    assert_eq!(round.outcome.report.rack_mismatches, 2);
    assert!(round.transfers().is_empty() && round.outcome.withheld.is_empty());
}

/// 9: moves made on the way were not undone where they led nowhere
#[test]
fn nothing_moves_where_nothing_gets_better() {
    in_every_set_up(
        "topic t1 1\n topic t2 2\n topic t3 3
         member c1 [t1 t2] owns t1:0@7 t2:0@7\n member c2 [t2 t3] owns t2:1@7 t3:1@7\n member c3 [t3] owns t3:0,2@7",
        |round| assert!(round.outcome.changes.is_empty()),
    );
}

/// 10: loads of 1, 2, … 16 in a chain counted as balanced, as no neighbours differ by two
#[test]
fn a_chain_of_neighbours_is_levelled_from_end_to_end() {
    let mut text = String::new();
    for index in 1..=16 {
        let last = index - 1;
        text += &format!("topic t{index:02} {index}\n");
        text += &format!("member c{index:02} [t{index:02} t{:02}] owns t{index:02}:0..{last}@7\n", index + 1);
    }
    let round = Round::of(&text);
    // The first k members can have no more than the first k + 1 topics; from the tenth on that is no limit, and the
    // 81 partitions left are split evenly.
    let mut loads = round.loads();
    loads.sort_unstable();
    assert_eq!(loads, [3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 11, 12, 12, 12, 12]);
    let from_heavier = |transfer: &String| {
        let (from, to) =
            transfer.split_once(' ').and_then(|(_, who)| who.split_once(' ')).expect("from and to");
        from > to
    };
    assert!(round.transfers().iter().all(from_heavier), "everything moves towards the light end");
}

/// 11: a high generation seen once was remembered for ever
#[test]
fn an_assignment_leaves_nothing_behind() {
    let low = Case {
        generation: None,
        ..text::case("topic t 2\n member a [t] owns t:0@3\n member b [t] owns t:0@2")
    };
    let high = Case { generation: None, ..text::case("topic t 1\n member a [t] owns t:0@50\n member b [t]") };
    let before = subject::assign(&low);
    subject::assign(&high);
    let after = subject::assign(&low);
    assert_eq!((before.target, before.report), (after.target, after.report));
}

/// 12: who gets the odd partition hung on hash order
#[test]
fn ties_are_broken_by_member_topic_and_number() {
    let text = "topic t1 1\n topic t2 2\n member c3 [t1 t2]\n member c1 [t1 t2]\n member c2 [t1 t2]\n member c4 [t1 t2]";
    assert_eq!(Round::of(text).loads(), [1, 1, 1, 0], "in the order of the text: c3, c1, c2, c4");
}

/// 13: three members holding each other's places in a ring, which swaps of two cannot mend
#[test]
fn a_cycle_of_three_is_left_as_it_was() {
    in_every_set_up(
        "topic t1 2\n topic t2 2\n topic t3 2
         member c1 [t1 t2] owns t1:0@7 t2:0@7\n member c2 [t2 t3] owns t2:1@7 t3:0@7\n member c3 [t3 t1] owns t3:1@7 t1:1@7",
        |round| {
            assert!(round.outcome.changes.is_empty());
            let joined = round.then(join("member c4 [t1]"));
            assert_eq!(joined.outcome.report.moved, 1);
        },
    );
}

/// 14: completeness went unchecked; here every scenario's result is, and so is a light member that holds nothing
#[test]
fn a_member_that_holds_nothing_of_a_topic_is_still_levelled_with() {
    in_every_set_up(
        "topic t 4\n topic u 4\n member c1 [t u] owns t:0..3@7\n member c2 [u] owns u:0..3@7\n member c3 [t u]",
        |round| round.is_fully_balanced(),
    );
}

/// 15, librdkafka 4783: the search that never ended
#[test]
fn mixed_subscriptions_that_chase_each_other_come_to_an_end() {
    let mut text = String::new();
    for index in 0..20 {
        text += &format!("topic t{index:02} {}\n", 1 + index % 7);
    }
    for index in 0..30 {
        let topics: Vec<String> =
            (0..20).filter(|t| (t * 7 + index * 3) % 5 < 2).map(|t| format!("t{t:02}")).collect();
        text += &format!("member c{index:02} [{}]\n", topics.join(" "));
    }
    let fresh = Round::of(&text);
    fresh.then(leave("c07")).then(leave("c11")).then(join("member d [t00 t01 t02 t03]"));
}

/// The group that makes librdkafka's own `cooperative-sticky` read freed memory.
#[test]
fn the_group_that_crashes_the_built_in_assignor() {
    let group = "topic topic-0 5\n topic topic-1 4\n topic topic-2 5\n topic topic-3 4\n topic topic-4 5
         member m00 [topic-3] owns topic-3:0..3@1
         member m01 [topic-1 topic-2 topic-3 topic-4] owns topic-1:0..3@1 topic-2:0..4@1 topic-4:0..4@1
         member m02 [topic-0] owns topic-0:0..4@1
         member n00 [topic-0 topic-1 topic-2]";
    let round = Round::of(group);
    // m01 must keep topic-4 (5) and n00 can take all of topic-1 and topic-2 (9): 23 in all.
    assert_eq!(round.loads(), [4, 7, 5, 7]);
    assert_eq!(round.outcome.report.moved, 7);
    assert_eq!(withheld(&round).len(), 7);
    let settled = round.follow_up();
    assert_eq!(settled.outcome.target, round.outcome.target);
    assert_eq!(FORMING + 1, settled.case.generation.expect("known"));
}

/// A version 0 member, whose subscription has no owned partitions at all, made librdkafka follow a null pointer.
#[test]
fn a_member_without_owned_partitions_beside_others_that_have_some() {
    let round = Round::of("topic t 3\n member old [t]\n member new [t] owns t:0..2@7");
    assert_eq!(round.loads(), [1, 2]);
    assert_eq!(withheld(&round).len(), 1);
}

/// librdkafka handed forged claims back as assignments, and let the last of several claimants win.
#[test]
fn forged_holds_give_nobody_anything() {
    let round = Round::of(
        "topic t 2\n member a [t] owns t:0@7\n member b [t] owns t:1@7\n member forger [] owns t:0,1@6 u:0@7",
    );
    assert_eq!(["a", "b", "forger"].map(|member| round.given(member)), ["t:0", "t:1", ""]);
}
