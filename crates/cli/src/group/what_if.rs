//! What the next rebalance would do if members left or joined.

use std::collections::{BTreeMap, HashMap};

use kafka_sticky_core::{Assignment, Group, Member, MemberShare, Topic};
use kafka_sticky_protocol::Strategy;
use serde::Serialize;

use super::{
    cluster::ClusterError,
    view::{MemberView, Partitions, View},
};
use crate::json::{ChangeJson, Protocol, ReportJson};

/// Who leaves, and how many join.
pub(super) struct WhatIf<'a> {
    /// Member ids, or client ids that only one member has.
    pub(super) without: &'a [String],
    /// Members like the first.
    pub(super) with: u32,
}

/// The next rebalance.
#[derive(Debug, Serialize)]
pub(super) struct Next {
    /// Whose rules it follows.
    pub(super) protocol: Protocol,
    pub(super) without: Vec<String>,
    pub(super) with: Vec<String>,
    pub(super) assignment: BTreeMap<String, Partitions>,
    pub(super) withheld: BTreeMap<String, Partitions>,
    pub(super) report: ReportJson,
    pub(super) changes: Vec<NextChange>,
}

/// A partition that changes hands.
#[derive(Debug, Serialize)]
pub(super) struct NextChange {
    pub(super) topic: String,
    pub(super) partition: i32,
    /// Who has it now, be it a member that leaves.
    pub(super) from: Option<String>,
    pub(super) to: String,
    pub(super) reason: &'static str,
}

impl<'c> From<&'c NextChange> for ChangeJson<'c> {
    fn from(change: &'c NextChange) -> Self {
        let NextChange { topic, partition, from, to, reason } = change;
        Self { topic, partition: *partition, from: from.as_deref(), to, reason }
    }
}

impl WhatIf<'_> {
    pub(super) fn is_asked(&self) -> bool {
        !self.without.is_empty() || self.with > 0
    }

    pub(super) fn answer(&self, view: &View) -> Result<Next, ClusterError> {
        let Some(first) = view.members.values().next() else {
            return Err(refused("the group has no members to start from".to_owned()));
        };
        if view.members.values().all(|member| member.topics.is_empty()) {
            let View { state, group, .. } = view;
            return Err(refused(format!(
                "it is not known what the members of {group:?} subscribe to ({state}); try again when it is Stable"
            )));
        }
        let without = self.without.iter().map(|named| find(view, named)).collect::<Result<Vec<_>, _>>()?;
        let with = new_ids(view, self.with);
        let strategy = view.strategy().unwrap_or(Strategy::Sticky);

        let stays = view.members.iter().filter(|(id, _)| !without.contains(&id.as_str()));
        let stay = stays.map(|(id, member)| member.to_core(id, strategy));
        let join = with.iter().map(|id| Member::new(id).subscribe(first.topics.iter().map(String::as_str)));
        let topics = view.topics.iter().map(|(name, count)| Topic::new(name, *count));
        let group = Group::new(topics, stay.chain(join)).map_err(|error| refused(error.to_string()))?;
        let assignment = group.assign();
        Ok(Next {
            protocol: Protocol(strategy),
            without: without.into_iter().map(str::to_owned).collect(),
            changes: changes(view, &group, &assignment),
            assignment: shares(&assignment, true, |member| owned(member.assigned())),
            withheld: shares(&assignment, false, |member| owned(member.withheld())),
            report: assignment.report().into(),
            with,
        })
    }
}

fn refused(why: String) -> ClusterError {
    ClusterError::WhatIf(why)
}

fn find<'v>(view: &'v View, named: &str) -> Result<&'v str, ClusterError> {
    if let Some((id, _)) = view.members.get_key_value(named) {
        return Ok(id);
    }
    let with_client_id = |(_, member): &(&String, &MemberView)| member.client_id == named;
    let mut found = view.members.iter().filter(with_client_id);
    match (found.next(), found.next()) {
        (Some((id, _)), None) => Ok(id),
        (Some(_), Some(_)) => {
            Err(refused(format!("several members have the client id {named:?}; name a member id")))
        }
        (None, _) => {
            let ids: Vec<&str> = view.members.keys().map(String::as_str).collect();
            Err(refused(format!("{named:?} is no member of the group; there are {}", ids.join(", "))))
        }
    }
}

/// `new-1`, `new-2`, …, as far as they are free.
fn new_ids(view: &View, count: u32) -> Vec<String> {
    let ids = (1..).map(|number: u64| format!("new-{number}"));
    ids.filter(|id| !view.members.contains_key(id)).take(count as usize).collect()
}

fn shares(
    assignment: &Assignment<'_>,
    all: bool,
    share: impl Fn(&MemberShare<'_, '_>) -> Partitions,
) -> BTreeMap<String, Partitions> {
    let shares = assignment.members().map(|member| (member.id().to_owned(), share(&member)));
    shares.filter(|(_, share)| all || !share.is_empty()).collect()
}

fn owned<'s>(partitions: impl Iterator<Item = (&'s str, &'s [i32])>) -> Partitions {
    partitions.map(|(topic, numbers)| (topic.to_owned(), numbers.to_vec())).collect()
}

fn changes<'v>(view: &'v View, group: &Group<'v>, assignment: &Assignment<'v>) -> Vec<NextChange> {
    let mut has: HashMap<(&str, i32), &str> = HashMap::new();
    for (id, member) in &view.members {
        for (topic, numbers) in &member.assignment {
            has.extend(numbers.iter().map(|number| ((topic.as_str(), *number), id.as_str())));
        }
    }
    let named = |change: kafka_sticky_core::Change<'_>| NextChange {
        topic: change.topic.to_owned(),
        partition: change.partition,
        from: change.from.or_else(|| has.get(&(change.topic, change.partition)).copied()).map(str::to_owned),
        to: change.to.to_owned(),
        reason: change.reason.as_str(),
    };
    assignment.changes(group).into_iter().map(named).collect()
}
