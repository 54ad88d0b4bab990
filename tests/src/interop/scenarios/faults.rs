//! What goes wrong in production: members that stall, members that are not let in, an instance that runs twice, a broker that
//! dies. Messages flow all the while, and are counted.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rdkafka::admin::TopicReplication;
use tokio::time::{Instant, sleep};

use crate::history::Record;
use crate::interop::client::Client::{Java, Librdkafka, Ours};
use crate::interop::group::LiveGroup;
use crate::interop::scenario::{Scenario, Stage};
use crate::judge;
use crate::writer::Writer;

/// How long anybody may take to notice a fault.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(100);
/// The session of a member that stalls and is to stay in its group, in milliseconds.
pub(super) const LONG_SESSION: u32 = 300_000;

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for strategy in ["sticky", "cooperative-sticky"] {
        let stalls = move |stage| members_stall(stage, strategy);
        scenarios.push(Scenario::new(format!("members-stall-{strategy}"), stalls));
        let twice = move |stage| one_instance_twice(stage, strategy);
        scenarios.push(Scenario::new(format!("one-instance-twice-{strategy}"), twice));
        let dies = move |stage| broker_dies_in_a_rebalance(stage, strategy);
        let dies = Scenario::new(format!("broker-dies-in-a-rebalance-{strategy}"), dies);
        scenarios.push(dies.with_brokers(&[None]));
        let moves = move |stage| coordinator_dies(stage, strategy);
        let moves = Scenario::new(format!("coordinator-dies-{strategy}"), moves);
        scenarios.push(moves.with_brokers(&[None; 3]));
    }
    scenarios.push(Scenario::new("refused-until-the-group-fits", refused_until_the_group_fits));
    scenarios
}

