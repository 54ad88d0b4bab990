//! What crosses crates: groups of real consumers, watched from outside and judged by what their members saw.
//!
//! [`group`] starts members, in this process or in one of their own; [`seen`] is what each of them reports;
//! [`history`] collects the reports; [`judge`] compares every settled generation with the [`optimum`], which is computed
//! here, by other code than the assignor's.
#![forbid(unsafe_code)]

pub mod group;
pub mod history;
pub mod judge;
pub mod member;
pub mod optimum;
pub mod seen;
