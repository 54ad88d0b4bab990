//! Bytes that Kafka's Java client 4.x was seen to write, and what it was seen to make of others.

use hex_literal::hex;
use kafka_sticky_protocol::{
    Assignment, AssignmentWriter, Field, MemberClaims, Order, ReadError, StickyUserData,
    StickyUserDataWriter, Strategy, Subscription, SubscriptionWriter, UserData,
};

fn foo_and_bar() -> SubscriptionWriter<'static> {
    SubscriptionWriter::new(["foo", "bar"])
        .user_data(Some(&[1, 2]))
        .owned_partitions([("foo", [1]), ("bar", [7]), ("foo", [0])])
        .generation_id(Some(5))
        .rack_id(Some("r1"))
}

const V0: &[u8] = &hex!("0000 00000002 0003626172 0003666f6f 00000002 0102");
const V1: &[u8] = &hex!(
    "0001 00000002 0003626172 0003666f6f 00000002 0102
     00000002 0003626172 00000001 00000007 0003666f6f 00000002 00000000 00000001"
);
const V2: &[u8] = &hex!(
    "0002 00000002 0003626172 0003666f6f 00000002 0102
     00000002 0003626172 00000001 00000007 0003666f6f 00000002 00000000 00000001 00000005"
);
const V3: &[u8] = &hex!(
    "0003 00000002 0003626172 0003666f6f 00000002 0102
     00000002 0003626172 00000001 00000007 0003666f6f 00000002 00000000 00000001 00000005 0002 7231"
);

#[test]
fn subscriptions_are_written_as_java_writes_them() {
    let t = SubscriptionWriter::new(["t"]);
    let cases: &[(&SubscriptionWriter<'_>, i16, &[u8])] = &[
        (&foo_and_bar(), 0, V0),
        (&foo_and_bar(), 1, V1),
        (&foo_and_bar(), 2, V2),
        (&foo_and_bar(), 3, V3),
        (&foo_and_bar(), 4, V3),
        (&foo_and_bar(), 5, V3),
        (&foo_and_bar(), i16::MAX, V3),
        (&t, 3, &hex!("0003 00000001 000174 ffffffff 00000000 ffffffff ffff")),
        (&SubscriptionWriter::new([]), 3, &hex!("0003 00000000 ffffffff 00000000 ffffffff ffff")),
        (
            &t.clone().owned_partitions([("t", [1, 1])]),
            1,
            &hex!("0001 00000001 000174 ffffffff 00000001 000174 00000002 00000001 00000001"),
        ),
        (&t.clone().rack_id(Some("")), 3, &hex!("0003 00000001 000174 ffffffff 00000000 ffffffff 0000")),
    ];
    for (writer, version, expected) in cases {
        assert_eq!(writer.write(*version).unwrap(), *expected, "{writer:?}, version {version}");
        assert_eq!(writer.size(*version), Ok(expected.len()), "{writer:?}, version {version}");
    }
}

#[test]
fn what_java_writes_is_read_and_written_again_byte_for_byte() {
    for bytes in [V0, V1, V2, V3] {
        let subscription = Subscription::read(bytes).unwrap();
        assert!(subscription.topics().iter().eq(["bar", "foo"]));
        assert_eq!(subscription.user_data(), Some(&[1, 2][..]));
        let version = subscription.version();
        if version >= 1 {
            assert!(subscription.owned_partitions().pairs().eq([("bar", 7), ("foo", 0), ("foo", 1)]));
        }
        assert_eq!(subscription.generation_id(), (version >= 2).then_some(5));
        assert_eq!(subscription.rack_id(), (version >= 3).then_some("r1"));
        assert_eq!(SubscriptionWriter::from(&subscription).write(version).unwrap(), bytes);
    }
}

#[test]
fn assignments_are_written_as_java_writes_them() {
    let writer = AssignmentWriter::from_pairs([("foo", 1), ("bar", 7), ("foo", 0)]);
    let mut expected =
        hex!("0000 00000002 0003666f6f 00000002 00000001 00000000 0003626172 00000001 00000007 ffffffff");
    for (version, written) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3)] {
        expected[1] = written;
        assert_eq!(writer.write(version).unwrap(), expected);
    }
    let empty = AssignmentWriter::from_pairs([]).user_data(Some(&[]));
    assert_eq!(empty.write(0).unwrap(), hex!("0000 00000000 00000000"));
}

