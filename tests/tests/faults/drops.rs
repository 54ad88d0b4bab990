//! A consumer may be dropped at any moment and anywhere: that returns, and its partitions go to who is left.

use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use kafka_sticky_rdkafka_adapter::{CreateConsumer, Membership};
use rdkafka::ClientContext;
use rdkafka::consumer::{
    BaseConsumer, Consumer, ConsumerContext, DefaultConsumerContext, Rebalance, StreamConsumer,
};
use tokio::runtime;
use tokio::task::spawn_blocking;

use crate::stage::{PARTITIONS, PATIENCE, Stage, share};

const POLL: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own, and fails where that does not end.
async fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let (done, ended) = mpsc::channel();
    thread::spawn(move || {
        // Nobody listens any more where it took too long.
        let _ = done.send(work());
    });
    spawn_blocking(move || ended.recv_timeout(PATIENCE)).await?.context("it hangs")
}

/// A member that nobody watches, subscribed.
fn stranger(stage: &Stage) -> Result<BaseConsumer> {
    let consumer: BaseConsumer = stage.config().create_consumer()?;
    consumer.subscribe(&stage.topics.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(consumer)
}

fn has_something<C: ConsumerContext>(consumer: &impl Consumer<C>) -> bool {
    Membership::of(consumer)
        .and_then(|membership| membership.assigned())
        .is_some_and(|share| share.load() > 0)
}

/// Polls until it was given something.
fn poll_until_assigned<C: ConsumerContext>(consumer: &BaseConsumer<C>) {
    while !has_something(consumer) {
        let _ = consumer.poll(POLL);
    }
}

/// The witness alone has everything again, and nothing was lost.
async fn all_is_the_witness_s(mut stage: Stage) -> Result<()> {
    stage.settle().await?;
    assert_eq!(share(&stage.group, "witness").len(), PARTITIONS);
    stage.end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn before_it_subscribes_or_is_polled() -> Result<()> {
    let mut stage = Stage::with(&["witness"]).await?;
    let config = stage.config();
    ends(move || config.create_consumer::<BaseConsumer>().map(drop)).await??;
    for _ in 0..5 {
        let consumer = stranger(&stage)?;
        ends(move || drop(consumer)).await?;
    }
    stage.join("late");
    stage.settle().await?;
    stage.group.leave("late").await?;
    all_is_the_witness_s(stage).await
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_middle_of_the_rebalance_that_it_caused() -> Result<()> {
    let stage = Stage::with(&["witness"]).await?;
    let revocations = stage.revocations();
    let consumer = stranger(&stage)?;
    stage.wait_for_revocation(revocations).await?;
    ends(move || drop(consumer)).await?;
    all_is_the_witness_s(stage).await
}

#[tokio::test(flavor = "multi_thread")]
async fn on_another_thread_than_the_one_that_polled_it() -> Result<()> {
    let stage = Stage::with(&["witness"]).await?;
    let consumer = stranger(&stage)?;
    let consumer = ends(move || {
        poll_until_assigned(&consumer);
        consumer
    })
    .await?;
    ends(move || drop(consumer)).await?;
    all_is_the_witness_s(stage).await
}

/// Drops another consumer as soon as its own is given something.
struct DropsAnother(Mutex<Option<BaseConsumer>>);

impl ClientContext for DropsAnother {}

impl ConsumerContext for DropsAnother {
    fn post_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Assign(_) = rebalance {
            drop(self.0.lock().expect("a callback panicked").take());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn inside_a_callback_of_another() -> Result<()> {
    let stage = Stage::with(&["witness"]).await?;
    let first = stranger(&stage)?;
    let first = ends(move || {
        poll_until_assigned(&first);
        first
    })
    .await?;
    let context = DropsAnother(Mutex::new(Some(first)));
    let second: BaseConsumer<DropsAnother> = stage.config().create_consumer_with_context(context)?;
    second.subscribe(&stage.topics.iter().map(String::as_str).collect::<Vec<_>>())?;
    ends(move || {
        // The first gives up its partitions where it is dropped, at the latest.
        while second.context().0.lock().expect("a callback panicked").is_some() {
            let _ = second.poll(POLL);
        }
        drop(second);
    })
    .await?;
    all_is_the_witness_s(stage).await
}

#[tokio::test(flavor = "multi_thread")]
async fn inside_a_runtime_that_is_shutting_down() -> Result<()> {
    for patient in [true, false] {
        let stage = Stage::with(&["witness"]).await?;
        let consumer: StreamConsumer<DefaultConsumerContext> = stage.config().create_consumer()?;
        consumer.subscribe(&stage.topics.iter().map(String::as_str).collect::<Vec<_>>())?;
        let membership = Membership::of(&consumer).context("a strategy of ours")?;
        ends(move || {
            let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            runtime.spawn(async move {
                loop {
                    // What goes wrong with a message is not what this is about.
                    let _ = consumer.recv().await;
                }
            });
            while membership.assigned().is_none_or(|share| share.load() == 0) {
                thread::sleep(POLL);
            }
            if patient {
                runtime.shutdown_timeout(PATIENCE);
            } else {
                runtime.shutdown_background();
            }
            Ok::<_, std::io::Error>(())
        })
        .await??;
        all_is_the_witness_s(stage).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_after_the_other_from_several_threads_at_once() -> Result<()> {
    let stage = Stage::with(&["witness"]).await?;
    let mut droppers = Vec::new();
    for number in 0..6 {
        let consumer = stranger(&stage)?;
        droppers.push(ends(move || {
            let polls = 4 * number;
            (0..polls).for_each(|_| drop(consumer.poll(POLL)));
            drop(consumer);
        }));
    }
    for dropper in droppers {
        if dropper.await.is_err() {
            bail!("it hangs");
        }
    }
    all_is_the_witness_s(stage).await
}
