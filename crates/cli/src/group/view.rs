//! A group as its members see it: what was bytes is read.

use std::collections::BTreeMap;

use kafka_sticky_core::{Group, Member, Topic};
use kafka_sticky_protocol::{
    Assignment, MemberClaims, ReadError, Strategy, Subscription, TopicPartitions, UserData,
};
use serde::Serialize;

use super::cluster::{Described, DescribedMember};

/// Partition numbers by topic, both sorted.
pub(super) type Partitions = BTreeMap<String, Vec<i32>>;

/// What is known of a group.
#[derive(Debug, Serialize)]
pub(super) struct View {
    pub(super) group: String,
    pub(super) state: String,
    pub(super) protocol_type: String,
    pub(super) protocol: String,
    /// The number of partitions of each topic that a member names.
    pub(super) topics: BTreeMap<String, u32>,
    pub(super) members: BTreeMap<String, MemberView>,
    /// None where it is not known what members subscribe to.
    pub(super) balance: Option<Balance>,
    /// What should be known before the rest is believed.
    pub(super) notes: Vec<String>,
}

/// What is known of a member.
#[derive(Debug, Default, Serialize)]
pub(super) struct MemberView {
    pub(super) client_id: String,
    pub(super) host: String,
    pub(super) topics: Vec<String>,
    pub(super) rack: Option<String>,
    /// What it said it had when it joined.
    pub(super) claims: Partitions,
    /// Of these claims.
    pub(super) generation: Option<i32>,
    pub(super) assignment: Partitions,
    pub(super) load: u64,
    pub(super) notes: Vec<String>,
}

/// How even the assignment is.
#[derive(Debug, Default, Serialize)]
pub(super) struct Balance {
    pub(super) members: u64,
    /// With a subscriber.
    pub(super) partitions: u64,
    /// Of these, those that no member has.
    pub(super) unassigned: u64,
    pub(super) min_load: u64,
    pub(super) max_load: u64,
    pub(super) sum_of_squares: u64,
    /// The least that the subscriptions allow.
    pub(super) least_sum_of_squares: u64,
}

/// How members of a group say what they have.
#[derive(Clone, Copy)]
enum Reading {
    Sticky(Strategy),
    /// Not from user data: from what their clients list as owned, if they do.
    Owned,
    Unknown,
    /// No consumers.
    Not,
}

impl View {
    pub(super) fn of(described: &Described) -> Self {
        let reading = Reading::of(&described.protocol_type, &described.protocol);
        let members: BTreeMap<String, MemberView> =
            described.members.iter().map(|member| (member.id.clone(), read(member, reading))).collect();
        let mut notes = notes(described, reading, &members);
        let mut topics = BTreeMap::new();
        for topic in members.values().flat_map(MemberView::named_topics) {
            match described.topics.get(topic) {
                Some(count) => _ = topics.insert(topic.to_owned(), *count),
                None => notes.push(format!("topic {topic:?} does not exist, or may not be seen")),
            }
        }
        notes.sort_unstable();
        notes.dedup();
        let knows = members.values().any(|member| !member.topics.is_empty());
        let balance = knows.then(|| Balance::of(&topics, &members));
        Self {
            group: described.group.clone(),
            state: described.state.clone(),
            protocol_type: described.protocol_type.clone(),
            protocol: described.protocol.clone(),
            topics,
            members,
            balance,
            notes,
        }
    }

    /// The strategy, where it is one of the two that core knows.
    pub(super) fn strategy(&self) -> Option<Strategy> {
        self.protocol.parse().ok()
    }
}

impl MemberView {
    fn named_topics(&self) -> impl Iterator<Item = &str> {
        self.topics.iter().chain(self.assignment.keys()).map(String::as_str)
    }

    /// The member for core, with what it has now as claims; a cooperative one holds it as well.
    pub(super) fn to_core<'v>(&'v self, id: &'v str, strategy: Strategy) -> Member<'v> {
        let mut member = Member::new(id).subscribe(self.topics.iter().map(String::as_str));
        for (topic, numbers) in &self.assignment {
            member.add_claim(topic, numbers.iter().copied(), None);
            if strategy == Strategy::CooperativeSticky {
                member.add_hold(topic, numbers.iter().copied(), None);
            }
        }
        member
    }
}

