//! Groups whose members and replicas have racks, against the optimum.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Result;
use kafka_sticky_rdkafka_adapter::Assignors;
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_tests::mixed::{Generation, Mixed};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};

const TOPICS: &[&str; 2] = &["orders", "payments"];
const SIZES: &[(&str, i32)] = &[("orders", 9), ("payments", 6)];
const STRATEGIES: [&str; 2] = ["sticky", "cooperative-sticky"];

/// Three brokers, each in a rack of its own, and the topics with this many replicas.
fn cluster(replication_factor: i32) -> Result<GroupCluster> {
    let cluster = GroupCluster::start(3)?;
    for broker in 1..=3 {
        cluster.mock().broker_rack(broker, &rack_of(broker))?;
    }
    for (topic, partitions) in SIZES {
        cluster.mock().create_topic(topic, *partitions, replication_factor)?;
    }
    Ok(cluster)
}

fn rack_of(broker: i32) -> String {
    format!("rack-{broker}")
}

/// The racks of each partition's replicas, as any client can read them.
fn replicas(config: &ClientConfig) -> Result<BTreeMap<(String, i32), BTreeSet<String>>> {
    let consumer: BaseConsumer = config.create()?;
    let mut replicas = BTreeMap::new();
    for (topic, _) in SIZES {
        let metadata = consumer.fetch_metadata(Some(topic), Duration::from_secs(10))?;
        for partition in metadata.topics().iter().flat_map(|topic| topic.partitions()) {
            let racks = partition.replicas().iter().map(|broker| rack_of(*broker)).collect();
            replicas.insert(((*topic).to_owned(), partition.id()), racks);
        }
    }
    Ok(replicas)
}

struct Racked {
    group: Mixed,
}

impl Racked {
    fn new(strategy: &str, replication_factor: i32) -> Result<Self> {
        let mut group = Mixed::on(cluster(replication_factor)?, strategy, SIZES)?;
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", group.config().get("bootstrap.servers").unwrap_or_default());
        config.set("group.id", "onlooker");
        group.replicas = replicas(&config)?;
        Ok(Self { group })
    }

    /// A member joins, in a rack where one is given.
    async fn join(&mut self, name: &str, rack: Option<&str>) -> Result<Generation> {
        let mut config = self.group.config();
        if let Some(rack) = rack {
            config.set("client.rack", rack);
            self.group.racks.insert(name.to_owned(), rack.to_owned());
        }
        self.group.join_with(name, TOPICS, &config, &Assignors::new())?;
        self.group.settle().await
    }

    fn mismatches(generation: &Generation) -> u64 {
        generation.question.cost(&generation.shares).rack_mismatches
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn members_in_the_racks_of_the_replicas_read_within_their_racks() -> Result<()> {
    for strategy in STRATEGIES {
        for replication_factor in [1, 2] {
            let mut racked = Racked::new(strategy, replication_factor)?;
            racked.join("a", Some("rack-1")).await?;
            racked.join("b", Some("rack-2")).await?;
            let generation = racked.join("c", Some("rack-3")).await?;
            // Fifteen partitions: each rack leads five of them, and each member can have those of its own.
            assert_eq!(generation.loads(), [5, 5, 5], "{strategy}, {replication_factor}");
            assert_eq!(Racked::mismatches(&generation), 0, "{strategy}, {replication_factor}");

            racked.group.leave("b").await?;
            racked.group.settle().await?;
            // Nobody else is in rack 2, and a member without a rack reads from anywhere.
            let generation = racked.join("nowhere", None).await?;
            assert_eq!(Racked::mismatches(&generation), 0, "{strategy}, {replication_factor}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn racks_never_outweigh_balance() -> Result<()> {
    for strategy in STRATEGIES {
        let mut racked = Racked::new(strategy, 1)?;
        racked.join("a", Some("rack-1")).await?;
        let generation = racked.join("b", Some("rack-1")).await?;
        assert_eq!(generation.loads(), [7, 8], "{strategy}");
        // Only five partitions are in rack 1.
        assert_eq!(Racked::mismatches(&generation), 10, "{strategy}");
        let generation = racked.join("c", Some("rack-2")).await?;
        assert_eq!(generation.loads(), [5, 5, 5], "{strategy}");
        assert_eq!(Racked::mismatches(&generation), 5, "{strategy}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn racks_do_not_count_where_every_partition_has_a_replica_in_each() -> Result<()> {
    for strategy in STRATEGIES {
        let mut racked = Racked::new(strategy, 3)?;
        racked.join("a", Some("rack-1")).await?;
        racked.join("b", Some("rack-9")).await?;
        let generation = racked.join("c", Some("rack-2")).await?;
        assert_eq!(Racked::mismatches(&generation), 0, "{strategy}");
        let report = generation.ours["a"].led.as_ref().and_then(|led| led.report);
        assert_eq!(report.map(|report| report.rack_mismatches), Some(0), "{strategy}");
    }
    Ok(())
}
