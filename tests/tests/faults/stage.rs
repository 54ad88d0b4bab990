//! A group that reads what a producer keeps writing.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, ensure};
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_tests::cluster::Cluster;
use kafka_sticky_tests::group::Group;
use kafka_sticky_tests::history::Record;
use kafka_sticky_tests::judge;
use kafka_sticky_tests::writer::Writer;
use rdkafka::ClientConfig;
use rdkafka::mocking::{MockCluster, MockCoordinator};
use rdkafka::producer::DefaultProducerContext;

pub(crate) const TOPICS: [(&str, i32); 2] = [("orders", 9), ("payments", 5)];
pub(crate) const PARTITIONS: usize = 14;
/// So long that a busy machine makes nobody miss its heartbeats, which on the mock cluster is dangerous: member ids there are
/// addresses, and who comes back late may be taken for somebody else.
const SESSION_MILLIS: &str = "6000";
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Three brokers, of which the first coordinates.
pub(crate) struct Stage {
    cluster: Cluster,
    pub(crate) group: Group,
    pub(crate) topics: Vec<String>,
    writer: Writer,
}

impl Stage {
    pub(crate) const COORDINATOR: i32 = 1;

    /// With these members, settled.
    pub(crate) async fn with(members: &[&str]) -> Result<Self> {
        let cluster = Cluster::embedded("faults")?;
        let coordinator = MockCoordinator::Group(cluster.group().to_owned());
        cluster.as_embedded().expect("it is").mock().coordinator(coordinator, Self::COORDINATOR)?;
        let mut config = cluster.member_config();
        config.set("session.timeout.ms", SESSION_MILLIS).set("enable.auto.offset.store", "false");
        // How soon a JoinGroup is given up that the mock cluster forgot, as it does once the session is over.
        config.set("max.poll.interval.ms", SESSION_MILLIS);
        let mut group = Group::new(config, env!("CARGO_BIN_EXE_demo"));
        let writer = Writer::start(cluster.bootstrap_servers(), Duration::from_millis(50))?;
        let topics = writer.write_to_new(&TOPICS, &cluster, &mut group).await?;
        let mut stage = Self { cluster, group, topics, writer };
        for member in members {
            stage.join(member);
        }
        stage.settle().await?;
        Ok(stage)
    }

    pub(crate) fn mock(&self) -> MockCluster<'_, DefaultProducerContext> {
        self.embedded().mock()
    }

    pub(crate) fn embedded(&self) -> &GroupCluster {
        self.cluster.as_embedded().expect("it is embedded")
    }

    pub(crate) fn group_id(&self) -> &str {
        self.cluster.group()
    }

    /// The configuration of a member that nobody watches: it commits nothing, so that others read again what it read.
    pub(crate) fn config(&self) -> ClientConfig {
        let mut config = self.cluster.member_config();
        config.set("session.timeout.ms", SESSION_MILLIS).set("enable.auto.commit", "false");
        config
    }

    pub(crate) fn join(&mut self, member: &str) {
        let topics: Vec<&str> = self.topics.iter().map(String::as_str).collect();
        self.group.join(member, &topics);
    }

    /// Waits until the members share everything, and checks that each generation on the way was the best there was.
    pub(crate) async fn settle(&mut self) -> Result<()> {
        for settled in self.group.settle().await? {
            ensure!(settled.is_optimal(), "generation {}:\n{settled}", settled.generation);
        }
        Ok(())
    }

    /// How often members were told to give something up so far.
    pub(crate) fn revocations(&self) -> usize {
        revocations(&self.group.history().record())
    }

    /// Waits until members were told to give something up more often than that.
    pub(crate) async fn wait_for_revocation(&self, after: usize) -> Result<()> {
        self.group
            .history()
            .wait("revocation", PATIENCE, |record| (revocations(record) > after).then_some(()))
            .await
    }

    /// Waits until members have failed at something more often than that.
    pub(crate) async fn wait_for_failure(&self, after: usize) -> Result<()> {
        self.group
            .history()
            .wait("failure", PATIENCE, |record| (record.failures.len() > after).then_some(()))
            .await
    }

    pub(crate) fn failures(&self) -> usize {
        self.group.history().record().failures.len()
    }

    /// Waits for all messages to be read, and checks that nothing had two owners.
    pub(crate) async fn end(self) -> Result<()> {
        let written = self.writer.stop().await?;
        ensure!(written.len() == PARTITIONS, "messages went to {} partitions", written.len());
        let unread = |unread: u64| (unread == 0).then_some(());
        self.group
            .history()
            .wait("end of the messages", PATIENCE, |record| {
                unread(judge::unread_and_repeated(record, &written).0)
            })
            .await?;
        self.group.disband().await
    }
}

fn revocations(record: &Record) -> usize {
    record.revocations.values().map(Vec::len).sum()
}

/// All partitions of one member of the history, as it last said.
pub(crate) fn share(group: &Group, member: &str) -> BTreeSet<(String, i32)> {
    let record = group.history().record();
    record
        .assignments
        .get(member)
        .and_then(|all| all.last())
        .map(|last| last.partitions.clone())
        .unwrap_or_default()
}
