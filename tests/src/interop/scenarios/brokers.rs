//! Three brokers, each on a rack: members near their replicas.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use anyhow::{Context as _, Result, ensure};
use rdkafka::admin::TopicReplication;

use crate::claims::owners;
use crate::interop::client::Client::{self, Java, Librdkafka, Ours};
use crate::interop::group::LiveGroup;
use crate::interop::scenario::{Scenario, Stage};
use crate::interop::verdict::Settled;
use crate::optimum::Question;
use crate::seen::Partition;

const RACKS: [&str; 3] = ["north", "east", "south"];

pub(super) fn scenarios() -> Vec<Scenario> {
    let three = RACKS.map(Some);
    vec![Scenario::new("racks", racks).with_brokers(&three)]
}

/// The brokers of each partition's replicas, numbered from 1.
type Placement = Vec<Vec<i32>>;

/// Members on racks, ours and others, with one replica of each partition and with two.
async fn racks(stage: Rc<Stage>) -> Result<()> {
    // Not as many on each: balance and racks are at odds.
    let one: Placement = [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3].map(|broker| vec![broker]).to_vec();
    let two: Placement = (0..13).map(|number| if number < 9 { vec![1, 2] } else { vec![2, 3] }).collect();
    for placement in [one, two] {
        group_on_racks(&stage, "sticky", [Ours, Java, Ours], &placement).await?;
        group_on_racks(&stage, "cooperative-sticky", [Ours, Java, Librdkafka], &placement).await?;
    }
    Ok(())
}

async fn group_on_racks(
    stage: &Rc<Stage>,
    strategy: &str,
    clients: [Client; 3],
    placement: &Placement,
) -> Result<()> {
    let mut group = stage.group(&[strategy]);
    let topic = group.topic("orders");
    let brokers: Vec<&[i32]> = placement.iter().map(Vec::as_slice).collect();
    let replication = TopicReplication::Variable(&brokers);
    let count = i32::try_from(placement.len())?;
    stage.cluster.create_topic_on(&topic, count, replication).await?;
    group.expect_topic(topic.clone(), count);
    let rack_of = |broker: &i32| RACKS[*broker as usize - 1].to_owned();
    let replicas = (0..).zip(placement);
    let replicas: BTreeMap<Partition, BTreeSet<String>> = replicas
        .map(|(number, brokers)| ((topic.clone(), number), brokers.iter().map(rack_of).collect()))
        .collect();

    for ((name, client), rack) in ["a", "b", "c"].into_iter().zip(clients).zip(RACKS) {
        join_on(&mut group, name, client, rack)?;
        settle_near(&mut group, &replicas).await?;
    }
    // More members than racks, and one with a rack that no broker is on.
    join_on(&mut group, "d", Ours, RACKS[0])?;
    settle_near(&mut group, &replicas).await?;
    join_on(&mut group, "e", Java, "west")?;
    settle_near(&mut group, &replicas).await?;
    group.leave("b").await?;
    settle_near(&mut group, &replicas).await?;
    group.kill("d").await?;
    settle_near(&mut group, &replicas).await?;
    group.end().await
}

fn join_on(group: &mut LiveGroup, name: &str, client: Client, rack: &str) -> Result<()> {
    group.join_as(name, client, |place| place.rack = Some(rack.to_owned()))
}

/// Settles; ours leads, was told the truth about the racks, and made the best of it.
async fn settle_near(
    group: &mut LiveGroup,
    replicas: &BTreeMap<Partition, BTreeSet<String>>,
) -> Result<Settled> {
    let settled = group.settle_whoever_leads().await?;
    ensure!(settled.leader.as_deref() == Some("a"), "{:?} leads, not a", settled.leader);
    let record = group.history().record();
    let (_, led) = record.led.last().context("nobody led")?;
    let round = led.round.as_ref().context("ours shows what it decided by")?;
    let told: BTreeMap<Partition, BTreeSet<String>> = round.replicas.iter().cloned().collect();
    ensure!(told == *replicas, "the leader took the replicas to be on {told:?}: {settled}");
    let members = &settled.members;
    let claims = members.iter().map(|(name, member)| (name.clone(), member.claims.clone())).collect();
    let question = Question {
        subscriptions: members
            .iter()
            .map(|(name, member)| (name.clone(), member.subscription.clone()))
            .collect(),
        topics: group.topics().clone(),
        owners: owners(&claims, settled.generation),
        racks: group.racks(),
        replicas: replicas.clone(),
    };
    let given = members.iter().map(|(name, member)| (name.clone(), member.given.clone())).collect();
    let (cost, least) = (question.cost(&given), question.optimum());
    ensure!(cost == least, "{cost:?}, at best {least:?}: {settled}");
    Ok(settled)
}
