use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;

use bytes::{BufMut, Bytes};

use crate::blob::Blob;
use crate::error::{Field, PREVIOUS, ReadError, WriteError};
use crate::views::TopicPartitions;
use crate::wire::{self, Array, Cursor, InvalidUtf8, Parsed};
use crate::write::{self, Blocks, Message, Order};

/// Whether a version stands in front of the fields of sticky user data.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Framing {
    /// No version: what Java, Sarama, franz-go, aiokafka and kafka-python 2 write and read. Which
    /// version it is shows only in whether there are bytes for a generation.
    #[default]
    Bare,
    /// An int16 version first: what kafka-python 3 writes, and all that it reads.
    Framed,
}

/// What a member of a `sticky` group had: `StickyAssignorUserData`, in any form in the wild.
///
/// It travels as the user data of a subscription. Like [`Subscription`](crate::Subscription), it is
/// its bytes, checked: borrowed, shared or owned. [`StickyUserDataWriter`] writes it.
///
/// ```text
/// int16 version         only in the framed form
///   previous_assignment int32 count, each: string, int32 count, each: int32
///   generation          int32                                             since version 1
/// ```
///
/// Bytes are read as bare version 1, else as bare version 0, else as the framed form. Read as a
/// bare form, the framed one starts with a count of 65,536 topics or more, which no subscription
/// holds, so the two are not mistaken for each other. (Only a framed version 0 would be, which
/// nobody sends.) Where no form fits, the error is that of the form that the count speaks for.
///
/// ```
/// use kafka_sticky_protocol::{Framing, StickyUserData, StickyUserDataWriter};
///
/// let writer = StickyUserDataWriter::new([("orders", [0, 1])], Some(7));
///
/// let bytes = writer.write(1)?;
/// let read = StickyUserData::read(&bytes)?;
/// assert!(read.previous_assignment().pairs().eq([("orders", 0), ("orders", 1)]));
/// assert_eq!((read.framing(), read.version(), read.generation()), (Framing::Bare, 1, Some(7)));
///
/// let bytes = writer.framing(Framing::Framed).write(1)?;
/// let read = StickyUserData::read(&bytes)?;
/// assert!(read.previous_assignment().pairs().eq([("orders", 0), ("orders", 1)]));
/// assert_eq!((read.framing(), read.version(), read.generation()), (Framing::Framed, 1, Some(7)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct StickyUserData<'a> {
    blob: Blob<'a>,
    layout: Layout,
}

#[derive(Clone, Copy)]
struct Layout {
    framing: Framing,
    wire_version: i16,
    previous_assignment: Array,
    generation: Option<i32>,
    end: usize,
}

impl<'a> StickyUserData<'a> {
    /// The highest version that there is. Higher ones are read, and written, as this one.
    pub const HIGHEST_VERSION: i16 = 1;

