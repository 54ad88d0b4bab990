//! One member: a consumer that reads, and reports what it sees.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::{Context as _, Result};
use kafka_sticky_rdkafka_adapter::{CreateConsumer, Membership};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{
    BaseConsumer, Consumer, ConsumerContext, Rebalance, RebalanceProtocol, StreamConsumer,
};
use rdkafka::error::KafkaError;
use rdkafka::{ClientConfig, ClientContext, Message, TopicPartitionList};
use tokio::task::spawn_blocking;

use crate::seen::{Assigned, Partition, Seen};

/// Where a member's reports go. Called on whatever thread the consumer is polled on.
pub type Report = Arc<dyn Fn(Seen) + Send + Sync>;

/// Joins the group, reads until `stop` is done, and leaves.
pub async fn run(
    config: ClientConfig,
    topics: Vec<String>,
    report: Report,
    stop: impl Future<Output = ()> + Send,
) -> Result<()> {
    let name = config.get("client.id").unwrap_or_default().to_owned();
    let watch = Watch { name, report: Arc::clone(&report), has: Mutex::default() };
    let consumer: StreamConsumer<Watch> = config.create_consumer_with_context(watch)?;
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    consumer.subscribe(&topics).context("subscribing")?;

    tokio::pin!(stop);
    loop {
        let message = tokio::select! {
            () = &mut stop => break,
            message = consumer.recv() => message,
        };
        match message {
            Ok(message) => report(Seen::Read {
                topic: message.topic().to_owned(),
                partition: message.partition(),
                offset: message.offset(),
                generation: consumer.client().context().has().generation,
            }),
            Err(error) => report(Seen::Failed(error.to_string())),
        }
    }
    // Closing waits for the broker.
    spawn_blocking(move || drop(consumer)).await?;
    Ok(())
}

/// Reports what the rebalance callbacks say.
struct Watch {
    name: String,
    report: Report,
    has: Mutex<Has>,
}

/// What the member has by what its callbacks were handed.
#[derive(Default)]
struct Has {
    generation: i32,
    partitions: BTreeSet<Partition>,
}

impl Watch {
    fn has(&self) -> MutexGuard<'_, Has> {
        self.has.lock().expect("a callback panicked")
    }

    /// A callback was handed a change of `partitions`: what the member has now, and in which generation.
    fn changed(&self, consumer: &BaseConsumer<Self>, change: impl FnOnce(&mut BTreeSet<Partition>)) {
        let Some(assigned) = Membership::of(consumer).and_then(|membership| membership.assigned()) else {
            (self.report)(Seen::Failed("the callback came before the assignment".into()));
            return;
        };
        let mut has = self.has();
        has.generation = assigned.generation;
        change(&mut has.partitions);
        (self.report)(Seen::Assigned(Assigned {
            generation: assigned.generation,
            member_id: assigned.member_id.clone(),
            subscription: assigned.subscription.iter().cloned().collect(),
            partitions: has.partitions.clone(),
            leader: assigned.led.is_some(),
        }));
    }

    /// Whether what is revoked belongs to somebody else now, as opposed to a member that leaves or is lost.
    fn moves_on(consumer: &BaseConsumer<Self>, revoked: &BTreeSet<Partition>) -> bool {
        let cooperative = matches!(consumer.rebalance_protocol(), RebalanceProtocol::Cooperative);
        let share = Membership::of(consumer).and_then(|membership| membership.assigned());
        cooperative
            && share.is_some_and(|share| {
                let mut topics = share.partitions.iter();
                topics.all(|(topic, partitions)| {
                    partitions.iter().all(|partition| !revoked.contains(&(topic.clone(), *partition)))
                })
            })
    }
}

fn partitions_of(list: &TopicPartitionList) -> BTreeSet<Partition> {
    list.elements().iter().map(|element| (element.topic().to_owned(), element.partition())).collect()
}

impl ClientContext for Watch {
    /// To standard error, where `debug` is set to something, as a failed test's output.
    fn log(&self, _: RDKafkaLogLevel, facility: &str, message: &str) {
        eprintln!("{}: {facility}: {message}", self.name);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        (self.report)(Seen::Failed(format!("{error}: {reason}")));
    }
}

impl ConsumerContext for Watch {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let Rebalance::Revoke(revoked) = rebalance else { return };
        let revoked = partitions_of(revoked);
        (self.report)(Seen::Revoked(revoked.clone()));
        if Self::moves_on(consumer, &revoked) {
            self.changed(consumer, |partitions| partitions.retain(|partition| !revoked.contains(partition)));
        } else {
            self.has().partitions.retain(|partition| !revoked.contains(partition));
        }
    }

    fn post_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let Rebalance::Assign(assigned) = rebalance else { return };
        self.changed(consumer, |partitions| partitions.extend(partitions_of(assigned)));
    }
}
