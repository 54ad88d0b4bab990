use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

use bytes::{BufMut, Bytes};

use crate::blob::Blob;
use crate::error::{ASSIGNED, Field, ReadError, WriteError};
use crate::views::TopicPartitions;
use crate::wire::{self, Array, Cursor, InvalidUtf8, Parsed, Span};
use crate::write::{self, Blocks, Message, Order};

/// What the leader gives a member: `ConsumerProtocolAssignment`, any version.
///
/// Like [`Subscription`](crate::Subscription), it is its bytes, checked: borrowed, shared or owned.
/// [`AssignmentWriter`] writes one.
///
/// ```text
/// int16 version
///   assigned_partitions  int32 count, each: string, int32 count, each: int32
///   user_data            nullable bytes
/// ```
///
/// All versions have the same fields, and those above 3 are read as 3.
///
/// ```
/// use kafka_sticky_protocol::{Assignment, AssignmentWriter};
///
/// let bytes = AssignmentWriter::from_pairs([("foo", 1), ("bar", 7), ("foo", 0)]).write(0)?;
///
/// let assignment = Assignment::read(&bytes)?;
/// assert!(assignment.assigned_partitions().pairs().eq([("foo", 1), ("foo", 0), ("bar", 7)]));
/// assert_eq!(assignment.user_data(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Assignment<'a> {
    blob: Blob<'a>,
    layout: Layout,
}

#[derive(Clone, Copy)]
struct Layout {
    wire_version: i16,
    assigned_partitions: Array,
    user_data: Option<Span>,
    end: usize,
}

impl<'a> Assignment<'a> {
    /// The highest version that there is. Higher ones are read, and written, as this one.
    pub const HIGHEST_VERSION: i16 = 3;

    /// Reads an assignment that borrows `bytes`. Linear in their number; allocates nothing.
    ///
    /// # Errors
    ///
    /// When the bytes are cut off, the version is negative, something is null that cannot be, or a
    /// string is not UTF-8.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Borrowed(bytes), InvalidUtf8::IsAnError)
    }

    /// Like [`read`](Self::read), with U+FFFD in place of what is not UTF-8, just as Java reads it;
    /// the message is copied where that happens.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), except that invalid UTF-8 is an error only where its
    /// replacement would be longer than a string can be.
    pub fn read_lossy(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Borrowed(bytes), InvalidUtf8::IsReplaced)
    }

    fn read_blob(blob: Blob<'a>, invalid: InvalidUtf8) -> Result<Self, ReadError> {
        let (blob, layout) = wire::read(blob, invalid, layout)?;
        Ok(Self { blob, layout })
    }

    /// The version whose fields were read, 0 to 3.
    pub fn version(&self) -> i16 {
        self.wire_version().min(Self::HIGHEST_VERSION)
    }

    /// The version on the wire; never negative, and above 3 where the leader is newer than that.
    pub fn wire_version(&self) -> i16 {
        self.layout.wire_version
    }

    /// The member's share.
    pub fn assigned_partitions(&self) -> TopicPartitions<'_> {
        let Array { count, elements } = self.layout.assigned_partitions;
        TopicPartitions::new(count, self.blob.span(elements))
    }

    /// What the leader's assignor put in, as it is. Null and empty are different.
    pub fn user_data(&self) -> Option<&[u8]> {
        self.layout.user_data.map(|span| self.blob.span(span))
    }

    /// Like [`user_data`](Self::user_data), in O(1) without a copy where the message was read from
    /// `Bytes`.
    pub fn user_data_bytes(&self) -> Option<Bytes> {
        self.layout.user_data.map(|span| self.blob.shared(span))
    }

    /// What follows the last field.
    pub fn trailing(&self) -> &[u8] {
        &self.blob[self.layout.end..]
    }

    /// The whole message, as it was read, or as it is with replacements where
    /// [`read_lossy`](Self::read_lossy) made any.
    pub fn as_bytes(&self) -> &[u8] {
        &self.blob
    }

    /// The same message without a borrow: copies the bytes where they are borrowed.
    pub fn into_owned(self) -> Assignment<'static> {
        Assignment { blob: self.blob.into_owned(), layout: self.layout }
    }
}

impl Assignment<'static> {
    /// Like [`read`](Assignment::read), sharing `bytes` instead of borrowing or copying them.
    ///
    /// # Errors
    ///
    /// As for [`read`](Assignment::read).
    pub fn read_bytes(bytes: Bytes) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Shared(bytes), InvalidUtf8::IsAnError)
    }

    /// Like [`read_lossy`](Assignment::read_lossy), sharing `bytes` instead of borrowing them.
    ///
    /// # Errors
    ///
    /// As for [`read_lossy`](Assignment::read_lossy).
    pub fn read_bytes_lossy(bytes: Bytes) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Shared(bytes), InvalidUtf8::IsReplaced)
    }
}

