//! What arrays are read as: views over the bytes, read again each time they are walked.

use core::fmt;
use core::iter::FusedIterator;

/// Topic names, in the order in which they stand on the wire, repeats included.
///
/// ```
/// use kafka_sticky_protocol::Subscription;
///
/// let subscription = Subscription::read(b"\0\0\0\0\0\x02\0\x03foo\0\x03bar\xff\xff\xff\xff")?;
/// let topics = subscription.topics();
///
/// assert_eq!(topics.len(), 2);
/// assert!(topics.iter().eq(["foo", "bar"]));
/// # Ok::<(), kafka_sticky_protocol::ReadError>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Topics<'a> {
    count: usize,
    elements: &'a [u8],
}

impl<'a> Topics<'a> {
    /// Both were checked when the message was read.
    pub(crate) fn new(count: usize, elements: &'a [u8]) -> Self {
        Self { count, elements }
    }

    /// The number of topics, repeats included.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no topic.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The topics one by one; nothing is allocated.
    pub fn iter(&self) -> TopicsIter<'a> {
        TopicsIter { left: self.count, rest: self.elements }
    }
}

impl<'a> IntoIterator for Topics<'a> {
    type Item = &'a str;
    type IntoIter = TopicsIter<'a>;

    fn into_iter(self) -> TopicsIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Topics<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<'a> IntoIterator for &Topics<'a> {
    type Item = &'a str;
    type IntoIter = TopicsIter<'a>;

    fn into_iter(self) -> TopicsIter<'a> {
        self.iter()
    }
}

impl PartialEq for Topics<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.elements == other.elements
    }
}

impl Eq for Topics<'_> {}

/// The iterator of [`Topics`].
#[derive(Clone, Debug)]
pub struct TopicsIter<'a> {
    left: usize,
    rest: &'a [u8],
}

impl<'a> Iterator for TopicsIter<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.left = self.left.checked_sub(1)?;
        text(&mut self.rest)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for TopicsIter<'_> {}
impl FusedIterator for TopicsIter<'_> {}

/// Topics with partitions of theirs, in the order in which they stand on the wire.
///
/// Nothing is merged: a topic may come more than once, with any number of partitions, none
/// included, and a partition may be repeated, negative, or not exist.
///
/// ```
/// use kafka_sticky_protocol::Assignment;
///
/// let assignment = Assignment::read(
///     b"\0\0\0\0\0\x01\0\x03foo\0\0\0\x02\0\0\0\x07\0\0\0\x01\xff\xff\xff\xff",
/// )?;
///
/// for (topic, partitions) in assignment.assigned_partitions() {
///     assert_eq!(topic, "foo");
///     assert!(partitions.iter().eq([7, 1]));
/// }
/// assert!(assignment.assigned_partitions().pairs().eq([("foo", 7), ("foo", 1)]));
/// # Ok::<(), kafka_sticky_protocol::ReadError>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct TopicPartitions<'a> {
    count: usize,
    elements: &'a [u8],
}

impl<'a> TopicPartitions<'a> {
    /// Both were checked when the message was read.
    pub(crate) fn new(count: usize, elements: &'a [u8]) -> Self {
        Self { count, elements }
    }

    /// The number of topics, repeats included.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no topic. A topic without partitions is one.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether any topic has a partition. Linear in the number of topics before the first that has.
    pub fn has_partitions(&self) -> bool {
        self.iter().any(|(_, partitions)| !partitions.is_empty())
    }

    /// The topics one by one, each with its partitions; nothing is allocated.
    pub fn iter(&self) -> TopicPartitionsIter<'a> {
        TopicPartitionsIter { left: self.count, rest: self.elements }
    }

    /// The partitions one by one, each with its topic; nothing is allocated.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a str, i32)> + Clone + use<'a> {
        self.iter().flat_map(|(topic, partitions)| partitions.iter().map(move |partition| (topic, partition)))
    }
}

