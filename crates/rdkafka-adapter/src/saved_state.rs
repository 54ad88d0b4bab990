//! What a member had, for the process that comes after it.

use std::str;
use std::sync::Arc;

use kafka_sticky_protocol::{ReadError, StickyUserData, StickyUserDataWriter, WriteError};

use crate::membership::Assigned;
use crate::partitions;

/// What a member was given last, to be kept outside the process: its group, the partitions and their generation.
///
/// [`Membership::saved_state`](crate::Membership::saved_state) gives it, [`to_bytes`](Self::to_bytes) makes it something to
/// write down, and [`Assignors::resuming`](crate::Assignors::resuming) hands it to the next consumer, which then claims what
/// is in it when it first joins. A claim is all that it is: what others have since been given in a later generation they
/// keep, as far as balance allows, and nobody waits for partitions that are only claimed. So an old state, one of
/// another group, or one whose topics are gone does no harm.
///
/// ```
/// use kafka_sticky_rdkafka_adapter::{Assigned, SavedState};
///
/// let last = Assigned::new("sticky", 7, vec![("orders".into(), vec![0, 3])]);
/// let state = SavedState::of("billing", &last);
/// let read = SavedState::from_bytes(&state.to_bytes()?)?;
/// assert_eq!(read, state);
/// assert_eq!((read.group(), read.generation(), read.partitions()), ("billing", 7, &last.partitions[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Format
///
/// Version 1, big-endian as Kafka's own messages:
///
/// ```text
/// magic       4 bytes   "kast"
/// version     int16     1
/// group       int16 length, UTF-8
/// had         StickyAssignorUserData version 1: partitions by topic, generation
/// checksum    int32     CRC-32 (IEEE) of all before
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedState {
    group: String,
    generation: i32,
    /// Topic by topic, both sorted; no topic is without partitions, and none of those is negative.
    partitions: Vec<(String, Vec<i32>)>,
}

