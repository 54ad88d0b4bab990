//! What Kafka checks of both its sticky assignors (`AbstractStickyAssignorTest`), in its order; the last two, on
//! racks, are in `shared_racks`, and the three large ones in `large`. Where Java's placement rests on hash order,
//! what stands here is who keeps what, the loads and what changes hands.

use super::{Round, in_every_set_up, join, leave};
use crate::{case::Case, seeded::Seeded, text};

/// 1: how owned partitions and generation travel is the protocol crate's; here, what is read counts the same
/// with a generation and without.
#[test]
fn member_data() {
    for claims in ["owns t:2", "owns t:2@-1", "owns t:2@7"] {
        let round = Round::of(&format!("topic t 3\n member c1 [t] {claims}\n member c2 [t]\n member c3 [t]"));
        assert_eq!(round.target("c1"), "t:2");
    }
}

/// 2
#[test]
fn one_consumer_no_topic() {
    in_every_set_up("member c1 []", |round| {
        assert_eq!(round.loads(), [0]);
        assert!(round.outcome.changes.is_empty());
    });
}

/// 3
#[test]
fn one_consumer_nonexistent_topic() {
    for text in ["member c1 [t]", "topic t 0\n member c1 [t]"] {
        in_every_set_up(text, |round| assert_eq!(round.loads(), [0]));
    }
}

/// 4
#[test]
fn one_consumer_one_topic() {
    in_every_set_up("topic t 3\n member c1 [t]", |round| assert_eq!(round.target("c1"), "t:0 t:1 t:2"));
}

/// 5
#[test]
fn only_assigns_partitions_from_subscribed_topics() {
    in_every_set_up(
        "topic t 2\n topic other 3\n member c1 [t] owns t:0@7 other:0..2@7 unknown:0..3@7",
        |round| {
            assert_eq!(round.target("c1"), "t:0 t:1");
            assert!(round.transfers().is_empty());
        },
    );
}

/// 6
#[test]
fn one_consumer_multiple_topics() {
    in_every_set_up("topic t1 1\n topic t2 2\n member c1 [t1 t2]", |round| {
        assert_eq!(round.target("c1"), "t1:0 t2:0 t2:1");
    });
}

/// 7
#[test]
fn two_consumers_one_topic_one_partition() {
    in_every_set_up("topic t 1\n member c1 [t]\n member c2 [t]", |round| {
        assert_eq!(round.loads(), [1, 0], "ties go to the lower id");
    });
}

/// 8
#[test]
fn two_consumers_one_topic_two_partitions() {
    in_every_set_up("topic t 2\n member c1 [t]\n member c2 [t]", |round| assert_eq!(round.loads(), [1, 1]));
}

/// 9
#[test]
fn multiple_consumers_mixed_topic_subscriptions() {
    in_every_set_up(
        "topic t1 3\n topic t2 2\n member c1 [t1]\n member c2 [t1 t2]\n member c3 [t1]",
        |round| {
            assert_eq!(round.target("c2"), "t2:0 t2:1");
            round.is_fully_balanced();
        },
    );
}

/// 10
#[test]
fn two_consumers_two_topics_six_partitions() {
    in_every_set_up("topic t1 3\n topic t2 3\n member c1 [t1 t2]\n member c2 [t1 t2]", |round| {
        assert_eq!(round.loads(), [3, 3]);
        let mut spread = ["t1", "t2"].map(|topic| round.load_in("c1", topic));
        spread.sort_unstable();
        assert_eq!(spread, [1, 2]);
    });
}

/// 11
#[test]
fn consumer_owning_min_quota_expected_max_quota() {
    in_every_set_up(
        "topic t1 2\n topic t2 3\n member c1 [t1 t2] owns t1:0@7 t2:1@7\n member c2 [t1 t2] owns t1:1@7 t2:2@7",
        |round| {
            assert!(round.keeps_all("c1") && round.keeps_all("c2"));
            round.is_fully_balanced();
        },
    );
}

/// 12
#[test]
fn max_quota_consumer_more_than_num_expected_max_capacity_members() {
    in_every_set_up(
        "topic t1 2\n topic t2 2
         member c1 [t1 t2] owns t1:0@7 t2:0@7\n member c2 [t1 t2] owns t1:1@7 t2:1@7\n member c3 [t1 t2]",
        |round| {
            assert_eq!(round.transfers().len(), 1);
            assert_eq!(round.load("c3"), 1);
        },
    );
}

