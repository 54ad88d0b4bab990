//! What ours writes and reads.

use anyhow::{Result, bail};
use kafka_sticky_protocol::{
    Assignment, AssignmentWriter, Framing, StickyUserData, StickyUserDataWriter, Strategy, Subscription,
    SubscriptionWriter, TopicPartitions, UserData, cooperative_user_data,
};

use crate::bytes::message::{Kind, Message, Partitions};

/// Sticky user data goes in this form; nothing else depends on it.
pub(crate) fn write(message: &Message, framing: Framing) -> Result<Vec<u8>> {
    let user_data = message.user_data.as_ref().map(hex::decode).transpose()?;
    let partitions = || {
        let listed = message.partitions.iter().flatten();
        listed.map(|(topic, numbers)| (topic.as_str(), numbers.iter().copied()))
    };
    let generation = message.generation.filter(|generation| *generation >= 0);
    Ok(match message.kind {
        Kind::Subscription => SubscriptionWriter::new(message.topics.iter().flatten().map(String::as_str))
            .user_data(user_data.as_deref())
            .owned_partitions(partitions())
            .generation_id(generation)
            .rack_id(message.rack.as_deref())
            .write(message.version)?,
        Kind::Assignment => {
            AssignmentWriter::new(partitions()).user_data(user_data.as_deref()).write(message.version)?
        }
        Kind::Sticky => {
            StickyUserDataWriter::new(partitions(), generation).framing(framing).write(message.version)?
        }
        Kind::Cooperative => cooperative_user_data(generation).to_vec(),
    })
}

pub(crate) fn read(kind: Kind, bytes: &[u8]) -> Result<Message> {
    let mut message = Message {
        kind,
        version: 0,
        topics: None,
        user_data: None,
        partitions: None,
        generation: None,
        rack: None,
    };
    match kind {
        Kind::Subscription => {
            let read = Subscription::read(bytes)?;
            message.version = read.version();
            message.topics = Some(read.topics().iter().map(str::to_owned).collect());
            message.user_data = read.user_data().map(hex::encode);
            message.partitions = Some(listed(read.owned_partitions()));
            message.generation = read.generation_id();
            message.rack = read.rack().map(str::to_owned);
        }
        Kind::Assignment => {
            let read = Assignment::read(bytes)?;
            message.version = read.version();
            message.user_data = read.user_data().map(hex::encode);
            message.partitions = Some(listed(read.assigned_partitions()));
        }
        Kind::Sticky => {
            let read = StickyUserData::read(bytes)?;
            message.version = read.version();
            message.partitions = Some(listed(read.previous_assignment()));
            message.generation = read.generation();
        }
        Kind::Cooperative => {
            let read = UserData::read(Strategy::CooperativeSticky, Some(bytes));
            let UserData::Generation(generation) = read else { bail!("not four bytes: {read:?}") };
            message.generation = generation;
        }
    }
    Ok(message)
}

fn listed(partitions: TopicPartitions<'_>) -> Partitions {
    partitions.iter().map(|(topic, numbers)| (topic.to_owned(), numbers.iter().collect())).collect()
}
