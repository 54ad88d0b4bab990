use core::fmt;

use thiserror::Error;

/// Why bytes could not be read: they are not the message they were taken for.
///
/// Every variant says which field was being read and at which byte of the input reading stopped.
/// What a caller can get wrong when writing is [`WriteError`], another type.
///
/// ```
/// use kafka_sticky_protocol::{Field, ReadError, Subscription};
///
/// // Version 0 and nothing else.
/// let error = Subscription::read(&[0, 0]).unwrap_err();
///
/// assert_eq!(error, ReadError::Truncated { field: Field::Topics, offset: 2, needed: 4, available: 0 });
/// assert_eq!(error.to_string(), "topics at byte 2: needs 4 bytes, but 0 are left");
/// ```
#[derive(Clone, Copy, Debug, Error, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ReadError {
    /// The input ends before the field does.
    ///
    /// For the elements of an array, `needed` is the least that so many elements can take: a count
    /// that the input cannot hold is refused before anything is done with it.
    #[error("{field} at byte {offset}: needs {needed} bytes, but {available} are left")]
    Truncated {
        /// The field that is cut off.
        field: Field,
        /// Where in the input the missing bytes were expected to start.
        offset: usize,
        /// How many bytes were needed from there.
        needed: usize,
        /// How many bytes there are.
        available: usize,
    },
    /// A length or count is negative, which stands for null, in a field that cannot be null.
    #[error("{field} at byte {offset}: the length {length} stands for null, which this field cannot be")]
    UnexpectedNull {
        /// The field that cannot be null.
        field: Field,
        /// Where in the input the length stands.
        offset: usize,
        /// The length as it was read.
        length: i32,
    },
    /// A string is not UTF-8.
    ///
    /// The `read_lossy` functions replace what is wrong as Java does. There this error means that
    /// the replaced string would be longer than the 32,767 bytes that a string of Kafka's can have.
    #[error("{field} at byte {offset}: not valid UTF-8")]
    InvalidUtf8 {
        /// The field that holds the string.
        field: Field,
        /// Where in the input the first byte that is wrong stands.
        offset: usize,
    },
    /// The version is negative. Any other version can be read.
    #[error("version at byte 0: {version} is negative")]
    NegativeVersion {
        /// The version as it was read.
        version: i16,
    },
}

impl ReadError {
    /// The field that could not be read.
    pub fn field(&self) -> Field {
        match *self {
            Self::Truncated { field, .. }
            | Self::UnexpectedNull { field, .. }
            | Self::InvalidUtf8 { field, .. } => field,
            Self::NegativeVersion { .. } => Field::Version,
        }
    }

    /// The byte of the input at which reading stopped.
    pub fn offset(&self) -> usize {
        match *self {
            Self::Truncated { offset, .. }
            | Self::UnexpectedNull { offset, .. }
            | Self::InvalidUtf8 { offset, .. } => offset,
            Self::NegativeVersion { .. } => 0,
        }
    }
}

/// What a caller asked to be written cannot be written.
///
/// ```
/// use kafka_sticky_protocol::{SubscriptionWriter, WriteError};
///
/// let error = SubscriptionWriter::new(["orders"]).write(-1).unwrap_err();
///
/// assert_eq!(error, WriteError::NegativeVersion { version: -1 });
/// ```
#[derive(Clone, Copy, Debug, Error, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum WriteError {
    /// The version asked for is negative; ask for 0 or higher.
    #[error("cannot write version {version}: versions start at 0")]
    NegativeVersion {
        /// The version that was asked for.
        version: i16,
    },
    /// A string is longer than the 32,767 bytes of UTF-8 that its length prefix can say.
    #[error("cannot write {field}: a string of {length} bytes, and Kafka's hold at most 32767")]
    StringTooLong {
        /// The field that the string was given for.
        field: Field,
        /// The length of the string in bytes.
        length: usize,
    },
    /// The message would be longer than the 2,147,483,647 bytes that Kafka's requests can carry.
    #[error("cannot write a message of {size} bytes: Kafka's requests carry at most 2147483647")]
    MessageTooLong {
        /// The size of the message in bytes, or `usize::MAX` where that is not enough to say it.
        size: usize,
    },
    /// The buffer given has no room for the message; nothing was written to it.
    #[error("the message takes {needed} bytes, but the buffer has room for {available}")]
    BufferTooSmall {
        /// The size of the message in bytes.
        needed: usize,
        /// How many bytes the buffer could still take.
        available: usize,
    },
}

/// A field of one of the three messages.
///
/// It displays as the path that the field has in the message, for instance `owned_partitions.topic`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Field {
    /// The version in front of a message.
    Version,
    /// `topics` of a subscription, the number of topics included.
    Topics,
    /// `user_data` of a subscription or an assignment.
    UserData,
    /// `owned_partitions` of a subscription: the number of topics.
    OwnedPartitions,
    /// A topic name in `owned_partitions`.
    OwnedPartitionsTopic,
    /// The partition numbers of a topic in `owned_partitions`.
    OwnedPartitionsPartitions,
    /// `generation_id` of a subscription.
    GenerationId,
    /// `rack_id` of a subscription.
    RackId,
    /// `assigned_partitions` of an assignment: the number of topics.
    AssignedPartitions,
    /// A topic name in `assigned_partitions`.
    AssignedPartitionsTopic,
    /// The partition numbers of a topic in `assigned_partitions`.
    AssignedPartitionsPartitions,
    /// `previous_assignment` of sticky user data: the number of topics.
    PreviousAssignment,
    /// A topic name in `previous_assignment`.
    PreviousAssignmentTopic,
    /// The partition numbers of a topic in `previous_assignment`.
    PreviousAssignmentPartitions,
    /// `generation` of sticky user data.
    Generation,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "version",
            Self::Topics => "topics",
            Self::UserData => "user_data",
            Self::OwnedPartitions => "owned_partitions",
            Self::OwnedPartitionsTopic => "owned_partitions.topic",
            Self::OwnedPartitionsPartitions => "owned_partitions.partitions",
            Self::GenerationId => "generation_id",
            Self::RackId => "rack_id",
            Self::AssignedPartitions => "assigned_partitions",
            Self::AssignedPartitionsTopic => "assigned_partitions.topic",
            Self::AssignedPartitionsPartitions => "assigned_partitions.partitions",
            Self::PreviousAssignment => "previous_assignment",
            Self::PreviousAssignmentTopic => "previous_assignment.topic",
            Self::PreviousAssignmentPartitions => "previous_assignment.partitions",
            Self::Generation => "generation",
        })
    }
}

/// The three fields of an array of topics with their partitions, for errors to name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartitionFields {
    pub(crate) array: Field,
    pub(crate) topic: Field,
    pub(crate) partitions: Field,
}

pub(crate) const OWNED: PartitionFields = PartitionFields {
    array: Field::OwnedPartitions,
    topic: Field::OwnedPartitionsTopic,
    partitions: Field::OwnedPartitionsPartitions,
};

pub(crate) const ASSIGNED: PartitionFields = PartitionFields {
    array: Field::AssignedPartitions,
    topic: Field::AssignedPartitionsTopic,
    partitions: Field::AssignedPartitionsPartitions,
};

pub(crate) const PREVIOUS: PartitionFields = PartitionFields {
    array: Field::PreviousAssignment,
    topic: Field::PreviousAssignmentTopic,
    partitions: Field::PreviousAssignmentPartitions,
};