/// 13
#[test]
fn all_consumers_are_under_min_quota() {
    in_every_set_up(
        "topic t1 2\n topic t2 3
         member c1 [t1 t2] owns t1:0@7\n member c2 [t1 t2] owns t1:1@7\n member c3 [t1 t2]",
        |round| {
            assert!(round.keeps_all("c1") && round.keeps_all("c2") && round.transfers().is_empty());
            round.is_fully_balanced();
        },
    );
}

/// 14
#[test]
fn add_remove_consumer_one_topic() {
    in_every_set_up("topic t 3\n member c1 [t]", |alone| {
        let joined = alone.then(join("member c2 [t]"));
        assert_eq!((joined.transfers().len(), joined.loads()), (1, vec![2, 1]));
        let left = joined.then(leave("c1"));
        assert!(left.keeps_all("c2"));
        assert_eq!(left.loads(), [3]);
    });
}

/// 15, KAFKA-16277
#[test]
fn topic_balance_after_reassignment() {
    let holds_each = |round: &Round, share| {
        for member in &round.case.members {
            assert_eq!(["t1", "t2"].map(|topic| round.load_in(&member.id, topic)), [share; 2]);
        }
    };
    in_every_set_up("topic t1 12\n topic t2 12\n member c1 [t1 t2]", |one| {
        holds_each(one, 12);
        let two = one.then(join("member c2 [t1 t2]"));
        holds_each(&two, 6);
        let four = two.then(join("member c3 [t1 t2]\n member c4 [t1 t2]"));
        holds_each(&four, 3);
        for leaving in [["c1", "c2"], ["c1", "c3"], ["c2", "c4"], ["c3", "c4"]] {
            let left = four.then(|case| leaving.iter().for_each(|member| leave(member)(case)));
            holds_each(&left, 6);
            assert!(left.transfers().is_empty());
        }
    });
}

/// 16
#[test]
fn add_remove_two_consumers_two_topics() {
    in_every_set_up("topic t1 3\n topic t2 4\n member c1 [t1 t2]\n member c2 [t1 t2]", |two| {
        assert_eq!(two.loads(), [4, 3]);
        let four = two.then(join("member c3 [t1 t2]\n member c4 [t1 t2]"));
        four.is_fully_balanced();
        assert_eq!(four.transfers().len(), 3, "what the newcomers must get, and no more");
        let left = four.then(|case| ["c1", "c2"].into_iter().for_each(|member| leave(member)(case)));
        left.is_fully_balanced();
        assert!(left.keeps_all("c3") && left.keeps_all("c4"));
    });
}

/// 17
#[test]
fn poor_round_robin_assignment_scenario() {
    in_every_set_up(
        "topic t1 2\n topic t2 1\n topic t3 2\n topic t4 1\n topic t5 2
         member c1 [t1 t2 t3 t4 t5]\n member c2 [t1 t3 t5]\n member c3 [t1 t3 t5]\n member c4 [t1 t2 t3 t4 t5]",
        |round| assert_eq!(round.loads(), [2, 2, 2, 2]),
    );
}

/// 18
#[test]
fn add_remove_topic_two_consumers() {
    in_every_set_up("topic t 3\n member c1 [t u]\n member c2 [t u]", |one| {
        one.is_fully_balanced();
        let both = one.then(|case| case.topics.extend(text::case("topic u 3").topics));
        assert!(both.keeps_all("c1") && both.keeps_all("c2"));
        assert_eq!(both.loads(), [3, 3]);
        let other = both.then(|case| case.topics.retain(|topic| topic.name == "u"));
        other.is_fully_balanced();
        assert_eq!((other.outcome.report.kept, other.transfers().len()), (3, 0));
    });
}

/// 19
#[test]
fn reassignment_after_one_consumer_leaves() {
    let mut text = String::new();
    for index in 1..20 {
        let subscription: Vec<String> = (1..=index).map(|topic| format!("t{topic:02}")).collect();
        text += &format!("topic t{index:02} {index}\n member c{index:02} [{}]\n", subscription.join(" "));
    }
    let fresh = Round::of(&text);
    let survivors_had = 190 - fresh.load("c10") as u64;
    let left = fresh.then(leave("c10"));
    assert_eq!(left.outcome.report.owned, survivors_had);
    assert!(left.outcome.report.moved <= 3, "c10 had a share; that shifts a little, not everything");
}

/// 20
#[test]
fn reassignment_after_one_consumer_added() {
    let nine: String = (1..10).map(|index| format!("member c{index:02} [t]\n")).collect();
    in_every_set_up(&format!("topic t 20\n {nine}"), |fresh| {
        let joined = fresh.then(join("member c10 [t]"));
        assert_eq!(joined.loads(), [2; 10]);
        assert_eq!(joined.transfers().len(), 2);
        let unremembered = Round::judge(Case { members: joined.case.members.clone(), ..fresh.case.clone() });
        unremembered.is_fully_balanced();
    });
}