impl<'a> IntoIterator for TopicPartitions<'a> {
    type Item = (&'a str, Partitions<'a>);
    type IntoIter = TopicPartitionsIter<'a>;

    fn into_iter(self) -> TopicPartitionsIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &TopicPartitions<'a> {
    type Item = (&'a str, Partitions<'a>);
    type IntoIter = TopicPartitionsIter<'a>;

    fn into_iter(self) -> TopicPartitionsIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for TopicPartitions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl PartialEq for TopicPartitions<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.elements == other.elements
    }
}

impl Eq for TopicPartitions<'_> {}

/// The iterator of [`TopicPartitions`].
#[derive(Clone, Debug)]
pub struct TopicPartitionsIter<'a> {
    left: usize,
    rest: &'a [u8],
}

impl<'a> Iterator for TopicPartitionsIter<'a> {
    type Item = (&'a str, Partitions<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let topic = text(&mut self.rest)?;
        Some((topic, partitions(&mut self.rest)?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for TopicPartitionsIter<'_> {}
impl FusedIterator for TopicPartitionsIter<'_> {}

/// The partition numbers of one topic, kept as the big-endian bytes that they are on the wire.
///
/// ```
/// # use kafka_sticky_protocol::Assignment;
/// # let bytes = b"\0\0\0\0\0\x01\0\x03foo\0\0\0\x02\0\0\0\x07\0\0\0\x01\xff\xff\xff\xff";
/// # let assignment = Assignment::read(bytes)?;
/// let (_, partitions) = assignment.assigned_partitions().iter().next().unwrap();
///
/// assert_eq!(partitions.len(), 2);
/// assert!(partitions.iter().eq([7, 1]));
/// # Ok::<(), kafka_sticky_protocol::ReadError>(())
/// ```
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub struct Partitions<'a> {
    big_endian: &'a [[u8; 4]],
}

impl<'a> Partitions<'a> {
    /// The number of partitions, repeats included.
    pub fn len(&self) -> usize {
        self.big_endian.len()
    }

    /// Whether there is no partition.
    pub fn is_empty(&self) -> bool {
        self.big_endian.is_empty()
    }

    /// The partition numbers one by one; nothing is allocated.
    pub fn iter(&self) -> PartitionsIter<'a> {
        PartitionsIter { big_endian: self.big_endian.iter() }
    }
}

impl<'a> IntoIterator for Partitions<'a> {
    type Item = i32;
    type IntoIter = PartitionsIter<'a>;

    fn into_iter(self) -> PartitionsIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Partitions<'a> {
    type Item = i32;
    type IntoIter = PartitionsIter<'a>;

    fn into_iter(self) -> PartitionsIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Partitions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// The iterator of [`Partitions`].
#[derive(Clone, Debug)]
pub struct PartitionsIter<'a> {
    big_endian: core::slice::Iter<'a, [u8; 4]>,
}

impl Iterator for PartitionsIter<'_> {
    type Item = i32;

    fn next(&mut self) -> Option<i32> {
        self.big_endian.next().map(|bytes| i32::from_be_bytes(*bytes))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.big_endian.size_hint()
    }
}

impl DoubleEndedIterator for PartitionsIter<'_> {
    fn next_back(&mut self) -> Option<i32> {
        self.big_endian.next_back().map(|bytes| i32::from_be_bytes(*bytes))
    }
}

impl ExactSizeIterator for PartitionsIter<'_> {}
impl FusedIterator for PartitionsIter<'_> {}

// What follows takes its part from the front of `rest`. All of it was checked when the message was
// read, so that `None` never comes out.

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let (length, after) = rest.split_first_chunk()?;
    let (text, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    *rest = after;
    str::from_utf8(text).ok()
}

fn partitions<'a>(rest: &mut &'a [u8]) -> Option<Partitions<'a>> {
    let (count, after) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*count)).ok()?.checked_mul(4)?;
    let (big_endian, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(Partitions { big_endian: big_endian.as_chunks().0 })
}