/// Ends the group; all messages were read, and none twice without need.
pub(super) async fn end(group: LiveGroup, feed: Writer) -> Result<()> {
    let written = feed.stop().await?;
    group.reads_all(&written).await?;
    let history = Arc::clone(group.history());
    let cooperative = group.settled().is_some_and(|settled| settled.strategy == "cooperative-sticky");
    group.end().await?;
    let record = history.record();
    let cooperative =
        if cooperative { record.assignments.keys().cloned().collect() } else { BTreeSet::new() };
    let mut faults = judge::read_again_for_no_reason(&record, &cooperative);
    faults.extend(judge::given_while_held(&record, &cooperative));
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

/// Members stop in their tracks for longer than their session, the leader too, and go on as if nothing had happened.
async fn members_stall(stage: Rc<Stage>, strategy: &'static str) -> Result<()> {
    let mut group = stage.group(&[strategy]);
    group.create_topic("orders", 11).await?;
    let feed = group.fed()?;
    for (name, client) in [("a", Ours), ("b", Java), ("c", Ours)] {
        group.join(name, client)?;
        group.settle().await?;
    }
    for name in ["c", "b", "a"] {
        group.pause(name).await?;
        group.settle().await?;
        group.resume(name).await?;
        let settled = group.settle().await?;
        ensure!(settled.loads() == [3, 4, 4], "{settled}");
    }
    end(group, feed).await
}

/// A second process comes with the instance id of a first, which is told so and is out. The group does not rebalance.
async fn one_instance_twice(stage: Rc<Stage>, strategy: &'static str) -> Result<()> {
    let mut group = stage.group(&[strategy]);
    group.create_topic("orders", 12).await?;
    let feed = group.fed()?;
    group.join("a", Ours)?;
    group.settle().await?;
    group.join("b", Java)?;
    group.settle().await?;
    group.join_as("c", Ours, |place| place.instance_id = Some("instance".into()))?;
    let before = group.settle().await?;
    group.join_as("c-again", Ours, |place| place.instance_id = Some("instance".into()))?;
    let fenced = |record: &Record| {
        let mut failures = record.failures.iter();
        failures.any(|(name, reason)| name == "c" && reason.contains("enced")).then_some(())
    };
    group.history().wait("error at the member that is fenced", PATIENCE, fenced).await?;
    group.kill("c").await?;
    let after = group.settle_without_rebalance().await?;
    ensure!(after.members["c-again"].given == before.members["c"].given, "{before}{after}");
    end(group, feed).await
}

/// A member that shares no strategy with the others is told so, in words that say what to change; once they have changed it,
/// the member is in.
async fn refused_until_the_group_fits(stage: Rc<Stage>) -> Result<()> {
    let mut group = stage.group(&["range"]);
    group.create_topic("orders", 12).await?;
    let feed = group.fed()?;
    group.join("a", Java)?;
    group.settle_whoever_leads().await?;
    group.join("b", Ours)?;
    group.settle_whoever_leads().await?;
    group.join_as("c", Ours, |place| place.strategies = vec!["sticky".into()])?;
    let told = |record: &Record| {
        let mut told = record.told.iter().filter(|(name, _)| name == "c");
        told.next().map(|(_, event)| event.clone())
    };
    let told = group.history().wait("event at the member that is refused", PATIENCE, told).await?;
    for part in ["InconsistentGroupProtocol", "offers sticky", "partition.assignment.strategy"] {
        ensure!(told.contains(part), "it does not say {part}: {told}");
    }
    let failed = |record: &Record| {
        let mut failures = record.failures.iter();
        failures
            .any(|(name, reason)| name == "c" && reason.contains("InconsistentGroupProtocol"))
            .then_some(())
    };
    group.history().wait("error at the member that is refused", PATIENCE, failed).await?;
    for (before, after, client) in [("a", "a-again", Java), ("b", "b-again", Ours)] {
        group.leave(before).await?;
        group.join_as(after, client, |place| place.strategies = vec!["sticky".into(), "range".into()])?;
    }
    let settled = group.settle_whoever_leads().await?;
    ensure!(settled.strategy == "sticky" && settled.loads() == [4, 4, 4], "{settled}");
    end(group, feed).await
}

/// The broker dies, and later is stopped, while a rebalance waits for a member that stalls; then both come back.
async fn broker_dies_in_a_rebalance(stage: Rc<Stage>, strategy: &'static str) -> Result<()> {
    let mut group = stage.group(&[strategy]);
    group.create_topic("orders", 13).await?;
    let feed = group.fed()?;
    for (name, client) in [("a", Ours), ("b", Java)] {
        group.join(name, client)?;
        group.settle().await?;
    }
    group.join_as("c", Ours, |place| place.session_timeout_ms = LONG_SESSION)?;
    group.settle().await?;

    group.pause("c").await?;
    group.join("d", Ours)?;
    group.is_doing("PreparingRebalance", &["d"]).await?;
    stage.cluster.kill(1).await?;
    stage.cluster.start_again(1).await?;
    group.resume("c").await?;
    group.settle().await?;

    group.pause("c").await?;
    group.leave("d").await?;
    group.is_doing("PreparingRebalance", &[]).await?;
    stage.cluster.stop(1).await?;
    stage.cluster.start_again(1).await?;
    group.resume("c").await?;
    let settled = group.settle().await?;
    ensure!(settled.loads() == [4, 4, 5], "{settled}");
    end(group, feed).await
}

/// The broker that coordinates dies, once while nothing happens and once while a rebalance waits for a member that stalls; the
/// group goes on with another of the three.
async fn coordinator_dies(stage: Rc<Stage>, strategy: &'static str) -> Result<()> {
    let mut group = stage.group(&[strategy]);
    let topic = group.topic("orders");
    stage.cluster.create_topic_on(&topic, 13, TopicReplication::Fixed(2)).await?;
    group.expect_topic(topic, 13);
    let feed = group.fed()?;
    // Of librdkafka's own strategies only the cooperative one is sticky.
    let third = if strategy == "sticky" { Ours } else { Librdkafka };
    for (name, client) in [("a", Ours), ("b", Java), ("c", third)] {
        group.join_as(name, client, |place| place.session_timeout_ms = LONG_SESSION)?;
        group.settle().await?;
    }
    let before = group.settled().context("it has settled")?.clone();

    let first = stage.cluster.coordinator(group.id()).await?;
    stage.cluster.kill(first).await?;
    let second = elsewhere(&stage, &group, first).await?;
    let after = group.settle_without_rebalance().await?;
    for (name, member) in &after.members {
        ensure!(member.given == before.members[name].given, "{before}{after}");
    }
    group.join("d", Ours)?;
    group.settle().await?;
    stage.cluster.start_again(first).await?;

    group.pause("c").await?;
    group.join("e", Ours)?;
    group.is_doing("PreparingRebalance", &["e"]).await?;
    stage.cluster.kill(second).await?;
    elsewhere(&stage, &group, second).await?;
    group.resume("c").await?;
    let settled = group.settle().await?;
    ensure!(settled.loads() == [2, 2, 3, 3, 3], "{settled}");
    stage.cluster.start_again(second).await?;
    end(group, feed).await
}

/// Waits until another broker coordinates, and gives its number.
async fn elsewhere(stage: &Stage, group: &LiveGroup, dead: usize) -> Result<usize> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match stage.cluster.coordinator(group.id()).await {
            Ok(coordinator) if coordinator != dead => return Ok(coordinator),
            _ => ensure!(Instant::now() < deadline, "nobody takes over from broker {dead}"),
        }
        sleep(PAUSE).await;
    }
}