/// 21
#[test]
fn same_subscriptions() {
    let topics: String = (1..15).map(|index| format!("topic t{index:02} {index}\n")).collect();
    let all: Vec<String> = (1..15).map(|index| format!("t{index:02}")).collect();
    let members: String = (1..9).map(|index| format!("member c{index} [{}]\n", all.join(" "))).collect();
    let fresh = Round::of(&(topics + &members));
    fresh.is_fully_balanced();
    let left = fresh.then(leave("c5"));
    left.is_fully_balanced();
    assert!(left.transfers().is_empty());
}

/// 25
#[test]
fn subscription_not_equal_and_assign_same_partition_with_3_generation() {
    for [a, b, c] in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
        in_every_set_up(
            &format!(
                "topic t 6\n topic u 1
                 member c1 [t] owns t:0,2@{a}\n member c2 [t] owns t:2,3@{b}\n member c3 [t] owns t:2,4@{c}
                 member c4 [u]"
            ),
            |round| {
                assert!(round.loads()[..3].iter().all(|load| (1..=2).contains(load)));
                let latest = ["c1", "c2", "c3"][[a, b, c].iter().position(|g| *g == 3).expect("one of them")];
                assert!(round.keeps_all(latest));
            },
        );
    }
}

/// 26
#[test]
fn large_assignment_with_multiple_consumers_leaving_and_random_subscription() {
    for seed in [1, 2] {
        let rng = &mut Seeded::new(seed);
        let mut text = String::new();
        for topic in 0..40 {
            text += &format!("topic t{topic} {}\n", rng.between(1, 10));
        }
        for member in 0..200 {
            // Repeats and empty lists included.
            let subscription: Vec<String> =
                (0..rng.below(20)).map(|_| format!("t{}", rng.below(40))).collect();
            text += &format!("member c{member:03} [{}]\n", subscription.join(" "));
        }
        let fresh = Round::of(&text);
        let leaving = rng.between(1, 50);
        fresh.then(|case| {
            for _ in 0..leaving {
                let index = rng.below(case.members.len());
                case.members.remove(index);
            }
        });
    }
}

/// 27
#[test]
fn new_subscription() {
    in_every_set_up(
        "topic t0 1\n topic t1 1\n topic t2 1\n topic t3 1
         member c0 []\n member c1 [t0 t1]\n member c2 [t1 t2 t3]",
        |first| {
            let then = first.then(|case| case.member_mut("c0").subscription.push("t0".to_owned()));
            assert_eq!(then.target("c0"), "t0:0");
            then.is_fully_balanced();
        },
    );
}

/// 28
#[test]
fn move_existing_assignments() {
    in_every_set_up(
        "topic t1 1\n topic t2 1\n topic t3 1\n topic t4 1\n topic t5 1\n topic t6 1
         member c1 [t1 t2] owns t1:0@7
         member c2 [t1 t2 t3 t4] owns t2:0@7 t3:0@7
         member c3 [t2 t3 t4 t5 t6] owns t4:0@7 t5:0@7 t6:0@7",
        |round| {
            assert_eq!(round.loads(), [2, 2, 2]);
            assert_eq!(round.transfers(), ["t2:0 c2 c1", "t4:0 c3 c2"]);
        },
    );
}

/// 29
#[test]
fn stickiness() {
    in_every_set_up("topic t 3\n member c1 [t]\n member c2 [t]\n member c3 [t]\n member c4 [t]", |fresh| {
        let left = fresh.then(leave("c1"));
        assert_eq!(left.loads(), [1, 1, 1]);
        assert!(left.keeps_all("c2") && left.keeps_all("c3") && left.keeps_all("c4"));
    });
}

/// 30
#[test]
fn assignment_updated_for_deleted_topic() {
    in_every_set_up("topic t01 1\n topic t03 100\n member c1 [t01 t02 t03]", |round| {
        assert_eq!(round.loads(), [101]);
    });
}

/// 31
#[test]
fn no_exception_thrown_when_only_subscribed_topic_deleted() {
    in_every_set_up("member c1 [t] owns t:0..2@7", |round| assert_eq!(round.loads(), [0]));
}

