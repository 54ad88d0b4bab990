//! Groups of real consumers on librdkafka's mock cluster, each test with a cluster of its own.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, Result};
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_tests::group::Group;
use kafka_sticky_tests::judge::Settled;
use rdkafka::config::RDKafkaLogLevel;
use tokio::time::sleep;

/// Valgrind needs longer ones than the mock cluster's.
const SESSION_TIMEOUT: &str = "KAFKA_STICKY_SESSION_TIMEOUT_MS";

/// What librdkafka logs, as its setting `debug`: `cgrp,protocol`, say.
const DEBUG: &str = "KAFKA_STICKY_DEBUG";

/// A cluster with these topics, and a group without members that offers `sticky`.
fn group_on(topics: &[(&str, i32)]) -> Result<(GroupCluster, Group)> {
    group_with(topics, &[("partition.assignment.strategy", "sticky")])
}

/// A cluster with these topics, and a group without members, configured like this.
fn group_with(topics: &[(&str, i32)], settings: &[(&str, &str)]) -> Result<(GroupCluster, Group)> {
    let cluster = GroupCluster::start(1)?;
    let mut config = cluster.consumer_config("group");
    for (key, value) in settings {
        config.set(*key, *value);
    }
    if let Ok(millis) = std::env::var(SESSION_TIMEOUT) {
        config.set("session.timeout.ms", millis);
    }
    if let Ok(facilities) = std::env::var(DEBUG) {
        config.set("debug", facilities).set_log_level(RDKafkaLogLevel::Debug);
    }
    let mut group = Group::new(config, env!("CARGO_BIN_EXE_demo"));
    for (topic, partitions) in topics {
        cluster.create_topic(topic, *partitions)?;
        group.expect_topic(topic, *partitions);
    }
    Ok((cluster, group))
}

/// Waits until the group has settled, checks that each rebalance on the way was as even as possible and moved as little
/// as possible, and gives the last. Its number of moves alone says little: a member that missed its heartbeats on a busy
/// machine makes another rebalance.
async fn settle(group: &mut Group) -> Result<Settled> {
    let rebalances = group.settle().await?;
    for settled in &rebalances {
        assert!(settled.is_optimal(), "generation {}:\n{settled}", settled.generation);
    }
    rebalances.last().cloned().context("no rebalance")
}

fn loads(settled: &Settled) -> Vec<usize> {
    let mut loads: Vec<usize> = settled.changes.values().map(|change| change.kept + change.gained).collect();
    loads.sort_unstable();
    loads
}

