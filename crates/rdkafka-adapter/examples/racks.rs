//! Three brokers on three racks, each partition with one replica: a group whose members say where they are reads nothing
//! across racks, as far as an even split allows.
//!
//! `cargo run -p kafka-sticky-rdkafka-adapter --features mocking --example racks`

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{Assigned, Assignors, Report};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};

use members::{Failure, Member, expect, partitions, settled};

mod members;

const RACKS: [&str; 3] = ["rack-1", "rack-2", "rack-3"];

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let cluster = GroupCluster::start(3)?;
    for (broker, rack) in (1..).zip(RACKS) {
        cluster.mock().broker_rack(broker, rack)?;
    }
    cluster.create_topic("orders", 9)?;
    let rack_of = racks_of_partitions(&cluster)?;

    let unaware = Zoned::start(&cluster, "unaware", |_, _| {}).await?;
    println!("without client.rack: {} of 9 partitions read across racks", unaware.mismatches(&rack_of));
    unaware.leave().await?;

    let mut aware = Zoned::start(&cluster, "aware", |config, rack| {
        config.set("client.rack", rack);
    })
    .await?;
    let everywhere = aware.mismatches(&rack_of);
    println!(
        "with client.rack: {everywhere} of 9; the leader's report says {}",
        aware.report()?.rack_mismatches
    );
    expect(everywhere == 0 && aware.report()?.rack_mismatches == 0, "each rack has a member")?;

    let last = aware.members.pop().ok_or("there are three")?;
    last.leave().await?;
    aware.settle().await?;
    let without = aware.mismatches(&rack_of);
    println!(
        "without a member on rack-3: {without} of 9; the report says {}",
        aware.report()?.rack_mismatches
    );
    expect(
        without == 3 && aware.report()?.rack_mismatches == 3,
        "what is on rack-3 only is read from elsewhere",
    )?;
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
            zoned.members.push(Member::join(rack, &config, &Assignors::new(), &["orders"])?);
        }
        zoned.settle().await?;
        Ok(zoned)
    }

    async fn settle(&mut self) -> Result<(), Failure> {
        self.given = settled(&self.members, 9).await?;
        Ok(())
    }

    /// How many partitions have no replica on the rack of the member that has them.
    fn mismatches(&self, rack_of: &HashMap<i32, String>) -> usize {
        let of_member = |(member, assigned): (&Member, &Arc<Assigned>)| {
            partitions(assigned, "orders")
                .iter()
                .filter(|partition| rack_of[*partition] != member.name)
                .count()
        };
        self.members.iter().zip(&self.given).map(of_member).sum()
    }

    fn report(&self) -> Result<Report, Failure> {
        let led = self.given.iter().find_map(|assigned| assigned.led.as_ref()?.report);
        led.ok_or_else(|| "none of these leads".into())
    }

    async fn leave(self) -> Result<(), Failure> {
        for member in self.members.into_iter().rev() {
            member.leave().await?;
        }
        Ok(())
    }
}

/// The rack of each partition's only replica, as the cluster says.
fn racks_of_partitions(cluster: &GroupCluster) -> Result<HashMap<i32, String>, Failure> {
    let client: BaseConsumer = cluster.consumer_config("onlooker").create()?;
    let metadata = client.fetch_metadata(Some("orders"), Duration::from_secs(10))?;
    let topic = metadata.topics().first().ok_or("no such topic")?;
    let rack = |broker: i32| RACKS[broker.unsigned_abs() as usize - 1].to_owned();
    Ok(topic.partitions().iter().map(|partition| (partition.id(), rack(partition.leader()))).collect())
}
