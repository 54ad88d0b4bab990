//! Two consumers of one process share a topic by `sticky`, on an embedded cluster.
//!
//! `cargo run -p kafka-sticky-rdkafka-adapter --features mocking --example sticky_group`

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{Assigned, CreateConsumer, Membership};
use rdkafka::consumer::{Consumer, StreamConsumer};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let cluster = GroupCluster::start(1)?;
    cluster.create_topic("orders", 6)?;
    let mut config = cluster.consumer_config("billing");
    config.set("partition.assignment.strategy", "sticky");
    let (stop, stopped) = watch::channel(false);

    let consumer: StreamConsumer = config.create_consumer()?;
    consumer.subscribe(&["orders"])?;
    let first = Membership::of(&consumer).ok_or("it offers sticky")?;
    let first_task = tokio::spawn(read("first", consumer, stopped.clone()));
    load_becomes("first", &first, 6).await?;

    let consumer: StreamConsumer = config.create_consumer()?;
    consumer.subscribe(&["orders"])?;
    let second = Membership::of(&consumer).ok_or("it offers sticky")?;
    let second_task = tokio::spawn(read("second", consumer, stopped));
    let half = load_becomes("first", &first, 3).await?;
    load_becomes("second", &second, 3).await?;

    let report = half.led.as_ref().and_then(|led| led.report).ok_or("the first member leads")?;
    println!("the second member's coming moved {} partitions of {}", report.moved, report.partitions);

    // The consumers leave the group before the cluster goes.
    stop.send(true)?;
    first_task.await?;
    second_task.await?;
    if report.moved != 3 {
        return Err("an even split needs three moves, and no more".into());
    }
    Ok(())
}

/// Reads until told to stop, as a service would.
async fn read(name: &'static str, consumer: StreamConsumer, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            _ = stopped.changed() => break,
            message = consumer.recv() => match message {
                Ok(_) => println!("{name}: a message"),
                Err(error) => eprintln!("{name}: {error}"),
            },
        }
    }
    // Closing a consumer waits for the broker.
    if let Err(error) = spawn_blocking(move || drop(consumer)).await {
        eprintln!("{name}: {error}");
    }
}

async fn load_becomes(
    name: &str,
    membership: &Membership,
    load: usize,
) -> Result<Arc<Assigned>, Box<dyn Error>> {
    let reached = async {
        loop {
            match membership.assigned() {
                Some(assigned) if assigned.load() == load => break assigned,
                _ => sleep(Duration::from_millis(20)).await,
            }
        }
    };
    let assigned = timeout(Duration::from_secs(30), reached).await?;
    println!("generation {}: {name} has {:?}", assigned.generation, assigned.partitions);
    Ok(assigned)
}
