//! What the examples share: members that are polled until they are told to stop.
#![allow(dead_code, reason = "no example needs all of it")]

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{Assigned, Assignors, Membership};
use rdkafka::ClientConfig;
use rdkafka::consumer::{Consumer, DefaultConsumerContext, StreamConsumer};
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{sleep, timeout};

/// What an example fails with.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// A consumer that a task polls, as a service would.
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) membership: Membership,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), Failure>>,
}

impl Member {
    /// Joins the group and reads whatever comes.
    pub(crate) fn join(
        name: &'static str,
        config: &ClientConfig,
        assignors: &Assignors,
        topics: &[&str],
    ) -> Result<Self, Failure> {
        let consumer: StreamConsumer = assignors.create_consumer(config, DefaultConsumerContext)?;
        consumer.subscribe(topics)?;
        let membership = Membership::of(&consumer).ok_or("it was created by this crate")?;
        let (stop, stopped) = oneshot::channel();
        Ok(Self { name, membership, stop, task: tokio::spawn(poll(consumer, stopped)) })
    }

    /// Leaves the group, and waits until that is done.
    pub(crate) async fn leave(self) -> Result<(), Failure> {
        // A member that came to grief has ended already, and says so now.
        let _ = self.stop.send(());
        self.task.await?
    }

    /// What it was given last, once that is something that `wanted` accepts.
    pub(crate) async fn given(&self, wanted: impl Fn(&Assigned) -> bool) -> Result<Arc<Assigned>, Failure> {
        let reached = async {
            loop {
                match self.membership.assigned() {
                    Some(assigned) if wanted(&assigned) => break assigned,
                    _ => sleep(Duration::from_millis(20)).await,
                }
            }
        };
        let last = || format!("{} was given at last {:?}", self.name, self.membership.assigned());
        Ok(timeout(Duration::from_secs(30), reached).await.map_err(|_| last())?)
    }
}

/// What each was given, once all are in one generation and have so many partitions together.
pub(crate) async fn settled(members: &[Member], partitions: usize) -> Result<Vec<Arc<Assigned>>, Failure> {
    let reached = async {
        loop {
            let given: Vec<_> = members.iter().filter_map(|member| member.membership.assigned()).collect();
            let together = given.len() == members.len()
                && given.iter().all(|assigned| assigned.generation == given[0].generation);
            if together && given.iter().map(|assigned| assigned.load()).sum::<usize>() == partitions {
                break given;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    Ok(timeout(Duration::from_secs(30), reached).await.map_err(|_| "the group does not settle")?)
}

async fn poll(consumer: StreamConsumer, mut stopped: oneshot::Receiver<()>) -> Result<(), Failure> {
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            message = consumer.recv() => drop(message?),
        }
    }
    // Closing a consumer waits for the broker.
    Ok(spawn_blocking(move || drop(consumer)).await?)
}

/// The partitions of a topic in an assignment.
pub(crate) fn partitions(assigned: &Assigned, topic: &str) -> BTreeSet<i32> {
    let of_topic = assigned.partitions.iter().filter(|(name, _)| name == topic);
    of_topic.flat_map(|(_, partitions)| partitions).copied().collect()
}

/// Writes so many messages to each partition of a topic.
pub(crate) fn fill(cluster: &GroupCluster, topic: &str, counts: &[usize]) -> Result<(), Failure> {
    let mut config = ClientConfig::new();
    let producer: ThreadedProducer<DefaultProducerContext> =
        config.set("bootstrap.servers", cluster.bootstrap_servers()).create()?;
    for (partition, count) in (0..).zip(counts) {
        for _ in 0..*count {
            let record = BaseRecord::<(), str>::to(topic).partition(partition).payload("a message");
            producer.send(record).map_err(|(error, _)| error)?;
        }
    }
    Ok(producer.flush(Duration::from_secs(10))?)
}

/// Goes on only where what an example is about to say is so.
pub(crate) fn expect(so: bool, what: &str) -> Result<(), Failure> {
    if so { Ok(()) } else { Err(format!("expected otherwise: {what}").into()) }
}
