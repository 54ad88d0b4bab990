//! When racks count (`AbstractPartitionAssignorTest.testUseRackAwareAssignment`), seen from outside: two members
//! own each other's rack's partitions, so that they swap if racks count and keep them if not. The two tests before
//! it in Kafka's list, on the order of static and dynamic members, are about range and round robin; ours is last here.

use super::Round;

#[track_caller]
fn swaps(replicas: &str, members: [&str; 2]) -> bool {
    let round = Round::of(&format!(
        "topic t 2 racks {replicas}
         member c1 [t] owns t:1@7 rack {}\n member c2 [t] owns t:0@7 rack {}",
        members[0], members[1]
    ));
    round.outcome.report.moved == 2
}

#[test]
fn off_without_member_racks() {
    assert!(!swaps("a,b", ["", ""]));
}

#[test]
fn off_without_partition_racks() {
    assert!(!swaps("-,-", ["a", "b"]));
}

#[test]
fn off_where_racks_are_disjoint() {
    assert!(!swaps("a,b", ["c", "d"]));
}

#[test]
fn off_where_every_partition_is_on_all_racks() {
    assert!(!swaps("a+b,a+b", ["a", "b"]));
    assert!(!swaps("a+b+c,a+b+c", ["a", "b"]), "members cover only some racks");
    assert!(!swaps("a+b,b+a", ["a", "c"]), "one member is elsewhere");
}

#[test]
fn on_where_partitions_are_on_some_racks_and_members_are_too() {
    assert!(swaps("a,b", ["a", "b"]));
    assert!(swaps("a+c,b+c", ["a", "b"]));
    assert!(swaps("a,b", ["a", "c"]), "one mismatch is better than two");
    assert!(swaps("a,a+b", ["a", "b"]));
}

#[test]
fn off_where_the_only_member_near_subscribes_to_nothing() {
    let round = Round::of(
        "topic t 2 racks a,b
         member c1 [t] owns t:1@7 rack x\n member c2 [t] owns t:0@7 rack y\n member c3 [] rack a",
    );
    assert_eq!((round.outcome.report.rack_mismatches, round.outcome.report.moved), (0, 0));
}

#[test]
fn static_members_come_in_order_of_instance_id_and_others_of_member_id() {
    let round = Round::of("topic t 1\n member c1 [t] static s2\n member c2 [t] static s1\n member s3 [t]");
    assert_eq!(round.target("c2"), "t:0");
    let round = Round::of("topic t 1\n member z [t] static s2\n member s1 [t]\n member s3 [t]");
    assert_eq!(round.target("s1"), "t:0");
}
