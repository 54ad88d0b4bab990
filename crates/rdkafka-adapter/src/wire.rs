//! What this member writes into JoinGroup, and what a leader writes into its members' assignments.

use std::str;

use kafka_sticky_protocol::{StickyUserDataWriter, SubscriptionWriter, WriteError};

use crate::membership::Assigned;

/// librdkafka's own version, and Java's.
const SUBSCRIPTION_VERSION: i16 = 3;

/// The subscription of a member of a `sticky` group, as Java writes it: what it had, if it had something, as user data.
pub(crate) fn subscription(
    topics: &[String],
    rack: Option<&[u8]>,
    claims: Option<&Assigned>,
) -> Result<Vec<u8>, WriteError> {
    let user_data = claims.map(|assigned| user_data(&assigned.partitions, assigned.generation)).transpose()?;
    SubscriptionWriter::new(topics.iter().map(String::as_str))
        .user_data(user_data.as_deref())
        .generation_id(claims.map(|assigned| assigned.generation))
        .rack_id(rack.and_then(|rack| str::from_utf8(rack).ok()).filter(|rack| !rack.is_empty()))
        .write(SUBSCRIPTION_VERSION)
}

/// Version 1 of sticky user data.
pub(crate) fn user_data<T: AsRef<str>, P: AsRef<[i32]>>(
    partitions: &[(T, P)],
    generation: i32,
) -> Result<Vec<u8>, WriteError> {
    let partitions = partitions.iter().map(|(topic, partitions)| (topic.as_ref(), partitions.as_ref().iter().copied()));
    StickyUserDataWriter::new(partitions, Some(generation)).write(1)
}
