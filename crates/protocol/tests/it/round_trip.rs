//! What is written is read back the same.

use bytes::Bytes;
use kafka_sticky_protocol::{
    Assignment, AssignmentWriter, Framing, Order, StickyUserData, StickyUserDataWriter, Subscription,
    SubscriptionWriter, TopicPartitions,
};
use proptest::prelude::*;

use crate::strategies::{Blocks, fields, framing, order};

fn collected(partitions: TopicPartitions<'_>) -> Blocks {
    partitions.iter().map(|(topic, partitions)| (topic.to_owned(), partitions.iter().collect())).collect()
}

/// What canonical order makes of blocks, with Java's own comparison.
fn canonical(blocks: &Blocks) -> Blocks {
    let mut pairs: Vec<(Vec<u16>, &str, i32)> = blocks
        .iter()
        .flat_map(|(topic, partitions)| {
            partitions
                .iter()
                .map(move |partition| (topic.encode_utf16().collect(), topic.as_str(), *partition))
        })
        .collect();
    pairs.sort();
    let mut grouped: Blocks = Vec::new();
    for (_, topic, partition) in pairs {
        match grouped.last_mut() {
            Some((last, partitions)) if last == topic => partitions.push(partition),
            _ => grouped.push((topic.to_owned(), vec![partition])),
        }
    }
    grouped
}

fn expected(blocks: &Blocks, order: Order) -> Blocks {
    match order {
        Order::AsGiven => blocks.clone(),
        _ => canonical(blocks),
    }
}

