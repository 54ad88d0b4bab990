//! The group as it rebalances, event after event.

use std::collections::BTreeMap;

use kafka_sticky_core::{Assignment, Group};
use serde::{Serialize, Serializer};

use super::events::Event;
use crate::{
    input::{JsonError, Key},
    json::{
        ChangeJson, Entries, GroupInput, MemberInput, Name, Object, Protocol, ReportJson, TopicInput,
        changes, core_group,
    },
};

/// All that happened.
#[derive(Debug, Serialize)]
pub(super) struct History<'a> {
    pub(super) protocol: Protocol,
    /// Who owned what at the beginning.
    #[serde(skip)]
    pub(super) before: Owners<'a>,
    pub(super) steps: Vec<Step<'a>>,
}

/// An event, and the rebalances that it takes.
#[derive(Debug, Serialize)]
pub(super) struct Step<'a> {
    /// None at the start.
    pub(super) event: Option<Event<'a>>,
    #[serde(flatten)]
    pub(super) first: Rebalance<'a>,
    /// What came to be with somebody else, or nobody, when all was over.
    pub(super) moved: Vec<Move<'a>>,
    pub(super) follow_ups: Vec<Rebalance<'a>>,
}

/// One rebalance: what members have after it.
#[derive(Debug, Serialize)]
pub(super) struct Rebalance<'a> {
    pub(super) generation: i32,
    pub(super) assignment: Shares<'a>,
    pub(super) withheld: Shares<'a>,
    pub(super) report: ReportJson,
}

/// A partition that changed hands.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Move<'a> {
    pub(super) topic: Name<'a>,
    pub(super) partition: i32,
    pub(super) from: Option<Name<'a>>,
    pub(super) to: Option<Name<'a>>,
    pub(super) reason: &'static str,
}

/// Partitions by member and topic.
#[derive(Debug, Clone, Default)]
pub(super) struct Shares<'a>(pub(super) BTreeMap<Name<'a>, Entries<'a, Vec<i32>>>);

/// The owner of each partition that has one.
pub(super) type Owners<'a> = BTreeMap<(Name<'a>, i32), Name<'a>>;

/// A simulation under way.
pub(super) struct Simulation<'a> {
    topics: BTreeMap<Name<'a>, TopicInput<'a>>,
    members: BTreeMap<Name<'a>, MemberInput<'a>>,
    /// As given, for the first rebalance.
    given: Option<i32>,
    /// The generation formed last.
    generation: i32,
    owners: Owners<'a>,
    history: History<'a>,
}

impl<'a> Simulation<'a> {
    /// A core that is not proven optimal may need several follow-ups; one that would go on for ever does not exist,
    /// since each holder gives up what is not meant for it.
    const MOST_FOLLOW_UPS: usize = 100;

    /// Assigns the group as it is given.
    pub(super) fn start(group: GroupInput<'a>) -> Result<Self, JsonError> {
        let GroupInput { protocol, generation, topics, members } = group;
        let given = generation.filter(|generation| *generation >= 0);
        let claimed = members.iter().filter_map(|(_, Object(member))| member.generation).max();
        let history = History { protocol, before: Owners::new(), steps: Vec::new() };
        let mut simulation = Self {
            topics: topics.into_iter().collect(),
            members: members.into_iter().map(|(name, Object(member))| (name, member)).collect(),
            given,
            generation: given.map_or(claimed.unwrap_or(0).max(0), |given| given - 1),
            owners: Owners::new(),
            history,
        };
        simulation.step(None)?;
        Ok(simulation)
    }

    /// Lets an event happen, and the group rebalance until nothing is withheld any more.
    pub(super) fn happen(&mut self, event: Event<'a>) -> Result<(), JsonError> {
        let happened = event.clone();
        self.apply(event).map_err(|Refused { key, name, problem }| {
            let path = format!("$.events[{}].{key}", self.history.steps.len() - 1);
            JsonError::new(path + &name.map(|name| Key(&name).to_string()).unwrap_or_default(), problem)
        })?;
        self.step(Some(happened))
    }

