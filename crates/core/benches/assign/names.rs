//! From names to names: strings in, strings out, beside the same group in dense ids.

use std::{cell::LazyCell, hint::black_box, time::Duration};

use criterion::{BenchmarkId, Criterion};
use kafka_sticky_core::{Group, Member, Topic};

use crate::{
    shapes::{Random, Shape},
    verified,
};

/// What a leader is told: owned strings.
struct Told {
    topics: Vec<(String, u32)>,
    members: Vec<ToldMember>,
}

struct ToldMember {
    id: String,
    subscription: Vec<String>,
    /// Topic and partitions.
    claims: Vec<(String, Vec<i32>)>,
}

impl Told {
    fn of(shape: &Shape) -> Self {
        let name = |topic: usize| format!("org.example.some-topic-{topic:06}");
        let group = shape.group();
        let members = shape.members.iter().enumerate().map(|(index, subscription)| {
            let mut claims: Vec<(String, Vec<i32>)> = Vec::new();
            for partition in shape.claims.get(index).map_or(&[][..], |claims| &claims[0]) {
                let (topic, number) = group.topic_of(*partition);
                let topic = name(topic.index());
                if claims.last().is_none_or(|(last, _)| *last != topic) {
                    claims.push((topic, Vec::new()));
                }
                claims.last_mut().expect("pushed").1.push(number as i32);
            }
            ToldMember {
                id: format!("consumer-{index:06}-2f1c9b3e-8d1a-4c55-9f0e-6b7a5d4c3b2a"),
                subscription: subscription.iter().map(|topic| name(topic.index())).collect(),
                claims,
            }
        });
        let members = members.collect();
        let topics = shape.topics.iter().enumerate().map(|(topic, &partitions)| (name(topic), partitions));
        Self { topics: topics.collect(), members }
    }

    /// Touches every string and number once.
    fn read(&self) -> usize {
        let bytes =
            |text: &String| text.bytes().fold(0_usize, |sum, byte| sum.wrapping_add(usize::from(byte)));
        let topics = self.topics.iter().map(|(name, partitions)| bytes(name) + *partitions as usize);
        let members = self.members.iter().map(|member| {
            let claims = member.claims.iter().map(|(topic, partitions)| {
                bytes(topic) + partitions.iter().map(|number| *number as usize).sum::<usize>()
            });
            bytes(&member.id) + member.subscription.iter().map(bytes).sum::<usize>() + claims.sum::<usize>()
        });
        topics.sum::<usize>().wrapping_add(members.sum())
    }

    fn group(&self) -> Group<'_> {
        let topics = self.topics.iter().map(|(name, partitions)| Topic::new(name, *partitions));
        let members = self.members.iter().map(|told| {
            let mut member = Member::new(&told.id).subscribe(told.subscription.iter().map(String::as_str));
            for (topic, partitions) in &told.claims {
                member.add_claim(topic, partitions.iter().copied(), Some(7));
            }
            member
        });
        Group::new_forming(8, topics, members).expect("names are unique")
    }

    /// Strings in, strings out; returns how many partitions came out.
    fn assign(&self) -> usize {
        let assignment = self.group().assign();
        let shares = assignment.members().map(|share| {
            black_box(share.id());
            share.assigned().map(|(topic, partitions)| black_box((topic, partitions)).1.len()).sum::<usize>()
        });
        shares.sum()
    }
}

/// Reading the input, the dense part, and all of it.
pub(crate) fn names(criterion: &mut Criterion) {
    let shapes: [(&str, fn() -> Shape); 3] = [
        ("identical 1M x 10k, one leaves", || Shape::identical(1_000, 1_000, 10_000).settled().without(1)),
        ("identical 1M x 2k, fresh", || Shape::identical(500, 2_000, 2_000)),
        ("random tenth 100k x 2k, one leaves", || {
            Shape::random(1_000, 100, 2_000, 100, &mut Random(1)).settled().without(1)
        }),
    ];
    let mut benches = criterion.benchmark_group("names to names");
    benches.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for (name, shape) in shapes {
        let told = LazyCell::new(|| {
            let shape = shape();
            let told = Told::of(&shape);
            assert_eq!(told.assign(), shape.topics.iter().sum::<u32>() as usize, "{name}");
            assert!(verified(told.group().dense(), name), "{name}: not proven");
            told
        });
        benches.bench_function(BenchmarkId::new("read the input", name), |bencher| {
            let told = &*told;
            bencher.iter(|| told.read());
        });
        benches.bench_function(BenchmarkId::new("build the group", name), |bencher| {
            let told = &*told;
            bencher.iter(|| told.group());
        });
        benches.bench_function(BenchmarkId::new("dense", name), |bencher| {
            let group = told.group();
            bencher.iter(|| group.dense().assign());
        });
        benches.bench_function(BenchmarkId::new("names to names", name), |bencher| {
            let told = &*told;
            bencher.iter(|| told.assign());
        });
    }
    benches.finish();
}
