//! A producer that keeps writing, and counts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rdkafka::ClientConfig;
use rdkafka::producer::{FutureProducer, FutureRecord, Producer};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::cluster::Cluster;
use crate::group::Group;
use crate::seen::Partition;

/// Writes one message to every partition it knows, again and again.
#[derive(Debug)]
pub struct Writer {
    partitions: Arc<Mutex<BTreeMap<String, i32>>>,
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<BTreeMap<Partition, i64>>>,
}

impl Writer {
    /// Starts to write, with a pause after each message to every partition.
    ///
    /// # Errors
    ///
    /// Where the producer cannot be created.
    pub fn start(bootstrap_servers: String, pause: Duration) -> Result<Self> {
        let producer: FutureProducer = ClientConfig::new()
            .set("bootstrap.servers", bootstrap_servers)
            .set("linger.ms", "5")
            .set("topic.metadata.refresh.interval.ms", "500")
            // Brokers come and go on purpose.
            .set("reconnect.backoff.max.ms", "500")
            .set("log_level", "2")
            .create()?;
        let partitions: Arc<Mutex<BTreeMap<String, i32>>> = Arc::default();
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(write(producer, pause, Arc::clone(&partitions), stopped));
        Ok(Self { partitions, stop, task })
    }

    /// From now on also to this topic, or to more partitions of it.
    pub fn write_to(&self, topic: &str, partitions: i32) {
        self.partitions.lock().expect("the writer panicked").insert(topic.to_owned(), partitions);
    }

    /// Creates topics of which the group's judge knows, and writes to them from now on. Gives their full names.
    ///
    /// # Errors
    ///
    /// Where the cluster refuses.
    pub async fn write_to_new(
        &self,
        topics: &[(&str, i32)],
        cluster: &Cluster,
        group: &mut Group,
    ) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for &(topic, partitions) in topics {
            let name = cluster.create_topic(topic, partitions).await?;
            group.expect_topic(&name, partitions);
            self.write_to(&name, partitions);
            names.push(name);
        }
        Ok(names)
    }

    /// Stops, and gives how many messages each partition was acknowledged to hold.
    ///
    /// # Errors
    ///
    /// What it came to grief over.
    pub async fn stop(self) -> Result<BTreeMap<Partition, i64>> {
        // It may have ended, with an error that the task then gives.
        let _ = self.stop.send(true);
        self.task.await?
    }
}

async fn write(
    producer: FutureProducer,
    pause: Duration,
    partitions: Arc<Mutex<BTreeMap<String, i32>>>,
    stopped: watch::Receiver<bool>,
) -> Result<BTreeMap<Partition, i64>> {
    let mut written: BTreeMap<Partition, i64> = BTreeMap::new();
    while !*stopped.borrow() {
        let topics = partitions.lock().expect("a caller panicked").clone();
        let mut deliveries = Vec::new();
        for (topic, count) in &topics {
            for partition in 0..*count {
                let record = FutureRecord::<(), str>::to(topic).partition(partition).payload("message");
                match producer.send_result(record) {
                    Ok(delivery) => deliveries.push((topic, delivery)),
                    // A producer learns of a new partition a little later than the one who created it.
                    Err((error, _)) if error.rdkafka_error_code().is_some() => {}
                    Err((error, _)) => return Err(error).context("queueing a message"),
                }
            }
        }
        for (topic, delivery) in deliveries {
            // What was not acknowledged is not counted on.
            let Ok(delivered) = delivery.await? else { continue };
            let position = written.entry((topic.clone(), delivered.partition)).or_default();
            *position = (*position).max(delivered.offset + 1);
        }
        sleep(pause).await;
    }
    producer.flush(Duration::from_secs(10))?;
    Ok(written)
}
