//! An embedded cluster for tests and examples of groups.

use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{BaseProducer, DefaultProducerContext, Producer};

use crate::error::Error;
use crate::ffi;

/// A Kafka cluster inside this process, librdkafka's mock cluster, with rebalances quick enough to test.
///
/// It listens on loopback, so clients in other processes reach it too. It goes when this value is dropped.
///
/// Its limits: the first strategy of every member must be the same (it never negotiates, and ends the process over
/// another one), topics cannot grow, static membership is absent, and a member that syncs after the leader starts one
/// more rebalance.
///
/// ```
/// use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
///
/// let cluster = GroupCluster::start(1)?;
/// cluster.create_topic("orders", 6)?;
/// assert!(cluster.bootstrap_servers().starts_with("127.0.0.1:"));
/// # Ok::<(), kafka_sticky_rdkafka_adapter::Error>(())
/// ```
pub struct GroupCluster {
    /// The client that the mock cluster lives in.
    host: BaseProducer,
}

impl GroupCluster {
    /// How long a new group waits for more members before its first assignment: 3 s unless told otherwise.
    const INITIAL_REBALANCE_DELAY: Duration = Duration::from_millis(100);

    /// Starts a cluster of this many brokers.
    ///
    /// # Errors
    ///
    /// [`Error::Kafka`] where librdkafka cannot start it.
    pub fn start(brokers: u16) -> Result<Self, Error> {
        let host: BaseProducer =
            ClientConfig::new().set("test.mock.num.brokers", brokers.to_string()).create()?;
        let delay = i32::try_from(Self::INITIAL_REBALANCE_DELAY.as_millis()).unwrap_or(i32::MAX);
        ffi::mock_initial_rebalance_delay(host.client(), delay);
        Ok(Self { host })
    }

    /// What clients set as `bootstrap.servers`.
    pub fn bootstrap_servers(&self) -> String {
        self.mock().bootstrap_servers()
    }

    /// Creates a topic with one replica of each partition.
    ///
    /// # Errors
    ///
    /// [`Error::Kafka`] where it exists already.
    pub fn create_topic(&self, name: &str, partitions: i32) -> Result<(), Error> {
        Ok(self.mock().create_topic(name, partitions, 1)?)
    }

    /// The whole of what rdkafka offers on a mock cluster: racks, brokers that go down, errors.
    pub fn mock(&self) -> MockCluster<'_, DefaultProducerContext> {
        self.host.client().mock_cluster().expect("`start` gave this client a mock cluster")
    }

    /// The configuration of a member of `group` on this cluster, with timers for tests: a member that vanishes is missed
    /// after a second and a half, a rebalance takes half a second.
    ///
    /// Set `partition.assignment.strategy` and what else you need on it. A `session.timeout.ms` of 1000 or less does not
    /// work: a rebalance on this cluster takes a second less than the session timeout, or, where that would leave
    /// nothing, as long, and then members who wait for its end are dropped without an answer.
    pub fn consumer_config(&self, group: &str) -> ClientConfig {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", self.bootstrap_servers())
            .set("group.id", group)
            .set("session.timeout.ms", "1500")
            .set("heartbeat.interval.ms", "100")
            .set("topic.metadata.refresh.interval.ms", "250")
            .set("auto.offset.reset", "earliest");
        config
    }
}

impl std::fmt::Debug for GroupCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupCluster").field("bootstrap_servers", &self.bootstrap_servers()).finish()
    }
}
