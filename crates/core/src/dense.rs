//! The question and its answer in dense ids and flat arrays.
//!
//! Ids count from zero in tie-break order: of two members that could equally well take a
//! partition, the one with the lower [`MemberId`] is preferred, and topics likewise. Partitions are
//! numbered through, topic after topic.
//!
//! ```
//! use kafka_sticky_core::dense::GroupBuilder;
//!
//! let mut builder = GroupBuilder::new();
//! let orders = builder.topic(4);
//! let subscription = builder.subscription([orders]);
//! let first = builder.member(subscription);
//! let second = builder.member(subscription);
//! builder.claim(first, 7, builder.partitions_of(orders));
//! let group = builder.build();
//!
//! let assignment = group.assign();
//! assert_eq!(assignment.report().kept, 2);
//! assert_eq!(assignment.target().members().filter(|&m| m == Some(second)).count(), 2);
//! ```

pub use answer::{Assignment, Change, Target};
pub use builder::GroupBuilder;
pub(crate) use builder::RackSet;
pub use group::Group;
pub use ids::{MemberId, PartitionId, PartitionRange, RackId, SubscriptionId, TopicId};

pub(crate) use answer::NOBODY;
pub(crate) use group::Listing;

mod answer;
mod builder;
mod group;
mod ids;
