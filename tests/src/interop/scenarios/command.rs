//! The `kafka-sticky group` command on groups of Java's members, and of ours among them: what it shows, and that what it
//! foretells comes true.

use std::collections::BTreeSet;
use std::env;
use std::rc::Rc;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tokio::process::Command;

use crate::interop::client::Client::{self, Java, Ours};
use crate::interop::group::LiveGroup;
use crate::interop::scenario::{Scenario, Stage};
use crate::interop::verdict::Settled;
use crate::seen::Partition;

pub(super) fn scenarios() -> Vec<Scenario> {
    let of = |(strategy, clients): (&'static str, [Client; 3])| {
        Scenario::new(format!("command-shows-{strategy}"), move |stage| shown(stage, strategy, clients))
    };
    let groups = [
        ("sticky", [Java, Java, Java]),
        ("cooperative-sticky", [Java, Ours, Java]),
        ("range", [Java, Java, Java]),
        ("roundrobin", [Ours, Java, Java]),
    ];
    groups.into_iter().map(of).collect()
}

/// Three join, one after the other; the command shows each; one leaves, as the command was asked about.
async fn shown(stage: Rc<Stage>, strategy: &'static str, clients: [Client; 3]) -> Result<()> {
    let mut group = stage.group(&[strategy]);
    group.create_topic("clicks", 3).await?;
    group.create_topic("orders", 6).await?;
    for (name, client) in ["a", "b", "c"].into_iter().zip(clients) {
        group.join(name, client)?;
        let settled = settle(&mut group, strategy).await?;
        as_settled(&ask(&stage, &group, &[]).await?, &settled, strategy)?;
    }
    let asked = ask(&stage, &group, &["--without", "b"]).await?;
    group.leave("b").await?;
    let settled = settle(&mut group, strategy).await?;
    as_settled(&ask(&stage, &group, &[]).await?, &settled, strategy)?;
    if strategy.ends_with("sticky") {
        foretold(&asked, &settled)?;
    }
    unknown(&stage).await?;
    group.end().await
}

/// Of `range` nobody is to judge the assignment here.
async fn settle(group: &mut LiveGroup, strategy: &str) -> Result<Settled> {
    if strategy.ends_with("sticky") { group.settle().await } else { group.settle_unjudged().await }
}

async fn ask(stage: &Stage, group: &LiveGroup, more: &[&str]) -> Result<Value> {
    let output = command(stage, group.id())?.args(more).output().await?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "kafka-sticky group: {said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The command stands beside this program.
fn command(stage: &Stage, group: &str) -> Result<Command> {
    let program = env::current_exe()?.with_file_name("kafka-sticky");
    let mut command = Command::new(program);
    let servers = stage.cluster.bootstrap_servers();
    command.args(["group", "--format", "json", "--bootstrap-server", &servers, "--group", group]);
    Ok(command)
}

fn as_settled(shown: &Value, settled: &Settled, strategy: &str) -> Result<()> {
    ensure!(shown["state"] == "Stable" && shown["protocol"] == strategy, "{shown}");
    let members = shown["members"].as_object().context("no members")?;
    ensure!(members.len() == settled.members.len(), "{shown}");
    for (name, member) in &settled.members {
        let shown =
            members.get(&member.member_id).with_context(|| format!("{name} is not shown: {shown}"))?;
        ensure!(shown["client_id"] == name.as_str(), "{name}: {shown}");
        ensure!(
            partitions(&shown["assignment"])? == member.given,
            "{name} was given {:?}: {shown}",
            member.given
        );
        ensure!(shown["load"] == member.given.len(), "{name}: {shown}");
        if strategy.ends_with("sticky") {
            let claims = &member.claims;
            ensure!(partitions(&shown["claims"])? == claims.partitions, "{name} claimed {claims:?}: {shown}");
            // Of no claims, the generation does not matter.
            let generation = shown["generation"].as_i64().unwrap_or(-1);
            let alike = claims.partitions.is_empty() || generation == i64::from(claims.generation).max(-1);
            ensure!(alike, "{name} claimed {claims:?}: {shown}");
        }
    }
    let loads: Vec<usize> = settled.loads();
    ensure!(shown["balance"]["max_load"].as_u64() == loads.last().map(|load| *load as u64), "{shown}");
    ensure!(shown["balance"]["unassigned"] == 0, "{shown}");
    Ok(())
}

/// Java's `sticky` finds as even a split, and where all subscribe to the same topics, moves as little.
fn foretold(asked: &Value, settled: &Settled) -> Result<()> {
    let report = &asked["next"]["report"];
    let loads: Vec<u64> = settled.loads().iter().map(|load| *load as u64).collect();
    let foretold = [report["min_load"].as_u64(), report["max_load"].as_u64()];
    ensure!(foretold == [loads.first().copied(), loads.last().copied()], "{loads:?}: {report}");
    ensure!(report["moved"] == 0, "{report}");
    for member in settled.members.values() {
        let before = partitions(&asked["members"][&member.member_id]["assignment"])?;
        ensure!(before.is_subset(&member.given), "{before:?} was not kept: {:?}", member.given);
    }
    Ok(())
}

async fn unknown(stage: &Stage) -> Result<()> {
    let output = command(stage, "nobody-has-this-group")?.output().await?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(output.status.code() == Some(1) && output.stdout.is_empty(), "{said}");
    ensure!(said.starts_with("kafka-sticky: there is no classic group \"nobody-has-this-group\""), "{said}");
    ensure!(said.lines().count() == 1, "{said}");
    Ok(())
}

fn partitions(by_topic: &Value) -> Result<BTreeSet<Partition>> {
    let mut partitions = BTreeSet::new();
    for (topic, numbers) in by_topic.as_object().context("no topics")? {
        for number in numbers.as_array().context("no partitions")? {
            let number = number.as_i64().context("no number")?;
            partitions.insert((topic.clone(), i32::try_from(number)?));
        }
    }
    Ok(partitions)
}
