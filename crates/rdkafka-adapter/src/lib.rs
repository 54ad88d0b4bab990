//! Kafka's `sticky` partition assignment inside librdkafka, for consumers built on `rdkafka`.
//!
//! Members of a Kafka consumer group share the partitions of its topics. `sticky` keeps the split as even as the
//! subscriptions allow and, within that, moves as little as possible, since every move costs a service its caches, its
//! local state and repeated work. Java, Python and Go clients have it; librdkafka has not, and lets nobody plug one in.
//! This crate does. Everything else — heartbeats, commits, fetching — stays librdkafka's. The ten lines:
//!
//! ```no_run
//! use kafka_sticky_rdkafka_adapter::CreateConsumer;
//! use rdkafka::ClientConfig;
//! use rdkafka::consumer::{Consumer, StreamConsumer};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let consumer: StreamConsumer = ClientConfig::new()
//!     .set("bootstrap.servers", "localhost:9092")
//!     .set("group.id", "billing")
//!     .set("partition.assignment.strategy", "sticky")
//!     .create_consumer()?;
//! consumer.subscribe(&["orders", "payments"])?;
//! let message = consumer.recv().await?;
//! # let _ = message;
//! # Ok(())
//! # }
//! ```
//!
//! # Strategies
//!
//! | name | rebalance protocol | what it is |
//! |---|---|---|
//! | `sticky` | eager | Java's `StickyAssignor` on the wire: a member joins with what it had last as user data |
//! | `cooperative-sticky` | cooperative | Java's `CooperativeStickyAssignor` on the wire, in place of librdkafka's own: members keep processing while partitions change hands |
//! | `range`, `roundrobin` | eager | librdkafka's own, passed through |
//! | any other | yours | an [`Assignor`] that you add to [`Assignors`] |
//!
//! `partition.assignment.strategy` names them in order of preference, so that changing over, and going back, is a change
//! of configuration. Strategies of both protocols may stand together, which librdkafka by itself refuses: one eager
//! strategy then makes them all eager, as in Java, and a running group can move from one to the other by two rolling
//! restarts (KIP-429).
//!
//! # How it fits
//!
//! - **Contexts** stay yours: a consumer context needs to know nothing of this crate, and claims are right even where it
//!   forwards no callback. See [`CreateConsumer::create_consumer_with_context`].
//! - **As the leader** it reads every form of claims that is in the wild, tells each member what the member will claim
//!   next, and remembers for those who cannot say it themselves. Nothing that a member sends can fail the group.
//! - **The assignment** is computed by `kafka-sticky-core`, on librdkafka's main thread, between heartbeats: it is
//!   provably the most even and, among those, moves the least, and it is fast enough for that.
//! - **[`Membership`]** shows what a member was given, what the whole group came to where the member led it, and
//!   [`Event`]s that nobody sees otherwise: a stream, `tracing`, and metrics.
//! - **Over a restart** a [`SavedState`] brings back what a member had.
//!
//! # How it gets in
//!
//! librdkafka has no public way to add an assignor, but its static library exports the internal one. A small C file,
//! compiled against the internal headers of the very librdkafka that `rdkafka-sys` has just built, registers the strategy
//! on the finished client before it subscribes. It fails to build where those headers change, so the versions are pinned:
//!
//! | `rdkafka` | `rdkafka-sys` | librdkafka |
//! |---|---|---|
//! | 0.39.0 | 4.10.0 | 2.12.1 |
//!
//! `dynamic-linking` cannot work, since the shared library hides those symbols: the build says so. `group.protocol`
//! `consumer` (KIP-848) leaves the assignment to the broker: the consumer is refused.
//!
//! # Features
//!
//! Those of `rdkafka` under the same names. With `ssl`, turn it on here, not only in `rdkafka`: the internal headers include
//! OpenSSL's, and Cargo tells where they are only to a crate that asks. `metrics` counts what happens through the facade of
//! the crate `metrics`. `mocking` adds [an embedded cluster](mocking) for tests and examples.
#![deny(unsafe_code)]

pub use assignor::{Assignor, AssignorError, Joining};
pub use create::{AssignedConsumer, Assignors, CreateConsumer};
pub use error::Error;
pub use event_log::Events;
pub use events::Event;
pub use kafka_sticky_core::{Assignment, Group, GroupError, Options, Proven, Reason, Report};
pub use membership::{Assigned, Change, Led, Membership};
pub use plan::{Plan, PlanError};
pub use round::{Gone, Listing, Round, RoundMember, RoundTopic};
pub use saved_state::{SavedState, SavedStateError};
pub use sticky::{CooperativeSticky, Sticky};
pub use strategy::RebalanceProtocol;

#[cfg(feature = "mocking")]
pub mod mocking;

/// The snippets in the guides are tests, too.
#[cfg(all(doctest, feature = "mocking", feature = "tokio"))]
mod guides {
    #[doc = include_str!("../../../docs/guide.md")]
    mod guide {}
    #[doc = include_str!("../../../docs/migration.md")]
    mod migration {}
    #[doc = include_str!("../../../docs/operations.md")]
    mod operations {}
}

mod assignor;
mod create;
mod decoded;
mod error;
mod event_log;
mod events;
mod ffi;
mod member;
mod membership;
mod memory;
#[cfg(feature = "metrics")]
mod metrics;
mod partitions;
mod plan;
#[cfg(test)]
mod roads;
mod round;
mod saved_state;
mod shared;
mod sticky;
mod strategy;
mod traces;