    /// Reads user data that borrows `bytes`. Linear in their number; allocates nothing.
    ///
    /// Empty bytes are an error here; as the user data of a member they mean that there is none.
    ///
    /// # Errors
    ///
    /// When the bytes are none of the three forms. A string that is not UTF-8 is one reason.
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
        let bare_error = match wire::read(blob.clone(), invalid, bare_layout) {
            Ok((blob, layout)) => return Ok(Self { blob, layout }),
            Err(error) => error,
        };
        // Read as a version, the upper half of a count of 65,536 or more.
        let looks_framed = blob.first_chunk().is_some_and(|version| i16::from_be_bytes(*version) > 0);
        match wire::read(blob, invalid, framed_layout) {
            Ok((blob, layout)) => Ok(Self { blob, layout }),
            Err(framed_error) if looks_framed => Err(framed_error),
            Err(_) => Err(bare_error),
        }
    }

    /// Whether there was a version in front.
    pub fn framing(&self) -> Framing {
        self.layout.framing
    }

    /// The version whose fields were read: 1, or 0 where there is no generation.
    pub fn version(&self) -> i16 {
        self.wire_version().min(Self::HIGHEST_VERSION)
    }

    /// The version on the wire. The bare form has none there, and is 1 where it has bytes for a
    /// generation, else 0.
    pub fn wire_version(&self) -> i16 {
        self.layout.wire_version
    }

    /// What the member had.
    pub fn previous_assignment(&self) -> TopicPartitions<'_> {
        let Array { count, elements } = self.layout.previous_assignment;
        TopicPartitions::new(count, self.blob.span(elements))
    }

    /// The generation in which it got that; `None` in version 0 and where it is negative.
    pub fn generation(&self) -> Option<i32> {
        self.layout.generation
    }

    /// What follows the last field.
    pub fn trailing(&self) -> &[u8] {
        &self.blob[self.layout.end..]
    }

    /// The whole user data, as it was read, or as it is with replacements where
    /// [`read_lossy`](Self::read_lossy) made any.
    pub fn as_bytes(&self) -> &[u8] {
        &self.blob
    }

    /// The same user data without a borrow: copies the bytes where they are borrowed.
    pub fn into_owned(self) -> StickyUserData<'static> {
        StickyUserData { blob: self.blob.into_owned(), layout: self.layout }
    }
}

impl StickyUserData<'static> {
    /// Like [`read`](StickyUserData::read), sharing `bytes` instead of borrowing or copying them.
    ///
    /// # Errors
    ///
    /// As for [`read`](StickyUserData::read).
    pub fn read_bytes(bytes: Bytes) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Shared(bytes), InvalidUtf8::IsAnError)
    }

    /// Like [`read_lossy`](StickyUserData::read_lossy), sharing `bytes` instead of borrowing them.
    ///
    /// # Errors
    ///
    /// As for [`read_lossy`](StickyUserData::read_lossy).
    pub fn read_bytes_lossy(bytes: Bytes) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Shared(bytes), InvalidUtf8::IsReplaced)
    }
}

/// Version 1 is version 0 and four more bytes, so that both are read at once.
fn bare_layout<'i>(input: &'i [u8], cursor: &mut Cursor<'i>) -> Parsed<'i, Layout> {
    let (rest, previous_assignment) = cursor.topic_partitions(input, PREVIOUS)?;
    let (rest, wire_version, generation) = match wire::generation(rest, Field::Generation) {
        Ok((rest, generation)) => (rest, 1, generation),
        Err(_) => (rest, 0, None),
    };
    let end = cursor.position(rest);
    Ok((rest, Layout { framing: Framing::Bare, wire_version, previous_assignment, generation, end }))
}

fn framed_layout<'i>(input: &'i [u8], cursor: &mut Cursor<'i>) -> Parsed<'i, Layout> {
    let (rest, wire_version) = wire::version(input)?;
    let (mut rest, previous_assignment) = cursor.topic_partitions(rest, PREVIOUS)?;
    let mut generation = None;
    if wire_version >= 1 {
        (rest, generation) = wire::generation(rest, Field::Generation)?;
    }
    let end = cursor.position(rest);
    Ok((rest, Layout { framing: Framing::Framed, wire_version, previous_assignment, generation, end }))
}

/// Equal where every field is, the form and trailing bytes included.
impl PartialEq<StickyUserData<'_>> for StickyUserData<'_> {
    fn eq(&self, other: &StickyUserData<'_>) -> bool {
        self.framing() == other.framing()
            && self.wire_version() == other.wire_version()
            && self.previous_assignment() == other.previous_assignment()
            && self.generation() == other.generation()
            && self.trailing() == other.trailing()
    }
}

impl Eq for StickyUserData<'_> {}

impl fmt::Debug for StickyUserData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StickyUserData")
            .field("framing", &self.framing())
            .field("wire_version", &self.wire_version())
            .field("previous_assignment", &self.previous_assignment())
            .field("generation", &self.generation())
            .field("trailing", &self.trailing())
            .finish()
    }
}

