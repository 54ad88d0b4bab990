//! The cluster that the demo runs on.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::types::RDKafkaErrorCode;

/// An embedded cluster, or a real one.
pub(crate) enum Cluster {
    Embedded(GroupCluster),
    Real { servers: String, admin: AdminClient<DefaultClientContext>, run: u64 },
}

impl Cluster {
    pub(crate) fn embedded() -> Result<Self> {
        Ok(Self::Embedded(GroupCluster::start(3)?))
    }

    pub(crate) async fn at(servers: &str) -> Result<Self> {
        let admin = ClientConfig::new().set("bootstrap.servers", servers).create()?;
        // Two runs on one cluster stay out of each other's way.
        let run = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?.as_secs();
        Ok(Self::Real { servers: servers.to_owned(), admin, run })
    }

    pub(crate) fn bootstrap_servers(&self) -> String {
        match self {
            Self::Embedded(cluster) => cluster.bootstrap_servers(),
            Self::Real { servers, .. } => servers.clone(),
        }
    }

    /// What the members are configured with.
    pub(crate) fn member_config(&self) -> ClientConfig {
        let mut config = match self {
            Self::Embedded(cluster) => cluster.consumer_config("demo"),
            Self::Real { servers, run, .. } => {
                let mut config = ClientConfig::new();
                config
                    .set("bootstrap.servers", servers)
                    .set("group.id", format!("kafka-sticky-demo-{run}"))
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
    pub(crate) fn pattern(&self) -> String {
        format!("^{}", self.topic("").replace('.', "\\."))
    }

    fn topic(&self, name: &str) -> String {
        match self {
            Self::Embedded(_) => format!("demo.{name}"),
            Self::Real { run, .. } => format!("kafka-sticky-demo-{run}.{name}"),
        }
    }

    /// Creates a topic and gives its full name.
    pub(crate) async fn create_topic(&self, name: &str, partitions: i32) -> Result<String> {
        let topic = self.topic(name);
        match self {
            Self::Embedded(cluster) => cluster.create_topic(&topic, partitions)?,
            Self::Real { admin, .. } => {
                let new = NewTopic::new(&topic, partitions, TopicReplication::Fixed(1));
                succeeded(&admin.create_topics([&new], &AdminOptions::new()).await?)
                    .with_context(|| format!("creating {topic}"))?;
            }
        }
        Ok(topic)
    }

    /// Topics of the embedded cluster cannot grow.
    pub(crate) fn can_grow(&self) -> bool {
        matches!(self, Self::Real { .. })
    }

    /// Gives a topic more partitions.
    pub(crate) async fn grow_topic(&self, name: &str, partitions: usize) -> Result<String> {
        let topic = self.topic(name);
        let Self::Real { admin, .. } = self else { bail!("topics of the embedded cluster cannot grow") };
        let more = NewPartitions::new(&topic, partitions);
        succeeded(&admin.create_partitions([&more], &AdminOptions::new()).await?)
            .with_context(|| format!("growing {topic}"))?;
        Ok(topic)
    }

    /// Removes what was created on a real cluster.
    pub(crate) async fn clean_up(&self) -> Result<()> {
        let Self::Real { admin, .. } = self else { return Ok(()) };
        let topics = ["orders", "payments", "refunds"].map(|name| self.topic(name));
        let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
        // Some were not created if the demo ended early.
        admin.delete_topics(&topics, &AdminOptions::new()).await?;
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
        match self {
            Self::Embedded(_) => f.write_str("an embedded cluster of 3 brokers"),
            Self::Real { servers, .. } => write!(f, "the cluster at {servers}"),
        }
    }
}
