//! What a reader of events costs that never reads. A process of its own, since it counts the memory of all of it.

use std::alloc::System;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use cap::Cap;
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{CreateConsumer, Event, Membership};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const TOPIC: &str = "orders";
/// Each generation names them twice, as revoked and as given again, so that after 13 no more is kept.
const PARTITIONS: i32 = 4_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of Rust's that are in use once the only member has been given everything for the `times`th time, in a
/// generation of its own each time.
fn in_use(
    cluster: &GroupCluster,
    consumer: &BaseConsumer,
    membership: &Membership,
    times: usize,
) -> Result<usize> {
    let deadline = Instant::now() + PATIENCE;
    for _ in 0..times {
        let before = membership.assigned().map(|assigned| assigned.generation);
        if before.is_some() {
            let rebalance = [RDKafkaRespErr::RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS];
            cluster.mock().request_errors(RDKafkaApiKey::Heartbeat, &rebalance);
        }
        loop {
            drop(consumer.poll(Duration::from_millis(20)));
            let assigned = membership.assigned().map(|assigned| assigned.generation);
            // What the heartbeat is answered is not heeded before librdkafka has taken over what it was given.
            if assigned != before && consumer.assignment()?.count() == PARTITIONS as usize {
                break;
            }
            ensure!(Instant::now() < deadline, "it is not given everything again");
        }
    }
    Ok(ALLOCATOR.allocated())
}

#[test]
fn a_reader_that_never_reads_costs_no_more_memory_however_often_its_group_rebalances() -> Result<()> {
    let cluster = GroupCluster::start(1)?;
    cluster.create_topic(TOPIC, PARTITIONS)?;
    let mut config = cluster.consumer_config("group");
    config.set("partition.assignment.strategy", "sticky");
    let consumer: BaseConsumer = config.create_consumer()?;
    let membership = Membership::of(&consumer).context("of ours")?;
    let mut never_read = membership.events();
    consumer.subscribe(&[TOPIC])?;

    let early = in_use(&cluster, &consumer, &membership, 14)?;
    let late = in_use(&cluster, &consumer, &membership, 6)?;
    // Six generations name 48,000 partitions, of four bytes each.
    ensure!(late < early + 100_000, "{early} bytes, and six generations later {late}");
    ensure!(matches!(never_read.try_next(), Some(Event::Missed(1..))));
    Ok(())
}
