//! What a cluster says about a group. Nothing is changed there.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig, ClientContext,
    config::RDKafkaLogLevel,
    consumer::{BaseConsumer, Consumer as _, ConsumerContext},
    error::{KafkaError, RDKafkaErrorCode},
};
use thiserror::Error;

use super::settings::{Secrets, Settings};
use crate::failure::Failure;

/// Why the cluster could not be asked, or had no answer.
#[derive(Debug, Error)]
pub(crate) enum ClusterError {
    #[error("no answer from {servers} within {seconds} s{}", because(reason.as_deref()))]
    NoAnswer { servers: String, seconds: u64, reason: Option<String> },
    #[error("{servers} did not say what was asked: {error}{}", because(reason.as_deref()))]
    Refused { servers: String, error: String, reason: Option<String> },
    #[error(
        "there is no classic group {group:?} on {servers}; groups with group.protocol=consumer are the broker's to assign"
    )]
    NoGroup { servers: String, group: String },
    #[error("{0}")]
    WhatIf(String),
}

/// A group as the cluster describes it.
#[derive(Debug, Clone)]
pub(super) struct Described {
    pub(super) group: String,
    pub(super) state: String,
    pub(super) protocol_type: String,
    pub(super) protocol: String,
    pub(super) members: Vec<DescribedMember>,
    /// The number of partitions of each topic that there is.
    pub(super) topics: BTreeMap<String, u32>,
}

/// A member, with its metadata and assignment as bytes.
#[derive(Debug, Clone)]
pub(super) struct DescribedMember {
    pub(super) id: String,
    pub(super) client_id: String,
    pub(super) host: String,
    pub(super) metadata: Vec<u8>,
    pub(super) assignment: Vec<u8>,
}

/// A connection to a cluster, for one question.
pub(super) struct Cluster {
    client: BaseConsumer<Reasons>,
    servers: String,
    secrets: Secrets,
    timeout: Duration,
    deadline: Instant,
}

impl Cluster {
    pub(super) fn connect(settings: Settings, timeout: Duration) -> Result<Self, Failure> {
        let Settings { config, secrets } = settings;
        let servers = config.get("bootstrap.servers").unwrap_or_default().to_owned();
        let client = create(&config).map_err(|error| Failure::Usage(secrets.hidden_in(&said(&error))))?;
        Ok(Self { client, servers, secrets, timeout, deadline: Instant::now() + timeout })
    }

    pub(super) fn describe(&self, group: &str) -> Result<Described, ClusterError> {
        let list = self.client.fetch_group_list(Some(group), self.left());
        let list = list.map_err(|error| self.failed(&error))?;
        let no_group = || ClusterError::NoGroup { servers: self.servers.clone(), group: group.to_owned() };
        let info = list.groups().iter().find(|info| info.name() == group).ok_or_else(no_group)?;
        if matches!(info.state(), "Dead" | "") {
            return Err(no_group());
        }
        let members = info.members().iter().map(|member| DescribedMember {
            id: member.id().to_owned(),
            client_id: member.client_id().to_owned(),
            host: member.client_host().trim_start_matches('/').to_owned(),
            metadata: member.metadata().unwrap_or_default().to_vec(),
            assignment: member.assignment().unwrap_or_default().to_vec(),
        });
        Ok(Described {
            group: group.to_owned(),
            state: info.state().to_owned(),
            protocol_type: info.protocol_type().to_owned(),
            protocol: info.protocol().to_owned(),
            members: members.collect(),
            topics: self.topics()?,
        })
    }

    fn topics(&self) -> Result<BTreeMap<String, u32>, ClusterError> {
        let metadata = self.client.fetch_metadata(None, self.left()).map_err(|error| self.failed(&error))?;
        let topics = metadata.topics().iter().filter(|topic| topic.error().is_none());
        Ok(topics.map(|topic| (topic.name().to_owned(), topic.partitions().len() as u32)).collect())
    }

    /// Why connections fail. It waits in a queue until that is served, one event at a time.
    fn reason(&self) -> Option<String> {
        const ENOUGH: Duration = Duration::from_millis(100);
        let started = Instant::now();
        while self.client.context().last().is_none() && started.elapsed() < ENOUGH {
            // An error comes back from here as well as through the context.
            let _ = self.client.poll(Duration::from_millis(10));
        }
        self.client.context().last().map(|reason| self.secrets.hidden_in(&reason))
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }

    fn failed(&self, error: &KafkaError) -> ClusterError {
        let servers = self.servers.clone();
        let reason = self.reason();
        let no_answer = [
            RDKafkaErrorCode::OperationTimedOut,
            RDKafkaErrorCode::BrokerTransportFailure,
            RDKafkaErrorCode::AllBrokersDown,
        ];
        match error.rdkafka_error_code() {
            Some(code) if no_answer.contains(&code) => {
                ClusterError::NoAnswer { servers, seconds: self.timeout.as_secs(), reason }
            }
            _ => ClusterError::Refused { servers, error: self.secrets.hidden_in(&said(error)), reason },
        }
    }
}

fn create(config: &ClientConfig) -> Result<BaseConsumer<Reasons>, KafkaError> {
    config.create_with_context(Reasons::default())
}

/// What librdkafka says, without the value of the property, which may be secret.
fn said(error: &KafkaError) -> String {
    match error {
        KafkaError::ClientConfig(_, description, key, _) => format!("--set {key}: {description}"),
        KafkaError::ClientCreation(description) => description.clone(),
        _ => error.rdkafka_error_code().map_or_else(|| error.to_string(), |code| code.to_string()),
    }
}

fn because(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}

/// Keeps why connections fail, and prints nothing by itself.
#[derive(Default)]
struct Reasons {
    last: Mutex<Option<String>>,
}

impl Reasons {
    fn last(&self) -> Option<String> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ClientContext for Reasons {
    fn log(&self, _: RDKafkaLogLevel, _: &str, _: &str) {}

    fn error(&self, error: KafkaError, reason: &str) {
        // That all brokers are down says less than why the last one is.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none() || error.rdkafka_error_code() != Some(RDKafkaErrorCode::AllBrokersDown) {
            *last = Some(reason.to_owned());
        }
    }
}

impl ConsumerContext for Reasons {}
