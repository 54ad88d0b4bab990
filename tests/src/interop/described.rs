//! A group as its coordinator describes it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use rdkafka::admin::AdminClient;
use rdkafka::client::DefaultClientContext;
use tokio::task::spawn_blocking;

use crate::heard;
use crate::history::Name;
use crate::said::Said;
use crate::seen::Partition;

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
    /// Its `client.id`.
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
