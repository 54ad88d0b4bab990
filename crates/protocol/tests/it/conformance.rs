//! The scenarios of Kafka's own `ConsumerProtocolTest`, by what they are about.

use hex_literal::hex;
use kafka_sticky_protocol::{Assignment, AssignmentWriter, Subscription, SubscriptionWriter};

fn full() -> SubscriptionWriter<'static> {
    SubscriptionWriter::new(["foo", "bar"])
        .user_data(Some(b"hello"))
        .owned_partitions([("foo", [0]), ("bar", [0])])
        .generation_id(Some(1))
        .rack_id(Some("rack-a"))
}

#[test]
fn serialize_deserialize_subscription_all_versions() {
    for version in 0..=3 {
        let subscription = full().build(version).unwrap();
        assert_eq!(subscription.version(), version);
        assert!(subscription.topics().iter().eq(["bar", "foo"]));
        assert_eq!(subscription.user_data(), Some(&b"hello"[..]));
        let owned: &[_] = if version >= 1 { &[("bar", 0), ("foo", 0)] } else { &[] };
        assert!(subscription.owned_partitions().pairs().eq(owned.iter().copied()));
        assert_eq!(subscription.generation_id(), (version >= 2).then_some(1));
        assert_eq!(subscription.rack_id(), (version >= 3).then_some("rack-a"));
    }
}

#[test]
fn serialize_deserialize_metadata() {
    let subscription = SubscriptionWriter::new(["foo", "bar"]).user_data(Some(&[])).build(3).unwrap();
    assert_eq!(subscription.user_data(), Some(&[][..]));
    assert_eq!((subscription.generation_id(), subscription.rack()), (None, None));
}

#[test]
fn serialize_deserialize_metadata_and_group_instance_id() {
    // The group instance id is no part of the message: there is nothing for it on the wire.
    let bytes = SubscriptionWriter::new(["foo"]).write(3).unwrap();
    assert_eq!(bytes, hex!("0003 00000001 0003666f6f ffffffff 00000000 ffffffff ffff"));
}

#[test]
fn serialize_deserialize_null_subscription_user_data() {
    let subscription = SubscriptionWriter::new(["foo", "bar"]).user_data(None).build(3).unwrap();
    assert_eq!(subscription.user_data(), None);
}

