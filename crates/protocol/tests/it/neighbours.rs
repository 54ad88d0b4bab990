//! Bytes that other clients' own code wrote, each with what was meant: `vectors/neighbours.jsonl`, a line for each client,
//! message and version. `cargo xtask interop` looks whether they still write the same.

use kafka_sticky_protocol::{
    Assignment, AssignmentWriter, Framing, Order, StickyUserData, StickyUserDataWriter, Strategy,
    Subscription, SubscriptionWriter, TopicPartitions, UserData,
};
use serde::Deserialize;

const VECTORS: &str = include_str!("../vectors/neighbours.jsonl");

#[derive(Deserialize)]
struct Vector {
    origin: String,
    bytes: String,
    message: Message,
}

/// What a kind or version has no field for is null; lists are in order, and null where they are empty.
#[derive(Deserialize)]
struct Message {
    kind: String,
    version: i16,
    topics: Option<Vec<String>>,
    user_data: Option<String>,
    partitions: Option<Vec<(String, Vec<i32>)>>,
    generation: Option<i32>,
    rack: Option<String>,
}

fn vectors(kind: &str) -> Vec<(Vector, Vec<u8>)> {
    let vectors = VECTORS.lines().map(|line| serde_json::from_str::<Vector>(line).unwrap());
    let of_kind = vectors.filter(|vector| vector.message.kind == kind);
    let vectors: Vec<_> = of_kind.map(|vector| (unhex(&vector.bytes), vector)).map(|(b, v)| (v, b)).collect();
    assert!(!vectors.is_empty(), "no {kind}");
    vectors
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// In order, as the messages have them.
fn listed(partitions: TopicPartitions<'_>) -> Vec<(String, Vec<i32>)> {
    let numbers = |numbers: kafka_sticky_protocol::Partitions<'_>| {
        let mut numbers: Vec<i32> = numbers.iter().collect();
        numbers.sort_unstable();
        numbers
    };
    let mut listed: Vec<_> =
        partitions.iter().map(|(topic, partitions)| (topic.to_owned(), numbers(partitions))).collect();
    listed.sort();
    listed
}

#[test]
fn subscriptions_mean_what_their_writers_meant() {
    for (Vector { origin, message, .. }, bytes) in vectors("subscription") {
        let read = Subscription::read(&bytes).unwrap_or_else(|error| panic!("{origin}: {error}"));
        let mut topics: Vec<&str> = read.topics().iter().collect();
        topics.sort_unstable();
        assert_eq!(read.version(), message.version, "{origin}");
        assert_eq!(topics, message.topics.unwrap_or_default(), "{origin}");
        assert_eq!(read.user_data(), message.user_data.as_deref().map(unhex).as_deref(), "{origin}");
        assert_eq!(listed(read.owned_partitions()), message.partitions.unwrap_or_default(), "{origin}");
        assert_eq!(read.generation_id(), message.generation, "{origin}");
        assert_eq!(read.rack(), message.rack.as_deref(), "{origin}");
        assert!(read.trailing().is_empty(), "{origin}");

        let written = SubscriptionWriter::from(&read).order(Order::AsGiven).write(message.version).unwrap();
        assert_eq!(written, bytes, "{origin}");
    }
}

#[test]
fn assignments_mean_what_their_writers_meant() {
    for (Vector { origin, message, .. }, bytes) in vectors("assignment") {
        let read = Assignment::read(&bytes).unwrap_or_else(|error| panic!("{origin}: {error}"));
        assert_eq!(read.version(), message.version, "{origin}");
        assert_eq!(read.user_data(), message.user_data.as_deref().map(unhex).as_deref(), "{origin}");
        assert_eq!(listed(read.assigned_partitions()), message.partitions.unwrap_or_default(), "{origin}");
        assert!(read.trailing().is_empty(), "{origin}");

        assert_eq!(AssignmentWriter::from(&read).write(message.version).unwrap(), bytes, "{origin}");
    }
}

#[test]
fn sticky_user_data_means_what_its_writers_meant() {
    for (Vector { origin, message, .. }, bytes) in vectors("sticky") {
        let read = StickyUserData::read(&bytes).unwrap_or_else(|error| panic!("{origin}: {error}"));
        let framing = if origin.starts_with("kafka-python 3") { Framing::Framed } else { Framing::Bare };
        assert_eq!(read.framing(), framing, "{origin}");
        assert_eq!(read.version(), message.version, "{origin}");
        assert_eq!(listed(read.previous_assignment()), message.partitions.unwrap_or_default(), "{origin}");
        assert_eq!(read.generation().filter(|generation| *generation >= 0), message.generation, "{origin}");
        assert!(read.trailing().is_empty(), "{origin}");

        let written = StickyUserDataWriter::from(&read).order(Order::AsGiven).write(message.version).unwrap();
        assert_eq!(written, bytes, "{origin}");
    }
}

#[test]
fn generations_under_cooperative_sticky_mean_what_their_writers_meant() {
    for (Vector { origin, message, .. }, bytes) in vectors("cooperative") {
        let read = UserData::read(Strategy::CooperativeSticky, Some(&bytes));
        assert_eq!(read, UserData::Generation(message.generation), "{origin}");
    }
}
