//! What brokers do to a group.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use bytes::Bytes;
use kafka_sticky_protocol::AssignmentWriter;
use kafka_sticky_rdkafka_adapter::Event;
use kafka_sticky_tests::mixed::Mixed;
use kafka_sticky_tests::raw::{Manner, Stay, Word};
use kafka_sticky_tests::said::Said;
use rdkafka::mocking::MockCoordinator;
use rdkafka::types::{RDKafkaApiKey as Api, RDKafkaRespErr as Code};
use tokio::time::{Instant, sleep};

use crate::stage::{PATIENCE, Stage};

#[tokio::test(flavor = "multi_thread")]
async fn members_whose_sessions_are_lost_come_back_and_no_more_moves_than_has_to() -> Result<()> {
    let mut stage = Stage::with(&["a", "b", "c"]).await?;
    for lost in 1..=3 {
        stage.mock().request_errors(Api::Heartbeat, &vec![Code::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID; lost]);
        stage.settle().await?;
    }
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_goes_on_where_its_coordinator_moves_to() -> Result<()> {
    let mut stage = Stage::with(&["a", "b", "c"]).await?;
    for broker in [2, 3] {
        let group = MockCoordinator::Group(stage.group_id().to_owned());
        stage.mock().coordinator(group, broker)?;
        stage.join(&format!("joins with broker {broker}"));
        stage.settle().await?;
    }
    stage.group.leave("a").await?;
    stage.settle().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_is_down_in_the_middle_of_a_rebalance_loses_nothing() -> Result<()> {
    let mut stage = Stage::with(&["a", "b", "c"]).await?;
    let (revocations, failures) = (stage.revocations(), stage.failures());
    stage.join("d");
    stage.wait_for_revocation(revocations).await?;
    stage.mock().broker_down(Stage::COORDINATOR)?;
    stage.wait_for_failure(failures).await?;
    stage.mock().broker_up(Stage::COORDINATOR)?;
    stage.settle().await?;
    stage.group.leave("b").await?;
    stage.settle().await?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_down_and_does_not_coordinate_holds_up_no_rebalance() -> Result<()> {
    let mut stage = Stage::with(&["a", "b", "c"]).await?;
    let revocations = stage.revocations();
    stage.join("d");
    stage.wait_for_revocation(revocations).await?;
    stage.mock().broker_down(2)?;
    stage.settle().await?;
    stage.group.leave("b").await?;
    stage.settle().await?;
    stage.mock().broker_up(2)?;
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_brokers_make_a_group_slow_and_no_worse() -> Result<()> {
    let mut stage = Stage::with(&["a", "b"]).await?;
    for broker in 1..=3 {
        stage.mock().broker_round_trip_time(broker, Duration::from_millis(100))?;
    }
    stage.join("c");
    stage.settle().await?;
    stage.group.leave("a").await?;
    stage.settle().await?;
    for broker in 1..=3 {
        stage.mock().broker_round_trip_time(broker, Duration::ZERO)?;
    }
    stage.end().await
}

/// Refuses two requests of this kind in each of these ways, while a member joins and while it leaves.
async fn refused(api: Api, codes: &[Code]) -> Result<()> {
    let mut stage = Stage::with(&["a", "b"]).await?;
    for code in codes {
        stage.mock().request_errors(api, &[*code; 2]);
        stage.join("c");
        stage.settle().await?;
        stage.mock().request_errors(api, &[*code; 2]);
        stage.group.leave("c").await?;
        stage.settle().await?;
        stage.mock().clear_request_errors(api);
    }
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_joins_are_tried_again() -> Result<()> {
    let codes = [
        Code::RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
        Code::RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
        Code::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
    ];
    refused(Api::JoinGroup, &codes).await
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_syncs_lead_to_another_generation() -> Result<()> {
    let codes = [
        Code::RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
        Code::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
        Code::RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION,
    ];
    refused(Api::SyncGroup, &codes).await
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_heartbeats_make_members_join_again() -> Result<()> {
    let codes = [
        Code::RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
        Code::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
        Code::RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION,
        Code::RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
    ];
    refused(Api::Heartbeat, &codes).await
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_commits_repeat_messages_and_lose_none() -> Result<()> {
    let codes = [
        Code::RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
        Code::RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
        Code::RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
    ];
    refused(Api::OffsetCommit, &codes).await
}

/// Leads by itself, and dies as soon as it should lead others: between its JoinGroup and its SyncGroup.
struct Mortal {
    died: Arc<AtomicBool>,
}

impl Manner for Mortal {
    fn word(&mut self, _: &[Stay]) -> Word {
        Word { subscription: Said::to(3, &["orders"]).bytes(), claims: None }
    }

    fn lead(&mut self, members: &[(String, Bytes)]) -> Option<Vec<(String, Vec<u8>)>> {
        if members.len() > 1 {
            self.died.store(true, Ordering::SeqCst);
            panic!("killed between join and sync");
        }
        let everything = AssignmentWriter::new([("orders", [0, 1, 2, 3, 4, 5])]).write(0).ok()?;
        Some(vec![(members[0].0.clone(), everything)])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_dies_between_join_and_sync_is_succeeded_by_ours() -> Result<()> {
    let mut group = Mixed::new("sticky", &[("orders", 6)])?;
    let died = Arc::new(AtomicBool::new(false));
    group.join_raw("leader", &["orders"], None, Mortal { died: Arc::clone(&died) });
    until("the raw member leads alone", || {
        group.past("leader").last().is_some_and(|stay| stay.assignment.is_some())
    })
    .await?;
    group.join("ours", &["orders"])?;
    until("the leader dies", || died.load(Ordering::SeqCst)).await?;
    let led = || {
        group.events("ours").iter().any(|event| {
            matches!(event, Event::Assigned(assigned) if assigned.led.is_some() && assigned.load() == 6)
        })
    };
    until("ours leads and has everything", led).await
}

async fn until(what: &str, reached: impl Fn() -> bool) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !reached() {
        ensure!(Instant::now() < deadline, "after {PATIENCE:?} still not: {what}");
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
