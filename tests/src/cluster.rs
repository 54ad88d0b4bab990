//! The cluster that a group runs on: one inside this process, or a real one.

use std::fmt;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::types::RDKafkaErrorCode;

/// An embedded cluster, or a real one, with the topics of one run.
pub struct Cluster {
    /// What the run's group is called, and what the names of its topics begin with.
    name: String,
    kind: Kind,
    created: Mutex<Vec<String>>,
}

enum Kind {
    Embedded(GroupCluster),
    Real { servers: String, admin: AdminClient<DefaultClientContext> },
}

impl Cluster {
    /// How many brokers an embedded cluster has; their ids start at 1.
    pub const EMBEDDED_BROKERS: u16 = 3;

    /// The one at these servers, or without any one inside this process.
    ///
    /// # Errors
    ///
    /// Where there can be no client.
    pub fn open(servers: Option<String>, name: &str) -> Result<Self> {
        servers.map_or_else(|| Self::embedded(name), |servers| Self::at(&servers, name))
    }

    /// One inside this process.
    ///
    /// # Errors
    ///
    /// Where librdkafka cannot start it.
    pub fn embedded(name: &str) -> Result<Self> {
        let kind = Kind::Embedded(GroupCluster::start(Self::EMBEDDED_BROKERS)?);
        Ok(Self { name: name.to_owned(), kind, created: Mutex::default() })
    }

    /// The one at these servers. Two runs on one cluster stay out of each other's way.
    ///
    /// # Errors
    ///
    /// Where no client can be created.
    pub fn at(servers: &str, name: &str) -> Result<Self> {
        let admin = ClientConfig::new().set("bootstrap.servers", servers).create()?;
        let run = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?.as_secs();
        let kind = Kind::Real { servers: servers.to_owned(), admin };
        Ok(Self { name: format!("kafka-sticky-{name}-{run}"), kind, created: Mutex::default() })
    }

    /// What clients set as `bootstrap.servers`.
    pub fn bootstrap_servers(&self) -> String {
        match &self.kind {
            Kind::Embedded(cluster) => cluster.bootstrap_servers(),
            Kind::Real { servers, .. } => servers.clone(),
        }
    }

    /// The embedded cluster, if it is that.
    pub fn as_embedded(&self) -> Option<&GroupCluster> {
        match &self.kind {
            Kind::Embedded(cluster) => Some(cluster),
            Kind::Real { .. } => None,
        }
    }

    /// What the run's group is called.
    pub fn group(&self) -> &str {
        &self.name
    }

    /// What the members are configured with.
    pub fn member_config(&self) -> ClientConfig {
        let mut config = match &self.kind {
            Kind::Embedded(cluster) => cluster.consumer_config(&self.name),
            Kind::Real { servers, .. } => {
                let mut config = ClientConfig::new();
                config
                    .set("bootstrap.servers", servers)
                    .set("group.id", &self.name)
                    .set("session.timeout.ms", "6000")
                    .set("heartbeat.interval.ms", "500")
                    .set("topic.metadata.refresh.interval.ms", "500")
                    .set("auto.offset.reset", "earliest");
                config
            }
        };
        config.set("partition.assignment.strategy", "sticky").set("auto.commit.interval.ms", "50");
        config
    }

    /// Matches this run's topics, the ones to come included.
    pub fn pattern(&self) -> String {
        format!("^{}", self.topic("").replace('.', "\\."))
    }

    fn topic(&self, name: &str) -> String {
        format!("{}.{name}", self.name)
    }

    /// Creates a topic and gives its full name.
    ///
    /// # Errors
    ///
    /// Where the cluster refuses.
    pub async fn create_topic(&self, name: &str, partitions: i32) -> Result<String> {
        let topic = self.topic(name);
        match &self.kind {
            Kind::Embedded(cluster) => cluster.create_topic(&topic, partitions)?,
            Kind::Real { admin, .. } => {
                let new = NewTopic::new(&topic, partitions, TopicReplication::Fixed(1));
                succeeded(&admin.create_topics([&new], &AdminOptions::new()).await?)
                    .with_context(|| format!("creating {topic}"))?;
            }
        }
        self.created.lock().expect("a caller panicked").push(topic.clone());
        Ok(topic)
    }

    /// Topics of the embedded cluster cannot grow.
    pub fn can_grow(&self) -> bool {
        matches!(self.kind, Kind::Real { .. })
    }

    /// Gives a topic more partitions.
    ///
    /// # Errors
    ///
    /// Where the cluster refuses, as the embedded one always does.
    pub async fn grow_topic(&self, name: &str, partitions: usize) -> Result<String> {
        let topic = self.topic(name);
        let Kind::Real { admin, .. } = &self.kind else {
            bail!("topics of the embedded cluster cannot grow")
        };
        let more = NewPartitions::new(&topic, partitions);
        succeeded(&admin.create_partitions([&more], &AdminOptions::new()).await?)
            .with_context(|| format!("growing {topic}"))?;
        Ok(topic)
    }

    /// Removes what was created on a real cluster.
    ///
    /// # Errors
    ///
    /// Where the cluster cannot be reached.
    pub async fn clean_up(&self) -> Result<()> {
        let Kind::Real { admin, .. } = &self.kind else { return Ok(()) };
        let topics = self.created.lock().expect("a caller panicked").clone();
        let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
        if !topics.is_empty() {
            admin.delete_topics(&topics, &AdminOptions::new()).await?;
        }
        Ok(())
    }
}

fn succeeded(results: &[Result<String, (String, RDKafkaErrorCode)>]) -> Result<()> {
    for result in results {
        if let Err((_, code)) = result {
            bail!("{code}");
        }
    }
    Ok(())
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Embedded(_) => write!(f, "an embedded cluster of {} brokers", Self::EMBEDDED_BROKERS),
            Kind::Real { servers, .. } => write!(f, "the cluster at {servers}"),
        }
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("name", &self.name).field("at", &self.to_string()).finish()
    }
}
