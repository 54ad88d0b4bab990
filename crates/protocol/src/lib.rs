#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod assignment;
mod blob;
mod claims;
mod error;
mod sticky;
mod subscription;
mod subscription_writer;
mod text;
mod views;
mod wire;
mod write;

pub use crate::assignment::{Assignment, AssignmentWriter};
pub use crate::claims::{MemberClaims, Strategy, UnknownStrategy, UserData, cooperative_user_data};
pub use crate::error::{Field, ReadError, WriteError};
pub use crate::sticky::{Framing, StickyUserData, StickyUserDataWriter};
pub use crate::subscription::Subscription;
pub use crate::subscription_writer::SubscriptionWriter;
pub use crate::views::{
    Partitions, PartitionsIter, TopicPartitions, TopicPartitionsIter, Topics, TopicsIter,
};
pub use crate::write::Order;