#[tokio::test(flavor = "multi_thread")]
async fn one_two_three_two_members() -> Result<()> {
    let (_cluster, mut group) = group_on(&[("orders", 7), ("payments", 4)])?;
    let topics = ["orders", "payments"];

    group.join("a", &topics);
    assert_eq!(loads(&settle(&mut group).await?), [11]);

    group.join("b", &topics);
    assert_eq!(loads(&settle(&mut group).await?), [5, 6]);

    group.join("c", &topics);
    assert_eq!(loads(&settle(&mut group).await?), [3, 4, 4]);

    group.leave("b").await?;
    assert_eq!(loads(&settle(&mut group).await?), [5, 6]);
    group.disband().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_vanishes_is_missed_and_its_partitions_shared_out() -> Result<()> {
    let (_cluster, mut group) = group_on(&[("orders", 9)])?;
    group.join("a", &["orders"]);
    settle(&mut group).await?;
    group.join("b", &["orders"]);
    settle(&mut group).await?;
    group.spawn("c", &["orders"])?;
    settle(&mut group).await?;

    group.kill("c").await?;
    assert_eq!(loads(&settle(&mut group).await?), [4, 5]);
    group.disband().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_vanishes_is_succeeded_by_one_that_moves_nothing() -> Result<()> {
    let (_cluster, mut group) = group_on(&[("orders", 8)])?;
    group.spawn("first", &["orders"])?;
    assert_eq!(settle(&mut group).await?.leader.as_deref(), Some("first"));
    group.join("a", &["orders"]);
    group.join("b", &["orders"]);
    assert_eq!(settle(&mut group).await?.leader.as_deref(), Some("first"));

    group.kill("first").await?;
    assert!(settle(&mut group).await?.leader.is_some_and(|leader| leader != "first"));
    group.disband().await
}

#[tokio::test(flavor = "multi_thread")]
async fn members_with_different_subscriptions_get_what_they_subscribe_to() -> Result<()> {
    let (_cluster, mut group) = group_on(&[("orders", 6), ("payments", 3), ("refunds", 1)])?;
    group.join("all", &["orders", "payments", "refunds"]);
    settle(&mut group).await?;
    group.join("orders", &["orders"]);
    settle(&mut group).await?;
    group.join("payments", &["payments", "refunds"]);
    assert_eq!(loads(&settle(&mut group).await?), [3, 3, 4]);

    // Another subscription while the group runs: the same member leaves and comes back with it.
    group.leave("orders").await?;
    settle(&mut group).await?;
    group.join("orders", &["orders", "refunds"]);
    settle(&mut group).await?;
    group.disband().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_returns_claims_an_older_generation_and_takes_from_nobody_what_is_newer() -> Result<()>
{
    let (_cluster, mut group) = group_on(&[("orders", 9)])?;
    group.join("a", &["orders"]);
    settle(&mut group).await?;
    group.join("b", &["orders"]);
    settle(&mut group).await?;
    group.spawn("sleeper", &["orders"])?;
    let before = settle(&mut group).await?;

    group.pause("sleeper").await?;
    let without = settle(&mut group).await?;
    assert!(!without.changes.contains_key("sleeper"));

    group.resume("sleeper").await?;
    let after = settle(&mut group).await?;
    assert!(after.generation > without.generation && without.generation > before.generation);
    // Everything that it had is claimed by others in a later generation, as the judge knows.
    assert_eq!(loads(&after), [3, 3, 3]);
    group.disband().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_created_later_is_shared_out_and_moves_nothing_else() -> Result<()> {
    let (cluster, mut group) = group_on(&[("shop.orders", 6)])?;
    for name in ["a", "b", "c"] {
        group.join(name, &["^shop\\."]);
    }
    assert_eq!(loads(&settle(&mut group).await?), [2, 2, 2]);

    cluster.create_topic("shop.payments", 6)?;
    group.expect_topic("shop.payments", 6);
    let rebalances = group.settle().await?;
    // Members hear of a new topic one by one, and each rebalance on the way must be optimal for what they subscribe to.
    assert!(rebalances.iter().all(Settled::is_optimal), "{rebalances:?}");
    let settled = rebalances.last().context("no rebalance")?;
    assert_eq!(loads(settled), [4, 4, 4]);
    group.disband().await
}

/// A small generator of repeatable choices (Marsaglia's xorshift).
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_joins_and_leaves_at_random() -> Result<()> {
    let topics = [("orders", 7), ("payments", 5), ("refunds", 3)];
    let (_cluster, mut group) = group_on(&topics)?;
    let mut choices = Choices(0x5eed_0f5e_ed0f);
    let mut joined = 0;
    for _ in 0..30 {
        let members: Vec<String> = group.members().into_iter().collect();
        if members.len() < 2 || (members.len() < 6 && choices.below(2) == 0) {
            // Every third subscribes to two topics of the three.
            let subscribed: BTreeSet<&str> = match choices.below(3) {
                0 => [choices.below(3), choices.below(3)].into_iter().map(|topic| topics[topic].0).collect(),
                _ => topics.iter().map(|(topic, _)| *topic).collect(),
            };
            let subscribed: Vec<&str> = subscribed.into_iter().collect();
            group.join(&format!("member-{joined}"), &subscribed);
            joined += 1;
        } else {
            group.leave(&members[choices.below(members.len())]).await?;
        }
        settle(&mut group).await?;
    }
    group.disband().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cooperative_group_moves_the_least_and_no_partition_before_its_holder_is_done_with_it() -> Result<()>
{
    // Sessions so long that no member is taken for gone: then somebody else has its partitions before it knows.
    let settings = [("partition.assignment.strategy", "cooperative-sticky"), ("session.timeout.ms", "3000")];
    let (_cluster, mut group) = group_with(&[("orders", 7), ("payments", 4)], &settings)?;
    let topics = ["orders", "payments"];
    for (name, expected) in [("a", &[11][..]), ("b", &[5, 6]), ("c", &[3, 4, 4])] {
        group.join(name, &topics);
        let settled = group.settle_in_steps().await?;
        assert!(settled.is_optimal(), "{name} joined:\n{settled}");
        assert_eq!(loads(&settled), expected);
    }
    group.leave("a").await?;
    let settled = group.settle_in_steps().await?;
    assert!(settled.is_optimal(), "a left:\n{settled}");
    assert_eq!(loads(&settled), [5, 6]);

    let history = group.history().clone();
    group.disband().await?;
    assert_eq!(history.record().overlaps, [""; 0]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_with_an_eager_strategy_makes_cooperative_sticky_eager_and_keeps_it_sticky() -> Result<()> {
    let (_cluster, mut group) =
        group_with(&[("orders", 7)], &[("partition.assignment.strategy", "cooperative-sticky, range")])?;
    group.join("a", &["orders"]);
    settle(&mut group).await?;
    group.join("b", &["orders"]);
    // In one generation, as nobody holds anything.
    assert_eq!(loads(&settle(&mut group).await?), [3, 4]);
    group.join("c", &["orders"]);
    assert_eq!(loads(&settle(&mut group).await?), [2, 2, 3]);
    group.disband().await
}

#[tokio::test(flavor = "multi_thread")]
async fn members_of_a_range_group_are_seen_too() -> Result<()> {
    let (_cluster, mut group) =
        group_with(&[("orders", 6)], &[("partition.assignment.strategy", "range, sticky")])?;
    group.join("a", &["orders"]);
    assert_eq!(loads(&settle(&mut group).await?), [6]);
    group.join("b", &["orders"]);
    // The broker's choice is the first that all have; nobody claims under it, and range moves what it likes.
    let rebalances = group.settle().await?;
    assert_eq!(loads(rebalances.last().context("no rebalance")?), [3, 3]);
    group.disband().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_at_rest_does_not_rebalance() -> Result<()> {
    let settings = [("partition.assignment.strategy", "sticky"), ("session.timeout.ms", "3000")];
    let (_cluster, mut group) = group_with(&[("orders", 6)], &settings)?;
    group.join("a", &["orders"]);
    group.join("b", &["orders"]);
    let settled = settle(&mut group).await?;
    // Several metadata refreshes and session timeouts long.
    sleep(Duration::from_secs(3)).await;
    let record = group.history().record();
    let latest = record.assignments.values().flatten().map(|assigned| assigned.generation).max();
    assert_eq!(latest, Some(settled.generation));
    group.disband().await
}
