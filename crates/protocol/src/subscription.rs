use core::fmt;

use bytes::Bytes;

use crate::blob::Blob;
use crate::error::{Field, OWNED, ReadError};
use crate::views::{TopicPartitions, Topics};
use crate::wire::{self, Array, Cursor, InvalidUtf8, Parsed, Span};

/// What a member says when it joins: `ConsumerProtocolSubscription`, any version.
///
/// A subscription is its bytes, checked, and where its fields are in them. It borrows the bytes it
/// was read from, shares them ([`read_bytes`](Self::read_bytes)), or owns a copy
/// ([`into_owned`](Self::into_owned)). Its fields are views; neither reading nor walking them
/// allocates. [`SubscriptionWriter`](crate::SubscriptionWriter) writes one.
///
/// ```text
/// int16 version
///   topics            int32 count, each: string
///   user_data         nullable bytes
///   owned_partitions  int32 count, each: string, int32 count, each: int32     since version 1
///   generation_id     int32                                                   since version 2
///   rack_id           nullable string                                         since version 3
/// ```
///
/// Versions above 3 are read as 3, since a higher version only ever appends fields. A negative
/// length of something nullable means null.
///
/// ```
/// use kafka_sticky_protocol::{Subscription, SubscriptionWriter};
///
/// let bytes = SubscriptionWriter::new(["orders", "clicks"])
///     .owned_partitions([("orders", [0, 1])])
///     .generation_id(Some(7))
///     .rack_id(Some("eu-1a"))
///     .write(Subscription::HIGHEST_VERSION)?;
///
/// let subscription = Subscription::read(&bytes)?;
/// assert!(subscription.topics().iter().eq(["clicks", "orders"]));
/// assert_eq!(subscription.user_data(), None);
/// assert!(subscription.owned_partitions().pairs().eq([("orders", 0), ("orders", 1)]));
/// assert_eq!(subscription.generation_id(), Some(7));
/// assert_eq!(subscription.rack(), Some("eu-1a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Subscription<'a> {
    blob: Blob<'a>,
    layout: Layout,
}

#[derive(Clone, Copy)]
struct Layout {
    wire_version: i16,
    version: i16,
    topics: Array,
    user_data: Option<Span>,
    owned_partitions: Array,
    generation_id: Option<i32>,
    rack_id: Option<Span>,
    end: usize,
}

impl<'a> Subscription<'a> {
    /// The highest version that there is. Higher ones are read, and written, as this one.
    pub const HIGHEST_VERSION: i16 = 3;

    /// Reads a subscription that borrows `bytes`. Linear in their number; allocates nothing.
    ///
    /// # Errors
    ///
    /// When the bytes are cut off, the version is negative, something is null that cannot be, or a
    /// string is not UTF-8.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Borrowed(bytes), InvalidUtf8::IsAnError, Self::HIGHEST_VERSION)
    }

    /// Like [`read`](Self::read), with U+FFFD in place of what is not UTF-8, just as Java reads it.
    ///
    /// Where something has to be replaced, the message is copied with it replaced (at most three
    /// times the size), and what is written from it has the replacement.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), except that invalid UTF-8 is an error only where its
    /// replacement would be longer than a string can be.
    ///
    /// ```
    /// use kafka_sticky_protocol::Subscription;
    ///
    /// let bytes = b"\0\0\0\0\0\x01\0\x03a\xffb\xff\xff\xff\xff";
    ///
    /// assert!(Subscription::read(bytes).is_err());
    /// assert!(Subscription::read_lossy(bytes)?.topics().iter().eq(["a\u{fffd}b"]));
    /// # Ok::<(), kafka_sticky_protocol::ReadError>(())
    /// ```
    pub fn read_lossy(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Borrowed(bytes), InvalidUtf8::IsReplaced, Self::HIGHEST_VERSION)
    }

    /// Reads only the fields of version 0, whatever later version the bytes say they are.
    ///
    /// Version 0 is a prefix of every version. What follows it is [`trailing`](Self::trailing), and
    /// may be anything. The broker reads members' topics in this way.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), a negative version included.
    pub fn read_as_v0(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Borrowed(bytes), InvalidUtf8::IsAnError, 0)
    }

    fn read_blob(blob: Blob<'a>, invalid: InvalidUtf8, highest: i16) -> Result<Self, ReadError> {
        let (blob, layout) = wire::read(blob, invalid, |input, cursor| layout(input, cursor, highest))?;
        Ok(Self { blob, layout })
    }

    /// The version whose fields were read, 0 to 3.
    pub fn version(&self) -> i16 {
        self.layout.version
    }

    /// The version on the wire; never negative, and above 3 where the member is newer than that.
    pub fn wire_version(&self) -> i16 {
        self.layout.wire_version
    }

    /// The topics subscribed to.
    pub fn topics(&self) -> Topics<'_> {
        let Array { count, elements } = self.layout.topics;
        Topics::new(count, self.blob.span(elements))
    }

    /// What the member's assignor put in, as it is. Null and empty are different.
    /// [`MemberClaims`](crate::MemberClaims) reads it.
    pub fn user_data(&self) -> Option<&[u8]> {
        self.layout.user_data.map(|span| self.blob.span(span))
    }

    /// Like [`user_data`](Self::user_data), in O(1) without a copy where the message was read from
    /// `Bytes`.
    pub fn user_data_bytes(&self) -> Option<Bytes> {
        self.layout.user_data.map(|span| self.blob.shared(span))
    }

    /// The partitions that the member still owns; none below version 1.
    pub fn owned_partitions(&self) -> TopicPartitions<'_> {
        let Array { count, elements } = self.layout.owned_partitions;
        TopicPartitions::new(count, self.blob.span(elements))
    }

    /// The generation in which the owned partitions were assigned; `None` below version 2 and where
    /// it is negative.
    pub fn generation_id(&self) -> Option<i32> {
        self.layout.generation_id
    }

    /// The member's rack as the message has it; `None` below version 3 and for null.
    pub fn rack_id(&self) -> Option<&str> {
        self.layout.rack_id.map(|span| self.blob.text(span))
    }

    /// The member's rack as Kafka understands it: an empty one is none.
    pub fn rack(&self) -> Option<&str> {
        self.rack_id().filter(|rack| !rack.is_empty())
    }

    /// What follows the last field that was read.
    pub fn trailing(&self) -> &[u8] {
        &self.blob[self.layout.end..]
    }

    /// The whole message, as it was read, or as it is with replacements where
    /// [`read_lossy`](Self::read_lossy) made any.
    pub fn as_bytes(&self) -> &[u8] {
        &self.blob
    }

    /// The same message without a borrow: copies the bytes where they are borrowed.
    pub fn into_owned(self) -> Subscription<'static> {
        Subscription { blob: self.blob.into_owned(), layout: self.layout }
    }
}