#[test]
fn sticky_user_data_is_written_as_java_writes_it() {
    // Java's order of topics is that of a hash map, that of partitions as they came.
    let bytes = hex!("00000002 0003626172 00000001 00000007 0003666f6f 00000002 00000001 00000000 00000005");
    let writer = StickyUserDataWriter::new([("bar", &[7][..]), ("foo", &[1, 0])], Some(5));
    assert_eq!(writer.order(Order::AsGiven).write(1).unwrap(), bytes);

    let user_data = StickyUserData::read(&bytes).unwrap();
    assert!(user_data.previous_assignment().pairs().eq([("bar", 7), ("foo", 1), ("foo", 0)]));
    assert_eq!((user_data.version(), user_data.generation()), (1, Some(5)));

    let after_an_empty_assignment = StickyUserDataWriter::new([("", [0; 0]); 0], Some(5));
    assert_eq!(after_an_empty_assignment.write(1).unwrap(), hex!("00000000 00000005"));
}

/// What there is to a subscription, for tables: topics, user data, owned, generation, rack, trailing.
#[derive(Debug, Default, PartialEq)]
struct Fields {
    version: i16,
    topics: Vec<&'static str>,
    user_data: Option<&'static [u8]>,
    owned: Vec<(&'static str, i32)>,
    generation: Option<i32>,
    rack: Option<&'static str>,
    trailing: usize,
}

fn fields(bytes: &'static [u8]) -> Result<Fields, ReadError> {
    let subscription = Box::leak(Box::new(Subscription::read(bytes)?));
    Ok(Fields {
        version: subscription.wire_version(),
        topics: subscription.topics().iter().collect(),
        user_data: subscription.user_data(),
        owned: subscription.owned_partitions().pairs().collect(),
        generation: subscription.generation_id(),
        rack: subscription.rack(),
        trailing: subscription.trailing().len(),
    })
}

fn truncated(field: Field, offset: usize, needed: usize, available: usize) -> ReadError {
    ReadError::Truncated { field, offset, needed, available }
}

#[test]
fn subscriptions_are_read_as_java_reads_them() {
    let none = Fields::default;
    let cases: &[(&[u8], Fields)] = &[
        (&hex!("0000 00000000 ffffffff"), none()),
        (&hex!("0000 00000000 ffffffff 010203"), Fields { trailing: 3, ..none() }),
        (&hex!("0000 00000000 fffffffe"), none()),
        (&hex!("0000 00000000 00000000"), Fields { user_data: Some(&[]), ..none() }),
        (
            &hex!("0003 00000000 ffffffff 00000000 00000001 ffff"),
            Fields { version: 3, generation: Some(1), ..none() },
        ),
        (
            &hex!("0003 00000000 ffffffff 00000000 00000001 0000"),
            Fields { version: 3, generation: Some(1), ..none() },
        ),
        (
            &hex!("0003 00000000 ffffffff 00000000 00000001 fffe"),
            Fields { version: 3, generation: Some(1), ..none() },
        ),
        (&hex!("0003 00000000 ffffffff 00000000 fffffffb ffff"), Fields { version: 3, ..none() }),
        (
            &hex!("0063 00000000 ffffffff 00000000 00000001 ffff aabb"),
            Fields { version: 0x63, generation: Some(1), trailing: 2, ..none() },
        ),
        (
            &hex!("0001 00000000 ffffffff 00000002 000174 00000001 00000000 000174 00000001 00000000"),
            Fields { version: 1, owned: vec![("t", 0), ("t", 0)], ..none() },
        ),
        // Empty names, negative partitions, repeats and empty lists all stand.
        (
            &hex!(
                "0001 00000003 0000 000174 000174 ffffffff 00000002 0000 00000001 ffffffff 000174 00000000"
            ),
            Fields { version: 1, topics: vec!["", "t", "t"], owned: vec![("", -1)], ..none() },
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(fields(bytes).as_ref(), Ok(expected), "{bytes:02x?}");
    }
}

#[test]
fn iterators_know_how_much_is_left() {
    let subscription = Subscription::read(V3).unwrap();
    let mut topics = subscription.topics().iter();
    let mut owned = subscription.owned_partitions().iter();
    for left in [2, 1, 0] {
        assert_eq!((topics.len(), owned.len()), (left, left));
        assert_eq!(topics.next().is_some(), left > 0);
        let partitions = owned.next().map(|(_, partitions)| partitions);
        assert!(partitions.is_none_or(|partitions| partitions.iter().len() == partitions.len()));
    }
    let foo = subscription.owned_partitions().iter().last().unwrap();
    assert_eq!((foo.0, foo.1.iter().rev().collect::<Vec<_>>()), ("foo", vec![1, 0]));
}

#[test]
fn an_empty_rack_is_kept_but_means_none() {
    let bytes = hex!("0003 00000000 ffffffff 00000000 00000001 0000");
    let subscription = Subscription::read(&bytes).unwrap();
    assert_eq!((subscription.rack_id(), subscription.rack()), (Some(""), None));
}

#[test]
fn bytes_that_java_cannot_read_are_typed_errors() {
    let cases: &[(&[u8], ReadError)] = &[
        (&hex!(""), truncated(Field::Version, 0, 2, 0)),
        (&hex!("00"), truncated(Field::Version, 0, 2, 1)),
        (&hex!("0000"), truncated(Field::Topics, 2, 4, 0)),
        (&hex!("0000 00000000"), truncated(Field::UserData, 6, 4, 0)),
        (&hex!("0001 00000000 ffffffff"), truncated(Field::OwnedPartitions, 10, 4, 0)),
        (&hex!("0002 00000000 ffffffff 00000000"), truncated(Field::GenerationId, 14, 4, 0)),
        (&hex!("0003 00000000 ffffffff 00000000 00000001"), truncated(Field::RackId, 18, 2, 0)),
        (&hex!("0003 00000000 ffffffff 00000000 00000001 0002 72"), truncated(Field::RackId, 20, 2, 1)),
        (&hex!("0063 00000000 ffffffff"), truncated(Field::OwnedPartitions, 10, 4, 0)),
        (&hex!("ffff 00000000 ffffffff"), ReadError::NegativeVersion { version: -1 }),
        (&hex!("8000 00000000 ffffffff"), ReadError::NegativeVersion { version: i16::MIN }),
        (
            &hex!("0000 ffffffff ffffffff"),
            ReadError::UnexpectedNull { field: Field::Topics, offset: 2, length: -1 },
        ),
        (
            &hex!("0000 00000001 ffff ffffffff"),
            ReadError::UnexpectedNull { field: Field::Topics, offset: 6, length: -1 },
        ),
        (&hex!("0000 00000000 00000010 01"), truncated(Field::UserData, 10, 16, 1)),
        (&hex!("0000 00000001 0010 01"), truncated(Field::Topics, 8, 16, 1)),
        (&hex!("0000 00000002 0000"), truncated(Field::Topics, 6, 4, 2)),
        (
            &hex!("0001 00000000 ffffffff ffffffff"),
            ReadError::UnexpectedNull { field: Field::OwnedPartitions, offset: 10, length: -1 },
        ),
        (
            &hex!("0001 00000000 ffffffff 00000001 8000 00000000"),
            ReadError::UnexpectedNull { field: Field::OwnedPartitionsTopic, offset: 14, length: -32768 },
        ),
        (
            &hex!("0001 00000000 ffffffff 00000001 000174 fffffffe"),
            ReadError::UnexpectedNull { field: Field::OwnedPartitionsPartitions, offset: 17, length: -2 },
        ),
        (
            &hex!("0001 00000000 ffffffff 00000001 000174 00000002 00000001"),
            truncated(Field::OwnedPartitionsPartitions, 21, 8, 4),
        ),
        (&hex!("0000 00000001 0003 61ff62"), ReadError::InvalidUtf8 { field: Field::Topics, offset: 9 }),
        (
            &hex!("0003 00000000 ffffffff 00000000 00000001 0002 c3c3"),
            ReadError::InvalidUtf8 { field: Field::RackId, offset: 20 },
        ),
    ];
    for (bytes, expected) in cases {
        let error = Subscription::read(bytes).unwrap_err();
        assert_eq!(error, *expected, "{bytes:02x?}");
        assert!(error.to_string().starts_with(&format!("{} at byte {}", error.field(), error.offset())));
    }
}

#[test]
fn assignments_are_read_as_java_reads_them() {
    let error = Assignment::read(&hex!("0000 00000000")).unwrap_err();
    assert_eq!(error, truncated(Field::UserData, 6, 4, 0));

    let bytes = hex!("0064 00000000 00000000 0003626172");
    let assignment = Assignment::read(&bytes).unwrap();
    assert_eq!((assignment.wire_version(), assignment.version()), (100, 3));
    assert!(assignment.assigned_partitions().is_empty());
    assert_eq!(assignment.user_data(), Some(&[][..]));
    assert_eq!(assignment.trailing(), hex!("0003626172"));

    for version in [hex!("ffff"), hex!("8000")] {
        let bytes = [&version[..], &hex!("00000000 ffffffff")].concat();
        assert!(matches!(Assignment::read(&bytes), Err(ReadError::NegativeVersion { .. })));
    }
}

#[test]
fn sticky_user_data_is_read_as_java_reads_it() {
    let t = hex!("00000001 000174 00000002 00000000 00000001 00000005");
    let user_data = StickyUserData::read(&t).unwrap();
    assert!(user_data.previous_assignment().pairs().eq([("t", 0), ("t", 1)]));
    assert_eq!((user_data.version(), user_data.generation()), (1, Some(5)));

    let user_data = StickyUserData::read(&t[..t.len() - 4]).unwrap();
    assert!(user_data.previous_assignment().pairs().eq([("t", 0), ("t", 1)]));
    assert_eq!((user_data.version(), user_data.generation()), (0, None));

    let user_data = StickyUserData::read(&hex!("00000000 ffffffff")).unwrap();
    assert!(user_data.previous_assignment().is_empty());
    assert_eq!((user_data.version(), user_data.generation()), (1, None));
}

#[test]
fn sticky_user_data_that_java_takes_for_nothing_is_a_typed_error() {
    let cases: &[(&[u8], ReadError)] = &[
        (
            &hex!("ffffffff 00000001"),
            ReadError::UnexpectedNull { field: Field::PreviousAssignment, offset: 0, length: -1 },
        ),
        // A count of 65,536 or more, as far as it goes: the framed form is what it failed to be.
        (&hex!("010203"), truncated(Field::PreviousAssignment, 2, 4, 1)),
        (
            &hex!("00000001 000174 00000002 00000000"),
            truncated(Field::PreviousAssignmentPartitions, 11, 8, 4),
        ),
        (&hex!(""), truncated(Field::PreviousAssignment, 0, 4, 0)),
    ];
    for (bytes, expected) in cases {
        assert_eq!(StickyUserData::read(bytes), Err(*expected), "{bytes:02x?}");
        let subscription = SubscriptionWriter::new(["t"]).user_data(Some(bytes)).build(3).unwrap();
        let member = MemberClaims::read(Strategy::Sticky, &subscription);
        assert!(!member.claims().has_partitions());
        assert_eq!(member.claims_generation(), None);
    }
}

#[test]
fn stray_bytes_after_version_0_read_as_a_generation_as_in_java() {
    let bytes = hex!("00000001 000174 00000001 00000000 0000000a ff");
    let user_data = StickyUserData::read(&bytes).unwrap();
    assert_eq!(
        (user_data.version(), user_data.generation(), user_data.trailing()),
        (1, Some(10), &[0xff][..])
    );

    let user_data = StickyUserData::read(&bytes[..18]).unwrap();
    assert_eq!((user_data.version(), user_data.generation(), user_data.trailing().len()), (0, None, 3));
}

#[test]
fn cooperative_user_data_is_four_bytes_or_sticky_user_data() {
    let read = |bytes| UserData::read(Strategy::CooperativeSticky, bytes);
    assert_eq!(read(None), UserData::Absent);
    assert_eq!(read(Some(&[])), UserData::Absent);
    assert_eq!(read(Some(&hex!("00000009"))), UserData::Generation(Some(9)));
    assert_eq!(read(Some(&hex!("ffffffff"))), UserData::Generation(None));
    assert_eq!(read(Some(&hex!("80000000"))), UserData::Generation(None));
    assert!(matches!(read(Some(&hex!("0000"))), UserData::Unreadable(ReadError::Truncated { .. })));
    assert!(matches!(read(Some(&hex!("0000000900000001"))), UserData::Unreadable(_)));
    let UserData::Sticky(sticky) = read(Some(&hex!("00000000 00000009"))) else {
        panic!("eight bytes without topics are sticky's version 1");
    };
    assert_eq!(sticky.generation(), Some(9));
}
