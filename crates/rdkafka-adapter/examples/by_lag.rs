//! An assignor of one's own that weighs partitions by lag: whoever has the one that is far behind has little else.
//!
//! A background task looks up the lag with a client of its own. What it found goes along as user data whenever the
//! member joins, so the leader knows what any of them knows. The assignor itself asks no broker: it runs between
//! librdkafka's heartbeats.
//!
//! `cargo run -p kafka-sticky-rdkafka-adapter --features mocking --example by_lag`

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::str;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use kafka_sticky_protocol::{StickyUserData, StickyUserDataWriter};
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{
    Assignor, AssignorError, Assignors, Joining, Plan, RebalanceProtocol, Round, RoundMember,
};
use rdkafka::TopicPartitionList;
use rdkafka::consumer::{BaseConsumer, Consumer};
use tokio::task::spawn_blocking;

use members::{Failure, Member, expect, fill, partitions};

mod members;

/// Messages not yet consumed, by topic and partition.
type Lags = BTreeMap<(String, u32), u64>;

#[derive(Clone, Default)]
struct ByLag {
    /// What the background task found last.
    lags: Arc<Mutex<Lags>>,
}

impl Assignor for ByLag {
    fn name(&self) -> &str {
        "by-lag"
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        RebalanceProtocol::Eager
    }

    /// First, in `sticky`'s form, what the member had, so that the leader knows its claims; behind that a line for each lag.
    fn user_data(&self, joining: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        let had = joining.last.map_or(&[][..], |last| &last.partitions);
        let had = had.iter().map(|(topic, partitions)| (topic.as_str(), partitions));
        let lags = self.lags.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = lags.iter().map(|((topic, partition), lag)| format!("{topic} {partition} {lag}\n"));
        let lines: String = lines.collect();
        let claims = StickyUserDataWriter::new(had, joining.last.map(|last| last.generation));
        Ok(Some(claims.trailing(lines.as_bytes()).write(1)?))
    }

    /// Partition by partition, the heaviest first, to the subscriber that has the least weight so far; where several do,
    /// to the one that had it.
    fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
        let mut lags = BTreeMap::new();
        for (topic, partition, lag) in round.members.iter().flat_map(reported) {
            // Of two who looked at different times, believe the one that saw more to do.
            let known: &mut u64 = lags.entry((topic, partition)).or_default();
            *known = lag.max(*known);
        }
        let mut by_weight = Vec::new();
        for (index, topic) in round.topics.iter().enumerate() {
            for partition in 0..topic.partitions {
                let lag = lags.get(&(topic.name, partition)).copied().unwrap_or(0);
                // Lags within a factor of two weigh the same, or every message would move something.
                by_weight.push((Reverse(lag.saturating_add(1).ilog2()), index, partition));
            }
        }
        by_weight.sort_unstable();

        let mut plan = Plan::new(round);
        let mut loads = vec![0_u64; round.members.len()];
        let subscribes: Vec<BTreeSet<&str>> =
            round.members.iter().map(|member| member.subscription.iter().copied().collect()).collect();
        for (Reverse(log), topic, partition) in by_weight {
            let name = round.topics[topic].name;
            let least = (0..round.members.len())
                .filter(|member| subscribes[*member].contains(name))
                .min_by_key(|member| (loads[*member], !claims(&round.members[*member], name, partition)));
            let least = least.ok_or("a topic without a subscriber")?;
            plan.give(least, topic, partition);
            loads[least] = loads[least].saturating_add(1 << log);
        }
        Ok(plan)
    }
}

/// The lags that a member says it knows; none where it says something else.
fn reported<'r>(member: &RoundMember<'r>) -> Vec<(&'r str, u32, u64)> {
    let Some(sent) = member.user_data else { return Vec::new() };
    let Ok(read) = StickyUserData::read_lossy(sent) else { return Vec::new() };
    let lines = &sent[sent.len() - read.trailing().len()..];
    let line = |line: &'r str| {
        let mut words = line.split(' ');
        Some((words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    str::from_utf8(lines).unwrap_or_default().lines().filter_map(line).collect()
}

fn claims(member: &RoundMember<'_>, topic: &str, partition: u32) -> bool {
    let mut of_topic = member.claims.iter().filter(|listing| listing.topic == topic);
    of_topic.any(|listing| listing.partitions.iter().any(|claimed| u32::try_from(*claimed) == Ok(partition)))
}

/// Looks up how far behind the group is, with a client of its configuration that never subscribes. Blocks.
fn look_up(client: &BaseConsumer, topic: &str) -> Result<Lags, Failure> {
    let patience = Duration::from_secs(5);
    let metadata = client.fetch_metadata(Some(topic), patience)?;
    let mut wanted = TopicPartitionList::new();
    for partition in metadata.topics().iter().flat_map(|topic| topic.partitions()) {
        wanted.add_partition(topic, partition.id());
    }
    let mut lags = Lags::new();
    for committed in client.committed_offsets(wanted, patience)?.elements() {
        let (low, high) = client.fetch_watermarks(topic, committed.partition(), patience)?;
        let next = committed.offset().to_raw().filter(|next| *next >= low).unwrap_or(low);
        let partition = committed.partition().unsigned_abs();
        lags.insert((topic.to_owned(), partition), u64::try_from(high - next).unwrap_or(0));
    }
    Ok(lags)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let cluster = GroupCluster::start(1)?;
    cluster.create_topic("orders", 5)?;
    fill(&cluster, "orders", &[4000, 1000, 1000, 1000, 1000])?;

    // Nothing is committed here, so that what lags keeps lagging.
    let mut config = cluster.consumer_config("billing");
    config.set("enable.auto.commit", "false");
    let (client, stopped) = (config.create::<BaseConsumer>()?, Arc::new(AtomicBool::new(false)));
    let assignor = ByLag::default();
    let background = spawn_blocking({
        let (lags, stopped) = (Arc::clone(&assignor.lags), Arc::clone(&stopped));
        move || {
            while !stopped.load(Ordering::Relaxed) {
                let found = look_up(&client, "orders")?;
                *lags.lock().unwrap_or_else(PoisonError::into_inner) = found;
                sleep(Duration::from_millis(200));
            }
            Ok::<_, Failure>(())
        }
    });

    config.set("partition.assignment.strategy", "by-lag");
    let assignors = Assignors::new().with(assignor.clone());
    let first = Member::join("first", &config, &assignors, &["orders"])?;
    first.given(|assigned| assigned.load() == 5).await?;
    let lags = || assignor.lags.lock().unwrap_or_else(PoisonError::into_inner).clone();
    while lags().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("the lags: {:?}", lags());

    let second = Member::join("second", &config, &assignors, &["orders"])?;
    let two = second.given(|assigned| assigned.load() < 5).await?;
    let one = first.given(|assigned| assigned.generation >= two.generation).await?;
    println!("first has {:?}, second has {:?}", one.partitions, two.partitions);

    second.leave().await?;
    first.leave().await?;
    stopped.store(true, Ordering::Relaxed);
    background.await??;
    let mut shares = [partitions(&one, "orders"), partitions(&two, "orders")];
    shares.sort_by_key(BTreeSet::len);
    expect(
        shares == [BTreeSet::from([0]), BTreeSet::from([1, 2, 3, 4])],
        "4,000 messages weigh as much as 4 × 1,000",
    )
}