#[test]
fn serialize_subscription_should_order_topics() {
    let written = |topics: [&'static str; 3]| SubscriptionWriter::new(topics).write(3).unwrap();
    assert_eq!(written(["foo", "bar", "baz"]), written(["baz", "foo", "bar"]));
}

#[test]
fn serialize_subscription_should_order_owned_partitions() {
    let written = |owned: [(&'static str, i32); 4]| {
        let owned = owned.map(|(topic, partition)| (topic, [partition]));
        SubscriptionWriter::new(["foo", "bar"]).owned_partitions(owned).write(3).unwrap()
    };
    assert_eq!(
        written([("foo", 0), ("foo", 1), ("bar", 0), ("bar", 1)]),
        written([("bar", 1), ("foo", 1), ("bar", 0), ("foo", 0)]),
    );
}

#[test]
fn deserialize_old_subscription_version() {
    let subscription = SubscriptionWriter::new(["foo", "bar"]).build(0).unwrap();
    assert_eq!(subscription.wire_version(), 0);
    assert!(subscription.owned_partitions().is_empty());
    assert_eq!((subscription.generation_id(), subscription.rack_id()), (None, None));
}

#[test]
fn deserialize_new_subscription_with_old_version() {
    let with = full().user_data(None).write(3).unwrap();
    let without = full().user_data(None).generation_id(None).rack_id(None).write(3).unwrap();
    for bytes in [with, without] {
        let subscription = Subscription::read_as_v0(&bytes).unwrap();
        assert_eq!((subscription.wire_version(), subscription.version()), (3, 0));
        assert!(subscription.topics().iter().eq(["bar", "foo"]));
        assert_eq!(subscription.user_data(), None);
        assert!(subscription.owned_partitions().is_empty());
        assert_eq!((subscription.generation_id(), subscription.rack_id()), (None, None));
        assert_eq!(subscription.trailing(), &bytes[20..]);
    }
    // What follows the prefix may be anything.
    let unknown = hex!("0009 00000001 000174 ffffffff ff");
    assert_eq!(Subscription::read_as_v0(&unknown).unwrap().trailing(), [0xff]);
}

#[test]
fn deserialize_future_subscription_version() {
    let bytes = hex!(
        "0064 00000001 0003666f6f ffffffff
         00000001 0003666f6f 00000001 00000000 00000002 0006 7261636b2d61 0003 626172"
    );
    let subscription = Subscription::read(&bytes).unwrap();
    assert_eq!((subscription.wire_version(), subscription.version()), (100, 3));
    assert!(subscription.topics().iter().eq(["foo"]));
    assert_eq!(subscription.user_data(), None);
    assert!(subscription.owned_partitions().pairs().eq([("foo", 0)]));
    assert_eq!((subscription.generation_id(), subscription.rack_id()), (Some(2), Some("rack-a")));
    assert_eq!(subscription.trailing(), hex!("0003 626172"));
}

#[test]
fn serialize_deserialize_assignment_all_versions() {
    for version in 0..=3 {
        let writer = AssignmentWriter::new([("foo", [0]), ("bar", [0])]).user_data(Some(b"hello"));
        let bytes = writer.write(version).unwrap();
        let assignment = Assignment::read(&bytes).unwrap();
        assert_eq!(assignment.version(), version);
        assert!(assignment.assigned_partitions().pairs().eq([("foo", 0), ("bar", 0)]));
        assert_eq!(assignment.user_data(), Some(&b"hello"[..]));
    }
}

#[test]
fn serialize_deserialize_consumer_protocol_assignment_all_versions() {
    // The raw message keeps its blocks: nothing is merged, sorted or left out.
    for version in 0..=3 {
        let blocks = [("foo", &[1, 0][..]), ("bar", &[]), ("foo", &[1])];
        let bytes = AssignmentWriter::new(blocks).write(version).unwrap();
        let assignment = Assignment::read(&bytes).unwrap();
        let read: Vec<_> = assignment
            .assigned_partitions()
            .iter()
            .map(|(topic, partitions)| (topic, partitions.iter().collect::<Vec<_>>()))
            .collect();
        assert_eq!(read, [("foo", vec![1, 0]), ("bar", vec![]), ("foo", vec![1])]);
    }
}

#[test]
fn serialize_deserialize_assignment() {
    let bytes = AssignmentWriter::new([("foo", [0]), ("bar", [2])]).user_data(Some(&[])).write(3).unwrap();
    assert_eq!(Assignment::read(&bytes).unwrap().user_data(), Some(&[][..]));
}

#[test]
fn deserialize_null_assignment_user_data() {
    let bytes = AssignmentWriter::new([("foo", [0]), ("bar", [2])]).write(3).unwrap();
    assert_eq!(Assignment::read(&bytes).unwrap().user_data(), None);
}

#[test]
fn deserialize_future_assignment_version() {
    let bytes = hex!("0064 00000001 0003666f6f 00000001 00000001 00000000 0003 626172");
    let assignment = Assignment::read(&bytes).unwrap();
    assert_eq!((assignment.wire_version(), assignment.version()), (100, 3));
    assert!(assignment.assigned_partitions().pairs().eq([("foo", 1)]));
    assert_eq!(assignment.trailing(), hex!("0003 626172"));
}

#[test]
fn serialize_deserialize_consumer_protocol_subscription_all_versions() {
    for version in 0..=3 {
        let bytes = full().write(version).unwrap();
        let read = Subscription::read(&bytes).unwrap();
        let again = SubscriptionWriter::from(&read).write(version).unwrap();
        assert_eq!(again, bytes);
        // What the version lacks reads as its default, so writing it as 3 spells the defaults out.
        let as_3 = SubscriptionWriter::from(&read).write(3).unwrap();
        let as_3 = Subscription::read(&as_3).unwrap();
        assert_eq!(as_3.owned_partitions().is_empty(), version < 1);
        assert_eq!(as_3.generation_id().is_none(), version < 2);
        assert_eq!(as_3.rack_id().is_none(), version < 3);
    }
}
