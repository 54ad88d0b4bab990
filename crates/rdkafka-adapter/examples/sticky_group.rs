//! Two consumers of one process share a topic by `sticky`, on an embedded cluster.
//!
//! `cargo run -p kafka-sticky-rdkafka-adapter --features mocking --example sticky_group`

use std::error::Error;
use std::time::Duration;

use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{CreateConsumer, Membership};
use rdkafka::consumer::{Consumer, StreamConsumer};
use tokio::time::{sleep, timeout};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let cluster = GroupCluster::start(1)?;
    cluster.create_topic("orders", 6)?;
    let mut config = cluster.consumer_config("billing");
    config.set("partition.assignment.strategy", "sticky");

    let first: StreamConsumer = config.create_consumer()?;
    first.subscribe(&["orders"])?;
    let first = run("first", first);
    load_becomes(&first, 6).await?;

    let second: StreamConsumer = config.create_consumer()?;
    second.subscribe(&["orders"])?;
    let second = run("second", second);
    load_becomes(&first, 3).await?;
    load_becomes(&second, 3).await?;

    let led = first.assigned().and_then(|assigned| assigned.led.clone());
    let report = led.and_then(|led| led.report).ok_or("the first member leads")?;
    println!("the second member's coming moved {} partitions of {}", report.moved, report.partitions);
    Ok(())
}

/// Polls a consumer in the background, as a service would, and gives its membership.
fn run(name: &'static str, consumer: StreamConsumer) -> Membership {
    let membership = Membership::of(&consumer).expect("it offers sticky");
    tokio::spawn(async move {
        loop {
            match consumer.recv().await {
                Ok(_) => println!("{name}: a message"),
                Err(error) => println!("{name}: {error}"),
            }
        }
    });
    membership
}

async fn load_becomes(membership: &Membership, load: usize) -> Result<(), Box<dyn Error>> {
    let reached = async {
        while membership.assigned().is_none_or(|assigned| assigned.load() != load) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(30), reached).await?;
    if let Some(assigned) = membership.assigned() {
        println!("generation {}: {} has {:?}", assigned.generation, assigned.member_id, assigned.partitions);
    }
    Ok(())
}
