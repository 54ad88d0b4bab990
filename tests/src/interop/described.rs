//! A group as its coordinator describes it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use rdkafka::admin::AdminClient;
use rdkafka::client::DefaultClientContext;
use tokio::task::spawn_blocking;

use crate::heard;
use crate::history::{Name, Record};
use crate::said::Said;
use crate::seen::{Assigned, Partition};

const REQUEST: Duration = Duration::from_secs(5);

/// A group whose members all have their assignment.
#[derive(Debug, Clone)]
pub struct Described {
    /// The strategy that it uses.
    pub strategy: String,
    /// Its members.
    pub members: Vec<DescribedMember>,
}

/// A member as its coordinator knows it.
#[derive(Debug, Clone)]
pub struct DescribedMember {
    /// Its name: its `client.id`.
    pub name: Name,
    /// The id that it was given.
    pub member_id: String,
    /// What it said when it joined.
    pub said: Said,
    /// What it was given.
    pub given: BTreeSet<Partition>,
    /// The user data that came with it.
    pub told: Option<Vec<u8>>,
}

/// Asks for a group; `None` while it rebalances, or is not there.
///
/// # Errors
///
/// Where its members say or are given what cannot be read.
pub async fn describe(
    admin: &Arc<AdminClient<DefaultClientContext>>,
    group: &str,
) -> Result<Option<Described>> {
    let (admin, group) = (Arc::clone(admin), group.to_owned());
    spawn_blocking(move || ask(&admin, &group)).await?
}

impl Described {
    /// By the names under which members have reported themselves: the coordinator goes on calling a static member by the
    /// `client.id` of its first process.
    pub fn as_reported(mut self, record: &Record) -> Self {
        for member in &mut self.members {
            let last =
                |all: &Vec<Assigned>| all.last().is_some_and(|last| last.member_id == member.member_id);
            if let Some((name, _)) = record.assignments.iter().find(|(_, all)| last(all)) {
                member.name.clone_from(name);
            }
        }
        self
    }
}

/// What a group is doing, and who is in it.
#[derive(Debug, Clone)]
pub struct Doing {
    /// `Stable`, `PreparingRebalance` …
    pub state: String,
    /// The `client.id` of each member.
    pub members: BTreeSet<Name>,
}

/// Asks for what a group is doing; `None` while there is nobody to say so.
///
/// # Errors
///
/// Where the asking itself comes to grief.
pub async fn doing(admin: &Arc<AdminClient<DefaultClientContext>>, group: &str) -> Result<Option<Doing>> {
    let (admin, group) = (Arc::clone(admin), group.to_owned());
    let ask = move || {
        let list = admin.inner().fetch_group_list(Some(&group), REQUEST).ok()?;
        let mut found = list.groups().iter().filter(|found| found.name() == group);
        let found = found.next()?;
        let members = found.members().iter().map(|member| member.client_id().to_owned()).collect();
        Some(Doing { state: found.state().to_owned(), members })
    };
    Ok(spawn_blocking(ask).await?)
}

fn ask(admin: &AdminClient<DefaultClientContext>, group: &str) -> Result<Option<Described>> {
    // A coordinator may be on its way to another broker.
    let Ok(list) = admin.inner().fetch_group_list(Some(group), REQUEST) else { return Ok(None) };
    let mut found = list.groups().iter().filter(|found| found.name() == group);
    let Some(found) = found.find(|found| found.state() == "Stable") else { return Ok(None) };
    let members = found.members().iter().map(|member| {
        let (given, told) = heard::assignment(member.assignment().unwrap_or_default())
            .with_context(|| format!("the assignment of {}", member.client_id()))?;
        Ok(DescribedMember {
            name: member.client_id().to_owned(),
            member_id: member.id().to_owned(),
            said: heard::subscription(member.metadata().unwrap_or_default())
                .with_context(|| format!("the subscription of {}", member.client_id()))?,
            given,
            told,
        })
    });
    Ok(Some(Described { strategy: found.protocol().to_owned(), members: members.collect::<Result<_>>()? }))
}
