//! The leader's work: from librdkafka's round to core's group, and back.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::str;

use kafka_sticky_core::{Assignment, Group, GroupError, Member, Report, Topic};
use kafka_sticky_protocol::{Strategy, UserData, WriteError};

use crate::ffi::{Round, RoundMember, RoundTopic};
use crate::wire;

/// Why a round could not be assigned. None of these comes from what a member sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AssignError {
    #[error(transparent)]
    Group(#[from] GroupError),
    #[error("the user data of an assignment could not be written: {0}")]
    UserData(#[from] WriteError),
}

/// Assigns a round by `sticky`: claims come from the members' user data, nothing is withheld, and each member is told its
/// share and generation, for those whose next claims are what they were told.
pub(crate) fn sticky(round: &mut Round<'_>) -> Result<Report, AssignError> {
    let generation = round.generation();
    let shares = {
        let texts = Texts::of(round);
        let assignment = group(round, &texts)?.assign();
        let shares = shares(&texts, &assignment);
        Plan { report: assignment.report().clone(), shares }
    };
    hand_out(round, generation, shares)
}

/// An assignment in the round's indices.
struct Plan {
    report: Report,
    shares: Vec<Share>,
}

struct Share {
    member: usize,
    /// By the topic's index and name, sorted partitions.
    topics: Vec<(usize, String, Vec<i32>)>,
}

/// The round as text, which core's group borrows from.
struct Texts<'r> {
    members: Vec<MemberTexts<'r>>,
    topics: Vec<&'r str>,
}

struct MemberTexts<'r> {
    id: Cow<'r, str>,
    user_data: UserData<'r>,
}

impl<'r> Texts<'r> {
    fn of(round: &'r Round<'_>) -> Self {
        let mut taken = HashSet::new();
        let members = round
            .members()
            .enumerate()
            .map(|(index, member)| {
                let mut id = String::from_utf8_lossy(member.id());
                // The broker hands out distinct ids, but bytes that are no UTF-8 may look alike here.
                while !taken.insert(id.clone()) {
                    id = format!("{id} ({index})").into();
                }
                MemberTexts { id, user_data: UserData::read(Strategy::Sticky, member.user_data()) }
            })
            .collect();
        // Kafka's topic names are ASCII.
        let topics = round.topics().map(|topic| str::from_utf8(topic.name()).unwrap_or_default()).collect();
        Self { members, topics }
    }
}

fn group<'r>(round: &'r Round<'_>, texts: &'r Texts<'r>) -> Result<Group<'r>, GroupError> {
    let racks_count = round.members().any(|member| member.rack().is_some_and(|rack| !rack.is_empty()));
    let topics = texts.topics.iter().zip(round.topics()).map(|(name, topic)| topic_of(name, topic, racks_count));
    let members = texts.members.iter().zip(round.members()).map(|(texts, member)| member_of(texts, member));
    Group::new_forming(round.generation(), topics, members)
}

fn topic_of<'r>(name: &'r str, topic: RoundTopic<'r>, racks_count: bool) -> Topic<'r> {
    let count = topic.partitions();
    if !racks_count {
        return Topic::new(name, count);
    }
    let racks = (0..count).map(|partition| topic.racks(partition).filter_map(|rack| str::from_utf8(rack).ok()));
    Topic::new(name, count).with_racks(racks)
}

fn member_of<'r>(texts: &'r MemberTexts<'r>, member: RoundMember<'r>) -> Member<'r> {
    // A topic that is no UTF-8 does not exist.
    let subscription = member.subscription().filter_map(|topic| str::from_utf8(topic).ok());
    let mut described = Member::new(&texts.id).subscribe(subscription);
    if let Some(instance_id) = text(member.instance_id()) {
        described = described.instance_id(instance_id);
    }
    if let Some(rack) = text(member.rack()) {
        described = described.rack(rack);
    }
    match &texts.user_data {
        UserData::Sticky(had) => {
            for (topic, partitions) in had.previous_assignment().iter() {
                described.add_claim(topic, partitions.iter(), had.generation());
            }
        }
        UserData::Unreadable(error) => {
            tracing::warn!(member_id = &*texts.id, %error, "a member's user data is unreadable; it joins without claims");
        }
        _ => {}
    }
    described
}

fn text(bytes: Option<&[u8]>) -> Option<&str> {
    str::from_utf8(bytes?).ok().filter(|text| !text.is_empty())
}

fn shares(texts: &Texts<'_>, assignment: &Assignment<'_>) -> Vec<Share> {
    let indices: HashMap<&str, usize> = texts.topics.iter().enumerate().map(|(index, name)| (*name, index)).collect();
    let share_of = |(member, texts): (usize, &MemberTexts<'_>)| {
        let share = assignment.member(&texts.id)?;
        let topics = share
            .assigned()
            .map(|(topic, partitions)| (indices[topic], topic.to_owned(), partitions.to_vec()))
            .collect();
        Some(Share { member, topics })
    };
    texts.members.iter().enumerate().filter_map(share_of).collect()
}

fn hand_out(round: &mut Round<'_>, generation: i32, plan: Plan) -> Result<Report, AssignError> {
    for Share { member, topics } in plan.shares {
        for (topic, _, partitions) in &topics {
            for &partition in partitions {
                round.give(member, *topic, partition.unsigned_abs());
            }
        }
        let told: Vec<(String, Vec<i32>)> =
            topics.into_iter().map(|(_, name, partitions)| (name, partitions)).collect();
        round.tell(member, Some(&wire::user_data(&told, generation)?));
    }
    Ok(plan.report)
}
