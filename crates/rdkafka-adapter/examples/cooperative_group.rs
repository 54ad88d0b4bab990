//! Under `cooperative-sticky`, a member that joins costs the others what moves to it, and not a moment's pause in what
//! they keep. Messages flow all the while; the rebalance callbacks tell what was really taken from whom.
//!
//! `cargo run -p kafka-sticky-rdkafka-adapter --features mocking --example cooperative_group`

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{CreateConsumer, Membership};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, Rebalance, StreamConsumer};
use rdkafka::producer::{BaseRecord, DefaultProducerContext, ThreadedProducer};
use rdkafka::{ClientConfig, ClientContext, Message};
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::sleep;

const PARTITIONS: i32 = 9;

/// What one member saw.
#[derive(Default)]
struct Seen {
    /// What its callbacks were told to give up.
    revoked: BTreeSet<i32>,
    /// Messages read, by partition.
    read: BTreeMap<i32, usize>,
}

/// A context of one's own needs nothing of this crate.
struct Watch(Arc<Mutex<Seen>>);

impl ClientContext for Watch {}

impl ConsumerContext for Watch {
    fn pre_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(partitions) = rebalance {
            let revoked = partitions.elements().iter().map(|element| element.partition()).collect::<Vec<_>>();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).revoked.extend(revoked);
        }
    }
}

struct Member {
    membership: Membership,
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

impl Member {
    fn join(config: &ClientConfig, mut stopped: watch::Receiver<bool>) -> Result<Self, Failure> {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let consumer: StreamConsumer<Watch> =
            config.create_consumer_with_context(Watch(Arc::clone(&seen)))?;
        consumer.subscribe(&["orders"])?;
        let membership = Membership::of(&consumer).ok_or("it offers cooperative-sticky")?;
        let reads = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            loop {
                let message = tokio::select! {
                    _ = stopped.changed() => break,
                    message = consumer.recv() => message,
                };
                match message {
                    Ok(message) => {
                        let mut seen = reads.lock().unwrap_or_else(PoisonError::into_inner);
                        *seen.read.entry(message.partition()).or_default() += 1;
                    }
                    Err(error) => eprintln!("{error}"),
                }
            }
            // Closing a consumer waits for the broker.
            let _ = spawn_blocking(move || drop(consumer)).await;
        });
        Ok(Self { membership, seen, task })
    }

    /// What it has, by number, once it is this many.
    async fn has(&self, load: usize) -> BTreeSet<i32> {
        loop {
            match self.membership.assigned() {
                Some(assigned) if assigned.load() == load => {
                    return assigned
                        .partitions
                        .iter()
                        .flat_map(|(_, partitions)| partitions)
                        .copied()
                        .collect();
                }
                _ => sleep(Duration::from_millis(20)).await,
            }
        }
    }

    /// What it saw since it was asked last.
    fn seen(&self) -> Seen {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let cluster = GroupCluster::start(1)?;
    cluster.create_topic("orders", PARTITIONS)?;
    let mut config = cluster.consumer_config("billing");
    config.set("partition.assignment.strategy", "cooperative-sticky").set("session.timeout.ms", "3000");
    let (stop, stopped) = watch::channel(false);
    let writer = tokio::spawn(write(cluster.bootstrap_servers(), stopped.clone()));

    let result = tokio::time::timeout(Duration::from_secs(45), show(&config, &stopped)).await;
    stop.send(true)?;
    for member in result?? {
        member.task.await?;
    }
    writer.await?
}

async fn show(config: &ClientConfig, stopped: &watch::Receiver<bool>) -> Result<Vec<Member>, Failure> {
    let mut members = Vec::new();
    for load in [&[9][..], &[4, 5]] {
        members.push(Member::join(config, stopped.clone())?);
        for member in &members {
            while !load.contains(&member.membership.assigned().map_or(0, |assigned| assigned.load())) {
                sleep(Duration::from_millis(20)).await;
            }
        }
    }
    // Long enough for each of the two to read from all that it has.
    sleep(Duration::from_secs(1)).await;
    members.iter().for_each(|member| drop(member.seen()));

    let third = Member::join(config, stopped.clone())?;
    let moved = third.has(3).await;
    println!("a third member joined and has {moved:?}");
    for (name, member) in ["first", "second"].iter().zip(&members) {
        let kept = member.has(3).await;
        let Seen { revoked, read } = member.seen();
        let during: usize = kept.iter().filter_map(|partition| read.get(partition)).sum();
        println!("{name}: had {revoked:?} revoked, kept {kept:?}, {during} messages of these read meanwhile");
        if !revoked.is_subset(&moved) || !revoked.is_disjoint(&kept) || during == 0 {
            return Err("what is kept is never revoked, and is read on".into());
        }
    }
    members.push(third);
    Ok(members)
}

/// Writes to all partitions until told to stop.
async fn write(bootstrap_servers: String, mut stopped: watch::Receiver<bool>) -> Result<(), Failure> {
    let mut config = ClientConfig::new();
    let producer: ThreadedProducer<DefaultProducerContext> =
        config.set("bootstrap.servers", bootstrap_servers).set("linger.ms", "1").create()?;
    while !*stopped.borrow_and_update() {
        for partition in 0..PARTITIONS {
            let record = BaseRecord::<(), str>::to("orders").partition(partition).payload("an order");
            producer.send(record).map_err(|(error, _)| error)?;
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(spawn_blocking(move || drop(producer)).await?)
}
