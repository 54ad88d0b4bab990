//! Messages that flow while things happen to a group.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer as _, ProducerContext, ThreadedProducer};
use rdkafka::{ClientConfig, ClientContext, Message as _};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::interval;

use crate::interop::cluster::Cluster;
use crate::seen::Partition;

/// How often a message is written to every partition.
const BEAT: Duration = Duration::from_millis(200);
/// How long what is written last may take to arrive.
const FAREWELL: Duration = Duration::from_secs(60);

/// Writes to every partition of some topics until it is told to end.
#[derive(Debug)]
pub struct Feed {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<BTreeMap<Partition, i64>>>,
}

/// What has arrived.
#[derive(Default)]
struct Arrived {
    /// One more than the last offset of each partition.
    ends: BTreeMap<Partition, i64>,
    failures: Vec<String>,
}

#[derive(Clone, Default)]
struct Counter {
    arrived: Arc<Mutex<Arrived>>,
}

impl Feed {
    /// Begins to write to all partitions of these topics.
    ///
    /// # Errors
    ///
    /// Where there can be no producer.
    pub fn start(cluster: &Cluster, topics: &BTreeMap<String, i32>) -> Result<Self> {
        let counter = Counter::default();
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", cluster.bootstrap_servers())
            // However often a broker dies, each message arrives, and arrives once.
            .set("enable.idempotence", "true")
            .set("linger.ms", "0")
            .set("reconnect.backoff.max.ms", "500")
            .set("log_level", "2");
        let producer: ThreadedProducer<_> = config.create_with_context(counter.clone())?;
        let numbered = |(topic, count): (&String, &i32)| {
            (0..*count).map(|number| (topic.clone(), number)).collect::<Vec<_>>()
        };
        let partitions: Vec<Partition> = topics.iter().flat_map(numbered).collect();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(write(producer, counter, partitions, stopped));
        Ok(Self { stop, task })
    }

    /// Writes no more, and gives how many messages there are in each partition.
    ///
    /// # Errors
    ///
    /// Where some did not arrive.
    pub async fn end(self) -> Result<BTreeMap<Partition, i64>> {
        // Where nobody listens it has come to grief, and says so itself.
        let _ = self.stop.send(());
        self.task.await?
    }
}

async fn write(
    producer: ThreadedProducer<Counter>,
    counter: Counter,
    partitions: Vec<Partition>,
    mut stopped: oneshot::Receiver<()>,
) -> Result<BTreeMap<Partition, i64>> {
    let mut beat = interval(BEAT);
    loop {
        tokio::select! {
            // Dropped, it means the same.
            _ = &mut stopped => break,
            _ = beat.tick() => {}
        }
        for (topic, number) in &partitions {
            let record = BaseRecord::<(), str>::to(topic).partition(*number).payload("a message");
            if let Err((error, _)) = producer.send(record) {
                bail!("writing to {topic}-{number}: {error}");
            }
        }
    }
    spawn_blocking(move || producer.flush(FAREWELL)).await??;
    let arrived = counter.arrived.lock().expect("a callback panicked");
    ensure!(arrived.failures.is_empty(), "{}", arrived.failures.join("\n"));
    Ok(arrived.ends.clone())
}

impl ClientContext for Counter {}

impl ProducerContext for Counter {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        let mut arrived = self.arrived.lock().expect("a callback panicked");
        match result {
            Ok(message) => {
                let end = arrived.ends.entry((message.topic().to_owned(), message.partition())).or_default();
                *end = (message.offset() + 1).max(*end);
            }
            Err((error, message)) => {
                arrived.failures.push(format!("{}-{}: {error}", message.topic(), message.partition()));
            }
        }
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counter").finish_non_exhaustive()
    }
}
