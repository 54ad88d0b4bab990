//! Any bytes give a message or an error, and nothing else.

use bytes::Bytes;
use kafka_sticky_protocol::{
    Assignment, AssignmentWriter, Framing, MemberClaims, Order, ReadError, StickyUserData,
    StickyUserDataWriter, Strategy, Subscription, SubscriptionWriter, UserData,
};
use proptest::prelude::*;

use crate::naive::{self, Form};
use crate::strategies::{fields, nearly_a_message};

/// Where an error points lies within the input, and what it says is missing is.
fn assert_plausible(error: ReadError, length: usize) {
    assert!(error.offset() <= length, "{error} of {length}");
    if let ReadError::Truncated { offset, needed, available, .. } = error {
        assert!(needed > available, "{error}");
        assert_eq!(offset + available, length, "{error}");
    }
}

fn walk_subscription(subscription: &Subscription<'_>) {
    assert_eq!(subscription.topics().iter().count(), subscription.topics().len());
    assert_eq!(subscription.owned_partitions().iter().count(), subscription.owned_partitions().len());
    let _ = format!("{subscription:?}");
    for strategy in [Strategy::Sticky, Strategy::CooperativeSticky] {
        let member = MemberClaims::read(strategy, subscription);
        assert_eq!(member.claims().iter().count(), member.claims().len());
        assert_eq!(member.holds().iter().count(), member.holds().len());
        assert!(member.claims_generation().is_none_or(|generation| generation >= 0));
    }
    // What was read can be written, and is then read as the same.
    let version = subscription.version();
    let again = SubscriptionWriter::from(subscription).order(Order::AsGiven).build(version).unwrap();
    if subscription.version() == subscription.wire_version() {
        assert_eq!(*subscription, again);
    }
    assert_eq!(subscription.trailing(), again.trailing());
}

fn walk_assignment(assignment: &Assignment<'_>) {
    let partitions = assignment.assigned_partitions();
    assert_eq!(partitions.iter().count(), partitions.len());
    let _ = format!("{assignment:?}");
    let again = AssignmentWriter::from(assignment).write(assignment.version()).unwrap();
    let again = Assignment::read(&again).unwrap();
    assert_eq!(again.assigned_partitions(), partitions);
    assert_eq!(again.trailing(), assignment.trailing());
}

