//! Dense ids.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into an array.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A topic, in order of name.
    TopicId
);
id!(
    /// A partition, numbered through all topics: those of topic 0 first, then those of topic 1, and
    /// so on.
    PartitionId
);
id!(
    /// A member, in tie-break order: by group instance id where it has one, else by member id.
    MemberId
);
id!(
    /// A subscription that any number of members share.
    SubscriptionId
);
id!(
    /// A rack. The number only has to be the same for the same rack.
    RackId
);

/// Consecutive partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionRange(core::ops::Range<u32>);

impl PartitionRange {
    pub(crate) fn new(range: core::ops::Range<u32>) -> Self {
        Self(range)
    }

    /// The `number`-th partition of the range, if there is one.
    #[must_use]
    pub fn nth_partition(&self, number: u32) -> Option<PartitionId> {
        let id = self.0.start.checked_add(number)?;
        (id < self.0.end).then_some(PartitionId(id))
    }
}

impl Iterator for PartitionRange {
    type Item = PartitionId;

    fn next(&mut self) -> Option<PartitionId> {
        self.0.next().map(PartitionId)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for PartitionRange {}
