use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::borrow::Borrow;

use bytes::{BufMut, Bytes};

use crate::error::{Field, OWNED, WriteError};
use crate::subscription::Subscription;
use crate::write::{self, Blocks, Message, Order};

/// Writes a [`Subscription`], any version.
///
/// Fields that the version asked for does not have are left out, as Java does: what is set here may
/// always be set. Versions above 3 are written as 3.
///
/// ```
/// use kafka_sticky_protocol::{Order, Subscription, SubscriptionWriter};
///
/// let writer = SubscriptionWriter::new(["foo", "bar"]).user_data(Some(&[1, 2]));
///
/// assert_eq!(writer.write(0)?, b"\0\0\0\0\0\x02\0\x03bar\0\x03foo\0\0\0\x02\x01\x02");
/// assert_eq!(
///     writer.order(Order::AsGiven).write(0)?,
///     b"\0\0\0\0\0\x02\0\x03foo\0\x03bar\0\0\0\x02\x01\x02",
/// );
/// # Ok::<(), kafka_sticky_protocol::WriteError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a writer does nothing until it is asked to write"]
pub struct SubscriptionWriter<'a> {
    topics: Vec<&'a str>,
    user_data: Option<&'a [u8]>,
    owned_partitions: Blocks<'a>,
    generation_id: Option<i32>,
    rack_id: Option<&'a str>,
    trailing: &'a [u8],
    order: Order,
}

impl<'a> SubscriptionWriter<'a> {
    /// A subscription to `topics`; user data, generation and rack are null, and nothing is owned.
    pub fn new(topics: impl IntoIterator<Item = &'a str>) -> Self {
        Self { topics: topics.into_iter().collect(), ..Self::default() }
    }

    /// What the member's assignor adds; default null.
    pub fn user_data(self, user_data: Option<&'a [u8]>) -> Self {
        Self { user_data, ..self }
    }

    /// The partitions that the member still owns, by topic; default none. Written since version 1.
    pub fn owned_partitions<P>(self, partitions: impl IntoIterator<Item = (&'a str, P)>) -> Self
    where
        P: IntoIterator,
        P::Item: Borrow<i32>,
    {
        Self { owned_partitions: Blocks::collect(partitions), ..self }
    }

    /// The generation in which they were assigned; default none. Written since version 2; none, and
    /// any negative one, as -1.
    pub fn generation_id(self, generation_id: Option<i32>) -> Self {
        Self { generation_id, ..self }
    }

    /// The member's rack; default null. Written since version 3, an empty one as it is.
    pub fn rack_id(self, rack_id: Option<&'a str>) -> Self {
        Self { rack_id, ..self }
    }

    /// Bytes to follow the last field; default none. Readers ignore them.
    pub fn trailing(self, trailing: &'a [u8]) -> Self {
        Self { trailing, ..self }
    }

    /// The order of topics and owned partitions; default [`Order::Canonical`].
    pub fn order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// The message as a vector of exactly its size.
    ///
    /// Sorting aside, linear in the size of the message.
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

    /// The message as a value, for code that has the pieces and needs a [`Subscription`].
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn build(&self, version: i16) -> Result<Subscription<'static>, WriteError> {
        let bytes = Bytes::from(self.write(version)?);
        Ok(Subscription::read_bytes(bytes).expect("what was just written can be read"))
    }

    fn ready(&self, version: i16) -> Result<Ready<'_>, WriteError> {
        let version = write::version(version, Subscription::HIGHEST_VERSION)?;
        let topics = write::ordered_topics(&self.topics, self.order)?;
        let since = |first| version >= first;
        let owned_partitions =
            since(1).then(|| self.owned_partitions.ordered(self.order, OWNED)).transpose()?;
        let rack_id = since(3).then_some(self.rack_id);
        if let Some(Some(rack)) = rack_id {
            write::check_string(rack, Field::RackId)?;
        }
        Ok(Ready {
            version,
            topics,
            user_data: self.user_data,
            owned_partitions,
            generation_id: since(2).then_some(self.generation_id),
            rack_id,
            trailing: self.trailing,
        })
    }
}

/// Takes over every field, so that with [`Order::AsGiven`] what is written is what was read, except
/// that any null is written as -1 and versions above 3 as 3.
impl<'a> From<&'a Subscription<'_>> for SubscriptionWriter<'a> {
    fn from(subscription: &'a Subscription<'_>) -> Self {
        Self::new(subscription.topics())
            .user_data(subscription.user_data())
            .owned_partitions(subscription.owned_partitions())
            .generation_id(subscription.generation_id())
            .rack_id(subscription.rack_id())
            .trailing(subscription.trailing())
    }
}

/// The fields in order; those that the version lacks are `None`.
struct Ready<'a> {
    version: i16,
    topics: Cow<'a, [&'a str]>,
    user_data: Option<&'a [u8]>,
    owned_partitions: Option<Cow<'a, Blocks<'a>>>,
    generation_id: Option<Option<i32>>,
    rack_id: Option<Option<&'a str>>,
    trailing: &'a [u8],
}

impl Message for Ready<'_> {
    fn size(&self) -> usize {
        [
            2,
            write::topics_size(&self.topics),
            write::bytes_size(self.user_data),
            self.owned_partitions.as_ref().map_or(0, |partitions| partitions.size()),
            self.generation_id.map_or(0, |_| 4),
            self.rack_id.map_or(0, |rack| rack.map_or(2, write::string_size)),
            self.trailing.len(),
        ]
        .into_iter()
        .fold(0, usize::saturating_add)
    }

    fn put(&self, buffer: &mut impl BufMut) {
        buffer.put_i16(self.version);
        write::put_topics(buffer, &self.topics);
        write::put_nullable_bytes(buffer, self.user_data);
        if let Some(partitions) = &self.owned_partitions {
            partitions.put(buffer);
        }
        if let Some(generation) = self.generation_id {
            write::put_generation(buffer, generation);
        }
        if let Some(rack) = self.rack_id {
            write::put_nullable_string(buffer, rack);
        }
        buffer.put_slice(self.trailing);
    }
}
