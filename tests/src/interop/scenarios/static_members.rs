//! Static members (KIP-345), which the mock cluster does not have.

use std::fs;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kafka_sticky_rdkafka_adapter::SavedState;
use tokio::time::{Instant, sleep};

use crate::interop::client::Client::{self, Java, Ours};
use crate::interop::group::LiveGroup;
use crate::interop::scenario::{Scenario, Stage};
use crate::interop::scenarios::faults::{LONG_SESSION, PATIENCE, end};

const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for strategy in ["sticky", "cooperative-sticky"] {
        let in_time = move |stage| restart_in_time(stage, strategy);
        scenarios.push(Scenario::new(format!("static-members-restart-{strategy}"), in_time));
        let too_late = move |stage| is_remembered(stage, strategy);
        scenarios.push(Scenario::new(format!("static-member-is-remembered-{strategy}"), too_late));
        let stateful = move |stage| restart_with_state(stage, strategy);
        scenarios.push(Scenario::new(format!("saved-state-outlives-the-session-{strategy}"), stateful));
    }
    scenarios
}

/// A process of a static member.
fn join(
    group: &mut LiveGroup,
    name: &str,
    client: Client,
    instance_id: &str,
    session_timeout_ms: u32,
) -> Result<()> {
    group.join_as(name, client, |place| {
        place.instance_id = Some(instance_id.to_owned());
        place.session_timeout_ms = session_timeout_ms;
    })
}

/// Members are killed or end properly, the leader too, and come back before they are missed: nobody rebalances, and the next
/// process has what the one before had, and claims it.
async fn restart_in_time(stage: Rc<Stage>, strategy: &'static str) -> Result<()> {
    let mut group = stage.group(&[strategy]);
    group.create_topic("orders", 14).await?;
    let feed = group.fed()?;
    let clients = [("a", Ours), ("b", Ours), ("c", Java)];
    for (name, client) in clients {
        join(&mut group, name, client, name, LONG_SESSION)?;
        group.settle().await?;
    }
    let mut before = group.settled().context("it has settled")?.clone();
    for (name, client) in clients {
        let lives = [name.to_owned(), format!("{name}-2"), format!("{name}-3")];
        for (index, [old, new]) in [[&lives[0], &lives[1]], [&lives[1], &lives[2]]].into_iter().enumerate() {
            if index == 0 {
                group.kill(old).await?;
            } else {
                group.leave(old).await?;
            }
            join(&mut group, new, client, name, LONG_SESSION)?;
            let settled = group.settle_without_rebalance().await?;
            let (had, has) = (&before.members[old].given, &settled.members[new].given);
            ensure!(had == has, "{new} has {has:?}, and had {had:?}");
            before = settled;
        }
    }
    group.join("d", Ours)?;
    let settled = group.settle().await?;
    for (name, _) in clients {
        let name = format!("{name}-3");
        let had = &before.members[&name].given;
        let kept = settled.members[&name].given.intersection(had).count();
        let possible = settled.members[&name].given.len().min(had.len());
        ensure!(kept == possible, "{name} kept {kept} of {possible}: {before}{settled}");
    }
    end(group, feed).await
}

/// A static member is missed, and comes back while the rebalance over it goes on: its process knows nothing, and the leader
/// knows what it had.
async fn is_remembered(stage: Rc<Stage>, strategy: &'static str) -> Result<()> {
    let mut group = stage.group(&[strategy]);
    group.create_topic("orders", 12).await?;
    let feed = group.fed()?;
    group.join("a", Ours)?;
    group.settle().await?;
    join(&mut group, "b", Ours, "instance", 6_000)?;
    group.settle().await?;
    // Whoever joins last leads no group of members that stay.
    group.join_as("c", Ours, |place| place.session_timeout_ms = LONG_SESSION)?;
    let before = group.settle().await?;
    ensure!(before.leader.as_deref() == Some("a"), "{before}");

    // While this one stalls, no rebalance ends.
    group.pause("c").await?;
    group.kill("b").await?;
    group.is_doing("PreparingRebalance", &[]).await?;
    join(&mut group, "b-again", Ours, "instance", 6_000)?;
    group.is_doing("PreparingRebalance", &["b-again"]).await?;
    group.resume("c").await?;
    let after = group.settle().await?;
    let again = &after.members["b-again"];
    ensure!(again.given == before.members["b"].given, "{before}{after}");
    ensure!(again.claims.partitions.is_empty(), "{after}");
    let record = group.history().record();
    let mut rounds = record.led.iter().filter_map(|(_, led)| led.round.as_ref());
    let remembered = rounds.any(|round| round.remembered.contains(&again.member_id));
    ensure!(remembered, "the leader did not speak for it: {after}");
    end(group, feed).await
}

/// A static member is gone for longer than its session, so that others have what it had; it comes back with the state that it
/// saved, and gets exactly that again.
async fn restart_with_state(stage: Rc<Stage>, strategy: &'static str) -> Result<()> {
    let mut group = stage.group(&[strategy]);
    group.create_topic("orders", 12).await?;
    let feed = group.fed()?;
    let file = stage.folder.join("state");
    for (name, client) in [("a", Ours), ("b", Ours), ("c", Java)] {
        group.join_as(name, client, |place| {
            if name == "b" {
                place.instance_id = Some("instance".into());
                place.state_file = Some(file.clone());
            }
        })?;
        group.settle().await?;
    }
    let before = group.settled().context("it has settled")?.clone();
    let deadline = Instant::now() + PATIENCE;
    while !fs::read(&file).is_ok_and(|bytes| is_of(&bytes, before.generation)) {
        ensure!(Instant::now() < deadline, "the state is not saved");
        sleep(PAUSE).await;
    }
    group.kill("b").await?;
    let without = group.settle().await?;
    ensure!(without.loads() == [6, 6], "{without}");
    group.join_as("b-2", Ours, |place| {
        place.instance_id = Some("instance".into());
        place.state_file = Some(file);
    })?;
    let after = group.settle().await?;
    ensure!(after.leader.as_deref() == Some("a"), "{after}");
    ensure!(after.members["b-2"].given == before.members["b"].given, "{before}{without}{after}");
    end(group, feed).await
}

fn is_of(bytes: &[u8], generation: i32) -> bool {
    SavedState::from_bytes(bytes).is_ok_and(|state| state.generation() == generation)
}
