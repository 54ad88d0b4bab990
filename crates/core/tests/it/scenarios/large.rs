//! The three large scenarios of Kafka's shared list. Kafka asserts the time; here the result is proven, and the time
//! is the benchmarks' affair. Names would be most of the work, so these are in dense ids.

use kafka_sticky_core::{
    dense::{Assignment, Group, GroupBuilder, MemberId, RackId, TopicId},
    verify,
};

const MEMBERS: u32 = 2_000;
const PER_TOPIC: u32 = 2_000;
const RACKS: u32 = 3;

/// Which topics each member subscribes to, by index.
type Subscriptions<'s> = &'s dyn Fn(u32) -> Vec<TopicId>;

/// A group, fresh or as `before` left it; member 0 forgot what it had.
fn group(
    topics: u32,
    per_topic: u32,
    members: u32,
    of: Subscriptions<'_>,
    racks: bool,
    before: Option<&Assignment>,
) -> Group {
    let mut builder = GroupBuilder::new();
    for _ in 0..topics {
        let topic = builder.topic(per_topic);
        if racks {
            builder.replica_racks(
                topic,
                (0..per_topic).map(|number| [RackId(number % RACKS), RackId((number + 1) % RACKS)]),
            );
        }
    }
    for index in 0..members {
        let subscription = builder.subscription(of(index));
        let member = builder.member(subscription);
        if racks {
            builder.member_rack(member, RackId(index % RACKS));
        }
    }
    if let Some(before) = before {
        let mut had = vec![Vec::new(); members as usize];
        let partitions = (0..topics).flat_map(|topic| builder.partitions_of(TopicId(topic)));
        for partition in partitions {
            had[before.target().member_of(partition).expect("subscribed").index()].push(partition);
        }
        for (index, partitions) in (0..).zip(had).skip(1) {
            builder.claim(MemberId(index), 7, partitions);
        }
    }
    builder.build()
}

/// Fresh, then again; returns the second assignment.
fn fresh_and_again(
    topics: u32,
    per_topic: u32,
    members: u32,
    of: Subscriptions<'_>,
    racks: bool,
) -> Assignment {
    let assigned = |group: Group| {
        let assignment = group.assign();
        let verdict = verify(&group, assignment.target(), assignment.certificate()).expect("valid");
        assert!(verdict.proven.all(), "{:?}", verdict.gap);
        assert_eq!(assignment.report().proven, verdict.proven);
        assignment
    };
    let fresh = assigned(group(topics, per_topic, members, of, racks, None));
    let again = assigned(group(topics, per_topic, members, of, racks, Some(&fresh)));
    assert_eq!((again.report().moved, again.report().kept), (0, again.report().owned));
    again
}

fn all(topics: u32) -> Vec<TopicId> {
    (0..topics).map(TopicId).collect()
}

/// 22
#[test]
fn large_assignment_and_group_with_uniform_subscription() {
    for (topics, racks) in [(500, false), (50, true)] {
        let report = *fresh_and_again(topics, PER_TOPIC, MEMBERS, &|_| all(topics), racks).report();
        assert_eq!(report.partitions, u64::from(topics * PER_TOPIC));
        assert_eq!((report.min_load, report.max_load), (u64::from(topics), u64::from(topics)));
    }
}

/// 23
#[test]
fn large_assignment_and_group_with_non_equal_subscription() {
    for (topics, racks) in [(500, false), (50, true)] {
        let odd_one = |member| if member + 1 == MEMBERS { all(1) } else { all(topics) };
        let report = *fresh_and_again(topics, PER_TOPIC, MEMBERS, &odd_one, racks).report();
        assert_eq!((report.min_load, report.max_load), (u64::from(topics), u64::from(topics)));
    }
}

/// 24, KAFKA-15106
#[test]
fn assignment_and_group_with_non_equal_subscription_not_timeout() {
    for (topics, racks) in [(100, false), (50, true)] {
        let halves = |member| {
            let (first, second) = (all(topics / 2), all(topics).split_off(topics as usize / 2));
            if member % 4 == 0 { first } else { second }
        };
        let report = *fresh_and_again(topics, 200, 500, &halves, racks).report();
        assert_eq!(report.partitions, u64::from(topics * 200));
    }
}
