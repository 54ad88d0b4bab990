//! What Kafka checks of `cooperative-sticky` alone (`CooperativeStickyAssignorTest`): claims are holds too. 1 and 2,
//! on how a generation is written, are the protocol crate's.

use super::{Round, withheld};

/// 3
#[test]
fn all_consumers_have_owned_partition_invalidated_in_the_same_generation_with_equal_partitions_per_consumer()
{
    let round =
        Round::of("topic t 3\n member c1 [t] owns t:0,1@7\n member c2 [t] owns t:0,2@7\n member c3 [t]");
    assert_eq!(["c1", "c2", "c3"].map(|member| round.given(member)), ["t:1", "t:2", ""]);
    let settled = round.follow_up();
    assert_eq!(["c1", "c2", "c3"].map(|member| settled.given(member)), ["t:1", "t:2", "t:0"]);
}

/// 4
#[test]
fn all_consumers_have_owned_partition_invalidated_in_the_same_generation_with_unequal_partitions_per_consumer()
 {
    let round =
        Round::of("topic t 4\n member c1 [t] owns t:0,1,3@7\n member c2 [t] owns t:0,2@7\n member c3 [t]");
    assert_eq!(["c1", "c2", "c3"].map(|member| round.given(member)), ["t:1 t:3", "t:2", ""]);
    let settled = round.follow_up();
    assert_eq!(["c1", "c2", "c3"].map(|member| settled.given(member)), ["t:1 t:3", "t:2", "t:0"]);
}

/// 5: partitions from the subscription, their generation from user data
#[test]
fn member_data_with_inconsistent_data() {
    let round = Round::of("topic t 2\n member c1 [t] owns t:1@2\n member c2 [t] owns t:1@1");
    assert_eq!([round.given("c1"), round.given("c2")], ["t:1", "t:0"]);
}

/// 6 and 7: a member whose owned list is empty claims nothing, whatever it had
#[test]
fn member_data_with_empty_partitions() {
    let round = Round::of("topic t 3\n member c1 [t]\n member c2 [t] owns t:0@7\n member c3 [t] owns t:1@7");
    assert_eq!(["c1", "c2", "c3"].map(|member| round.given(member)), ["t:2", "t:0", "t:1"]);
}

/// 8: two members without a generation (version 1), one with
#[test]
fn assignor_with_old_version_subscriptions() {
    let round =
        Round::of("topic t 3\n member c1 [t] owns t:0\n member c2 [t] owns t:1\n member c3 [t] owns t:2@1");
    assert_eq!(["c1", "c2", "c3"].map(|member| round.given(member)), ["t:0", "t:1", "t:2"]);
}

/// 9, KAFKA-15170: each member owns one partition of its rack and one of the other's
#[test]
fn uniform_subscription_transfer_ownership_list_is_right() {
    let round = Round::of(
        "topic t 4 racks a,b,a,b\n member c1 [t] owns t:0,1@7 rack a\n member c2 [t] owns t:2,3@7 rack b",
    );
    assert_eq!(round.transfers(), ["t:1 c1 c2", "t:2 c2 c1"]);
    assert_eq!(withheld(&round).into_iter().collect::<Vec<_>>(), ["t:1", "t:2"]);
    assert_eq!(round.follow_up().outcome.target, round.outcome.target);
}
