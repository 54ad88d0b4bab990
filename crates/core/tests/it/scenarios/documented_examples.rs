//! The examples of KIP-54 and of kafka-python's documentation, which every sticky assignor is introduced with.

use super::{Round, in_every_set_up, leave};

#[test]
fn kip_54_example_1_three_members_and_four_topics_of_two_then_c1_leaves() {
    in_every_set_up(
        "topic t0 2\n topic t1 2\n topic t2 2\n topic t3 2
         member C0 [t0 t1 t2 t3]\n member C1 [t0 t1 t2 t3]\n member C2 [t0 t1 t2 t3]",
        |fresh| {
            fresh.is_fully_balanced();
            let after = fresh.then(leave("C1"));
            assert_eq!(after.loads(), [4, 4]);
            assert!(after.keeps_all("C0") && after.keeps_all("C2"));
            assert_eq!(after.outcome.report.kept, fresh.loads()[0] + fresh.loads()[2]);
        },
    );
}

#[test]
fn kip_54_example_1_survivors_keep_all_five_when_c1_had_three() {
    let fresh = "topic t0 2\n topic t1 2\n topic t2 2\n topic t3 2
         member C0 [t0 t1 t2 t3] owns t0:0@7 t1:1@7 t3:0@7
         member C1 [t0 t1 t2 t3] owns t0:1@7 t2:0@7 t3:1@7
         member C2 [t0 t1 t2 t3] owns t1:0@7 t2:1@7";
    let after = Round::of(fresh).then(leave("C1"));
    assert_eq!(after.outcome.report.kept, 5);
    assert_eq!(after.outcome.report.moved, 0);
    assert_eq!(after.loads(), [4, 4]);
}

#[test]
fn kip_54_example_2_nested_subscriptions_of_1_2_and_3_then_c0_leaves() {
    in_every_set_up(
        "topic t0 1\n topic t1 2\n topic t2 3
         member C0 [t0]\n member C1 [t0 t1]\n member C2 [t0 t1 t2]",
        |fresh| {
            assert_eq!(fresh.loads(), [1, 2, 3]);
            assert_eq!([fresh.target("C0"), fresh.target("C1")], ["t0:0", "t1:0 t1:1"]);
            let after = fresh.then(leave("C0"));
            assert_eq!(after.outcome.report.kept, 5);
            assert_eq!(after.target("C1"), "t0:0 t1:0 t1:1");
            assert_eq!(after.target("C2"), "t2:0 t2:1 t2:2");
        },
    );
}
