//! What all messages have in common when they are written.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::borrow::Borrow;

use bytes::BufMut;

use crate::error::{Field, PartitionFields, WriteError};
use crate::text;

/// The order in which topics and partitions are written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Order {
    /// Topics sorted as Java sorts strings (by UTF-16 code units; for names that Kafka allows, by
    /// bytes), the partitions of one topic together and sorted. Repeats are kept; a topic without
    /// partitions is left out where topics come with partitions.
    ///
    /// The same set is then always the same bytes. The coordinator compares bytes to find out
    /// whether a member's metadata changed, so any other order costs rebalances (KAFKA-12898).
    #[default]
    Canonical,
    /// Everything as it was given.
    AsGiven,
}

/// A message ready to be written: all that is left is its size and its bytes.
pub(crate) trait Message {
    fn size(&self) -> usize;
    fn put(&self, buffer: &mut impl BufMut);

    fn checked_size(&self) -> Result<usize, WriteError> {
        let size = self.size();
        if i32::try_from(size).is_err() {
            return Err(WriteError::MessageTooLong { size });
        }
        Ok(size)
    }

    fn to_vec(&self) -> Result<Vec<u8>, WriteError> {
        let mut bytes = Vec::with_capacity(self.checked_size()?);
        self.put(&mut bytes);
        Ok(bytes)
    }

    fn put_checked(&self, buffer: &mut impl BufMut) -> Result<(), WriteError> {
        let needed = self.checked_size()?;
        let available = buffer.remaining_mut();
        if needed > available {
            return Err(WriteError::BufferTooSmall { needed, available });
        }
        self.put(buffer);
        Ok(())
    }
}

/// The version that is written where `asked` is asked for: `highest` at most, as Java does.
pub(crate) fn version(asked: i16, highest: i16) -> Result<i16, WriteError> {
    if asked < 0 {
        return Err(WriteError::NegativeVersion { version: asked });
    }
    Ok(asked.min(highest))
}

pub(crate) fn check_string(string: &str, field: Field) -> Result<(), WriteError> {
    if string.len() > text::MAX_LENGTH {
        return Err(WriteError::StringTooLong { field, length: string.len() });
    }
    Ok(())
}

/// Topics in the order in which they are to be written.
pub(crate) fn ordered_topics<'t, 'a>(
    topics: &'t [&'a str],
    order: Order,
) -> Result<Cow<'t, [&'a str]>, WriteError> {
    for topic in topics {
        check_string(topic, Field::Topics)?;
    }
    if order == Order::AsGiven || topics.is_sorted_by(|left, right| text::java_order(left, right).is_le()) {
        return Ok(Cow::Borrowed(topics));
    }
    let mut sorted = topics.to_vec();
    sorted.sort_unstable_by(|left, right| text::java_order(left, right));
    Ok(Cow::Owned(sorted))
}

/// Topics with partitions, flat: each topic's partitions end where `ends` says, and start where the
/// topic before has its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks<'a> {
    topics: Vec<Block<'a>>,
    partitions: Vec<i32>,
}