    pub(super) fn finish(self) -> History<'a> {
        self.history
    }

    fn step(&mut self, event: Option<Event<'a>>) -> Result<(), JsonError> {
        let (first, mut changed) = self.rebalance()?;
        if event.is_none() {
            self.history.before = owners_before(&first, &changed);
            self.owners = self.history.before.clone();
        }
        let mut follow_ups = Vec::new();
        let mut last = &first;
        while !last.withheld.0.is_empty() && follow_ups.len() < Self::MOST_FOLLOW_UPS {
            let (follow_up, more) = self.rebalance()?;
            // Why a partition left its owner was said when it did.
            for (partition, reason) in more {
                changed.entry(partition).or_insert(reason);
            }
            follow_ups.push(follow_up);
            last = &follow_ups[follow_ups.len() - 1];
        }
        let owners = owners_after(last);
        let moved = self.moved(&owners, &changed);
        self.owners = owners;
        self.history.steps.push(Step { event, first, moved, follow_ups });
        Ok(())
    }

    /// One rebalance, with what members own; afterwards they own what they were given.
    fn rebalance(&mut self) -> Result<(Rebalance<'a>, Changed<'a>), JsonError> {
        let forming = self.generation.checked_add(1).ok_or_else(|| {
            JsonError::new("$.group", "a member claims generation 2147483647, expected one with a successor")
        })?;
        let known = self.given.take().or((!self.history.steps.is_empty()).then_some(forming));
        let group = core_group(self.history.protocol, known, &self.topics, &self.members)
            .map_err(|error| JsonError::new("$.group.topics", error.to_string()))?;
        let assignment = group.assign();
        let rebalance = self.recorded(forming, &assignment);
        let changed = self.changed(&group, &assignment);

        self.generation = forming;
        for (name, share) in &rebalance.assignment.0 {
            let Some(member) = self.members.get_mut(name) else { continue };
            member.owned = share.clone();
            member.holds = None;
            member.generation = Some(forming);
        }
        Ok((rebalance, changed))
    }

    fn recorded(&self, generation: i32, assignment: &Assignment<'_>) -> Rebalance<'a> {
        let mut assigned = Shares::default();
        let mut withheld = Shares::default();
        for member in assignment.members() {
            let name = self.member(member.id());
            assigned.0.insert(name.clone(), self.share(member.assigned()));
            let later = self.share(member.withheld());
            if !later.is_empty() {
                withheld.0.insert(name, later);
            }
        }
        Rebalance { generation, assignment: assigned, withheld, report: assignment.report().into() }
    }

    fn share<'s>(&self, partitions: impl Iterator<Item = (&'s str, &'s [i32])>) -> Entries<'a, Vec<i32>> {
        partitions.map(|(topic, numbers)| (self.topic(topic), numbers.to_vec())).collect()
    }

    fn changed(&self, group: &Group<'_>, assignment: &Assignment<'_>) -> Changed<'a> {
        let named = |change: ChangeJson<'_>| {
            let from = change.from.map(|from| self.member(from));
            ((self.topic(change.topic), change.partition), (from, change.reason))
        };
        changes(group, assignment).into_iter().map(named).collect()
    }

    fn moved(&self, owners: &Owners<'a>, changed: &Changed<'a>) -> Vec<Move<'a>> {
        let mut moved = Vec::new();
        for (at, to) in owners {
            let from = self.owners.get(at);
            if from != Some(to) {
                let reason = changed.get(at).map_or("balance", |(_, reason)| reason);
                moved.push(Move::new(at, from, Some(to), reason));
            }
        }
        for (at, from) in self.owners.iter().filter(|(at, _)| !owners.contains_key(*at)) {
            let reason = if self.topics.contains_key(&at.0) { "unsubscribed" } else { "deleted" };
            moved.push(Move::new(at, Some(from), None, reason));
        }
        moved.sort_by(|a, b| (&a.topic, a.partition).cmp(&(&b.topic, b.partition)));
        moved
    }

    fn apply(&mut self, event: Event<'a>) -> Result<(), Refused> {
        match event {
            Event::Join(members) => {
                for (name, Object(member)) in members {
                    if self.members.contains_key(&name) {
                        return Err(Refused::new(
                            "join",
                            Some(&name),
                            "this member is in the group already, expected a new one",
                        ));
                    }
                    self.members.insert(name, member);
                }
            }
            Event::Leave(name) => {
                self.members.remove(&name).ok_or_else(|| Refused::no_member("leave", &name, None))?;
            }
            Event::Subscribe(subscriptions) => {
                for (name, topics) in subscriptions {
                    let member = self.members.get_mut(&name);
                    member.ok_or_else(|| Refused::no_member("subscribe", &name, Some(&name)))?.topics =
                        topics;
                }
            }
            Event::Grow(topics) => {
                for (name, count) in topics {
                    let topic = self.topics.get_mut(&name);
                    let topic = topic.ok_or_else(|| Refused::no_topic("grow", &name, Some(&name)))?;
                    if count.0 < topic.partitions {
                        let problem = format!(
                            "{} partitions, expected at least the {} that there are: topics do not shrink",
                            count.0, topic.partitions
                        );
                        return Err(Refused::new("grow", Some(&name), problem));
                    }
                    topic.grow(count);
                }
            }
            Event::Create(topics) => {
                for (name, topic) in topics {
                    if self.topics.contains_key(&name) {
                        return Err(Refused::new(
                            "create",
                            Some(&name),
                            "this topic exists already, expected a new one",
                        ));
                    }
                    self.topics.insert(name, topic);
                }
            }
            Event::Delete(name) => {
                self.topics.remove(&name).ok_or_else(|| Refused::no_topic("delete", &name, None))?;
            }
        }
        Ok(())
    }

    /// The member's name as the input has it.
    fn member(&self, id: &str) -> Name<'a> {
        self.members.get_key_value(id).map_or_else(|| Name::from(id.to_owned()), |(name, _)| name.clone())
    }

    fn topic(&self, name: &str) -> Name<'a> {
        self.topics.get_key_value(name).map_or_else(|| Name::from(name.to_owned()), |(name, _)| name.clone())
    }
}

