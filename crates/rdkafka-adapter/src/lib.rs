//! Kafka's sticky assignor inside librdkafka, for consumers built on [`rdkafka`].
#![deny(unsafe_code)]

pub use create::{AssignedConsumer, CreateConsumer, install};
pub use error::Error;
pub use kafka_sticky_core::{Proven, Report};
pub use membership::{Assigned, Membership};
pub use strategy::RebalanceProtocol;

#[cfg(feature = "mocking")]
pub mod mocking;

mod assign;
mod create;
mod error;
mod ffi;
mod member;
mod membership;
mod strategy;
mod wire;