impl Subscription<'static> {
    /// Like [`read`](Subscription::read), sharing `bytes` instead of borrowing or copying them.
    ///
    /// # Errors
    ///
    /// As for [`read`](Subscription::read).
    ///
    /// ```
    /// use bytes::Bytes;
    /// use kafka_sticky_protocol::Subscription;
    ///
    /// let bytes = Bytes::from_static(b"\0\0\0\0\0\0\0\0\0\x02hi");
    /// let subscription = Subscription::read_bytes(bytes.clone())?;
    ///
    /// let user_data = subscription.user_data_bytes().unwrap();
    /// assert_eq!(user_data, "hi");
    /// assert_eq!(user_data.as_ptr(), bytes[10..].as_ptr());
    /// # Ok::<(), kafka_sticky_protocol::ReadError>(())
    /// ```
    pub fn read_bytes(bytes: Bytes) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Shared(bytes), InvalidUtf8::IsAnError, Self::HIGHEST_VERSION)
    }

    /// Like [`read_lossy`](Subscription::read_lossy), sharing `bytes` instead of borrowing them.
    ///
    /// # Errors
    ///
    /// As for [`read_lossy`](Subscription::read_lossy).
    pub fn read_bytes_lossy(bytes: Bytes) -> Result<Self, ReadError> {
        Self::read_blob(Blob::Shared(bytes), InvalidUtf8::IsReplaced, Self::HIGHEST_VERSION)
    }
}

fn layout<'i>(input: &'i [u8], cursor: &mut Cursor<'i>, highest: i16) -> Parsed<'i, Layout> {
    let (rest, wire_version) = wire::version(input)?;
    let version = wire_version.min(highest);
    let (mut rest, topics) = cursor.topics(rest)?;
    let user_data;
    (rest, user_data) = cursor.nullable_bytes(rest, Field::UserData)?;

    let mut owned_partitions = Array::default();
    if version >= 1 {
        (rest, owned_partitions) = cursor.topic_partitions(rest, OWNED)?;
    }
    let mut generation_id = None;
    if version >= 2 {
        (rest, generation_id) = wire::generation(rest, Field::GenerationId)?;
    }
    let mut rack_id = None;
    if version >= 3 {
        (rest, rack_id) = cursor.nullable_string(rest, Field::RackId)?;
    }

    let end = cursor.position(rest);
    let layout =
        Layout { wire_version, version, topics, user_data, owned_partitions, generation_id, rack_id, end };
    Ok((rest, layout))
}

/// Equal where every field is, the version on the wire and trailing bytes included.
impl PartialEq<Subscription<'_>> for Subscription<'_> {
    fn eq(&self, other: &Subscription<'_>) -> bool {
        self.wire_version() == other.wire_version()
            && self.version() == other.version()
            && self.topics() == other.topics()
            && self.user_data() == other.user_data()
            && self.owned_partitions() == other.owned_partitions()
            && self.generation_id() == other.generation_id()
            && self.rack_id() == other.rack_id()
            && self.trailing() == other.trailing()
    }
}

impl Eq for Subscription<'_> {}

impl fmt::Debug for Subscription<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("wire_version", &self.wire_version())
            .field("topics", &self.topics())
            .field("user_data", &self.user_data())
            .field("owned_partitions", &self.owned_partitions())
            .field("generation_id", &self.generation_id())
            .field("rack_id", &self.rack_id())
            .field("trailing", &self.trailing())
            .finish()
    }
}
