//! The messages of the group protocol.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use kafka_sticky_protocol::{
    Assignment, AssignmentWriter, Framing, Order, StickyUserData, StickyUserDataWriter, Subscription,
    SubscriptionWriter, TopicPartitions, WriteError, cooperative_user_data,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::object::Object;

/// Bytes as a hex string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hex(pub(crate) Vec<u8>);

/// A topic and partitions of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TopicJson {
    topic: String,
    #[serde(default)]
    partitions: Vec<i32>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SubscriptionJson {
    version: i16,
    topics: Vec<String>,
    user_data: Option<Hex>,
    owned_partitions: Vec<Object<TopicJson>>,
    generation_id: Option<i32>,
    rack_id: Option<String>,
    trailing: Hex,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AssignmentJson {
    version: i16,
    assigned_partitions: Vec<Object<TopicJson>>,
    user_data: Option<Hex>,
    trailing: Hex,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StickyUserDataJson {
    version: i16,
    framed: bool,
    previous_assignment: Vec<Object<TopicJson>>,
    generation: Option<i32>,
    trailing: Hex,
}

/// The four bytes that Java's members of a `cooperative-sticky` group send.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GenerationJson {
    generation: Option<i32>,
    trailing: Hex,
}

impl Default for SubscriptionJson {
    fn default() -> Self {
        Self {
            version: Subscription::HIGHEST_VERSION,
            topics: Vec::new(),
            user_data: None,
            owned_partitions: Vec::new(),
            generation_id: None,
            rack_id: None,
            trailing: Hex::default(),
        }
    }
}

impl Default for AssignmentJson {
    fn default() -> Self {
        Self {
            version: Assignment::HIGHEST_VERSION,
            assigned_partitions: Vec::new(),
            user_data: None,
            trailing: Hex::default(),
        }
    }
}

impl Default for StickyUserDataJson {
    fn default() -> Self {
        Self {
            version: StickyUserData::HIGHEST_VERSION,
            framed: false,
            previous_assignment: Vec::new(),
            generation: None,
            trailing: Hex::default(),
        }
    }
}

impl From<&Subscription<'_>> for SubscriptionJson {
    fn from(subscription: &Subscription<'_>) -> Self {
        Self {
            version: subscription.wire_version(),
            topics: subscription.topics().iter().map(str::to_owned).collect(),
            user_data: subscription.user_data().map(Hex::from),
            owned_partitions: topics(subscription.owned_partitions()),
            generation_id: subscription.generation_id(),
            rack_id: subscription.rack_id().map(str::to_owned),
            trailing: subscription.trailing().into(),
        }
    }
}

impl From<&Assignment<'_>> for AssignmentJson {
    fn from(assignment: &Assignment<'_>) -> Self {
        Self {
            version: assignment.wire_version(),
            assigned_partitions: topics(assignment.assigned_partitions()),
            user_data: assignment.user_data().map(Hex::from),
            trailing: assignment.trailing().into(),
        }
    }
}

impl From<&StickyUserData<'_>> for StickyUserDataJson {
    fn from(user_data: &StickyUserData<'_>) -> Self {
        Self {
            version: user_data.wire_version(),
            framed: user_data.framing() == Framing::Framed,
            previous_assignment: topics(user_data.previous_assignment()),
            generation: user_data.generation(),
            trailing: user_data.trailing().into(),
        }
    }
}

impl GenerationJson {
    /// What four bytes say.
    pub(crate) fn read(bytes: [u8; 4]) -> Self {
        let generation = Some(i32::from_be_bytes(bytes)).filter(|generation| *generation >= 0);
        Self { generation, trailing: Hex::default() }
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        [&cooperative_user_data(self.generation)[..], &self.trailing.0].concat()
    }
}

impl SubscriptionJson {
    pub(crate) fn write(&self, version: Option<i16>) -> Result<Vec<u8>, WriteError> {
        SubscriptionWriter::new(self.topics.iter().map(String::as_str))
            .user_data(self.user_data.as_ref().map(|bytes| &bytes.0[..]))
            .owned_partitions(blocks(&self.owned_partitions))
            .generation_id(self.generation_id)
            .rack_id(self.rack_id.as_deref())
            .trailing(&self.trailing.0)
            .order(Order::AsGiven)
            .write(version.unwrap_or(self.version))
    }
}

impl AssignmentJson {
    pub(crate) fn write(&self, version: Option<i16>) -> Result<Vec<u8>, WriteError> {
        AssignmentWriter::new(blocks(&self.assigned_partitions))
            .user_data(self.user_data.as_ref().map(|bytes| &bytes.0[..]))
            .trailing(&self.trailing.0)
            .write(version.unwrap_or(self.version))
    }
}

impl StickyUserDataJson {
    pub(crate) fn write(&self, version: Option<i16>) -> Result<Vec<u8>, WriteError> {
        StickyUserDataWriter::new(blocks(&self.previous_assignment), self.generation)
            .framing(if self.framed { Framing::Framed } else { Framing::Bare })
            .trailing(&self.trailing.0)
            .order(Order::AsGiven)
            .write(version.unwrap_or(self.version))
    }
}

fn topics(partitions: TopicPartitions<'_>) -> Vec<Object<TopicJson>> {
    let by_topic = partitions.iter();
    by_topic
        .map(|(topic, partitions)| {
            Object(TopicJson { topic: topic.to_owned(), partitions: partitions.iter().collect() })
        })
        .collect()
}

fn blocks(topics: &[Object<TopicJson>]) -> impl Iterator<Item = (&str, &[i32])> {
    topics.iter().map(|Object(topic)| (&*topic.topic, &topic.partitions[..]))
}

impl From<&[u8]> for Hex {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&HEXLOWER.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = super::Name::deserialize(deserializer)?;
        HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map(Self).map_err(|error| {
            D::Error::custom(format_args!("{error} of the string, expected two hex digits for each byte"))
        })
    }
}
