//! Ours and one neighbour under `sticky`, each in turn as the leader.

use std::rc::Rc;

use anyhow::{Result, ensure};

use crate::interop::client::Client;
use crate::interop::group::LiveGroup;
use crate::interop::scenario::{Scenario, Stage};
use crate::interop::verdict::Settled;

/// The other clients that have `sticky`.
pub(super) const NEIGHBOURS: [Client; 4] =
    [Client::Java, Client::KafkaPython, Client::FranzGo, Client::Sarama];

pub(super) fn scenarios() -> Vec<Scenario> {
    let pair = |leader: Client, follower: Client| {
        Scenario::new(format!("{leader}-leads-{follower}"), move |stage| pair(stage, leader, follower))
    };
    let ours_leads = NEIGHBOURS.into_iter().map(|neighbour| pair(Client::Ours, neighbour));
    let ours_follows = NEIGHBOURS.into_iter().map(|neighbour| pair(neighbour, Client::Ours));
    let framed =
        [pair(Client::KafkaPython, Client::OursFramed), pair(Client::OursFramed, Client::KafkaPython)];
    ours_leads.chain(ours_follows).chain(framed).collect()
}

/// Two kinds of members come, leave, are killed and come back; topics grow and shrink. The first to join leads throughout.
async fn pair(stage: Rc<Stage>, leader: Client, follower: Client) -> Result<()> {
    let (ours, neighbour) = if leader.is_ours() { (leader, follower) } else { (follower, leader) };
    let mut group = stage.group(&["sticky"]);
    group.create_topic("orders", 12).await?;
    group.create_topic("payments", 5).await?;
    group.join("a", leader)?;
    settle(&mut group).await?;
    group.join("b", follower)?;
    settle(&mut group).await?;
    group.join("c", neighbour)?;
    settle(&mut group).await?;
    group.join("d", ours)?;
    settle(&mut group).await?;
    group.leave("c").await?;
    settle(&mut group).await?;
    group.kill("d").await?;
    settle(&mut group).await?;
    group.join("d", ours)?;
    settle(&mut group).await?;
    group.grow_topic("orders", 18).await?;
    settle(&mut group).await?;
    // Where a topic shrank, a leader of Java's fails over what members claim, kafka-python's stops, franz-go's hands out what
    // there is no more, and Sarama's leaves the group while the topic is missing.
    if leader.is_ours() {
        group.delete_topic("payments").await?;
        group.create_topic("payments", 3).await?;
        settle(&mut group).await?;
    }
    group.end().await
}

/// Settles; `a` leads.
pub(super) async fn settle(group: &mut LiveGroup) -> Result<Settled> {
    let settled = group.settle().await?;
    ensure!(settled.leader.as_deref() == Some("a"), "{:?} leads, not a", settled.leader);
    Ok(settled)
}
