//! One member: a consumer that reads, and reports what it sees.

use std::collections::BTreeSet;
use std::fmt;
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
    let watch = Watch::new(name, Arc::clone(&report));
    watched(config.create_consumer_with_context(watch)?, topics, report, stop).await
}

/// As [`run`], with a consumer that was created elsewhere.
pub async fn watched(
    consumer: StreamConsumer<Watch>,
    topics: Vec<String>,
    report: Report,
    stop: impl Future<Output = ()> + Send,
) -> Result<()> {
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    consumer.subscribe(&topics).context("subscribing")?;

    tokio::pin!(stop);
    loop {
        let message = tokio::select! {
            () = &mut stop => break,
            message = consumer.recv() => message,
        };
        match message {
            Ok(message) => {
                report(Seen::Read {
                    topic: message.topic().to_owned(),
                    partition: message.partition(),
                    offset: message.offset(),
                    generation: consumer.client().context().has().generation,
                });
                // Refused unless `enable.auto.offset.store` is off, and where the partition is revoked already.
                let _ = consumer.store_offset_from_message(&message);
            }
            Err(error) => report(Seen::Failed(error.to_string())),
        }
    }
    // Closing waits for the broker.
    spawn_blocking(move || drop(consumer)).await?;
    Ok(())
}

/// Reports what the rebalance callbacks say.
pub struct Watch {
    name: String,
    report: Report,
    has: Mutex<Has>,
    joined: Mutex<Option<Joined>>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What librdkafka logs of a join, where this project's assignors are not in it and it tells nobody else.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Joined {
    generation: i32,
    member_id: String,
    leader: bool,
}

impl Joined {
    /// The line that librdkafka 2.12 logs for `debug=cgrp`.
    fn read(line: &str) -> Option<Self> {
        let (_, line) = line.split_once("JoinGroup response: GenerationId ")?;
        let (generation, line) = line.split_once(", ")?;
        let (before, line) = line.split_once(", my MemberId ")?;
        let (member_id, _) = line.split_once(", member metadata count")?;
        line.ends_with("(no error)").then_some(())?;
        Some(Self {
            generation: generation.parse().ok()?,
            member_id: member_id.to_owned(),
            leader: before.ends_with(" (me)"),
        })
    }
}

/// What the member has by what its callbacks were handed.
#[derive(Debug, Default)]
struct Has {
    generation: i32,
    partitions: BTreeSet<Partition>,
}

impl Watch {
    /// Of the member of this name.
    pub fn new(name: String, report: Report) -> Self {
        Self { name, report, has: Mutex::default(), joined: Mutex::default() }
    }

    fn has(&self) -> MutexGuard<'_, Has> {
        self.has.lock().expect("a callback panicked")
    }

    /// A callback was handed a change of `partitions`: what the member has now, and in which generation.
    fn changed(&self, consumer: &BaseConsumer<Self>, change: impl FnOnce(&mut BTreeSet<Partition>)) {
        let Some((joined, subscription)) = self.joined(consumer) else {
            (self.report)(Seen::Failed("the callback came before the assignment".into()));
            return;
        };
        let mut has = self.has();
        has.generation = joined.generation;
        change(&mut has.partitions);
        (self.report)(Seen::Assigned(Assigned {
            generation: joined.generation,
            member_id: joined.member_id,
            subscription,
            partitions: has.partitions.clone(),
            leader: joined.leader,
        }));
    }

    /// Where the member stands, and the topics that it named when it joined.
    fn joined(&self, consumer: &BaseConsumer<Self>) -> Option<(Joined, BTreeSet<String>)> {
        let Some(membership) = Membership::of(consumer) else {
            let joined = self.joined.lock().expect("a callback panicked").clone()?;
            let subscription = consumer.subscription().ok()?;
            return Some((joined, subscription.elements().iter().map(|of| of.topic().to_owned()).collect()));
        };
        let assigned = membership.assigned()?;
        let joined = Joined {
            generation: assigned.generation,
            member_id: assigned.member_id.clone(),
            leader: assigned.led.is_some(),
        };
        Some((joined, assigned.subscription.iter().cloned().collect()))
    }

    /// Whether what is revoked belongs to somebody else now, as opposed to a member that leaves or is lost.
    fn moves_on(consumer: &BaseConsumer<Self>, revoked: &BTreeSet<Partition>) -> bool {
        let cooperative = matches!(consumer.rebalance_protocol(), RebalanceProtocol::Cooperative);
        let Some(membership) = Membership::of(consumer) else { return cooperative };
        let share = membership.assigned();
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
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        if let Some(joined) = Joined::read(message) {
            *self.joined.lock().expect("a callback panicked") = Some(joined);
        }
        if matches!(level, RDKafkaLogLevel::Debug) {
            eprintln!("{}: {facility}: {message}", self.name);
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        (self.report)(Seen::Failed(format!("{error}: {reason}")));
    }
}

impl ConsumerContext for Watch {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let Rebalance::Revoke(revoked) = rebalance else { return };
        let revoked = partitions_of(revoked);
        let gone = if consumer.assignment_lost() { Seen::Lost } else { Seen::Revoked };
        (self.report)(gone(revoked.clone()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_librdkafka_logs_of_a_join() {
        let line = |me: &str| {
            format!(
                "[thrd:main]: JoinGroup response: GenerationId 7, Protocol cooperative-sticky, LeaderId a-1{me}, \
                 my MemberId a-1, member metadata count 2: (no error)"
            )
        };
        let joined = |leader| Joined { generation: 7, member_id: "a-1".into(), leader };
        assert_eq!(Joined::read(&line(" (me)")), Some(joined(true)));
        assert_eq!(Joined::read(&line("")), Some(joined(false)));
        assert_eq!(Joined::read("[thrd:main]: JoinGroup response: GenerationId 7"), None);
    }
}