#[derive(Clone, Copy, Debug)]
struct Block<'a> {
    topic: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Blocks<'a> {
    pub(crate) fn collect<P>(blocks: impl IntoIterator<Item = (&'a str, P)>) -> Self
    where
        P: IntoIterator,
        P::Item: Borrow<i32>,
    {
        let mut collected = Self::default();
        for (topic, partitions) in blocks {
            collected.push(topic, partitions.into_iter().map(|partition| *partition.borrow()));
        }
        collected
    }

    /// Groups partitions by topic, topics in the order in which they are first seen.
    pub(crate) fn group(pairs: impl IntoIterator<Item = (&'a str, i32)>) -> Self {
        let mut numbers = BTreeMap::new();
        let mut groups: Vec<(&str, Vec<i32>)> = Vec::new();
        for (topic, partition) in pairs {
            let number = *numbers.entry(topic).or_insert_with(|| {
                groups.push((topic, Vec::new()));
                groups.len() - 1
            });
            groups[number].1.push(partition);
        }
        Self::collect(groups)
    }

    fn push(&mut self, topic: &'a str, partitions: impl IntoIterator<Item = i32>) {
        let start = self.partitions.len();
        self.partitions.extend(partitions);
        self.topics.push(Block { topic, start, end: self.partitions.len() });
    }

    fn partitions(&self, block: &Block<'_>) -> &[i32] {
        &self.partitions[block.start..block.end]
    }

    /// The blocks in the order in which they are to be written.
    pub(crate) fn ordered(&self, order: Order, fields: PartitionFields) -> Result<Cow<'_, Self>, WriteError> {
        for block in &self.topics {
            check_string(block.topic, fields.topic)?;
        }
        if order == Order::AsGiven || self.is_canonical() {
            return Ok(Cow::Borrowed(self));
        }
        Ok(Cow::Owned(self.canonical()))
    }

    fn is_canonical(&self) -> bool {
        self.topics.is_sorted_by(|left, right| text::java_order(left.topic, right.topic).is_lt())
            && self.topics.iter().all(|block| {
                let partitions = self.partitions(block);
                !partitions.is_empty() && partitions.is_sorted()
            })
    }

    fn canonical(&self) -> Self {
        let mut topics: Vec<_> = self.topics.iter().filter(|block| block.start < block.end).collect();
        topics.sort_by(|left, right| text::java_order(left.topic, right.topic));
        let mut canonical = Self::default();
        for same_topic in topics.chunk_by(|left, right| left.topic == right.topic) {
            let partitions = same_topic.iter().flat_map(|block| self.partitions(block)).copied();
            canonical.push(same_topic[0].topic, partitions);
            let start = canonical.topics.last().map_or(0, |block| block.start);
            canonical.partitions[start..].sort_unstable();
        }
        canonical
    }

    pub(crate) fn size(&self) -> usize {
        let topics =
            self.topics.iter().map(|block| string_size(block.topic) + 4 + 4 * (block.end - block.start));
        topics.fold(4, usize::saturating_add)
    }

    pub(crate) fn put(&self, buffer: &mut impl BufMut) {
        put_count(buffer, self.topics.len());
        for block in &self.topics {
            put_string(buffer, block.topic);
            let partitions = self.partitions(block);
            put_count(buffer, partitions.len());
            for partition in partitions {
                buffer.put_i32(*partition);
            }
        }
    }
}

pub(crate) fn topics_size(topics: &[&str]) -> usize {
    topics.iter().map(|topic| string_size(topic)).fold(4, usize::saturating_add)
}

pub(crate) fn put_topics(buffer: &mut impl BufMut, topics: &[&str]) {
    put_count(buffer, topics.len());
    for topic in topics {
        put_string(buffer, topic);
    }
}

pub(crate) fn string_size(string: &str) -> usize {
    2 + string.len()
}

/// The string must not be longer than [`text::MAX_LENGTH`].
pub(crate) fn put_string(buffer: &mut impl BufMut, string: &str) {
    buffer.put_i16(string.len() as i16);
    buffer.put_slice(string.as_bytes());
}

pub(crate) fn put_nullable_string(buffer: &mut impl BufMut, string: Option<&str>) {
    match string {
        Some(string) => put_string(buffer, string),
        None => buffer.put_i16(-1),
    }
}

pub(crate) fn bytes_size(bytes: Option<&[u8]>) -> usize {
    4 + bytes.map_or(0, <[u8]>::len)
}

pub(crate) fn put_nullable_bytes(buffer: &mut impl BufMut, bytes: Option<&[u8]>) {
    let Some(bytes) = bytes else {
        return buffer.put_i32(-1);
    };
    put_count(buffer, bytes.len());
    buffer.put_slice(bytes);
}

/// A count is below the size of its message, which was checked to fit.
fn put_count(buffer: &mut impl BufMut, count: usize) {
    buffer.put_i32(count as i32);
}

/// An absent generation is written as -1, and so is any negative one, which is read as absent.
pub(crate) fn put_generation(buffer: &mut impl BufMut, generation: Option<i32>) {
    buffer.put_i32(generation.unwrap_or(-1).max(-1));
}
