//! Ours and the neighbours under `cooperative-sticky`, each in turn as the leader.

use std::rc::Rc;

use anyhow::Result;

use crate::interop::client::Client::{self, FranzGo, Java, Librdkafka, Ours};
use crate::interop::scenario::{Scenario, Stage};
use crate::interop::scenarios::eager::settle;

pub(super) fn scenarios() -> Vec<Scenario> {
    let group = |name: String, clients: Vec<Client>| {
        Scenario::new(format!("cooperative-{name}"), move |stage| come_and_go(stage, clients))
    };
    let mut scenarios = Vec::new();
    for neighbour in [Java, FranzGo, Librdkafka] {
        scenarios.push(group(format!("ours-leads-{neighbour}"), vec![Ours, neighbour]));
        scenarios.push(group(format!("{neighbour}-leads-ours"), vec![neighbour, Ours]));
    }
    let all = [Ours, Java, FranzGo, Librdkafka];
    for leader in all {
        let followers = all.into_iter().filter(|client| *client != leader);
        scenarios.push(group(format!("{leader}-leads-all"), [leader].into_iter().chain(followers).collect()));
    }
    scenarios
}

/// One of each client joins, the first of them leads; then another of ours. One leaves, one is killed, it comes back, a
/// topic grows.
async fn come_and_go(stage: Rc<Stage>, clients: Vec<Client>) -> Result<()> {
    let mut group = stage.group(&["cooperative-sticky"]);
    group.create_topic("orders", 14).await?;
    group.create_topic("payments", 5).await?;
    let names = ["a", "b", "c", "d"];
    for (name, &client) in names.iter().zip(&clients) {
        group.join(name, client)?;
        settle(&mut group).await?;
    }
    group.join("e", Ours)?;
    settle(&mut group).await?;
    let last = clients.len() - 1;
    group.leave(names[last]).await?;
    settle(&mut group).await?;
    group.join(names[last], clients[last])?;
    settle(&mut group).await?;
    group.kill(names[last]).await?;
    settle(&mut group).await?;
    group.join(names[last], clients[last])?;
    settle(&mut group).await?;
    group.grow_topic("payments", 9).await?;
    settle(&mut group).await?;
    if clients[0] == Ours {
        group.delete_topic("payments").await?;
        group.create_topic("payments", 3).await?;
        settle(&mut group).await?;
    }
    group.end().await
}