proptest! {
    #[test]
    fn subscriptions(fields in fields(), version in 0i16..=5, order in order()) {
        let bytes = fields.subscription().order(order).write(version).unwrap();
        let read = Subscription::read(&bytes).unwrap();

        let version = version.min(3);
        prop_assert_eq!((read.wire_version(), read.version()), (version, version));
        let mut topics = fields.topics.clone();
        if order == Order::Canonical {
            topics.sort_by_cached_key(|topic| topic.encode_utf16().collect::<Vec<_>>());
        }
        prop_assert!(read.topics().iter().eq(&topics));
        prop_assert_eq!(read.user_data(), fields.user_data.as_deref());
        let owned = if version >= 1 { expected(&fields.partitions, order) } else { Vec::new() };
        prop_assert_eq!(collected(read.owned_partitions()), owned);
        prop_assert_eq!(read.generation_id(), fields.generation.filter(|_| version >= 2));
        prop_assert_eq!(read.rack_id(), fields.rack.as_deref().filter(|_| version >= 3));
        prop_assert_eq!(read.trailing(), &fields.trailing);
    }

    #[test]
    fn assignments(fields in fields(), version in 0i16..=5) {
        let bytes = fields.assignment().write(version).unwrap();
        let read = Assignment::read(&bytes).unwrap();

        prop_assert_eq!(read.wire_version(), version.min(3));
        prop_assert_eq!(collected(read.assigned_partitions()), fields.partitions);
        prop_assert_eq!(read.user_data(), fields.user_data.as_deref());
        prop_assert_eq!(read.trailing(), &fields.trailing);
    }

    #[test]
    fn assignments_of_pairs_keep_the_order_in_which_topics_are_first_seen(
        pairs in prop::collection::vec(("[a-d]", 0..3), 0..12),
    ) {
        let writer = AssignmentWriter::from_pairs(pairs.iter().map(|(topic, partition)| (topic.as_str(), *partition)));
        let bytes = writer.write(0).unwrap();

        let mut expected: Blocks = Vec::new();
        for (topic, partition) in pairs {
            match expected.iter_mut().find(|(seen, _)| *seen == topic) {
                Some((_, partitions)) => partitions.push(partition),
                None => expected.push((topic, vec![partition])),
            }
        }
        prop_assert_eq!(collected(Assignment::read(&bytes).unwrap().assigned_partitions()), expected);
    }

    #[test]
    fn sticky_user_data(fields in fields(), version in 0i16..=3, order in order(), framing in framing()) {
        let bytes = fields.sticky(framing).order(order).write(version).unwrap();
        let version = version.min(1);
        if framing == Framing::Framed && version == 0 {
            // Not to be told from the bare form without topics.
            return Ok(());
        }
        let read = StickyUserData::read(&bytes).unwrap();
        prop_assert_eq!(read.framing(), framing);
        prop_assert_eq!(collected(read.previous_assignment()), expected(&fields.partitions, order));
        if version == 0 && fields.trailing.len() >= 4 {
            // Java's ambiguity: the stray bytes read as a generation.
            prop_assert_eq!(read.version(), 1);
        } else {
            prop_assert_eq!(read.version(), version);
            prop_assert_eq!(read.generation(), fields.generation.filter(|_| version >= 1));
            prop_assert_eq!(read.trailing(), &fields.trailing);
        }
    }

    #[test]
    fn written_again_in_wire_order_messages_are_the_same_bytes(
        mut fields in fields(), version in 0i16..=3, framing in framing(),
    ) {
        let bytes = fields.subscription().order(Order::AsGiven).write(version).unwrap();
        let read = Subscription::read(&bytes).unwrap();
        prop_assert_eq!(SubscriptionWriter::from(&read).order(Order::AsGiven).write(version).unwrap(), bytes);

        let bytes = fields.assignment().write(version).unwrap();
        let read = Assignment::read(&bytes).unwrap();
        prop_assert_eq!(AssignmentWriter::from(&read).write(version).unwrap(), bytes);

        // Four stray bytes or more would be a generation, and a negative one is written as -1.
        fields.trailing.truncate(3);
        let bytes = fields.sticky(framing).order(Order::AsGiven).write(version).unwrap();
        let read = StickyUserData::read(&bytes).unwrap();
        let again = StickyUserDataWriter::from(&read).order(Order::AsGiven).write(read.version());
        prop_assert_eq!(again.unwrap(), bytes);
    }

    #[test]
    fn borrowed_shared_and_owned_messages_are_equal(fields in fields(), version in 0i16..=3) {
        let bytes = Bytes::from(fields.subscription().write(version).unwrap());
        let borrowed = Subscription::read(&bytes).unwrap();
        let shared = Subscription::read_bytes(bytes.clone()).unwrap();
        prop_assert_eq!(&borrowed, &shared);
        prop_assert_eq!(&borrowed.clone().into_owned(), &shared);
        prop_assert_eq!(shared.user_data_bytes(), fields.user_data.clone().map(Bytes::from));
        prop_assert_eq!(borrowed.user_data_bytes(), fields.user_data.clone().map(Bytes::from));
        prop_assert_eq!(format!("{borrowed:?}"), format!("{shared:?}"));

        let bytes = Bytes::from(fields.assignment().write(version).unwrap());
        let borrowed = Assignment::read(&bytes).unwrap();
        let shared = Assignment::read_bytes(bytes.clone()).unwrap();
        prop_assert_eq!(&borrowed, &shared);
        prop_assert_eq!(&borrowed.clone().into_owned(), &shared);
        prop_assert_eq!(shared.user_data_bytes(), fields.user_data.clone().map(Bytes::from));

        let bytes = Bytes::from(fields.sticky(Framing::Framed).write(1).unwrap());
        let borrowed = StickyUserData::read(&bytes).unwrap();
        let shared = StickyUserData::read_bytes(bytes.clone()).unwrap();
        prop_assert_eq!(&borrowed, &shared);
        prop_assert_eq!(&borrowed.clone().into_owned(), &shared);
    }

    #[test]
    fn messages_that_differ_in_a_field_are_not_equal(left in fields(), right in fields()) {
        let (one, other) = (left.subscription().build(3).unwrap(), right.subscription().build(3).unwrap());
        prop_assert_eq!(one == other, one.as_bytes() == other.as_bytes());
    }
}
