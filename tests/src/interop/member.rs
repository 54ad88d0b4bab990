//! What a member of ours does in a process of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::Arc;
use std::thread;

use anyhow::{Context as _, Result};
use kafka_sticky_rdkafka_adapter::{
    Assigned, Assignor, AssignorError, Assignors, CooperativeSticky, Event, Joining, Membership, Plan,
    RebalanceProtocol, Round, SavedState, Sticky,
};
use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::StreamConsumer;
use tokio::sync::oneshot;

use crate::claims::Claimed;
use crate::interop::client::{Client, Place};
use crate::member::{Report, Watch, watched};
use crate::seen::{Led, LedRound, Partition, Seen};

/// Joins, reports on standard output, and leaves on the word `stop` on standard input; where that ends, it ends at once.
///
/// # Errors
///
/// Where the arguments are not those of [`Programs::member`](crate::interop::client::Programs::member), or the consumer
/// cannot be created.
pub async fn run(client: &str, place: &str) -> Result<()> {
    let client: Client = serde_json::from_str(client).context("which client")?;
    let place: Place = serde_json::from_str(place).context("where it belongs")?;
    let report: Report = Arc::new(|seen| {
        // Lines are written whole; a test that is gone needs no more of them.
        if let Ok(line) = serde_json::to_string(&seen) {
            println!("{line}");
        }
    });
    let config = config(client, &place);
    let watch = Watch::new(place.name.clone(), Arc::clone(&report));
    let sticky = if client == Client::OursFramed { Sticky::new().framed() } else { Sticky::new() };
    let consumer = if client.is_ours() {
        let watched = |inner| Watched { inner, report: Arc::clone(&report) };
        let assignors = Assignors::new().with(watched(Inner::Sticky(sticky)));
        let assignors = assignors.with(watched(Inner::CooperativeSticky(CooperativeSticky::new())));
        let state = place.state_file.as_ref().and_then(|file| fs::read(file).ok());
        let assignors = match state {
            Some(bytes) => assignors.resuming(SavedState::from_bytes(&bytes)?),
            None => assignors,
        };
        let consumer = assignors.create_consumer(&config, watch)?;
        tell(&consumer, Arc::clone(&report), place.state_file);
        consumer
    } else {
        config.create_with_context(watch)?
    };
    watched(consumer, place.topics, report, told_to_stop()).await
}

/// Reports the events that ask for attention, and keeps the state in its file.
fn tell(consumer: &StreamConsumer<Watch>, report: Report, state_file: Option<PathBuf>) {
    let Some(membership) = Membership::of(consumer) else { return };
    let mut events = membership.events();
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            match event {
                Event::Joining { .. } | Event::Revoked { .. } => {}
                Event::Assigned(_) => {
                    if let Err(error) = keep(&membership, state_file.as_deref()) {
                        report(Seen::Failed(format!("{error:#}")));
                    }
                }
                other => report(Seen::Told(other.to_string())),
            }
        }
    });
}

fn keep(membership: &Membership, file: Option<&Path>) -> Result<()> {
    let (Some(file), Some(state)) = (file, membership.saved_state()) else { return Ok(()) };
    let unfinished = file.with_extension("unfinished");
    fs::write(&unfinished, state.to_bytes()?)?;
    Ok(fs::rename(unfinished, file)?)
}

fn config(client: Client, place: &Place) -> ClientConfig {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", &place.bootstrap_servers)
        .set("group.id", &place.group)
        .set("client.id", &place.name)
        .set("partition.assignment.strategy", place.strategies.join(","))
        .set("session.timeout.ms", place.session_timeout_ms.to_string())
        .set("heartbeat.interval.ms", place.heartbeat_interval_ms.to_string())
        .set("topic.metadata.refresh.interval.ms", place.metadata_max_age_ms.to_string())
        .set("auto.commit.interval.ms", place.commit_interval_ms.to_string())
        .set("auto.offset.reset", "earliest")
        // rdkafka drops what arrives while a consumer is dropped: that is not read, and must not be committed.
        .set("enable.auto.offset.store", "false")
        // For the log that is kept where a scenario fails.
        .set("debug", "cgrp")
        .set_log_level(RDKafkaLogLevel::Debug);
    if let Some(instance_id) = &place.instance_id {
        config.set("group.instance.id", instance_id);
    }
    if let Some(rack) = &place.rack {
        config.set("client.rack", rack);
    }
    if !client.is_ours() {
        config.set("group.protocol", "classic");
    }
    config
}