/// From whom a partition goes, and why.
type Changed<'a> = BTreeMap<(Name<'a>, i32), (Option<Name<'a>>, &'static str)>;

/// An event that cannot happen.
struct Refused {
    key: &'static str,
    /// The entry of the event, where it has several.
    name: Option<String>,
    problem: String,
}

impl Refused {
    fn new(key: &'static str, name: Option<&str>, problem: impl Into<String>) -> Self {
        Self { key, name: name.map(str::to_owned), problem: problem.into() }
    }

    fn no_member(key: &'static str, member: &str, name: Option<&str>) -> Self {
        Self::new(key, name, format!("{member:?} is no member at this point, expected one"))
    }

    fn no_topic(key: &'static str, topic: &str, name: Option<&str>) -> Self {
        Self::new(key, name, format!("{topic:?} is no topic at this point, expected one"))
    }
}

impl<'a> Move<'a> {
    fn new(
        (topic, partition): &(Name<'a>, i32),
        from: Option<&Name<'a>>,
        to: Option<&Name<'a>>,
        reason: &'static str,
    ) -> Self {
        Self { topic: topic.clone(), partition: *partition, from: from.cloned(), to: to.cloned(), reason }
    }
}

impl<'a> Step<'a> {
    pub(super) fn rebalances(&self) -> impl Iterator<Item = &Rebalance<'a>> {
        std::iter::once(&self.first).chain(&self.follow_ups)
    }

    /// The event, or that this is the start.
    pub(super) fn title(&self) -> String {
        self.event.as_ref().map_or_else(|| "start".to_owned(), Event::to_string)
    }
}

impl<'a> Shares<'a> {
    /// The partitions one by one, each with its member.
    pub(super) fn partitions(&self) -> impl Iterator<Item = (&Name<'a>, (&Name<'a>, i32))> {
        self.0.iter().flat_map(|(member, share)| {
            share.iter().flat_map(move |(topic, numbers)| {
                numbers.iter().map(move |number| (member, (topic, *number)))
            })
        })
    }
}

impl Serialize for Shares<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(&self.0)
    }
}

fn owners_after<'a>(rebalance: &Rebalance<'a>) -> Owners<'a> {
    let partitions = rebalance.assignment.partitions();
    partitions.map(|(member, (topic, number))| ((topic.clone(), number), member.clone())).collect()
}

/// What was not taken from its owner was its target's.
fn owners_before<'a>(first: &Rebalance<'a>, changed: &Changed<'a>) -> Owners<'a> {
    let targets = first.assignment.partitions().chain(first.withheld.partitions());
    let owner = |(member, (topic, number)): (&Name<'a>, (&Name<'a>, i32))| {
        let at = (topic.clone(), number);
        let owner = match changed.get(&at) {
            Some((from, _)) => from.clone()?,
            None => member.clone(),
        };
        Some((at, owner))
    };
    targets.filter_map(owner).collect()
}