fn walk_sticky(user_data: &StickyUserData<'_>) {
    let partitions = user_data.previous_assignment();
    assert_eq!(partitions.iter().count(), partitions.len());
    let _ = format!("{user_data:?}");
    let writer = StickyUserDataWriter::from(user_data).order(Order::AsGiven);
    let again = writer.write(user_data.version()).unwrap();
    let again = StickyUserData::read(&again).unwrap();
    assert_eq!(again.previous_assignment(), partitions);
    assert_eq!(again.trailing(), user_data.trailing());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn no_entry_point_panics(bytes in nearly_a_message()) {
        let shared = Bytes::from(bytes.clone());
        let subscriptions = [
            Subscription::read(&bytes),
            Subscription::read_as_v0(&bytes),
            Subscription::read_lossy(&bytes),
            Subscription::read_bytes(shared.clone()),
            Subscription::read_bytes_lossy(shared.clone()),
        ];
        for subscription in subscriptions {
            match subscription {
                Ok(subscription) => walk_subscription(&subscription),
                Err(error) => assert_plausible(error, bytes.len()),
            }
        }
        let assignments = [
            Assignment::read(&bytes),
            Assignment::read_lossy(&bytes),
            Assignment::read_bytes(shared.clone()),
            Assignment::read_bytes_lossy(shared.clone()),
        ];
        for assignment in assignments {
            match assignment {
                Ok(assignment) => walk_assignment(&assignment),
                Err(error) => assert_plausible(error, bytes.len()),
            }
        }
        let user_data = [
            StickyUserData::read(&bytes),
            StickyUserData::read_lossy(&bytes),
            StickyUserData::read_bytes(shared.clone()),
            StickyUserData::read_bytes_lossy(shared),
        ];
        for user_data in user_data {
            match user_data {
                Ok(user_data) => walk_sticky(&user_data),
                Err(error) => assert_plausible(error, bytes.len()),
            }
        }
    }

    #[test]
    fn any_user_data_is_a_value(bytes in prop::option::of(nearly_a_message())) {
        for strategy in [Strategy::Sticky, Strategy::CooperativeSticky] {
            let user_data = UserData::read(strategy, bytes.as_deref());
            prop_assert!(user_data.generation().is_none_or(|generation| generation >= 0));
        }
    }

    #[test]
    fn sticky_user_data_is_version_1_else_version_0_else_framed(bytes in nearly_a_message()) {
        let read = StickyUserData::read(&bytes).ok().map(|read| naive::UserData {
            form: match (read.framing(), read.wire_version()) {
                (Framing::Bare, 0) => Form::V0,
                (Framing::Bare, _) => Form::V1,
                (Framing::Framed, version) => Form::Framed(version),
            },
            blocks: read
                .previous_assignment()
                .iter()
                .map(|(topic, partitions)| (topic.to_owned(), partitions.iter().collect()))
                .collect(),
            generation: read.generation(),
            trailing: read.trailing().len(),
        });
        let expected = naive::read(&bytes).map(|mut expected| {
            expected.generation = expected.generation.filter(|generation| *generation >= 0);
            expected
        });
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn what_is_valid_reads_the_same_with_and_without_replacement(bytes in nearly_a_message()) {
        if let Ok(strict) = Subscription::read(&bytes) {
            prop_assert_eq!(Subscription::read_lossy(&bytes), Ok(strict));
        }
        if let Ok(strict) = Assignment::read(&bytes) {
            prop_assert_eq!(Assignment::read_lossy(&bytes), Ok(strict));
        }
        if let Ok(strict) = StickyUserData::read(&bytes) {
            prop_assert_eq!(StickyUserData::read_lossy(&bytes), Ok(strict));
        }
    }

    #[test]
    fn every_prefix_of_a_message_is_cut_off(mut fields in fields(), version in 0i16..=3) {
        fields.trailing.clear();
        let bytes = fields.subscription().write(version).unwrap();
        for length in 0..bytes.len() {
            let error = Subscription::read(&bytes[..length]).unwrap_err();
            prop_assert!(matches!(error, ReadError::Truncated { .. }), "{}", error);
            assert_plausible(error, length);
        }
        let bytes = fields.assignment().write(version).unwrap();
        for length in 0..bytes.len() {
            let error = Assignment::read(&bytes[..length]).unwrap_err();
            prop_assert!(matches!(error, ReadError::Truncated { .. }), "{}", error);
            assert_plausible(error, length);
        }
    }
}

#[test]
fn hostile_counts_and_lengths_are_refused_wherever_they_stand() {
    let largest = [0x7f, 0xff, 0xff, 0xff];
    let bytes = SubscriptionWriter::new(["t"])
        .user_data(Some(&[0; 4]))
        .owned_partitions([("t", [0])])
        .rack_id(Some("r"))
        .write(3)
        .unwrap();
    for offset in [2, 9, 17, 24] {
        let mut bytes = bytes.clone();
        bytes[offset..offset + 4].copy_from_slice(&largest);
        let error = Subscription::read(&bytes).unwrap_err();
        assert!(matches!(error, ReadError::Truncated { .. }), "at {offset}: {error}");
        assert_eq!(error.offset(), offset + 4);
    }
    for offset in [6, 21, 36] {
        let mut bytes = bytes.clone();
        bytes[offset..offset + 2].copy_from_slice(&largest[..2]);
        assert!(Subscription::read(&bytes).is_err(), "at {offset}");
    }
}

#[test]
fn invalid_utf8_is_replaced_in_every_string_of_a_message() {
    let bytes = SubscriptionWriter::new(["a#", "ok", "#b"])
        .owned_partitions([("##", [3]), ("#", [4])])
        .generation_id(Some(8))
        .rack_id(Some("r#"))
        .trailing(b"rest")
        .order(Order::AsGiven)
        .write(3)
        .unwrap();
    let invalid: Vec<u8> = bytes.iter().map(|byte| if *byte == b'#' { 0xff } else { *byte }).collect();
    assert!(matches!(Subscription::read(&invalid), Err(ReadError::InvalidUtf8 { offset: 9, .. })));

    let replaced = Subscription::read_lossy(&invalid).unwrap();
    assert!(replaced.topics().iter().eq(["a\u{fffd}", "ok", "\u{fffd}b"]));
    assert!(replaced.owned_partitions().pairs().eq([("\u{fffd}\u{fffd}", 3), ("\u{fffd}", 4)]));
    assert_eq!((replaced.generation_id(), replaced.rack()), (Some(8), Some("r\u{fffd}")));
    assert_eq!(replaced.trailing(), b"rest");
    assert_eq!(Subscription::read_bytes_lossy(invalid.clone().into()), Ok(replaced));
}

#[test]
fn a_replacement_that_no_string_can_hold_is_an_error() {
    let name_of = |length: u16| {
        let mut bytes = vec![0, 0, 0, 0, 0, 1];
        bytes.extend(length.to_be_bytes());
        bytes.resize(bytes.len() + usize::from(length), 0xff);
        bytes.extend([0xff; 4]);
        bytes
    };
    // Three bytes for each that is replaced: 32,766 fit, 32,769 do not.
    let fits = name_of(10_922);
    assert_eq!(Subscription::read_lossy(&fits).unwrap().topics().iter().next().unwrap().len(), 32_766);
    let too_long = name_of(10_923);
    assert!(matches!(Subscription::read_lossy(&too_long), Err(ReadError::InvalidUtf8 { offset: 8, .. })));
}
