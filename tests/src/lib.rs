//! What crosses crates: groups of real consumers, watched from outside and judged by what their members saw.
//!
//! [`group`] starts members, in this process or in one of their own; [`seen`] is what each of them reports;
//! [`history`] collects the reports; [`judge`] compares every settled generation with the [`optimum`], which is computed
//! here, by other code than the assignor's. [`raw`] are members that speak the protocol themselves and say what they
//! please, in a group that is [`mixed`]. [`interop`] has groups of several clients on a real Kafka.
#![forbid(unsafe_code)]

pub mod claims;
pub mod cluster;
pub mod group;
pub mod heard;
pub mod history;
pub mod interop;
pub mod judge;
pub mod manners;
pub mod member;
pub mod mixed;
pub mod optimum;
pub mod ours;
pub mod raw;
pub mod said;
pub mod seen;
pub mod writer;
