//! A group as it is given.

use std::fmt;

use kafka_sticky_core::{Group, GroupError, Member, Topic};
use kafka_sticky_protocol::Strategy;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, MapAccess, Unexpected, Visitor, value::MapAccessDeserializer},
    ser::SerializeStruct as _,
};

use super::{
    entries::{Entries, Name},
    object::Object,
    racks::RackLists,
};

/// Which strategy the group runs; `sticky` unless told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Protocol(pub(crate) Strategy);

/// A group.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupInput<'a> {
    #[serde(default)]
    pub(crate) protocol: Protocol,
    /// The one being formed.
    #[serde(default)]
    pub(crate) generation: Option<i32>,
    #[serde(borrow, default)]
    pub(crate) topics: Entries<'a, TopicInput<'a>>,
    #[serde(borrow, default)]
    pub(crate) members: Entries<'a, Object<MemberInput<'a>>>,
}

/// A topic: its number of partitions, or an object that has their replicas' racks too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TopicInput<'a> {
    pub(crate) partitions: u32,
    /// By partition number; one list for each.
    pub(crate) racks: Option<RackLists<'a>>,
}

/// A member.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberInput<'a> {
    #[serde(borrow, default)]
    pub(crate) topics: Vec<Name<'a>>,
    /// Its claims.
    #[serde(borrow, default, skip_serializing_if = "Entries::is_empty")]
    pub(crate) owned: Entries<'a, Vec<i32>>,
    /// The same as `owned` where it is not given.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) holds: Option<Entries<'a, Vec<i32>>>,
    /// Of its claims and holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) generation: Option<i32>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) rack: Option<Name<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) instance_id: Option<Name<'a>>,
}

/// The group for core. Under `sticky`, members hold nothing.
///
/// # Errors
/// [`GroupError::TooManyPartitions`]; the others cannot be, since names come once and racks were counted.
pub(crate) fn core_group<'s>(
    protocol: Protocol,
    generation: Option<i32>,
    topics: impl IntoIterator<Item = (&'s Name<'s>, &'s TopicInput<'s>)>,
    members: impl IntoIterator<Item = (&'s Name<'s>, &'s MemberInput<'s>)>,
) -> Result<Group<'s>, GroupError> {
    let topics = topics.into_iter().map(|(name, topic)| topic.to_core(name));
    let members = members.into_iter().map(|(name, member)| member.to_core(name, protocol));
    Group::new_forming(generation.unwrap_or(-1), topics, members)
}

impl GroupInput<'_> {
    pub(crate) fn to_core(&self) -> Result<Group<'_>, GroupError> {
        core_group(
            self.protocol,
            self.generation,
            self.topics.iter().map(|(name, topic)| (name, topic)),
            self.members.iter().map(|(name, Object(member))| (name, member)),
        )
    }
}

impl Protocol {
    pub(crate) const STICKY: Self = Self(Strategy::Sticky);
    pub(crate) const COOPERATIVE_STICKY: Self = Self(Strategy::CooperativeSticky);
}

impl Default for Protocol {
    fn default() -> Self {
        Self::STICKY
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl Serialize for Protocol {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for Protocol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Name::deserialize(deserializer)?;
        name.parse()
            .map(Self)
            .map_err(|_| D::Error::unknown_variant(&name, &["sticky", "cooperative-sticky"]))
    }
}

impl Serialize for TopicInput<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { partitions, racks: Some(racks) } = self else {
            return serializer.serialize_u32(self.partitions);
        };
        let mut topic = serializer.serialize_struct("TopicInput", 2)?;
        topic.serialize_field("partitions", partitions)?;
        topic.serialize_field("racks", racks)?;
        topic.end()
    }
}

impl TopicInput<'_> {
    /// To at least as many partitions as there are; the racks of new ones are not known.
    pub(crate) fn grow(&mut self, count: PartitionCount) {
        self.partitions = count.0;
        if let Some(racks) = &mut self.racks {
            racks.grow(count.0 as usize);
        }
    }

    /// Kafka numbers partitions by non-negative int32.
    pub(crate) const MOST_PARTITIONS: u64 = i32::MAX as u64;

    fn to_core<'s>(&'s self, name: &'s str) -> Topic<'s> {
        let topic = Topic::new(name, self.partitions);
        match &self.racks {
            Some(racks) => topic.with_racks(racks.iter().map(|racks| racks.iter().map(|rack| &**rack))),
            None => topic,
        }
    }
}

impl MemberInput<'_> {
    fn to_core<'s>(&'s self, name: &'s str, protocol: Protocol) -> Member<'s> {
        let mut member = Member::new(name).subscribe(self.topics.iter().map(|topic| &**topic));
        if let Some(rack) = &self.rack {
            member = member.rack(rack);
        }
        if let Some(instance_id) = &self.instance_id {
            member = member.instance_id(instance_id);
        }
        for (topic, partitions) in self.owned.iter() {
            member.add_claim(topic, partitions.iter().copied(), self.generation);
        }
        if protocol == Protocol::COOPERATIVE_STICKY {
            for (topic, partitions) in self.holds.as_ref().unwrap_or(&self.owned).iter() {
                member.add_hold(topic, partitions.iter().copied(), self.generation);
            }
        }
        member
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for TopicInput<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TopicVisitor;

        impl<'de> Visitor<'de> for TopicVisitor {
            type Value = TopicInput<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of partitions or an object with `partitions` and `racks`")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
                partition_count(Unexpected::Unsigned(number), Some(number))
                    .map(|partitions| TopicInput { partitions, racks: None })
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
                partition_count(Unexpected::Signed(number), u64::try_from(number).ok())
                    .map(|partitions| TopicInput { partitions, racks: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let TopicObject { partitions: PartitionCount(partitions), racks } =
                    TopicObject::deserialize(MapAccessDeserializer::new(map))?;
                if let Some(racks) = racks.as_ref().filter(|racks| racks.len() != partitions as usize) {
                    let racks = racks.len();
                    return Err(A::Error::custom(format_args!(
                        "`racks` has {racks} lists, expected one for each of {partitions} partitions"
                    )));
                }
                Ok(TopicInput { partitions, racks })
            }
        }

        deserializer.deserialize_any(TopicVisitor)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicObject<'a> {
    partitions: PartitionCount,
    #[serde(borrow, default)]
    racks: Option<RackLists<'a>>,
}

/// A number of partitions, 0 to 2³¹ − 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct PartitionCount(pub(crate) u32);

impl<'de> Deserialize<'de> for PartitionCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;

        impl Visitor<'_> for CountVisitor {
            type Value = PartitionCount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of partitions")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
                partition_count(Unexpected::Unsigned(number), Some(number)).map(PartitionCount)
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
                partition_count(Unexpected::Signed(number), u64::try_from(number).ok()).map(PartitionCount)
            }
        }

        deserializer.deserialize_u64(CountVisitor)
    }
}

fn partition_count<E: serde::de::Error>(given: Unexpected<'_>, number: Option<u64>) -> Result<u32, E> {
    number
        .filter(|number| *number <= TopicInput::MOST_PARTITIONS)
        .map(|number| number as u32)
        .ok_or_else(|| E::invalid_value(given, &"a number of partitions, 0 to 2147483647"))
}
