//! The same bytes as the crate `kafka-protocol`, whose code is generated from Kafka's own schemas.

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::consumer_protocol_assignment as their_assignment;
use kafka_protocol::messages::consumer_protocol_subscription as their_subscription;
use kafka_protocol::messages::{ConsumerProtocolAssignment, ConsumerProtocolSubscription};
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};
use kafka_sticky_protocol::{Assignment, Order, Subscription};
use proptest::prelude::*;

use crate::strategies::{Fields, fields};

/// What `kafka-protocol` would have of these fields in this version, where absent means default.
fn their_subscription(fields: &Fields, version: i16) -> ConsumerProtocolSubscription {
    let string = |string: &String| StrBytes::from_string(string.clone());
    let mut theirs = ConsumerProtocolSubscription::default()
        .with_topics(fields.topics.iter().map(string).collect())
        .with_user_data(fields.user_data.clone().map(Bytes::from));
    if version >= 1 {
        let owned = fields.partitions.iter().map(|(topic, partitions)| {
            their_subscription::TopicPartition::default()
                .with_topic(string(topic).into())
                .with_partitions(partitions.clone())
        });
        theirs = theirs.with_owned_partitions(owned.collect());
    }
    if version >= 2 {
        theirs = theirs.with_generation_id(fields.generation.unwrap_or(-1));
    }
    if version >= 3 {
        theirs = theirs.with_rack_id(fields.rack.as_ref().map(string));
    }
    theirs
}

fn their_assignment(fields: &Fields) -> ConsumerProtocolAssignment {
    let assigned = fields.partitions.iter().map(|(topic, partitions)| {
        their_assignment::TopicPartition::default()
            .with_topic(StrBytes::from_string(topic.clone()).into())
            .with_partitions(partitions.clone())
    });
    ConsumerProtocolAssignment::default()
        .with_assigned_partitions(assigned.collect())
        .with_user_data(fields.user_data.clone().map(Bytes::from))
}

/// With the version in front, which `kafka-protocol` leaves to its caller.
fn encoded(message: &impl Encodable, version: i16) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_i16(version);
    message.encode(&mut bytes, version).unwrap();
    bytes.freeze()
}

proptest! {
    #[test]
    fn it_writes_the_same_subscriptions(mut fields in fields(), version in 0i16..=3) {
        fields.trailing.clear();
        let ours = fields.subscription().order(Order::AsGiven).write(version).unwrap();
        prop_assert_eq!(&encoded(&their_subscription(&fields, version), version)[..], &ours[..]);
    }

    #[test]
    fn it_reads_our_subscriptions(fields in fields(), version in 0i16..=3) {
        let ours = Bytes::from(fields.subscription().order(Order::AsGiven).write(version).unwrap());
        let mut rest = ours.slice(2..);
        let theirs = ConsumerProtocolSubscription::decode(&mut rest, version).unwrap();
        prop_assert_eq!(theirs, their_subscription(&fields, version));
        prop_assert_eq!(&rest[..], &fields.trailing[..]);
    }

    #[test]
    fn we_read_its_subscriptions(fields in fields(), version in 0i16..=3) {
        let theirs = their_subscription(&fields, version);
        let bytes = encoded(&theirs, version);
        let ours = Subscription::read(&bytes).unwrap();
        prop_assert!(ours.topics().iter().eq(theirs.topics.iter().map(|topic| &topic[..])));
        prop_assert_eq!(ours.user_data(), theirs.user_data.as_deref());
        let owned: Vec<_> =
            ours.owned_partitions().iter().map(|(topic, partitions)| (topic, partitions.iter().collect())).collect();
        let their_owned: Vec<(&str, Vec<i32>)> = theirs
            .owned_partitions
            .iter()
            .map(|block| (&block.topic[..], block.partitions.clone()))
            .collect();
        prop_assert_eq!(owned, their_owned);
        prop_assert_eq!(ours.generation_id().unwrap_or(-1), theirs.generation_id);
        prop_assert_eq!(ours.rack_id(), theirs.rack_id.as_deref());
        prop_assert!(ours.trailing().is_empty());
    }

    #[test]
    fn it_writes_the_same_assignments(mut fields in fields(), version in 0i16..=3) {
        fields.trailing.clear();
        let ours = fields.assignment().write(version).unwrap();
        prop_assert_eq!(&encoded(&their_assignment(&fields), version)[..], &ours[..]);
    }

    #[test]
    fn each_reads_the_others_assignments(fields in fields(), version in 0i16..=3) {
        let theirs = their_assignment(&fields);
        let ours = Bytes::from(fields.assignment().write(version).unwrap());
        prop_assert_eq!(ConsumerProtocolAssignment::decode(&mut ours.slice(2..), version).unwrap(), theirs.clone());

        let bytes = encoded(&theirs, version);
        let read = Assignment::read(&bytes).unwrap();
        let pairs = fields.partitions.iter().flat_map(|(topic, partitions)| {
            partitions.iter().map(move |partition| (topic.as_str(), *partition))
        });
        prop_assert!(read.assigned_partitions().pairs().eq(pairs));
        prop_assert_eq!(read.assigned_partitions().len(), fields.partitions.len());
        prop_assert_eq!(read.user_data(), fields.user_data.as_deref());
    }
}
