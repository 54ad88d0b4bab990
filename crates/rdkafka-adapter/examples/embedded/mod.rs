//! The service on a cluster of its own: two instances, of which one is restarted, until all is processed.

use std::env;
use std::fs;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::{Failure, Settings, as_a_service};

const TOPIC: &str = "orders";
const PARTITIONS: i32 = 6;
/// Written at a time, and how often.
const MESSAGES: usize = 60;
const PAUSE: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(40);

/// An instance of the service in a task of its own.
struct Instance {
    processed: Arc<AtomicUsize>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), Failure>>,
}

impl Instance {
    fn start(cluster: &GroupCluster, name: &str) -> Self {
        let state = env::temp_dir().join(format!("kafka-sticky-{name}-{}.state", process::id()));
        let client = as_a_service(cluster.consumer_config("billing"), name);
        let settings = Settings { client, topic: TOPIC.to_owned(), state };
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            // A dropped sender stops as well.
            let _ = stopped.await;
        };
        let processed = Arc::default();
        let task = tokio::spawn(crate::run(settings, Arc::clone(&processed), stopped));
        Self { processed, stop, task }
    }

    fn processed(&self) -> usize {
        self.processed.load(Ordering::Relaxed)
    }

    async fn stop(self) -> Result<(), Failure> {
        // It may have ended already, and says over what.
        let _ = self.stop.send(());
        self.task.await?
    }
}

pub(crate) async fn run() -> Result<(), Failure> {
    let cluster = GroupCluster::start(1)?;
    cluster.create_topic(TOPIC, PARTITIONS)?;

    let first = Instance::start(&cluster, "billing-1");
    let mut written = all_have_work(&cluster, &[&first]).await?;
    let second = Instance::start(&cluster, "billing-2");
    written += all_have_work(&cluster, &[&first, &second]).await?;
    let by_first = Arc::clone(&first.processed);
    first.stop().await?;
    let before = by_first.load(Ordering::Relaxed);
    // It finds its state.
    let first = Instance::start(&cluster, "billing-1");
    written += all_have_work(&cluster, &[&first, &second]).await?;

    // Each message at least once: one whose commit did not get through is processed again.
    let all_is_done = async {
        while before + first.processed() + second.processed() < written {
            sleep(PAUSE).await;
        }
    };
    timeout(PATIENCE, all_is_done).await.map_err(|_| format!("{written} messages are not processed"))?;
    for instance in [first, second] {
        instance.stop().await?;
    }
    for name in ["billing-1", "billing-2"] {
        fs::remove_file(env::temp_dir().join(format!("kafka-sticky-{name}-{}.state", process::id())))?;
    }
    println!("all {written} messages are processed");
    Ok(())
}

/// Writes to all partitions until each of these has processed something of that; gives how much was written.
async fn all_have_work(cluster: &GroupCluster, instances: &[&Instance]) -> Result<usize, Failure> {
    let before: Vec<usize> = instances.iter().map(|instance| instance.processed()).collect();
    let mut written = 0;
    let working = async {
        while instances.iter().zip(&before).any(|(instance, before)| instance.processed() == *before) {
            produce(cluster, MESSAGES)?;
            written += MESSAGES;
            sleep(PAUSE).await;
        }
        Ok::<_, Failure>(())
    };
    timeout(PATIENCE, working).await.map_err(|_| "an instance has nothing to do")??;
    Ok(written)
}

fn produce(cluster: &GroupCluster, count: usize) -> Result<(), Failure> {
    let mut config = ClientConfig::new();
    let producer: ThreadedProducer<DefaultProducerContext> =
        config.set("bootstrap.servers", cluster.bootstrap_servers()).create()?;
    for (number, partition) in (0..count).zip((0..PARTITIONS).cycle()) {
        let payload = format!("order {number}");
        let record = BaseRecord::<(), str>::to(TOPIC).partition(partition).payload(&payload);
        producer.send(record).map_err(|(error, _)| error)?;
    }
    Ok(producer.flush(PATIENCE)?)
}