/// 32
#[test]
fn reassignment_with_random_subscriptions_and_changes() {
    for seed in 0..50 {
        let rng = &mut Seeded::new(seed);
        let topics = rng.between(10, 19);
        let mut text = String::new();
        for topic in 0..topics {
            text += &format!("topic t{topic} {}\n", rng.between(1, topics));
        }
        let density = rng.between(10, 60);
        let subscription = |rng: &mut Seeded| -> Vec<String> {
            let wanted = |_: &usize| rng.percent(density);
            (0..topics).filter(wanted).map(|topic| format!("t{topic}")).collect()
        };
        for member in 0..rng.between(20, 39) {
            text += &format!("member c{member} [{}]\n", subscription(rng).join(" "));
        }
        Round::of(&text).then(|case| {
            for member in &mut case.members {
                member.subscription = subscription(rng);
            }
        });
    }
}

/// 33, KAFKA-12984
#[test]
fn all_consumers_reach_expected_quota_and_are_considered_filled() {
    in_every_set_up(
        "topic t 4\n member c1 [t] owns t:0,1@7\n member c2 [t] owns t:2@7\n member c3 [t]",
        |round| {
            assert_eq!(["c1", "c2", "c3"].map(|member| round.target(member)), ["t:0 t:1", "t:2", "t:3"]);
            assert!(round.transfers().is_empty());
        },
    );
}

/// 34
#[test]
fn owned_partitions_are_invalidated_for_consumer_with_stale_generation() {
    stale_claims_lose("owns t1:0@6 t1:2@6 t2:1@6");
}

/// 35
#[test]
fn owned_partitions_are_invalidated_for_consumer_with_no_generation() {
    stale_claims_lose("owns t1:0 t1:2 t2:1");
}

fn stale_claims_lose(stale: &str) {
    in_every_set_up(
        &format!(
            "topic t1 3\n topic t2 3
             member c1 [t1 t2] owns t1:0@7 t1:2@7 t2:1@7\n member c2 [t1 t2] {stale}"
        ),
        |round| {
            assert_eq!(round.target("c1"), "t1:0 t1:2 t2:1");
            assert_eq!(round.target("c2"), "t1:1 t2:0 t2:2");
        },
    );
}

/// 36
#[test]
fn partitions_transferring_ownership_include_the_partition_claimed_by_multiple_consumers_in_same_generation()
{
    in_every_set_up(
        "topic t 3\n member c1 [t] owns t:0,1@7\n member c2 [t] owns t:0,2@7\n member c3 [t]",
        |round| {
            assert_eq!(["c1", "c2", "c3"].map(|member| round.target(member)), ["t:1", "t:2", "t:0"]);
            let held = !round.case.member("c1").holds.is_empty();
            assert_eq!(round.outcome.withheld.len(), usize::from(held));
        },
    );
}

/// 37
#[test]
fn ensure_partitions_assigned_to_highest_generation() {
    in_every_set_up(
        "topic t1 3\n topic t2 3\n topic t3 3
         member c1 [t1 t2 t3] owns t1:0@7 t2:0@7 t3:0@7
         member c2 [t1 t2 t3] owns t1:0@6 t1:1@6 t2:1@6 t3:1@6
         member c3 [t1 t2 t3] owns t1:1@5 t2:0@5 t2:1@5 t3:0@5",
        |round| {
            assert_eq!(round.target("c1"), "t1:0 t2:0 t3:0");
            assert_eq!(round.target("c2"), "t1:1 t2:1 t3:1");
            assert_eq!(round.target("c3"), "t1:2 t2:2 t3:2");
        },
    );
}

/// 38, KAFKA-14639
#[test]
fn no_reassignment_on_current_members() {
    in_every_set_up(
        "topic t1 4\n topic t2 4\n topic t3 4
         member c1 [t1 t2 t3]
         member c2 [t1 t2 t3] owns t1:0@7 t2:0@7 t3:0@7
         member c3 [t1 t2 t3] owns t1:1@6 t2:1@6 t3:1@6
         member c4 [t1 t2 t3] owns t1:2@5 t2:2@5 t3:2@5",
        |round| {
            assert!(["c2", "c3", "c4"].iter().all(|member| round.keeps_all(member)));
            assert_eq!(round.target("c1"), "t1:3 t2:3 t3:3");
        },
    );
}

/// 39
#[test]
fn owned_partitions_are_invalidated_for_consumer_with_multiple_generation() {
    in_every_set_up(
        "topic t1 3\n topic t2 3
         member c1 [t1 t2] owns t1:0@7 t1:2@7 t2:1@7\n member c2 [t1 t2] owns t1:0@5 t2:0@5 t2:1@5",
        |round| {
            assert_eq!(round.target("c1"), "t1:0 t1:2 t2:1");
            assert_eq!(round.target("c2"), "t1:1 t2:0 t2:2");
        },
    );
}