impl Balance {
    fn of(topics: &BTreeMap<String, u32>, members: &BTreeMap<String, MemberView>) -> Self {
        let loads = || members.values().map(|member| member.load);
        let group = Group::new(
            topics.iter().map(|(name, count)| Topic::new(name, *count)),
            members.iter().map(|(id, member)| member.to_core(id, Strategy::Sticky)),
        );
        // Topics and members come from maps: none is given twice.
        let least = group.map(|group| *group.assign().report()).unwrap_or_default();
        let exists = |topic: &str, number: i32| {
            topics.get(topic).is_some_and(|count| u32::try_from(number).is_ok_and(|number| number < *count))
        };
        let mut assigned: Vec<(&str, i32)> = members
            .values()
            .flat_map(|member| &member.assignment)
            .flat_map(|(topic, numbers)| numbers.iter().map(|number| (&**topic, *number)))
            .filter(|(topic, number)| exists(topic, *number))
            .collect();
        assigned.sort_unstable();
        assigned.dedup();
        Self {
            members: members.len() as u64,
            partitions: least.partitions,
            unassigned: least.partitions.saturating_sub(assigned.len() as u64),
            min_load: loads().min().unwrap_or(0),
            max_load: loads().max().unwrap_or(0),
            sum_of_squares: loads().map(|load| load * load).sum(),
            least_sum_of_squares: least.sum_of_squares,
        }
    }
}

impl Reading {
    fn of(protocol_type: &str, protocol: &str) -> Self {
        match (protocol_type, protocol.parse::<Strategy>()) {
            ("consumer", Ok(strategy)) => Self::Sticky(strategy),
            ("consumer", _) if matches!(protocol, "range" | "roundrobin") => Self::Owned,
            // Without members there is no protocol, and nothing to read.
            ("consumer", _) => Self::Unknown,
            _ => Self::Not,
        }
    }
}

fn notes(described: &Described, reading: Reading, members: &BTreeMap<String, MemberView>) -> Vec<String> {
    let mut notes = Vec::new();
    let Described { protocol, protocol_type, state, .. } = described;
    match reading {
        _ if described.members.is_empty() => notes.push("the group has no members".to_owned()),
        Reading::Unknown if !protocol.is_empty() => {
            notes.push(format!("what members of a {protocol:?} group claim is not known"));
        }
        Reading::Not => {
            notes
                .push(format!("a group of type {protocol_type:?}, not of consumers: its bytes are not read"));
        }
        _ => {}
    }
    if !described.members.is_empty() && described.members.iter().all(|member| member.metadata.is_empty()) {
        notes.push(format!("while a group is {state}, the broker does not say what its members have"));
    }
    if members.values().any(|member| member.rack.is_some()) {
        notes.push(
            "members have racks; those of the replicas are not asked for, so racks do not count here"
                .to_owned(),
        );
    }
    notes
}

fn read(member: &DescribedMember, reading: Reading) -> MemberView {
    let mut view = MemberView {
        client_id: member.client_id.clone(),
        host: member.host.clone(),
        ..MemberView::default()
    };
    if matches!(reading, Reading::Not) {
        return view;
    }
    let unread = |what: &str, error: ReadError| format!("its {what} cannot be read: {error}");
    if !member.metadata.is_empty() {
        match Subscription::read_lossy(&member.metadata) {
            Ok(subscription) => view.subscribed(&subscription, reading),
            Err(error) => view.notes.push(unread("subscription", error)),
        }
    }
    if !member.assignment.is_empty() {
        match Assignment::read_lossy(&member.assignment) {
            Ok(assignment) => view.assignment = by_topic(assignment.assigned_partitions()),
            Err(error) => view.notes.push(unread("assignment", error)),
        }
    }
    view.load = view.assignment.values().map(|numbers| numbers.len() as u64).sum();
    view
}

impl MemberView {
    fn subscribed(&mut self, subscription: &Subscription<'_>, reading: Reading) {
        self.topics = subscription.topics().iter().map(str::to_owned).collect();
        self.topics.sort_unstable();
        self.topics.dedup();
        self.rack = subscription.rack().map(str::to_owned);
        match reading {
            Reading::Sticky(strategy) => {
                let claims = MemberClaims::read(strategy, subscription);
                self.claims = by_topic(claims.claims());
                self.generation = claims.claims_generation();
                if let UserData::Unreadable(error) = claims.user_data() {
                    self.notes.push(format!("its user data cannot be read: {error}"));
                }
            }
            Reading::Owned => {
                self.claims = by_topic(subscription.owned_partitions());
                self.generation = subscription.generation_id();
            }
            Reading::Unknown | Reading::Not => {}
        }
    }
}

fn by_topic(partitions: TopicPartitions<'_>) -> Partitions {
    let mut by_topic = Partitions::new();
    for (topic, partition) in partitions.pairs() {
        by_topic.entry(topic.to_owned()).or_default().push(partition);
    }
    for numbers in by_topic.values_mut() {
        numbers.sort_unstable();
        numbers.dedup();
    }
    by_topic
}
