//! A consumer of ours, known by what its membership tells.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use kafka_sticky_rdkafka_adapter::{Assigned, Assignors, Event, Membership};
use rdkafka::ClientConfig;
use rdkafka::consumer::{Consumer, DefaultConsumerContext, StreamConsumer};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, spawn_blocking};

/// A consumer that is polled in its task.
#[derive(Debug)]
pub struct Ours {
    /// Its place in the group.
    pub membership: Membership,
    events: watch::Receiver<Vec<Event>>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<()>>,
}

impl Ours {
    /// Joins, and stays until it is told to leave.
    ///
    /// # Errors
    ///
    /// Where the consumer cannot be created.
    pub fn join(config: &ClientConfig, assignors: &Assignors, topics: &[&str]) -> Result<Self> {
        let consumer: StreamConsumer = assignors.create_consumer(config, DefaultConsumerContext)?;
        let membership = Membership::of(&consumer).context("a strategy of ours")?;
        let mut happening = membership.events();
        consumer.subscribe(topics)?;
        let (told, events) = watch::channel(Vec::new());
        let (stop, mut stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    // A dropped sender stops as well.
                    _ = &mut stopped => break,
                    Some(event) = happening.next() => told.send_modify(|events| events.push(event)),
                    message = consumer.recv() => if let Err(error) = message { eprintln!("ours: {error}") },
                }
            }
            // Closing waits for the broker.
            spawn_blocking(move || drop(consumer)).await?;
            Ok(())
        });
        Ok(Self { membership, events, stop, task })
    }

    /// All that happened so far.
    pub fn events(&self) -> Vec<Event> {
        self.events.borrow().clone()
    }

    /// All its assignments, oldest first.
    pub fn assignments(&self) -> Vec<Arc<Assigned>> {
        let assigned = |event: &Event| match event {
            Event::Assigned(assigned) => Some(Arc::clone(assigned)),
            _ => None,
        };
        self.events.borrow().iter().filter_map(assigned).collect()
    }

    /// Leaves the group.
    ///
    /// # Errors
    ///
    /// What it came to grief over.
    pub async fn leave(self) -> Result<()> {
        // It may have ended already.
        let _ = self.stop.send(());
        self.task.await?
    }
}
