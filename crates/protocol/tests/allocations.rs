//! How much memory reading takes, counted.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use kafka_sticky_protocol::{
    Assignment, AssignmentWriter, MemberClaims, ReadError, StickyUserData, StickyUserDataWriter, Strategy,
    Subscription, SubscriptionWriter,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Counting;

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { allocations: 0, live: 0, peak: 0 }) };
}

/// Of one thread, so that tests do not count each other's. `live` and `peak` are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    allocations: usize,
    live: isize,
    peak: isize,
}

impl Counts {
    fn change(bytes: isize) {
        let mut counts = COUNTS.get();
        counts.allocations += usize::from(bytes > 0);
        counts.live += bytes;
        counts.peak = counts.peak.max(counts.live);
        COUNTS.set(counts);
    }
}

// SAFETY: every call goes to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Counts::change(layout.size() as isize);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Counts::change(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract, and the pointer came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn counting<T>(run: impl FnOnce() -> T) -> (T, Counts) {
    COUNTS.set(Counts::default());
    let result = run();
    (result, COUNTS.get())
}

const NOTHING: Counts = Counts { allocations: 0, live: 0, peak: 0 };

fn names() -> Vec<String> {
    (0..50).map(|number| format!("topic-{number}")).collect()
}

#[test]
fn the_allocator_counts() {
    let (bytes, counts) = counting(|| Vec::<u8>::with_capacity(100));
    assert_eq!(counts, Counts { allocations: 1, live: 100, peak: 100 });
    drop(bytes);
}

#[test]
fn reading_and_walking_a_borrowed_subscription_allocates_nothing() {
    let names = names();
    let owned = || names.iter().map(|name| (name.as_str(), 0..20));
    let user_data = StickyUserDataWriter::new(owned(), Some(3)).write(1).unwrap();
    let bytes = SubscriptionWriter::new(names.iter().map(String::as_str))
        .user_data(Some(&user_data))
        .owned_partitions(owned())
        .generation_id(Some(3))
        .rack_id(Some("rack"))
        .write(3)
        .unwrap();

    for read in [Subscription::read, Subscription::read_lossy] {
        let (walked, counts) = counting(|| {
            let subscription = read(&bytes).unwrap();
            let topics = subscription.topics().iter().map(str::len).sum::<usize>();
            let partitions =
                subscription.owned_partitions().pairs().map(|(_, partition)| partition).sum::<i32>();
            let rack = subscription.rack().unwrap().len();
            let claims: i32 = [Strategy::Sticky, Strategy::CooperativeSticky]
                .map(|strategy| {
                    let member = MemberClaims::read(strategy, &subscription);
                    member.claims().pairs().map(|(_, partition)| partition).sum()
                })
                .iter()
                .sum();
            (topics, partitions, rack, claims)
        });
        assert_eq!(walked, (names.iter().map(String::len).sum(), 50 * 190, 4, 2 * 50 * 190));
        assert_eq!(counts, NOTHING);
    }
}

#[test]
fn reading_and_walking_borrowed_assignments_and_user_data_allocates_nothing() {
    let names = names();
    let assigned = || names.iter().map(|name| (name.as_str(), 0..20));
    let assignment = AssignmentWriter::new(assigned()).write(0).unwrap();
    let user_data = StickyUserDataWriter::new(assigned(), Some(3)).write(1).unwrap();
    let (walked, counts) = counting(|| {
        let assignment = Assignment::read(&assignment).unwrap();
        let user_data = StickyUserData::read(&user_data).unwrap();
        assignment.assigned_partitions().pairs().count() + user_data.previous_assignment().pairs().count()
    });
    assert_eq!((walked, counts), (2 * 50 * 20, NOTHING));
}

#[test]
fn hostile_counts_allocate_nothing() {
    let padding = [0; 64];
    let messages: [&[u8]; 5] = [
        b"\0\x03\x7f\xff\xff\xff",
        b"\0\x03\0\0\0\0\x7f\xff\xff\xff",
        b"\0\x03\0\0\0\0\xff\xff\xff\xff\x7f\xff\xff\xff",
        b"\0\x03\0\0\0\0\xff\xff\xff\xff\0\0\0\x01\0\x01t\x7f\xff\xff\xff",
        b"\0\x03\0\0\0\x01\x7f\xff",
    ];
    for message in messages {
        let bytes = [message, &padding].concat();
        let (result, counts) = counting(|| Subscription::read(&bytes).map(|_| ()));
        assert!(matches!(result, Err(ReadError::Truncated { .. })), "{message:02x?}: {result:?}");
        assert_eq!(counts, NOTHING);
        let (_, counts) = counting(|| Subscription::read_lossy(&bytes).map(|_| ()));
        assert_eq!(counts, NOTHING);
    }
    for message in [&b"\x7f\xff\xff\xff"[..], b"\0\0\0\x01\0\x01t\x7f\xff\xff\xff", b"\0\x01\x7f\xff\xff\xff"]
    {
        let bytes = [message, &padding].concat();
        let (result, counts) = counting(|| StickyUserData::read_lossy(&bytes).map(|_| ()));
        assert!(result.is_err(), "{message:02x?}");
        assert_eq!(counts, NOTHING);
    }
    for message in [&b"\0\x03\x7f\xff\xff\xff"[..], b"\0\x03\0\0\0\x01\0\x01t\x7f\xff\xff\xff"] {
        let bytes = [message, &padding].concat();
        let (result, counts) = counting(|| Assignment::read_lossy(&bytes).map(|_| ()));
        assert!(result.is_err(), "{message:02x?}");
        assert_eq!(counts, NOTHING);
    }
}

#[test]
fn replacing_invalid_utf8_takes_a_small_multiple_of_the_input() {
    // The worst for its length: as many strings as fit, each of one byte that becomes three.
    let count = 20_000u32;
    let mut bytes = b"\0\0".to_vec();
    bytes.extend(count.to_be_bytes());
    (0..count).for_each(|_| bytes.extend(b"\0\x01\xff"));
    bytes.extend([0xff; 4]);
    let (subscription, counts) = counting(|| Subscription::read_lossy(&bytes).unwrap());
    assert_eq!(subscription.topics().iter().filter(|topic| *topic == "\u{fffd}").count(), 20_000);
    assert!(counts.peak <= 8 * bytes.len() as isize, "{counts:?} for {} bytes", bytes.len());
}

#[test]
fn writing_what_is_in_order_allocates_the_message_alone() {
    let names: Vec<_> = (10..60).map(|number| format!("topic-{number}")).collect();
    let writer = SubscriptionWriter::new(names.iter().map(String::as_str))
        .owned_partitions(names.iter().map(|name| (name.as_str(), 0..20)));
    let (bytes, counts) = counting(|| writer.write(3).unwrap());
    assert_eq!((counts.allocations, counts.peak), (1, bytes.len() as isize));
}

#[test]
fn owned_messages_are_one_copy() {
    let bytes = SubscriptionWriter::new(["t"]).user_data(Some(&[7; 100])).write(3).unwrap();
    let (owned, counts) = counting(|| Subscription::read(&bytes).unwrap().into_owned());
    assert_eq!(owned.as_bytes(), bytes);
    assert_eq!((counts.allocations, counts.live), (1, bytes.len() as isize));
}