fn told_to_stop() -> impl Future<Output = ()> + Send {
    let (stop, stopped) = oneshot::channel();
    thread::spawn(move || {
        let mut stop = Some(stop);
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if line == "stop" {
                // The member may have come to its end already.
                let _ = stop.take().map(|stop| stop.send(()));
            }
        }
        exit(1);
    });
    async {
        // Where the sender is dropped, the process ends.
        let _ = stopped.await;
    }
}

/// This project's own, which also tell what they decided, and by what.
struct Watched {
    inner: Inner,
    report: Report,
}

enum Inner {
    Sticky(Sticky),
    CooperativeSticky(CooperativeSticky),
}

impl Inner {
    fn assignor(&self) -> &dyn Assignor {
        match self {
            Self::Sticky(sticky) => sticky,
            Self::CooperativeSticky(cooperative_sticky) => cooperative_sticky,
        }
    }
}

impl Assignor for Watched {
    fn name(&self) -> &str {
        self.inner.assignor().name()
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        self.inner.assignor().rebalance_protocol()
    }

    fn user_data(&self, joining: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        self.inner.assignor().user_data(joining)
    }

    fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
        let plan = self.inner.assignor().assign(round)?;
        (self.report)(Seen::Led(led(round, &plan)));
        Ok(plan)
    }

    fn assigned(&self, assigned: &Assigned) {
        self.inner.assignor().assigned(assigned);
    }
}

fn led(round: &Round<'_>, plan: &Plan) -> Led {
    let mut led = LedRound {
        generation: round.generation,
        subscriptions: BTreeMap::new(),
        topics: round
            .topics
            .iter()
            .map(|topic| (topic.name.to_owned(), topic.partitions.cast_signed()))
            .collect(),
        remembered: BTreeSet::new(),
        racks: BTreeMap::new(),
        replicas: replicas(round),
        plan: BTreeMap::new(),
    };
    let mut claims = BTreeMap::new();
    for (index, member) in round.members.iter().enumerate() {
        let id = member.id.to_owned();
        led.subscriptions
            .insert(id.clone(), member.subscription.iter().map(|topic| (*topic).to_owned()).collect());
        led.racks.extend(member.rack.map(|rack| (id.clone(), rack.to_owned())));
        if member.remembered {
            led.remembered.insert(id.clone());
        }
        let listed = member.claims.iter();
        let partitions = listed.clone().flat_map(|of| numbered(of.topic, of.partitions.iter().copied()));
        let generation = listed.filter_map(|of| of.generation).max().unwrap_or(-1);
        claims.insert(id.clone(), Claimed { generation, partitions: partitions.collect() });
        let given = plan.given(index);
        let given =
            given.flat_map(|(topic, number)| numbered(round.topics[topic].name, [number.cast_signed()]));
        led.plan.insert(id, given.collect());
    }
    Led { claims: Some(claims), round: Some(led) }
}

fn replicas(round: &Round<'_>) -> Vec<(Partition, BTreeSet<String>)> {
    let mut replicas = Vec::new();
    for topic in &round.topics {
        for (number, racks) in (0..).zip(topic.racks.iter().flatten()) {
            let racks = racks.iter().map(|rack| (*rack).to_owned()).collect();
            replicas.push(((topic.name.to_owned(), number), racks));
        }
    }
    replicas
}

fn numbered<'t>(
    topic: &'t str,
    numbers: impl IntoIterator<Item = i32> + 't,
) -> impl Iterator<Item = Partition> + 't {
    numbers.into_iter().map(move |number| (topic.to_owned(), number))
}
