//! Ours and several neighbours at once under `sticky`.

use std::rc::Rc;

use anyhow::{Result, ensure};

use crate::interop::client::Client::{self, FranzGo, Java, KafkaPython, Ours, Sarama};
use crate::interop::scenario::{Scenario, Stage};
use crate::interop::scenarios::eager::{NEIGHBOURS, settle};

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for (index, &one) in NEIGHBOURS.iter().enumerate() {
        for &other in &NEIGHBOURS[index + 1..] {
            let name = format!("three-with-{one}-{other}");
            scenarios.push(Scenario::new(name, move |stage| each_leads(stage, vec![Ours, one, other])));
        }
    }
    let all = |stage| each_leads(stage, vec![Ours, Java, KafkaPython, FranzGo, Sarama]);
    scenarios.push(Scenario::new("all-five", all));
    let readable = |stage| each_leads(stage, vec![Sarama, Ours, Java, FranzGo]);
    scenarios.push(Scenario::new("all-that-sarama-reads", readable));
    scenarios.push(Scenario::new("neighbours-keep-what-they-have", neighbours_keep));
    scenarios.push(Scenario::new("different-subscriptions", different_subscriptions));
    scenarios.push(Scenario::new("leaders-come-and-go", leaders_come_and_go));
    scenarios
}

/// One group after another, each led by another of these clients: one of each joins, and another of ours; one leaves, one
/// is killed, it comes back, a topic grows.
async fn each_leads(stage: Rc<Stage>, clients: Vec<Client>) -> Result<()> {
    for &leader in &clients {
        // It fails over kafka-python's user data.
        if leader == Sarama && clients.contains(&KafkaPython) {
            continue;
        }
        let mut group = stage.group(&["sticky"]);
        group.create_topic("orders", 16).await?;
        group.create_topic("payments", 7).await?;
        group.join("a", leader)?;
        settle(&mut group).await?;
        for &follower in clients.iter().filter(|follower| **follower != leader) {
            group.join(&follower.to_string(), follower)?;
            settle(&mut group).await?;
        }
        group.join("another", Ours)?;
        settle(&mut group).await?;
        let followers: Vec<Client> = clients.iter().copied().filter(|client| *client != leader).collect();
        let (leaving, killed) = (followers[0], followers[followers.len() - 1]);
        group.leave(&leaving.to_string()).await?;
        settle(&mut group).await?;
        group.kill(&killed.to_string()).await?;
        settle(&mut group).await?;
        group.join(&killed.to_string(), killed)?;
        settle(&mut group).await?;
        group.grow_topic("payments", 11).await?;
        settle(&mut group).await?;
        group.end().await?;
    }
    Ok(())
}

/// Under ours, members that cannot say what they had, or say it as no other leader reads it, keep it when one joins.
async fn neighbours_keep(stage: Rc<Stage>) -> Result<()> {
    let mut group = stage.group(&["sticky"]);
    group.create_topic("orders", 20).await?;
    group.join("a", Ours)?;
    settle(&mut group).await?;
    for client in [Sarama, FranzGo, KafkaPython] {
        group.join(&client.to_string(), client)?;
        settle(&mut group).await?;
    }
    group.join("e", Java)?;
    let settled = settle(&mut group).await?;
    ensure!(settled.loads() == [4; 5], "{settled}");
    for name in ["a", "sarama", "franz-go", "kafka-python"] {
        let kept = settled.kept(name, group.topics());
        ensure!(kept == Some((4, 4)), "{name} kept {kept:?}: {settled}");
    }
    // Sarama's says what our leader told it; franz-go's says nothing, and is spoken for.
    let claims = |name: &str| settled.members[name].claims.partitions.len();
    ensure!([claims("sarama"), claims("kafka-python"), claims("franz-go")] == [5, 5, 0], "{settled}");
    group.end().await
}

/// Members subscribe to different topics, and ours leads: the most even that is possible, with the fewest moves.
async fn different_subscriptions(stage: Rc<Stage>) -> Result<()> {
    let mut group = stage.group(&["sticky"]);
    for (topic, partitions) in [("orders", 12), ("payments", 7), ("refunds", 3), ("audit", 5)] {
        group.create_topic(topic, partitions).await?;
    }
    group.join_to("a", Ours, &["orders", "payments"])?;
    settle(&mut group).await?;
    let others: [(&str, Client, &[&str]); 5] = [
        ("b", Java, &["orders", "refunds"]),
        ("c", FranzGo, &["payments", "audit"]),
        ("d", Sarama, &["orders", "audit"]),
        ("e", KafkaPython, &["payments", "refunds"]),
        ("f", Ours, &["refunds"]),
    ];
    for (name, client, topics) in others {
        group.join_to(name, client, topics)?;
        settle(&mut group).await?;
    }
    group.leave("d").await?;
    settle(&mut group).await?;
    group.join_to("d", Sarama, &["refunds", "payments"])?;
    settle(&mut group).await?;
    group.kill("b").await?;
    settle(&mut group).await?;
    group.grow_topic("refunds", 9).await?;
    settle(&mut group).await?;
    group.end().await
}

/// The leader leaves or is killed, whoever that is, and comes back as a follower.
async fn leaders_come_and_go(stage: Rc<Stage>) -> Result<()> {
    let mut group = stage.group(&["sticky"]);
    group.create_topic("orders", 15).await?;
    let clients = [("a", Ours), ("b", Java), ("c", FranzGo), ("d", Sarama), ("e", Ours)];
    for (name, client) in clients {
        group.join(name, client)?;
    }
    let mut settled = group.settle().await?;
    for round in 0..6 {
        let Some(leader) = settled.leader.clone() else { anyhow::bail!("nobody leads: {settled}") };
        let client = settled.members[&leader].client;
        if round % 2 == 0 {
            group.leave(&leader).await?;
        } else {
            group.kill(&leader).await?;
        }
        group.settle().await?;
        group.join(&leader, client)?;
        settled = group.settle().await?;
        ensure!(settled.leader.as_ref() != Some(&leader), "{leader} leads again: {settled}");
    }
    group.end().await
}
