//! A member of three is restarted, once with the state that it wrote to a file, once without: what it gets back.
//!
//! `cargo run -p kafka-sticky-rdkafka-adapter --features mocking --example restart`

use std::env;
use std::fs;
use std::process;

use kafka_sticky_rdkafka_adapter::Assignors;
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;

mod members;
mod state_file;

use members::{Failure, Member, expect, partitions, settled};

const TOPIC: &str = "orders";
const PARTITIONS: i32 = 30;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let path = env::temp_dir().join(format!("kafka-sticky-restart-{}.state", process::id()));
    for strategy in ["sticky", "cooperative-sticky"] {
        let with = kept(strategy, Some(&path)).await?;
        let without = kept(strategy, None).await?;
        println!(
            "{strategy}: a restarted member of 10 partitions keeps {with} with its state, {without} without"
        );
        expect(with == 10 && without <= with, "with its state it has all of them again")?;
    }
    Ok(fs::remove_file(path)?)
}

/// How many of its ten partitions a member has again that is restarted, with its state in this file.
async fn kept(strategy: &str, state: Option<&std::path::Path>) -> Result<usize, Failure> {
    let cluster = GroupCluster::start(1)?;
    cluster.create_topic(TOPIC, PARTITIONS)?;
    let mut config = cluster.consumer_config("billing");
    config.set("partition.assignment.strategy", strategy);

    let mut group = Vec::new();
    for name in ["first", "second", "restarted"] {
        group.push(Member::join(name, &config, &Assignors::new(), &[TOPIC])?);
        settled(&group, PARTITIONS as usize).await?;
    }
    let member = group.pop().ok_or("there are three")?;
    let had = member.membership.assigned().ok_or("it was given ten")?;
    if let (Some(path), Some(state)) = (state, member.membership.saved_state()) {
        state_file::write(path, &state)?;
    }
    member.leave().await?;
    // It stays away for so long that others are given what it had.
    settled(&group, PARTITIONS as usize).await?;

    let assignors = match state.and_then(state_file::read) {
        Some(state) => Assignors::new().resuming(state),
        None => Assignors::new(),
    };
    group.push(Member::join("restarted", &config, &assignors, &[TOPIC])?);
    let given = settled(&group, PARTITIONS as usize).await?;
    let has = given.last().ok_or("there are three")?;
    let kept = partitions(has, TOPIC).intersection(&partitions(&had, TOPIC)).count();
    for member in group {
        member.leave().await?;
    }
    Ok(kept)
}
