//! One member: a consumer that reads, and reports what it sees.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use kafka_sticky_rdkafka_adapter::{CreateConsumer, Membership};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, Rebalance, StreamConsumer};
use rdkafka::error::KafkaError;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::{ClientConfig, ClientContext, Message};
use tokio::task::spawn_blocking;

use crate::seen::{Assigned, Seen};

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
    let consumer: StreamConsumer<Watch> =
        config.create_consumer_with_context(Watch { name, report: Arc::clone(&report) })?;
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    consumer.subscribe(&topics).context("subscribing")?;
    let membership = Membership::of(&consumer).context("the consumer offers none of the adapter's strategies")?;

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
                generation: membership.assigned().context("a message before any assignment")?.generation,
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
    fn pre_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(_) = rebalance {
            (self.report)(Seen::Revoked);
        }
    }

    fn post_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let Rebalance::Assign(partitions) = rebalance else { return };
        let Some(assigned) = Membership::of(consumer).and_then(|membership| membership.assigned()) else {
            (self.report)(Seen::Failed("the callback came before the assignment".into()));
            return;
        };
        let handed: BTreeSet<_> =
            partitions.elements().iter().map(|element| (element.topic().to_owned(), element.partition())).collect();
        (self.report)(Seen::Assigned(Assigned {
            generation: assigned.generation,
            member_id: assigned.member_id.clone(),
            subscription: assigned.subscription.iter().cloned().collect(),
            partitions: handed,
            leader: assigned.led.is_some(),
        }));
    }
}