/// Writes [`StickyUserData`]: version 1 is Java's, version 0 the one before KIP-341.
///
/// ```
/// use kafka_sticky_protocol::StickyUserDataWriter;
///
/// let bytes = StickyUserDataWriter::new([("t", [1, 0])], Some(5)).write(1)?;
///
/// assert_eq!(bytes, b"\0\0\0\x01\0\x01t\0\0\0\x02\0\0\0\0\0\0\0\x01\0\0\0\x05");
/// # Ok::<(), kafka_sticky_protocol::WriteError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a writer does nothing until it is asked to write"]
pub struct StickyUserDataWriter<'a> {
    previous_assignment: Blocks<'a>,
    generation: Option<i32>,
    framing: Framing,
    trailing: &'a [u8],
    order: Order,
}

impl<'a> StickyUserDataWriter<'a> {
    /// User data that says what the member had, by topic, and since which generation. None, and any
    /// negative one, is written as -1; version 0 has none.
    pub fn new<P>(
        previous_assignment: impl IntoIterator<Item = (&'a str, P)>,
        generation: Option<i32>,
    ) -> Self
    where
        P: IntoIterator,
        P::Item: Borrow<i32>,
    {
        Self { previous_assignment: Blocks::collect(previous_assignment), generation, ..Self::default() }
    }

    /// Whether to put the version in front; default [`Framing::Bare`], as Java.
    pub fn framing(self, framing: Framing) -> Self {
        Self { framing, ..self }
    }

    /// Bytes to follow the last field; default none. Four or more of them make version 0 read as
    /// version 1.
    pub fn trailing(self, trailing: &'a [u8]) -> Self {
        Self { trailing, ..self }
    }

    /// The order of topics and partitions; default [`Order::Canonical`].
    pub fn order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// The user data as a vector of exactly its size; versions above 1 are written as 1.
    ///
    /// Sorting aside, linear in the size of the user data.
    ///
    /// # Errors
    ///
    /// When the version is negative, a string is longer than 32,767 bytes, or the user data longer
    /// than 2,147,483,647.
    pub fn write(&self, version: i16) -> Result<Vec<u8>, WriteError> {
        self.ready(version)?.to_vec()
    }

    /// Appends the user data to a buffer.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write), and when the buffer cannot take it whole. Nothing is written
    /// then.
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
        let version = write::version(version, StickyUserData::HIGHEST_VERSION)?;
        Ok(Ready {
            version: (self.framing == Framing::Framed).then_some(version),
            previous_assignment: self.previous_assignment.ordered(self.order, PREVIOUS)?,
            generation: (version >= 1).then_some(self.generation),
            trailing: self.trailing,
        })
    }
}

/// Takes over every field, so that with [`Order::AsGiven`], written in the
/// [version](StickyUserData::version) it was read in, what is written is what was read, except that
/// any negative generation is written as -1 and framed versions above 1 as 1.
impl<'a> From<&'a StickyUserData<'_>> for StickyUserDataWriter<'a> {
    fn from(user_data: &'a StickyUserData<'_>) -> Self {
        Self::new(user_data.previous_assignment(), user_data.generation())
            .framing(user_data.framing())
            .trailing(user_data.trailing())
    }
}

struct Ready<'a> {
    version: Option<i16>,
    previous_assignment: Cow<'a, Blocks<'a>>,
    generation: Option<Option<i32>>,
    trailing: &'a [u8],
}

impl Message for Ready<'_> {
    fn size(&self) -> usize {
        let ends = self.version.map_or(0, |_| 2) + self.generation.map_or(0, |_| 4);
        [ends, self.previous_assignment.size(), self.trailing.len()]
            .into_iter()
            .fold(0, usize::saturating_add)
    }

    fn put(&self, buffer: &mut impl BufMut) {
        if let Some(version) = self.version {
            buffer.put_i16(version);
        }
        self.previous_assignment.put(buffer);
        if let Some(generation) = self.generation {
            write::put_generation(buffer, generation);
        }
        buffer.put_slice(self.trailing);
    }
}