fn layout<'i>(input: &'i [u8], cursor: &mut Cursor<'i>) -> Parsed<'i, Layout> {
    let (rest, wire_version) = wire::version(input)?;
    let (rest, assigned_partitions) = cursor.topic_partitions(rest, ASSIGNED)?;
    let (rest, user_data) = cursor.nullable_bytes(rest, Field::UserData)?;
    let end = cursor.position(rest);
    Ok((rest, Layout { wire_version, assigned_partitions, user_data, end }))
}

/// Equal where every field is, the version on the wire and trailing bytes included.
impl PartialEq<Assignment<'_>> for Assignment<'_> {
    fn eq(&self, other: &Assignment<'_>) -> bool {
        self.wire_version() == other.wire_version()
            && self.assigned_partitions() == other.assigned_partitions()
            && self.user_data() == other.user_data()
            && self.trailing() == other.trailing()
    }
}

impl Eq for Assignment<'_> {}

impl fmt::Debug for Assignment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assignment")
            .field("wire_version", &self.wire_version())
            .field("assigned_partitions", &self.assigned_partitions())
            .field("user_data", &self.user_data())
            .field("trailing", &self.trailing())
            .finish()
    }
}

/// Writes an [`Assignment`], any version; those above 3 as 3.
///
/// Nothing is sorted, as in Java: a member is the only reader, and nobody compares the bytes.
///
/// ```
/// use kafka_sticky_protocol::AssignmentWriter;
///
/// let by_topic = AssignmentWriter::new([("foo", &[1, 0][..]), ("bar", &[7])]);
/// let by_pair = AssignmentWriter::from_pairs([("foo", 1), ("bar", 7), ("foo", 0)]);
///
/// assert_eq!(by_topic.write(0)?, by_pair.write(0)?);
/// # Ok::<(), kafka_sticky_protocol::WriteError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a writer does nothing until it is asked to write"]
pub struct AssignmentWriter<'a> {
    assigned_partitions: Blocks<'a>,
    user_data: Option<&'a [u8]>,
    trailing: &'a [u8],
}

impl<'a> AssignmentWriter<'a> {
    /// An assignment of partitions by topic, in the order given; user data is null.
    pub fn new<P>(partitions: impl IntoIterator<Item = (&'a str, P)>) -> Self
    where
        P: IntoIterator,
        P::Item: Borrow<i32>,
    {
        Self { assigned_partitions: Blocks::collect(partitions), ..Self::default() }
    }

    /// An assignment of partitions with their topics. Topics come in the order in which they are
    /// first seen, the partitions of each in the order given, repeats included.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (&'a str, i32)>) -> Self {
        Self { assigned_partitions: Blocks::group(pairs), ..Self::default() }
    }

    /// What the leader's assignor adds; default null.
    pub fn user_data(self, user_data: Option<&'a [u8]>) -> Self {
        Self { user_data, ..self }
    }

    /// Bytes to follow the last field; default none. Readers ignore them.
    pub fn trailing(self, trailing: &'a [u8]) -> Self {
        Self { trailing, ..self }
    }

    /// The message as a vector of exactly its size.
    ///
    /// # Errors
    ///
    /// When the version is negative, a string is longer than 32,767 bytes, or the message longer
    /// than 2,147,483,647.
    pub fn write(&self, version: i16) -> Result<Vec<u8>, WriteError> {
        self.ready(version)?.to_vec()
    }

    /// Appends the message to a buffer.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write), and when the buffer cannot take the whole message. Nothing is
    /// written then.
    pub fn write_to(&self, version: i16, buffer: &mut impl BufMut) -> Result<(), WriteError> {
        self.ready(version)?.put_checked(buffer)
    }

    /// How many bytes [`write`](Self::write) writes.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn size(&self, version: i16) -> Result<usize, WriteError> {
        self.ready(version)?.checked_size()
    }

    fn ready(&self, version: i16) -> Result<Ready<'_>, WriteError> {
        let version = write::version(version, Assignment::HIGHEST_VERSION)?;
        self.assigned_partitions.ordered(Order::AsGiven, ASSIGNED)?;
        Ok(Ready { version, writer: self })
    }
}

/// Takes over every field, so that what is written is what was read, except that any null is
/// written as -1 and versions above 3 as 3.
impl<'a> From<&'a Assignment<'_>> for AssignmentWriter<'a> {
    fn from(assignment: &'a Assignment<'_>) -> Self {
        Self::new(assignment.assigned_partitions())
            .user_data(assignment.user_data())
            .trailing(assignment.trailing())
    }
}

struct Ready<'a> {
    version: i16,
    writer: &'a AssignmentWriter<'a>,
}

impl Message for Ready<'_> {
    fn size(&self) -> usize {
        let fields = [self.writer.assigned_partitions.size(), write::bytes_size(self.writer.user_data)];
        fields.into_iter().fold(2 + self.writer.trailing.len(), usize::saturating_add)
    }

    fn put(&self, buffer: &mut impl BufMut) {
        buffer.put_i16(self.version);
        self.writer.assigned_partitions.put(buffer);
        write::put_nullable_bytes(buffer, self.writer.user_data);
        buffer.put_slice(self.writer.trailing);
    }
}
