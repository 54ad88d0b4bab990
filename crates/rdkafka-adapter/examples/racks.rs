//! Three brokers on three racks, each partition with one replica: a group whose members say where they are reads nothing
//! across racks, as far as an even split allows.
//!
//! `cargo run -p kafka-sticky-rdkafka-adapter --features mocking --example racks`

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{Assigned, Assignors};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};

use members::{Failure, Member, expect, settled};

mod members;

const RACKS: [&str; 3] = ["rack-1", "rack-2", "rack-3"];
const TOPICS: [&str; 3] = ["orders", "payments", "refunds"];

/// The rack of each partition's only replica.
type RackOf = BTreeMap<(String, i32), &'static str>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let cluster = GroupCluster::start(3)?;
    for (broker, rack) in (1..).zip(RACKS) {
        cluster.mock().broker_rack(broker, rack)?;
    }
    // Of each topic's four, the first and the last are on rack-1: six of twelve, where a member's fair share is four.
    for topic in TOPICS {
        cluster.create_topic(topic, 4)?;
    }
    let rack_of = racks_of_partitions(&cluster)?;

    let unaware = Zoned::start(&cluster, "unaware", |_, _| {}).await?;
    println!("without client.rack: {} of 12 partitions read across racks", unaware.mismatches(&rack_of));
    unaware.leave().await?;

    let mut aware = Zoned::start(&cluster, "aware", |config, rack| {
        config.set("client.rack", rack);
    })
    .await?;
    aware.expect_mismatches(2, "with client.rack", &rack_of)?;

    let last = aware.members.pop().ok_or("there are three")?;
    last.leave().await?;
    aware.settle().await?;
    aware.expect_mismatches(3, "without the member on rack-3", &rack_of)?;
    aware.leave().await
}

/// A group with a member on each rack.
struct Zoned {
    /// Named after their racks.
    members: Vec<Member>,
    given: Vec<Arc<Assigned>>,
}

impl Zoned {
    async fn start(
        cluster: &GroupCluster,
        group: &str,
        locate: impl Fn(&mut ClientConfig, &str),
    ) -> Result<Self, Failure> {
        let mut config = cluster.consumer_config(group);
        config.set("partition.assignment.strategy", "sticky").set("session.timeout.ms", "3000");
        let mut zoned = Self { members: Vec::new(), given: Vec::new() };
        for rack in RACKS {
            let mut config = config.clone();
            locate(&mut config, rack);
            zoned.members.push(Member::join(rack, &config, &Assignors::new(), &TOPICS)?);
        }
        zoned.settle().await?;
        Ok(zoned)
    }

    async fn settle(&mut self) -> Result<(), Failure> {
        self.given = settled(&self.members, 12).await?;
        Ok(())
    }

    /// How many partitions have no replica on the rack of the member that has them.
    fn mismatches(&self, rack_of: &RackOf) -> usize {
        let elsewhere = |(member, assigned): (&Member, &Arc<Assigned>)| {
            let topics = assigned.partitions.iter();
            let has =
                topics.flat_map(|(topic, numbers)| numbers.iter().map(|number| (topic.clone(), *number)));
            has.filter(|partition| rack_of[partition] != member.name).count()
        };
        self.members.iter().zip(&self.given).map(elsewhere).sum()
    }

    /// This many is the least that an even split allows.
    fn expect_mismatches(&self, least: usize, when: &str, rack_of: &RackOf) -> Result<(), Failure> {
        let led = self.given.iter().find_map(|assigned| assigned.led.as_ref()?.report);
        let (counted, reported) =
            (self.mismatches(rack_of), led.ok_or("none of these leads")?.rack_mismatches);
        println!("{when}: {counted} of 12; the leader's report says {reported}");
        expect((counted, reported) == (least, least as u64), &format!("{least} mismatches {when}"))
    }

    async fn leave(self) -> Result<(), Failure> {
        for member in self.members.into_iter().rev() {
            member.leave().await?;
        }
        Ok(())
    }
}

fn racks_of_partitions(cluster: &GroupCluster) -> Result<RackOf, Failure> {
    let client: BaseConsumer = cluster.consumer_config("onlooker").create()?;
    let mut racks = RackOf::new();
    for topic in TOPICS {
        let metadata = client.fetch_metadata(Some(topic), Duration::from_secs(10))?;
        for partition in metadata.topics().iter().flat_map(|topic| topic.partitions()) {
            let broker = usize::try_from(partition.leader())?;
            racks.insert((topic.to_owned(), partition.id()), RACKS[broker - 1]);
        }
    }
    Ok(racks)
}