/// Why bytes are no saved state, or a state cannot be written. Go on without one: the consumer then starts as any new
/// member does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SavedStateError {
    /// They do not begin as a saved state does.
    #[error("these bytes are no saved state: they do not begin with \"kast\" and a version")]
    NotAState,
    /// They are a later version of this crate's.
    #[error("the saved state has version {version}, and this version of the crate reads 1")]
    UnknownVersion {
        /// Theirs.
        version: i16,
    },
    /// They are damaged or cut off.
    #[error("the saved state is damaged or incomplete: its checksum does not fit")]
    Checksum,
    /// The checksum fits, but the group's name does not end, or is not UTF-8.
    #[error("the saved state names no group")]
    Group,
    /// The checksum fits, but what follows the group is no list of partitions.
    #[error("the saved state lists no partitions: {0}")]
    Partitions(#[from] ReadError),
    /// The group's name cannot be written.
    #[error("the saved state's group has a name of {length} bytes, and at most 32767 can be written")]
    GroupTooLong {
        /// How many bytes its UTF-8 has.
        length: usize,
    },
    /// The partitions cannot be written.
    #[error("the saved state cannot be written: {0}")]
    Unwritable(#[from] WriteError),
}

impl SavedState {
    const MAGIC: &[u8; 4] = b"kast";
    const VERSION: i16 = 1;

    /// What a member of this group was given.
    pub fn of(group: &str, assigned: &Assigned) -> Self {
        let partitions = assigned.partitions.clone();
        Self { group: group.to_owned(), generation: assigned.generation, partitions }
    }

    /// `group.id`
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The generation in which it was given.
    pub fn generation(&self) -> i32 {
        self.generation
    }

    /// What was given, topic by topic, both sorted.
    pub fn partitions(&self) -> &[(String, Vec<i32>)] {
        &self.partitions
    }

    /// The bytes to write down.
    ///
    /// # Errors
    ///
    /// [`GroupTooLong`](SavedStateError::GroupTooLong) and [`Unwritable`](SavedStateError::Unwritable): not of a state that a
    /// membership gave.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SavedStateError> {
        let had = self.partitions.iter().map(|(topic, partitions)| (topic.as_str(), partitions));
        let had = StickyUserDataWriter::new(had, Some(self.generation)).write(1)?;
        let length = self.group.len();
        let group_length = i16::try_from(length).map_err(|_| SavedStateError::GroupTooLong { length })?;
        let mut bytes = Self::MAGIC.to_vec();
        bytes.extend(Self::VERSION.to_be_bytes());
        bytes.extend(group_length.to_be_bytes());
        bytes.extend(self.group.as_bytes());
        bytes.extend(had);
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        Ok(bytes)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    ///
    /// Where the bytes are anything else; no bytes make it panic.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SavedStateError> {
        let rest = bytes.strip_prefix(Self::MAGIC).ok_or(SavedStateError::NotAState)?;
        let (version, _) = rest.split_first_chunk().ok_or(SavedStateError::NotAState)?;
        let version = i16::from_be_bytes(*version);
        if version != Self::VERSION {
            return Err(SavedStateError::UnknownVersion { version });
        }
        let (content, checksum) = bytes.split_last_chunk().ok_or(SavedStateError::Checksum)?;
        if crc32fast::hash(content) != u32::from_be_bytes(*checksum) {
            return Err(SavedStateError::Checksum);
        }
        let group = content.get(Self::MAGIC.len() + size_of::<i16>()..).ok_or(SavedStateError::Group)?;
        let (length, rest) = group.split_first_chunk().ok_or(SavedStateError::Group)?;
        let length = usize::try_from(i16::from_be_bytes(*length)).map_err(|_| SavedStateError::Group)?;
        let (group, had) = rest.split_at_checked(length).ok_or(SavedStateError::Group)?;
        let group = str::from_utf8(group).map_err(|_| SavedStateError::Group)?;
        let had = StickyUserData::read(had)?;
        Ok(Self {
            group: group.to_owned(),
            generation: had.generation().unwrap_or(-1),
            partitions: partitions::sorted(had.previous_assignment().pairs()),
        })
    }

    /// What a member claims by it that subscribes to these topics, which have so many partitions. What does not exist any
    /// more is not claimed: leaders of other clients stumble over that.
    pub(crate) fn claims<'t>(&self, topics: impl Iterator<Item = (&'t [u8], i32)>) -> Assigned {
        let mut claimed = Vec::new();
        for (topic, count) in topics {
            let place = |(name, _): &(String, Vec<i32>)| name.as_bytes().cmp(topic);
            let Ok(at) = self.partitions.binary_search_by(place) else { continue };
            let (name, had) = &self.partitions[at];
            claimed
                .extend(had.iter().filter(|number| **number < count).map(|number| (name.as_str(), *number)));
        }
        Assigned::new("", self.generation, partitions::sorted(claimed))
    }

    /// The state as an assignment.
    pub(crate) fn assigned(&self) -> Arc<Assigned> {
        Arc::new(Assigned::new("", self.generation, self.partitions.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> SavedState {
        let had = vec![("orders".into(), vec![0, 3, 11]), ("payments".into(), vec![2])];
        SavedState::of("billing", &Assigned::new("sticky", 7, had))
    }

    /// With a checksum that fits.
    fn sealed(content: &[u8]) -> Vec<u8> {
        [content, &crc32fast::hash(content).to_be_bytes()].concat()
    }

    #[test]
    fn is_written_as_described_and_read_again() {
        let bytes = state().to_bytes().unwrap();
        let had = [
            &[0, 0, 0, 2, 0, 6][..],
            b"orders",
            &[0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 11, 0, 8],
            b"payments",
            &[0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 7],
        ];
        assert_eq!(bytes, sealed(&[&b"kast\x00\x01\x00\x07billing"[..], &had.concat()].concat()));
        assert_eq!(SavedState::from_bytes(&bytes), Ok(state()));
    }

    #[test]
    fn no_part_of_it_and_no_damaged_bit_passes_for_it() {
        let bytes = state().to_bytes().unwrap();
        for len in 0..bytes.len() {
            assert!(SavedState::from_bytes(&bytes[..len]).is_err(), "{len} bytes");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(SavedState::from_bytes(&damaged).is_err(), "bit {bit}");
        }
        assert_eq!(SavedState::from_bytes(b""), Err(SavedStateError::NotAState));
        assert_eq!(SavedState::from_bytes(&bytes[..bytes.len() - 1]), Err(SavedStateError::Checksum));
    }

    #[test]
    fn a_group_whose_name_does_not_fit_is_not_written() {
        let state = SavedState { group: "g".repeat(32_768), ..state() };
        assert_eq!(state.to_bytes(), Err(SavedStateError::GroupTooLong { length: 32_768 }));
    }

    #[test]
    fn a_later_version_is_told_apart_from_damage() {
        let error = SavedState::from_bytes(&sealed(b"kast\x00\x02what may come")).unwrap_err();
        assert_eq!(error, SavedStateError::UnknownVersion { version: 2 });
    }

    #[test]
    fn what_somebody_else_sealed_is_refused_or_put_in_order() {
        for content in [&b"kast\x00\x01"[..], b"kast\x00\x01\xff\xffa", b"kast\x00\x01\x00\x09billing"] {
            assert_eq!(SavedState::from_bytes(&sealed(content)), Err(SavedStateError::Group), "{content:?}");
        }
        let garbage = sealed(b"kast\x00\x01\x00\x07billing\x7f\xff\xff\xff");
        assert!(matches!(SavedState::from_bytes(&garbage), Err(SavedStateError::Partitions(_))));

        // Out of order, twice, negative, and without a generation.
        let had =
            [&[0, 0, 0, 1, 0, 1, b't', 0, 0, 0, 4][..], &[0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 5], &[0xff; 4]];
        let read = SavedState::from_bytes(&sealed(&[&b"kast\x00\x01\x00\x01g"[..], &had.concat()].concat()));
        let read = read.unwrap();
        assert_eq!((read.generation(), read.partitions()), (-1, &[("t".to_owned(), vec![1, 5])][..]));
    }

    #[test]
    fn claims_only_what_is_subscribed_to_and_exists() {
        let claims = state().claims([(&b"nowhere"[..], 9), (b"orders", 11)].into_iter());
        assert_eq!((claims.generation, claims.partitions), (7, vec![("orders".to_owned(), vec![0, 3])]));
        let claims = state().claims([(&b"payments"[..], 0)].into_iter());
        assert_eq!(claims.partitions, []);
    }
}
