//! An assignor of one's own under which partitions have homes: say, the machines whose disks hold their state. Whose home
//! is not in the group goes, for as long, where `kafka-sticky-core` puts it.
//!
//! A member says its name in its user data, or with `group.instance.id` where that is set. The leader knows the homes.
//!
//! `cargo run -p kafka-sticky-rdkafka-adapter --features mocking --example fixed_homes`

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::str;

use kafka_sticky_protocol::{StickyUserData, StickyUserDataWriter};
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{
    Assignor, AssignorError, Assignors, Joining, Plan, RebalanceProtocol, Round, RoundMember,
};

use members::{Failure, Member, expect, partitions};

mod members;

/// By topic, the name of each partition's home, by its number.
type Homes = BTreeMap<String, Vec<&'static str>>;

struct FixedHomes {
    /// This member's name.
    name: &'static str,
    homes: Homes,
}

impl Assignor for FixedHomes {
    fn name(&self) -> &str {
        "fixed-homes"
    }

    /// What is at home is never revoked when others come and go.
    fn rebalance_protocol(&self) -> RebalanceProtocol {
        RebalanceProtocol::Cooperative
    }

    /// Claims in `sticky`'s form, which are read where a member owns nothing; then the name.
    fn user_data(&self, joining: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        let had = joining.last.map_or(&[][..], |last| &last.partitions);
        let had = had.iter().map(|(topic, partitions)| (topic.as_str(), partitions));
        let claims = StickyUserDataWriter::new(had, joining.last.map(|last| last.generation));
        Ok(Some(claims.trailing(self.name.as_bytes()).write(1)?))
    }

    fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
        let present: HashMap<&str, usize> = round
            .members
            .iter()
            .enumerate()
            .filter_map(|(index, member)| Some((name_of(member)?, index)))
            .collect();
        let home_of = |topic: usize, partition: u32| -> Option<usize> {
            let name = round.topics[topic].name;
            let home = *present.get(*self.homes.get(name)?.get(partition as usize)?)?;
            round.members[home].subscription.contains(&name).then_some(home)
        };

        let mut plan = Plan::new(round);
        let group = round.group()?;
        let fallback = group.assign();
        let topics: HashMap<&str, usize> =
            round.topics.iter().enumerate().map(|(index, topic)| (topic.name, index)).collect();
        for (index, member) in round.members.iter().enumerate() {
            // The target, not what is assigned at once: what others hold still is withheld for us.
            let target = fallback.member(member.id).into_iter().flat_map(|share| share.target());
            for (topic, partitions) in target {
                for partition in partitions.iter().map(|partition| partition.unsigned_abs()) {
                    let topic = topics[topic];
                    plan.give(home_of(topic, partition).unwrap_or(index), topic, partition);
                }
            }
        }
        Ok(plan)
    }
}

/// What a member calls itself.
fn name_of<'r>(member: &RoundMember<'r>) -> Option<&'r str> {
    let in_user_data = || {
        let sent = member.user_data?;
        let name = sent.len() - StickyUserData::read_lossy(sent).ok()?.trailing().len();
        str::from_utf8(&sent[name..]).ok().filter(|name| !name.is_empty())
    };
    member.instance_id.or_else(in_user_data)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let cluster = GroupCluster::start(1)?;
    cluster.create_topic("orders", 6)?;
    let mut config = cluster.consumer_config("billing");
    config.set("partition.assignment.strategy", "fixed-homes").set("session.timeout.ms", "3000");
    let homes = Homes::from([("orders".into(), vec!["amalfi", "amalfi", "bari", "bari", "capri", "capri"])]);
    let join = |name| {
        let assignors = Assignors::new().with(FixedHomes { name, homes: homes.clone() });
        Member::join(name, &config, &assignors, &["orders"])
    };

    let amalfi = join("amalfi")?;
    let has = amalfi.given(|assigned| assigned.load() == 6).await?;
    println!("amalfi, alone, has {:?}", partitions(&has, "orders"));

    let bari = join("bari")?;
    let has =
        bari.given(|assigned| partitions(assigned, "orders").is_superset(&BTreeSet::from([2, 3]))).await?;
    println!("bari came and has {:?}", partitions(&has, "orders"));

    let capri = join("capri")?;
    let homecoming = async |member: &Member, home: [i32; 2]| {
        let has = member.given(|assigned| partitions(assigned, "orders") == BTreeSet::from(home)).await?;
        println!("generation {}: {} has {home:?}", has.generation, member.name);
        Ok::<_, Failure>(())
    };
    homecoming(&capri, [4, 5]).await?;
    homecoming(&amalfi, [0, 1]).await?;
    homecoming(&bari, [2, 3]).await?;

    bari.leave().await?;
    let has = amalfi.given(|assigned| assigned.load() == 3).await?;
    println!("bari left, and amalfi has {:?} meanwhile", partitions(&has, "orders"));
    expect(
        partitions(&has, "orders").is_superset(&BTreeSet::from([0, 1])),
        "amalfi keeps what is at home there",
    )?;
    capri.given(|assigned| assigned.load() == 3).await?;

    // Another process under the old name, which knows nothing of what it had.
    let bari = join("bari")?;
    homecoming(&bari, [2, 3]).await?;
    homecoming(&amalfi, [0, 1]).await?;
    homecoming(&capri, [4, 5]).await?;
    for member in [bari, capri, amalfi] {
        member.leave().await?;
    }
    Ok(())
}
