//! A leader keeps its neighbours sticky: those that write their claims in another form, those that forget what they had
//! when they revoke it, and those whose user data nobody can read. Its events say what it did for whom.
//!
//! The neighbours stand for other clients: franz-go's `sticky` forgets, kafka-python 3 frames.
//!
//! `cargo run -p kafka-sticky-rdkafka-adapter --features mocking --example neighbours`

use std::collections::BTreeSet;

use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{
    Assignor, AssignorError, Assignors, Event, Joining, Plan, RebalanceProtocol, Round, Sticky,
};

use members::{Failure, Member, expect, partitions, settled};

mod members;

/// `sticky`, but for what it says of itself.
struct Neighbour {
    user_data: Option<&'static [u8]>,
}

impl Assignor for Neighbour {
    fn name(&self) -> &str {
        "sticky"
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        RebalanceProtocol::Eager
    }

    fn user_data(&self, _: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        Ok(self.user_data.map(<[u8]>::to_vec))
    }

    fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
        Sticky::new().assign(round)
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let cluster = GroupCluster::start(1)?;
    cluster.create_topic("orders", 20)?;
    let mut config = cluster.consumer_config("billing");
    config.set("partition.assignment.strategy", "sticky").set("session.timeout.ms", "3000");
    let join = |name, assignor: Assignors| Member::join(name, &config, &assignor, &["orders"]);

    let leader = join("leader", Assignors::new())?;
    leader.given(|assigned| assigned.load() == 20).await?;
    let mut members = vec![leader];
    members.push(join("forgets", Assignors::new().with(Neighbour { user_data: None }))?);
    members.push(join("frames", Assignors::new().with(Sticky::new().framed()))?);
    members.push(join("garbles", Assignors::new().with(Neighbour { user_data: Some(b"?!") }))?);
    let before = shares(&members).await?;
    for (member, share) in members.iter().zip(&before) {
        println!("{} has {share:?}", member.name);
    }
    let forgets = members[1].membership.assigned().ok_or("it was given five")?.member_id.clone();
    let garbles = members[3].membership.assigned().ok_or("it was given five")?.member_id.clone();

    let mut events = members[0].membership.events();
    members.push(join("newcomer", Assignors::new())?);
    let after = shares(&members).await?;
    println!("a newcomer joins, and what the leader has to say is:");
    let (mut remembered, mut unreadable) = (BTreeSet::new(), BTreeSet::new());
    while let Some(event) = events.try_next() {
        match event {
            Event::Remembered { member_ids, .. } => {
                println!("- remembered what {member_ids:?} had");
                remembered.extend(member_ids);
            }
            Event::UserDataUnreadable { member_id, reason, .. } => {
                println!("- cannot read the user data of {member_id}: {reason}");
                unreadable.insert(member_id);
            }
            Event::Assigned(assigned) => {
                let moved = assigned.led.as_ref().and_then(|led| Some(led.report?.moved));
                println!("- generation {}: {moved:?} partitions moved", assigned.generation);
            }
            event => println!("- {event:?}"),
        }
    }
    for ((member, before), after) in members.iter().zip(&before).zip(&after) {
        println!("{} keeps {after:?}", member.name);
        expect(after.is_subset(before), "nobody is given anything but the newcomer")?;
    }

    while let Some(member) = members.pop() {
        member.leave().await?;
    }
    expect(remembered.is_superset(&BTreeSet::from([forgets, garbles.clone()])), "two were remembered")?;
    expect(unreadable == BTreeSet::from([garbles]), "one could not be read")
}

/// What each has once the group has settled.
async fn shares(members: &[Member]) -> Result<Vec<BTreeSet<i32>>, Failure> {
    let given = settled(members, 20).await?;
    Ok(given.iter().map(|assigned| partitions(assigned, "orders")).collect())
}
