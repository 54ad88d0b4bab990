//! Any bytes are a message or an error, and what was read can be written and read again.

use std::fmt::{self, Write as _};

use bytes::Bytes;
use kafka_sticky_protocol::{
    Assignment, AssignmentWriter, MemberClaims, Order, ReadError, StickyUserData, StickyUserDataWriter,
    Strategy, Subscription, SubscriptionWriter, TopicPartitions, UserData,
};

const STRATEGIES: [Strategy; 2] = [Strategy::Sticky, Strategy::CooperativeSticky];

/// Reads bytes as a subscription.
pub fn subscription(bytes: &[u8]) {
    let strict = Subscription::read(bytes);
    let lossy = Subscription::read_lossy(bytes);
    let as_v0 = Subscription::read_as_v0(bytes);
    assert_eq!(Subscription::read_bytes(Bytes::copy_from_slice(bytes)), strict);
    if strict.is_ok() {
        assert_eq!(lossy, strict, "nothing had to be replaced");
        assert!(as_v0.is_ok(), "version 0 is a prefix of every version");
    }
    [&strict, &as_v0]
        .into_iter()
        .filter_map(|read| read.as_ref().err())
        .for_each(|error| assert_plausible(*error, bytes));
    if let (Ok(whole), Ok(prefix)) = (&strict, &as_v0) {
        assert_eq!((whole.topics(), whole.user_data()), (prefix.topics(), prefix.user_data()));
    }
    match strict.or(lossy) {
        Ok(read) => walk_subscription(&read),
        Err(error) => assert_plausible(error, bytes),
    }
}

fn walk_subscription(read: &Subscription<'_>) {
    assert_eq!(read.topics().iter().count(), read.topics().len());
    walk(read.owned_partitions());
    show(read);
    assert!(read.generation_id().is_none_or(|generation| generation >= 0));
    let again = SubscriptionWriter::from(read).order(Order::AsGiven).build(read.version()).unwrap();
    assert_eq!(again.trailing(), read.trailing());
    if read.wire_version() == read.version() {
        assert_eq!(*read, again);
    }
}

/// Reads bytes as an assignment.
pub fn assignment(bytes: &[u8]) {
    let strict = Assignment::read(bytes);
    let lossy = Assignment::read_lossy(bytes);
    assert_eq!(Assignment::read_bytes(Bytes::copy_from_slice(bytes)), strict);
    if strict.is_ok() {
        assert_eq!(lossy, strict, "nothing had to be replaced");
    }
    if let Err(error) = strict {
        assert_plausible(error, bytes);
    }
    match strict.or(lossy) {
        Ok(read) => walk_assignment(&read),
        Err(error) => assert_plausible(error, bytes),
    }
}

fn walk_assignment(read: &Assignment<'_>) {
    walk(read.assigned_partitions());
    show(read);
    let again = AssignmentWriter::from(read).write(read.version()).unwrap();
    let again = Assignment::read(&again).unwrap();
    assert_eq!(again.assigned_partitions(), read.assigned_partitions());
    assert_eq!((again.user_data(), again.trailing()), (read.user_data(), read.trailing()));
}

/// Reads bytes as sticky user data, in each of its forms.
pub fn sticky_user_data(bytes: &[u8]) {
    let strict = StickyUserData::read(bytes);
    let lossy = StickyUserData::read_lossy(bytes);
    assert_eq!(StickyUserData::read_bytes(Bytes::copy_from_slice(bytes)), strict);
    if strict.is_ok() {
        assert_eq!(lossy, strict, "nothing had to be replaced");
    }
    if let Err(error) = strict {
        assert_plausible(error, bytes);
    }
    match strict.or(lossy) {
        Ok(read) => walk_sticky(&read),
        Err(error) => assert_plausible(error, bytes),
    }
}

fn walk_sticky(read: &StickyUserData<'_>) {
    walk(read.previous_assignment());
    show(read);
    assert!(read.generation().is_none_or(|generation| generation >= 0));
    let again = StickyUserDataWriter::from(read).order(Order::AsGiven).write(read.version()).unwrap();
    let again = StickyUserData::read(&again).unwrap();
    assert_eq!(again.previous_assignment(), read.previous_assignment());
    assert_eq!((again.generation(), again.trailing()), (read.generation(), read.trailing()));
    assert_eq!(again.framing(), read.framing());
}

/// Reads bytes as a subscription and then what its member claims and holds; where they are none, as user data.
pub fn member_claims(bytes: &[u8]) {
    for strategy in STRATEGIES {
        let user_data = UserData::read(strategy, Some(bytes));
        assert!(user_data.generation().is_none_or(|generation| generation >= 0));
        assert_eq!(matches!(user_data, UserData::Absent), bytes.is_empty());
        if let UserData::Unreadable(error) = user_data {
            assert_plausible(error, bytes);
        }
    }
    let Ok(subscription) = Subscription::read_lossy(bytes) else { return };
    for strategy in STRATEGIES {
        let member = MemberClaims::read(strategy, &subscription);
        walk(member.claims());
        walk(member.holds());
        for generation in [member.claims_generation(), member.holds_generation()] {
            assert!(generation.is_none_or(|generation| generation >= 0));
        }
        let may_hold = strategy == Strategy::CooperativeSticky;
        assert!(may_hold || member.holds().is_empty());
        if may_hold && subscription.owned_partitions().has_partitions() {
            assert_eq!(member.holds(), subscription.owned_partitions());
            assert_eq!(member.claims(), member.holds());
        }
    }
}

fn walk(topics: TopicPartitions<'_>) {
    let (mut seen, mut partitions) = (0, 0);
    for (_, of_topic) in topics {
        seen += 1;
        partitions += of_topic.len();
    }
    assert_eq!(seen, topics.len());
    assert_eq!(topics.pairs().count(), partitions);
    assert_eq!(topics.has_partitions(), partitions > 0);
}

/// Where an error points lies within the input, and what it says is missing is.
fn assert_plausible(error: ReadError, bytes: &[u8]) {
    assert!(error.offset() <= bytes.len(), "{error} of {} bytes", bytes.len());
    if let ReadError::Truncated { offset, needed, available, .. } = error {
        assert!(needed > available, "{error}");
        assert_eq!(offset + available, bytes.len(), "{error}");
    }
}

/// Formats what can be formatted, for nobody.
fn show(value: impl fmt::Debug) {
    struct Nowhere;

    impl fmt::Write for Nowhere {
        fn write_str(&mut self, _: &str) -> fmt::Result {
            Ok(())
        }
    }

    write!(Nowhere, "{value:?}").expect("nowhere is never full");
}
