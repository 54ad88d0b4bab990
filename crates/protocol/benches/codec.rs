//! Reading and writing subscriptions, beside `kafka-protocol`.
//!
//! "Walk" reads every topic and partition. `kafka-protocol` has them all in vectors once it has read;
//! our views read them from the bytes each time, so the fair pair is walk and walk.
#![allow(missing_docs)]

use std::hint::black_box;

use bytes::{BufMut, Bytes, BytesMut};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kafka_protocol::messages::ConsumerProtocolSubscription;
use kafka_protocol::messages::consumer_protocol_subscription::TopicPartition;
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};
use kafka_sticky_protocol::{Order, Subscription, SubscriptionWriter};

/// Topics, and partitions owned of each.
const SHAPES: [(usize, i32); 3] = [(1, 10), (50, 20), (1000, 10)];

fn names(topics: usize) -> Vec<String> {
    (0..topics).map(|number| format!("some-topic-name-{number:04}")).collect()
}

fn ours(names: &[String], partitions: i32) -> SubscriptionWriter<'_> {
    SubscriptionWriter::new(names.iter().map(String::as_str))
        .owned_partitions(names.iter().map(|name| (name.as_str(), 0..partitions)))
        .generation_id(Some(7))
        .rack_id(Some("rack"))
}

fn theirs(names: &[String], partitions: i32) -> ConsumerProtocolSubscription {
    let name = |name: &String| StrBytes::from_string(name.clone());
    let owned = names.iter().map(|topic| {
        TopicPartition::default().with_topic(name(topic).into()).with_partitions((0..partitions).collect())
    });
    ConsumerProtocolSubscription::default()
        .with_topics(names.iter().map(name).collect())
        .with_owned_partitions(owned.collect())
        .with_generation_id(7)
        .with_rack_id(Some(StrBytes::from_static_str("rack")))
}

fn our_sum(subscription: &Subscription<'_>) -> i64 {
    let names: usize = subscription.topics().iter().map(str::len).sum();
    let partitions: i64 =
        subscription.owned_partitions().iter().flat_map(|(_, partitions)| partitions).map(i64::from).sum();
    names as i64 + partitions
}

fn their_sum(subscription: &ConsumerProtocolSubscription) -> i64 {
    let names: usize = subscription.topics.iter().map(|topic| topic.len()).sum();
    let partitions = subscription.owned_partitions.iter().flat_map(|owned| &owned.partitions);
    names as i64 + partitions.map(|partition| i64::from(*partition)).sum::<i64>()
}

fn read_theirs(bytes: &Bytes) -> ConsumerProtocolSubscription {
    ConsumerProtocolSubscription::decode(&mut bytes.slice(2..), 3).unwrap()
}

fn write_theirs(message: &ConsumerProtocolSubscription) -> BytesMut {
    let mut bytes = BytesMut::with_capacity(2 + message.compute_size(3).unwrap());
    bytes.put_i16(3);
    message.encode(&mut bytes, 3).unwrap();
    bytes
}

fn codec(criterion: &mut Criterion) {
    for (topics, partitions) in SHAPES {
        let names = names(topics);
        let writer = ours(&names, partitions);
        let as_given = writer.clone().order(Order::AsGiven);
        let message = theirs(&names, partitions);
        let bytes = Bytes::from(writer.write(3).unwrap());
        assert_eq!(bytes, write_theirs(&message).freeze());
        assert_eq!(our_sum(&Subscription::read(&bytes).unwrap()), their_sum(&read_theirs(&bytes)));

        let shape = format!("{topics}x{partitions}");
        let mut group = criterion.benchmark_group("read");
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(BenchmarkId::new("ours", &shape), |bencher| {
            bencher.iter(|| Subscription::read(black_box(&bytes)).unwrap());
        });
        group.bench_function(BenchmarkId::new("ours, walk", &shape), |bencher| {
            bencher.iter(|| our_sum(&Subscription::read(black_box(&bytes)).unwrap()));
        });
        group.bench_function(BenchmarkId::new("kafka-protocol, walk", &shape), |bencher| {
            bencher.iter(|| their_sum(&read_theirs(black_box(&bytes))));
        });
        group.finish();

        let mut group = criterion.benchmark_group("write");
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(BenchmarkId::new("ours, canonical", &shape), |bencher| {
            bencher.iter(|| black_box(&writer).write(3).unwrap());
        });
        group.bench_function(BenchmarkId::new("ours, as given", &shape), |bencher| {
            bencher.iter(|| black_box(&as_given).write(3).unwrap());
        });
        group.bench_function(BenchmarkId::new("ours, from pieces", &shape), |bencher| {
            bencher.iter(|| ours(black_box(&names), partitions).write(3).unwrap());
        });
        group.bench_function(BenchmarkId::new("kafka-protocol", &shape), |bencher| {
            bencher.iter(|| write_theirs(black_box(&message)));
        });
        group.bench_function(BenchmarkId::new("kafka-protocol, from pieces", &shape), |bencher| {
            bencher.iter(|| write_theirs(&theirs(black_box(&names), partitions)));
        });
        group.finish();
    }
}

criterion_group!(benches, codec);
criterion_main!(benches);
