//! Several consumers in one process, and one process that becomes two.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_tests::group::Group;
use tokio::process::Command;
use tokio::time::timeout;

use crate::stage::PATIENCE;

#[tokio::test(flavor = "multi_thread")]
async fn consumers_of_different_groups_and_strategies_share_a_process() -> Result<()> {
    let cluster = GroupCluster::start(3)?;
    let mut groups = Vec::new();
    for strategy in ["sticky", "cooperative-sticky", "range"] {
        let mut config = cluster.consumer_config(strategy);
        config.set("partition.assignment.strategy", strategy).set("session.timeout.ms", "3000");
        let mut group = Group::new(config, env!("CARGO_BIN_EXE_demo"));
        cluster.create_topic(&format!("of-{strategy}"), 7)?;
        group.expect_topic(&format!("of-{strategy}"), 7);
        groups.push((strategy, group));
    }
    for member in ["a", "b", "c"] {
        for (strategy, group) in &mut groups {
            group.join(&format!("{member} of {strategy}"), &[&format!("of-{strategy}")]);
        }
        for (strategy, group) in &mut groups {
            let settled = group.settle_in_steps().await?;
            let even = settled.cost.sum_of_squares == settled.least.sum_of_squares;
            ensure!(settled.is_optimal() || (*strategy == "range" && even), "{strategy}:\n{settled}");
        }
    }
    for (_, group) in groups {
        group.disband().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_forks_is_told_that_its_consumers_stay_behind() -> Result<()> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forks"));
    command.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let output = timeout(PATIENCE, command.output()).await.context("it hangs")??;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
