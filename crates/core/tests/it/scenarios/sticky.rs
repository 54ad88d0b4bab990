//! What Kafka checks of `sticky` alone (`StickyAssignorTest`): claims come from user data, with their own
//! generations, and nobody holds anything. How user data is read is the protocol crate's; what is read is here.

use super::{Round, join, leave};
use crate::text::claims;

const EQUAL: [&str; 3] = ["t1 t2 t3"; 3];
/// c1 has a topic to itself, so that subscriptions differ.
const UNEQUAL: [&str; 3] = ["t1 t2 t3 u", "t1 t2 t3", "t1 t2 t3"];

/// 1
#[test]
fn all_consumers_have_owned_partition_invalidated_in_the_same_generation_with_equal_partitions_per_consumer()
{
    let round =
        Round::of("topic t 3\n member c1 [t] claims t:0,1@7\n member c2 [t] claims t:0,2@7\n member c3 [t]");
    assert_eq!(["c1", "c2", "c3"].map(|member| round.given(member)), ["t:1", "t:2", "t:0"]);
}

/// 2
#[test]
fn all_consumers_have_owned_partition_invalidated_in_the_same_generation_with_unequal_partitions_per_consumer()
 {
    let round = Round::of(
        "topic t 4\n member c1 [t] claims t:0,1,3@7\n member c2 [t] claims t:0,2@7\n member c3 [t]",
    );
    assert_eq!(["c1", "c2", "c3"].map(|member| round.given(member)), ["t:1 t:3", "t:2", "t:0"]);
}

/// 3
#[test]
fn assignment_with_multiple_generations_1() {
    for [s1, s2, s3] in [EQUAL, UNEQUAL] {
        let first = Round::of(&format!(
            "topic t1 4\n topic t2 4\n topic t3 4\n topic u 0\n member c1 [{s1}]\n member c2 [{s2}]\n member c3 [{s3}]"
        ));
        assert_eq!(first.loads(), [4, 4, 4]);
        let two = first.then(leave("c3"));
        assert_eq!(two.loads(), [6, 6]);
        assert!(two.keeps_all("c1") && two.keeps_all("c2"));
        let stale = first.then(|_| {}).case.member("c3").claims.clone();
        let back = two.then(|case| {
            leave("c1")(case);
            join(&format!("member c3 [{s3}]"))(case);
            case.member_mut("c3").claims.clone_from(&stale);
        });
        assert_eq!(back.loads(), [6, 6]);
        assert!(back.keeps_all("c2"), "the later word counts");
    }
}

/// 4
#[test]
fn assignment_with_multiple_generations_2() {
    for [s1, s2, s3] in [EQUAL, UNEQUAL] {
        let first = Round::of(&format!(
            "topic t1 4\n topic t2 4\n topic t3 4\n topic u 0\n member c1 [{s1}]\n member c2 [{s2}]\n member c3 [{s3}]"
        ));
        let alone = first.then(|case| ["c1", "c3"].into_iter().for_each(|member| leave(member)(case)));
        assert_eq!(alone.loads(), [12]);
        assert!(alone.keeps_all("c2"));
        let stale = |member| first.then(|_| {}).case.member(member).claims.clone();
        let back = alone.then(|case| {
            join(&format!("member c1 [{s1}]\n member c3 [{s3}]"))(case);
            case.member_mut("c1").claims = stale("c1");
            case.member_mut("c3").claims = stale("c3");
        });
        assert_eq!(back.loads(), [4, 4, 4]);
        for [member, other] in [["c1", "c3"], ["c3", "c1"]] {
            let had = first.target(member);
            let strays = back.target(other).split(' ').filter(|partition| had.contains(partition)).count();
            assert_eq!(strays, 0, "what leaves c2 returns to who had it");
        }
    }
}

/// 5
#[test]
fn assignment_with_conflicting_previous_generations() {
    for [s1, s2, s3] in [EQUAL, UNEQUAL] {
        let round = Round::of(&format!(
            "topic t1 4\n topic t2 4\n topic t3 4\n topic u 0
             member c1 [{s1}] claims t1:0,1@1 t2:0,1@1 t3:0,3@1
             member c2 [{s2}] claims t1:0,2@2 t2:0..2@2 t3:1@2
             member c3 [{s3}] claims t1:1,3@2 t2:3@2 t3:0,2,3@2"
        ));
        assert_eq!(round.loads(), [4, 4, 4]);
        for member in ["c2", "c3"] {
            let claims = &round.case.member(member).claims;
            let kept =
                |partition: &str| claims.iter().any(|c| format!("{}:{}", c.topic, c.partition) == partition);
            assert!(round.target(member).split(' ').all(kept), "{member}");
        }
    }
}

/// 6: user data without a generation (V0) beside one with
#[test]
fn schema_backward_compatibility() {
    let round =
        Round::of("topic t 3\n member c1 [t] claims t:0,2@1\n member c2 [t] claims t:1\n member c3 [t]");
    assert_eq!(round.loads(), [1, 1, 1]);
    assert!(["t:0", "t:2"].contains(&round.target("c1").as_str()));
    assert_eq!(round.target("c2"), "t:1");
}

/// 7 and 8: user data decides, whatever the subscription's own fields say; so those fields are no claims at all
#[test]
fn member_data_comes_from_user_data_alone() {
    let mut round = Round::of("topic t 2\n member c1 [t] claims t:1@2\n member c2 [t]");
    assert_eq!(round.target("c1"), "t:1");
    round.case.member_mut("c1").claims = claims("t:0@3");
    assert_eq!(Round::judge(round.case).target("c1"), "t:0");
}

/// 9: members on subscription versions 0, 1 and 2 or later say the same in different places
#[test]
fn assignor_with_old_version_subscriptions() {
    let round = Round::of(
        "topic t 3\n member c1 [t] claims t:0@1\n member c2 [t] claims t:1@1\n member c3 [t] claims t:2@1",
    );
    assert_eq!(["c1", "c2", "c3"].map(|member| round.target(member)), ["t:0", "t:1", "t:2"]);
}
