//! Misuse, sizes, buffers, order.

use bytes::BytesMut;
use hex_literal::hex;
use kafka_sticky_protocol::{
    AssignmentWriter, Field, Framing, Order, StickyUserDataWriter, Subscription, SubscriptionWriter,
    WriteError,
};
use proptest::prelude::*;

use crate::strategies::{fields, framing, order};

#[test]
fn negative_versions_are_misuse() {
    for version in [-1, i16::MIN] {
        let error = Err(WriteError::NegativeVersion { version });
        assert_eq!(SubscriptionWriter::new(["t"]).write(version), error);
        assert_eq!(AssignmentWriter::new([("t", [0])]).write(version), error);
        assert_eq!(StickyUserDataWriter::new([("t", [0])], None).write(version), error);
    }
}

#[test]
fn strings_that_no_length_prefix_can_say_are_misuse() {
    let fits = "x".repeat(32_767);
    let too_long = "x".repeat(32_768);
    let error = |field| Err(WriteError::StringTooLong { field, length: 32_768 });

    let written = SubscriptionWriter::new([&fits[..]]).write(0).unwrap();
    assert_eq!(Subscription::read(&written).unwrap().topics().iter().next(), Some(&fits[..]));

    assert_eq!(SubscriptionWriter::new(["t", &too_long]).write(0), error(Field::Topics));
    let owned = SubscriptionWriter::new(["t"]).owned_partitions([(&too_long[..], [0])]);
    assert_eq!(owned.write(1), error(Field::OwnedPartitionsTopic));
    let rack = SubscriptionWriter::new(["t"]).rack_id(Some(&too_long));
    assert_eq!(rack.write(3), error(Field::RackId));
    let assignment = AssignmentWriter::new([(&too_long[..], [0])]);
    assert_eq!(assignment.write(0), error(Field::AssignedPartitionsTopic));
    let sticky = StickyUserDataWriter::new([(&too_long[..], [0])], None);
    assert_eq!(sticky.write(1), error(Field::PreviousAssignmentTopic));

    // What the version leaves out does no harm.
    assert!(owned.write(0).is_ok());
    assert!(rack.write(2).is_ok());
}

#[test]
fn a_buffer_without_room_is_left_alone() {
    let writer = SubscriptionWriter::new(["t"]);
    let expected = writer.write(0).unwrap();
    let mut buffer = vec![0xee; expected.len() - 1];
    let error = writer.write_to(0, &mut &mut buffer[..]).unwrap_err();
    let (needed, available) = (expected.len(), expected.len() - 1);
    assert_eq!(error, WriteError::BufferTooSmall { needed, available });
    assert!(buffer.iter().all(|byte| *byte == 0xee));

    buffer.push(0xee);
    writer.write_to(0, &mut &mut buffer[..]).unwrap();
    assert_eq!(buffer, expected);
}

#[test]
fn messages_are_appended_to_what_a_buffer_has() {
    let mut buffer = BytesMut::from(&b"before"[..]);
    AssignmentWriter::new([("t", [9])]).write_to(1, &mut buffer).unwrap();
    assert_eq!(
        buffer[..],
        [b"before", &hex!("0001 00000001 000174 00000001 00000009 ffffffff")[..]].concat()
    );
    let mut buffer = vec![7];
    StickyUserDataWriter::new([("t", [9])], Some(2)).write_to(1, &mut buffer).unwrap();
    assert_eq!(buffer, hex!("07 00000001 000174 00000001 00000009 00000002"));
}

#[test]
fn absent_and_negative_generations_are_written_as_minus_one() {
    for generation in [None, Some(-1), Some(-5), Some(i32::MIN)] {
        let bytes = SubscriptionWriter::new([]).generation_id(generation).write(2).unwrap();
        assert_eq!(bytes, hex!("0002 00000000 ffffffff 00000000 ffffffff"));
        let bytes = StickyUserDataWriter::new([("t", [0])], generation).write(1).unwrap();
        assert_eq!(bytes[15..], hex!("ffffffff"));
    }
}

#[test]
fn canonical_order_is_javas_beyond_ascii_too() {
    // By bytes, and by characters, the second comes last.
    let topics = ["\u{ff5e}", "\u{1f600}", "z"];
    let subscription = SubscriptionWriter::new(topics).build(0).unwrap();
    assert!(subscription.topics().iter().eq(["z", "\u{1f600}", "\u{ff5e}"]));
}

#[test]
fn canonical_order_leaves_out_topics_without_partitions() {
    let blocks = [("b", &[2, 1][..]), ("c", &[]), ("a", &[0]), ("b", &[1])];
    let canonical = StickyUserDataWriter::new(blocks, None);
    assert_eq!(
        canonical.write(0).unwrap(),
        hex!("00000002 000161 00000001 00000000 000162 00000003 00000001 00000001 00000002")
    );
    let as_given = canonical.order(Order::AsGiven).write(0).unwrap();
    assert_eq!(as_given[..4], hex!("00000004"));
}

#[test]
fn the_framed_form_is_the_bare_one_with_a_version_in_front() {
    let writer = StickyUserDataWriter::new([("foo", [0, 1]), ("bar", [5, 6])], Some(3));
    let bare = writer.write(1).unwrap();
    let framed = writer.framing(Framing::Framed).write(1).unwrap();
    assert_eq!(framed, [&[0, 1], &bare[..]].concat());
}

proptest! {
    #[test]
    fn messages_take_exactly_the_size_computed_up_front(
        fields in fields(), version in 0i16..=4, order in order(), framing in framing(),
    ) {
        let writer = fields.subscription().order(order);
        let bytes = writer.write(version).unwrap();
        prop_assert_eq!((bytes.capacity(), writer.size(version)), (bytes.len(), Ok(bytes.len())));

        let writer = fields.assignment();
        let bytes = writer.write(version).unwrap();
        prop_assert_eq!((bytes.capacity(), writer.size(version)), (bytes.len(), Ok(bytes.len())));

        let writer = fields.sticky(framing).order(order);
        let bytes = writer.write(version).unwrap();
        prop_assert_eq!((bytes.capacity(), writer.size(version)), (bytes.len(), Ok(bytes.len())));
    }

    #[test]
    fn canonical_bytes_do_not_depend_on_the_order_given(fields in fields(), version in 0i16..=3, framing in framing()) {
        let mut reversed = fields.clone();
        reversed.topics.reverse();
        reversed.partitions.reverse();
        for (_, partitions) in &mut reversed.partitions {
            partitions.reverse();
        }
        prop_assert_eq!(fields.subscription().write(version), reversed.subscription().write(version));
        prop_assert_eq!(fields.sticky(framing).write(version), reversed.sticky(framing).write(version));
    }
}
