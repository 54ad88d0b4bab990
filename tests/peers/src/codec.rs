//! Our codec beside `kafka-protocol`'s: instructions and allocations, both counted by callgrind.

use std::env;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use bytes::{BufMut as _, Bytes, BytesMut};
use kafka_protocol::messages::ConsumerProtocolSubscription;
use kafka_protocol::messages::consumer_protocol_subscription::TopicPartition;
use kafka_protocol::protocol::{Decodable as _, Encodable as _, StrBytes};
use kafka_sticky_protocol::{Order, Subscription, SubscriptionWriter};
use serde_json::json;

use crate::options::Options;

const TOPICS: [usize; 3] = [1, 50, 1000];
const PARTITIONS_EACH: i32 = 10;
/// Reading alone; reading and then looking at every topic and partition; writing.
const WORK: [&str; 3] = ["read", "walk", "write"];
const CODECS: [&str; 2] = ["ours", "kafka-protocol"];

/// Prints a line for each piece of work and number of topics.
pub(crate) fn run(options: &Options) -> Result<()> {
    for work in WORK {
        for topics in TOPICS {
            let [ours, theirs] = CODECS.map(|codec| count(&options.programs.folder, codec, work, topics));
            let (ours, theirs) = (ours?, theirs?);
            let ratio = theirs.instructions as f64 / ours.instructions as f64;
            if options.json {
                let line = json!({
                    "work": work,
                    "topics": topics,
                    "ours_instructions": ours.instructions,
                    "kafka_protocol_instructions": theirs.instructions,
                    "ratio": ratio,
                    "ours_allocations": ours.allocations,
                    "kafka_protocol_allocations": theirs.allocations,
                });
                println!("{line}");
                continue;
            }
            println!(
                "{work:<5} a subscription of {topics:>4} topics: {:>8} instructions and {} allocations; kafka-protocol \
                 {:>8} and {}: {ratio:.1} times",
                ours.instructions, ours.allocations, theirs.instructions, theirs.allocations
            );
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Count {
    instructions: u64,
    allocations: u64,
}

/// Of doing it twice, less that of doing it once: what is the same in both does not count.
fn count(folder: &Path, codec: &str, work: &str, topics: usize) -> Result<Count> {
    let [once, twice] = [1, 2].map(|times| profile(folder, codec, work, topics, times));
    let (once, twice) = (once?, twice?);
    Ok(Count {
        instructions: twice.instructions - once.instructions,
        allocations: twice.allocations - once.allocations,
    })
}

fn profile(folder: &Path, codec: &str, work: &str, topics: usize, times: usize) -> Result<Count> {
    let out = folder.join("callgrind");
    let valgrind = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--compress-strings=no"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(env::current_exe()?)
        .args(["codec-work", codec, work, &topics.to_string(), &times.to_string()])
        .output()
        .context("valgrind is missing; install it")?;
    ensure!(valgrind.status.success(), "valgrind: {}", String::from_utf8_lossy(&valgrind.stderr));
    let profile = fs::read_to_string(&out)?;
    let total =
        profile.lines().find_map(|line| line.strip_prefix("summary: ").or(line.strip_prefix("totals: ")));
    let instructions = total.context("no total in callgrind's output")?.trim().parse()?;
    Ok(Count { instructions, allocations: allocations(&profile)? })
}

/// How often memory was asked for.
fn allocations(profile: &str) -> Result<u64> {
    let mut allocations = 0;
    let mut asks = false;
    for line in profile.lines() {
        if let Some(called) = line.strip_prefix("cfn=") {
            asks = ["malloc", "calloc", "realloc", "posix_memalign"].contains(&called);
        } else if let Some(calls) = line.strip_prefix("calls=").filter(|_| asks) {
            allocations += calls.split(' ').next().context("no count of calls")?.parse::<u64>()?;
        }
    }
    Ok(allocations)
}

/// Does one piece of work so many times, for callgrind to count.
pub(crate) fn work(codec: &str, work: &str, topics: usize, times: usize) -> Result<()> {
    let names: Vec<String> = (0..topics).map(|number| format!("some-topic-name-{number:04}")).collect();
    let (writer, message) = (ours(&names), theirs(&names));
    let bytes = Bytes::from(writer.write(3)?);
    ensure!(bytes == write_theirs(&message)?, "the two write something else");
    let ours_read = || Subscription::read(black_box(&bytes)).expect("valid");
    let theirs_read = || read_theirs(black_box(&bytes)).expect("valid");
    ensure!(our_sum(&ours_read()) == their_sum(&theirs_read()), "the two read something else");
    let as_given = writer.clone().order(Order::AsGiven);
    let once: &dyn Fn() -> i64 = match (codec, work) {
        ("ours", "read") => &|| ours_read().version().into(),
        ("ours", "walk") => &|| our_sum(&ours_read()),
        ("ours", "write") => &|| as_given.write(3).map_or(0, |bytes| bytes.len() as i64),
        ("kafka-protocol", "read") => &|| theirs_read().generation_id.into(),
        ("kafka-protocol", "walk") => &|| their_sum(&theirs_read()),
        ("kafka-protocol", "write") => &|| write_theirs(&message).map_or(0, |bytes| bytes.len() as i64),
        _ => bail!("there is no {work} of {codec}"),
    };
    for _ in 0..times {
        black_box(once());
    }
    Ok(())
}

fn ours(names: &[String]) -> SubscriptionWriter<'_> {
    SubscriptionWriter::new(names.iter().map(String::as_str))
        .owned_partitions(names.iter().map(|name| (name.as_str(), 0..PARTITIONS_EACH)))
        .generation_id(Some(7))
        .rack_id(Some("rack"))
}

fn theirs(names: &[String]) -> ConsumerProtocolSubscription {
    let name = |name: &String| StrBytes::from_string(name.clone());
    let partitions = || (0..PARTITIONS_EACH).collect();
    let owned = names
        .iter()
        .map(|topic| TopicPartition::default().with_topic(name(topic).into()).with_partitions(partitions()));
    ConsumerProtocolSubscription::default()
        .with_topics(names.iter().map(name).collect())
        .with_owned_partitions(owned.collect())
        .with_generation_id(7)
        .with_rack_id(Some(StrBytes::from_static_str("rack")))
}

fn our_sum(subscription: &Subscription<'_>) -> i64 {
    let names: usize = subscription.topics().iter().map(str::len).sum();
    let partitions = subscription.owned_partitions().iter().flat_map(|(_, partitions)| partitions);
    names as i64 + partitions.map(i64::from).sum::<i64>()
}

fn their_sum(subscription: &ConsumerProtocolSubscription) -> i64 {
    let names: usize = subscription.topics.iter().map(|topic| topic.len()).sum();
    let partitions = subscription.owned_partitions.iter().flat_map(|owned| &owned.partitions);
    names as i64 + partitions.map(|partition| i64::from(*partition)).sum::<i64>()
}

fn read_theirs(bytes: &Bytes) -> Result<ConsumerProtocolSubscription> {
    ConsumerProtocolSubscription::decode(&mut bytes.slice(2..), 3)
}

fn write_theirs(message: &ConsumerProtocolSubscription) -> Result<BytesMut> {
    let mut bytes = BytesMut::with_capacity(2 + message.compute_size(3)?);
    bytes.put_i16(3);
    message.encode(&mut bytes, 3)?;
    Ok(bytes)
}
