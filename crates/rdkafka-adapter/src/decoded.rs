//! From librdkafka's round to an assignor's.

use std::borrow::Cow;
use std::collections::HashSet;
use std::str;

use kafka_sticky_protocol::{
    MemberClaims, ReadError, Strategy, Subscription, SubscriptionWriter, TopicPartitions, UserData,
    WriteError,
};

use crate::ffi;
use crate::memory::Memory;
use crate::round::{Listing, Round, RoundMember, RoundTopic};

/// A round as an assignor is handed it, and what its leader should know besides.
pub(crate) struct Decoded<'r> {
    pub(crate) round: Round<'r>,
    /// The members whose user data should be in one of the forms of the sticky strategies, and is in none.
    pub(crate) unreadable: Vec<(&'r str, ReadError)>,
}

/// Reads what the members of a round sent, by the rules of the strategy of this name, and gives it to `then`.
///
/// # Errors
///
/// Where what a member sent is longer than a message can be, which librdkafka cannot have received.
pub(crate) fn with_round<T>(
    raw: &ffi::Round<'_>,
    strategy: &str,
    memory: &Memory,
    then: impl FnOnce(Decoded<'_>) -> T,
) -> Result<T, WriteError> {
    // Of any other strategy, whose user data is its own affair, the subscription's owned partitions are known.
    let known = strategy.parse::<Strategy>().ok();
    let strategy = known.unwrap_or(Strategy::CooperativeSticky);
    let ids = distinct_ids(raw);
    let said: Vec<Subscription<'_>> = raw.members().map(subscription).collect::<Result<_, _>>()?;
    let claims: Vec<MemberClaims<'_>> = said.iter().map(|said| MemberClaims::read(strategy, said)).collect();

    let members = raw.members().zip(&ids).zip(&claims);
    let members = members.map(|((raw, id), claims)| member(raw, id, claims));
    let racks_count = raw.members().any(|member| text(member.rack()).is_some());
    let topics = raw.topics().map(|raw| topic(raw, racks_count));
    let mut round = Round::new(raw.generation(), topics, members);
    memory.recall(&mut round, raw.leader_id());

    let unreadable = ids.iter().zip(&claims).filter_map(|(id, claims)| match claims.user_data() {
        UserData::Unreadable(error) if known.is_some() => Some((&**id, *error)),
        _ => None,
    });
    let unreadable = unreadable.collect();
    Ok(then(Decoded { round, unreadable }))
}

fn distinct_ids<'c>(raw: &'c ffi::Round<'_>) -> Vec<Cow<'c, str>> {
    let mut taken = HashSet::new();
    let mut distinct = |(index, member): (usize, ffi::RoundMember<'c>)| {
        let mut id = String::from_utf8_lossy(member.id());
        // The broker hands out distinct ids, but bytes that are no UTF-8 may look alike here.
        while !taken.insert(id.clone()) {
            id = format!("{id} ({index})").into();
        }
        id
    };
    raw.members().enumerate().map(&mut distinct).collect()
}

/// librdkafka keeps the parts of a subscription and not the message: it is put together again, topics aside.
fn subscription(member: ffi::RoundMember<'_>) -> Result<Subscription<'static>, WriteError> {
    let owned = member.owned();
    let partitions = owned.iter().flat_map(|(partitions, _)| partitions.iter());
    let partitions =
        partitions.filter_map(|(topic, partition)| Some((str::from_utf8(topic).ok()?, [partition])));
    SubscriptionWriter::new([])
        .user_data(member.user_data())
        .owned_partitions(partitions)
        .generation_id(owned.map(|(_, generation)| generation))
        .build(if owned.is_some() { 3 } else { 0 })
}

fn topic(raw: ffi::RoundTopic<'_>, racks_count: bool) -> RoundTopic<'_> {
    // Kafka's topic names are ASCII.
    let described = RoundTopic::new(str::from_utf8(raw.name()).unwrap_or_default(), raw.partitions());
    if !racks_count {
        return described;
    }
    let racks = |partition| raw.racks(partition).filter_map(|rack| str::from_utf8(rack).ok()).collect();
    described.with_racks((0..raw.partitions()).map(racks).collect())
}

fn member<'r>(raw: ffi::RoundMember<'r>, id: &'r str, claims: &'r MemberClaims<'_>) -> RoundMember<'r> {
    // A topic that is no UTF-8 does not exist.
    let subscription = raw.subscription().filter_map(|topic| str::from_utf8(topic).ok());
    let mut described = RoundMember::new(id).subscribe(subscription);
    described.instance_id = text(raw.instance_id());
    described.rack = text(raw.rack());
    described.user_data = raw.user_data();
    let in_none = raw.owned().is_some_and(|(_, generation)| generation < 0);
    let is_readable = !matches!(claims.user_data(), UserData::Unreadable(_));
    described.is_new = in_none && is_readable && claims.user_data().generation().is_none();
    described.claims = listings(claims.claims(), claims.claims_generation());
    described.holds = listings(claims.holds(), claims.holds_generation());
    described
}

fn listings<'r>(partitions: TopicPartitions<'r>, generation: Option<i32>) -> Vec<Listing<'r>> {
    let by_topic = partitions.iter();
    by_topic.map(|(topic, partitions)| Listing::new(topic, partitions.iter().collect(), generation)).collect()
}

fn text(bytes: Option<&[u8]>) -> Option<&str> {
    str::from_utf8(bytes?).ok().filter(|text| !text.is_empty())
}
