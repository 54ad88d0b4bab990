//! A service: it shuts down gracefully, commits by hand, keeps its state over restarts, and says in logs and metrics what
//! happens in its group.
//!
//! With no argument it works off a topic of an embedded cluster, two instances side by side, and ends by itself:
//!
//! `cargo run -p kafka-sticky-rdkafka-adapter --features metrics,mocking --example service`
//!
//! On a cluster it runs until it is stopped (Ctrl-C):
//!
//! `… --example service -- --bootstrap-server localhost:9092 --topic orders --group billing --state billing.state`

use std::env;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kafka_sticky_rdkafka_adapter::{Assignors, Event, Events, Membership};
use lexopt::prelude::*;
use metrics_exporter_prometheus::PrometheusBuilder;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance, StreamConsumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::BorrowedMessage;
use rdkafka::{ClientConfig, ClientContext, Message, TopicPartitionList};
use tokio::signal;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval};
use tracing::{debug, error, info, warn};

mod embedded;
mod state_file;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const COMMIT_INTERVAL: Duration = Duration::from_secs(1);

/// What differs from one instance to the next.
struct Settings {
    client: ClientConfig,
    topic: String,
    /// Where the instance keeps what it had, for the process after it.
    state: PathBuf,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    tracing_subscriber::fmt().with_ansi(false).with_writer(std::io::stdout).init();
    // A service would serve them: `install`, with the exporter's feature `http-listener`.
    let metrics = PrometheusBuilder::new().install_recorder()?;
    match arguments()? {
        Some(settings) => run(settings, Arc::default(), stopped()).await?,
        None => embedded::run().await?,
    }
    print!("{}", metrics.render());
    Ok(())
}

/// One instance of the service, until `stop` is done.
async fn run(
    settings: Settings,
    processed: Arc<AtomicUsize>,
    stop: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let mut assignors = Assignors::new();
    if let Some(state) = state_file::read(&settings.state) {
        assignors = assignors.resuming(state);
    }
    let consumer: StreamConsumer<Billing> = assignors.create_consumer(&settings.client, Billing)?;
    let membership = Membership::of(&consumer).ok_or("it was created by this crate")?;
    let keeper = keep_state(membership.events(), membership, settings.state);
    consumer.subscribe(&[&settings.topic])?;

    let mut commit = interval(COMMIT_INTERVAL);
    commit.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            _ = commit.tick() => done_so_far(&consumer, CommitMode::Async),
            message = consumer.recv() => match message {
                Ok(message) => {
                    process(&message);
                    processed.fetch_add(1, Ordering::Relaxed);
                    // Committed with the others.
                    consumer.store_offset_from_message(&message)?;
                }
                // librdkafka goes on by itself, unless it says that it cannot.
                Err(error @ KafkaError::MessageConsumptionFatal(_)) => return Err(error.into()),
                Err(error) => warn!(%error, "consuming"),
            },
        }
    }
    info!("shutting down");
    // Leaving waits for the broker. It revokes everything, so the rest is committed in `pre_rebalance`.
    spawn_blocking(move || drop(consumer)).await?;
    Ok(keeper.await?)
}

/// What the service is for.
fn process(message: &BorrowedMessage<'_>) {
    debug!(topic = message.topic(), partition = message.partition(), offset = message.offset(), "billed");
}

/// Writes the state down whenever it changes. Logs and metrics need no help.
fn keep_state(mut events: Events, membership: Membership, path: PathBuf) -> JoinHandle<()> {
    tokio::spawn(async move {
        // Ends with the consumer.
        while let Some(event) = events.next().await {
            let Event::Assigned(_) = event else { continue };
            let Some(state) = membership.saved_state() else { continue };
            let file = path.clone();
            let written = spawn_blocking(move || state_file::write(&file, &state)).await;
            if let Ok(Err(error)) = written {
                error!(path = %path.display(), %error, "the state is not written");
            }
        }
    })
}

/// The service's own context.
struct Billing;

impl ClientContext for Billing {
    fn error(&self, error: KafkaError, reason: &str) {
        warn!(%error, reason, "client");
    }
}

impl ConsumerContext for Billing {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if !matches!(rebalance, Rebalance::Revoke(_)) {
            return;
        }
        // What is lost is somebody else's, and its offsets with it.
        if !consumer.assignment_lost() {
            done_so_far(consumer, CommitMode::Sync);
        }
    }

    fn commit_callback(&self, result: Result<(), KafkaError>, offsets: &TopicPartitionList) {
        if let Err(error) = result {
            warn!(%error, partitions = offsets.count(), "committing");
        }
    }
}

/// Commits the offsets of all that was processed. What cannot be committed is processed again, by whoever is next.
fn done_so_far<C: ConsumerContext>(consumer: &impl Consumer<C>, mode: CommitMode) {
    match consumer.commit_consumer_state(mode) {
        Ok(()) | Err(KafkaError::ConsumerCommit(RDKafkaErrorCode::NoOffset)) => {}
        Err(error) => warn!(%error, "committing"),
    }
}

/// The settings in the arguments; `None` where there are none.
fn arguments() -> Result<Option<Settings>, Failure> {
    let (mut servers, mut topic, mut group) = (None, "orders".to_owned(), "billing".to_owned());
    let mut state = None;
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("bootstrap-server") => servers = Some(arguments.value()?.string()?),
            Long("topic") => topic = arguments.value()?.string()?,
            Long("group") => group = arguments.value()?.string()?,
            Long("state") => state = Some(PathBuf::from(arguments.value()?)),
            _ => return Err(argument.unexpected().into()),
        }
    }
    let Some(servers) = servers else { return Ok(None) };
    let mut client = ClientConfig::new();
    client.set("bootstrap.servers", servers).set("group.id", &group);
    let state = state.unwrap_or_else(|| PathBuf::from(format!("{group}.state")));
    Ok(Some(Settings { client: as_a_service(client, &group), topic, state }))
}

/// What any instance sets.
fn as_a_service(mut client: ClientConfig, client_id: &str) -> ClientConfig {
    client
        .set("client.id", client_id)
        .set("partition.assignment.strategy", "cooperative-sticky")
        .set("auto.offset.reset", "earliest")
        .set("enable.auto.commit", "false")
        .set("enable.auto.offset.store", "false");
    if let Ok(rack) = env::var("RACK") {
        client.set("client.rack", rack);
    }
    client
}

async fn stopped() {
    if let Err(error) = signal::ctrl_c().await {
        error!(%error, "cannot be stopped by Ctrl-C");
        std::future::pending::<()>().await;
    }
}
