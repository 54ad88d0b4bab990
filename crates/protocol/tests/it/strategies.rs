//! Random messages.

use kafka_sticky_protocol::{AssignmentWriter, Framing, Order, StickyUserDataWriter, SubscriptionWriter};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

pub(crate) type Blocks = Vec<(String, Vec<i32>)>;

/// The fields of a subscription, owned.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    pub(crate) topics: Vec<String>,
    pub(crate) user_data: Option<Vec<u8>>,
    pub(crate) partitions: Blocks,
    pub(crate) generation: Option<i32>,
    pub(crate) rack: Option<String>,
    pub(crate) trailing: Vec<u8>,
}

impl Fields {
    pub(crate) fn subscription(&self) -> SubscriptionWriter<'_> {
        SubscriptionWriter::new(self.topics.iter().map(String::as_str))
            .user_data(self.user_data.as_deref())
            .owned_partitions(borrowed(&self.partitions))
            .generation_id(self.generation)
            .rack_id(self.rack.as_deref())
            .trailing(&self.trailing)
    }

    pub(crate) fn assignment(&self) -> AssignmentWriter<'_> {
        AssignmentWriter::new(borrowed(&self.partitions))
            .user_data(self.user_data.as_deref())
            .trailing(&self.trailing)
    }

    pub(crate) fn sticky(&self, framing: Framing) -> StickyUserDataWriter<'_> {
        StickyUserDataWriter::new(borrowed(&self.partitions), self.generation)
            .framing(framing)
            .trailing(&self.trailing)
    }
}

pub(crate) fn borrowed(blocks: &Blocks) -> impl Iterator<Item = (&str, &[i32])> {
    blocks.iter().map(|(topic, partitions)| (topic.as_str(), &partitions[..]))
}

pub(crate) fn fields() -> impl Strategy<Value = Fields> {
    (
        vec(name(), 0..6),
        option::of(vec(any::<u8>(), 0..8)),
        blocks(),
        option::of(0..=i32::MAX),
        option::of(name()),
        vec(any::<u8>(), 0..6),
    )
        .prop_map(|(topics, user_data, partitions, generation, rack, trailing)| Fields {
            topics,
            user_data,
            partitions,
            generation,
            rack,
            trailing,
        })
}

/// Few topics, so that they repeat.
pub(crate) fn blocks() -> impl Strategy<Value = Blocks> {
    vec((name(), vec(prop_oneof![0..4, any::<i32>()], 0..5)), 0..6)
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-c]{0,2}", 1 => any::<String>(), 1 => "[\u{e000}-\u{ffff}\u{10000}-\u{10ffff}]{1,2}"]
}

pub(crate) fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Canonical), Just(Order::AsGiven)]
}

pub(crate) fn framing() -> impl Strategy<Value = Framing> {
    prop_oneof![Just(Framing::Bare), Just(Framing::Framed)]
}

/// Bytes that are nearly one of the messages, or exactly that, or nothing at all.
pub(crate) fn nearly_a_message() -> impl Strategy<Value = Vec<u8>> {
    let message = (fields(), 0i16..=4, 0..4).prop_map(|(fields, version, kind)| match kind {
        0 => fields.subscription().order(Order::AsGiven).write(version).unwrap(),
        1 => fields.assignment().write(version).unwrap(),
        2 => fields.sticky(Framing::Bare).order(Order::AsGiven).write(version).unwrap(),
        _ => fields.sticky(Framing::Framed).order(Order::AsGiven).write(version).unwrap(),
    });
    let edit = (
        any::<prop::sample::Index>(),
        prop_oneof![
            Just(vec![0x7f, 0xff, 0xff, 0xff]),
            Just(vec![0xff; 4]),
            Just(vec![0, 1]),
            Just(vec![0xed, 0xa0, 0x80]),
            vec(any::<u8>(), 0..4),
        ],
        0usize..5,
    );
    let damaged = (message, vec(edit, 0..3)).prop_map(|(mut bytes, edits)| {
        for (at, replacement, replaced) in edits {
            let start = at.index(bytes.len() + 1);
            let end = (start + replaced).min(bytes.len());
            bytes.splice(start..end, replacement);
        }
        bytes
    });
    prop_oneof![8 => damaged, 1 => vec(any::<u8>(), 0..64), 1 => vec(prop_oneof![Just(0u8), Just(1), Just(0xff)], 0..64)]
}
