//! The JSON of the formats: what is read, what is written.

pub(crate) use entries::{Entries, Name};
pub(crate) use group::{GroupInput, MemberInput, PartitionCount, Protocol, TopicInput, core_group};
pub(crate) use message::{AssignmentJson, GenerationJson, StickyUserDataJson, SubscriptionJson};
pub(crate) use object::Object;
pub(crate) use pretty::write_pretty;
pub(crate) use result::{ChangeJson, ReportJson, ResultJson, by_member_id, changes};

mod entries;
mod group;
mod message;
mod object;
mod pretty;
mod racks;
mod result;
