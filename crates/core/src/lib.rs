//! Sticky partition assignment that is provably the most even and, among those, moves the least.
//!
//! A [`Group`] goes in: topics, members, what each member subscribes to, and what it had (*claims*)
//! and still processes (*holds*). An [`Assignment`] comes out. It is optimal in this order:
//!
//! 1. the most even split that the subscriptions allow (least sum of squared loads);
//! 2. fewest rack mismatches, where racks are known ([KIP-881]);
//! 3. fewest partitions taken from their owner;
//! 4. of the others, fewest that do not return to an earlier owner;
//! 5. after all these, each topic spread over its members as evenly as is cheap to find.
//!
//! The first four come with a [`Certificate`] that [`verify()`] checks without the solver.
//!
//! ```
//! use kafka_sticky_core::{Group, Member, Topic};
//!
//! let group = Group::new(
//!     [Topic::new("orders", 4)],
//!     [
//!         Member::new("consumer-1").subscribe(["orders"]).claim("orders", [0, 1, 2, 3], Some(7)),
//!         Member::new("consumer-2").subscribe(["orders"]),
//!     ],
//! )?;
//! let assignment = group.assign();
//!
//! let first = assignment.member("consumer-1").unwrap();
//! assert_eq!(first.target().collect::<Vec<_>>(), [("orders", &[0, 1][..])]);
//! assert_eq!(assignment.report().moved, 2);
//! assert!(assignment.report().proven.all());
//! # Ok::<(), kafka_sticky_core::GroupError>(())
//! ```
//!
//! Names are a thin layer: [`dense`] has the same question and answer in dense ids and flat arrays.
//!
//! [KIP-881]: https://cwiki.apache.org/confluence/display/KAFKA/KIP-881%3A+Rack-aware+Partition+Assignment+for+Kafka+Consumers
#![forbid(unsafe_code)]

pub use assignment::{Assignment, Change, MemberShare};
pub use certificate::{Certificate, Potential};
pub use group::{Group, GroupError, Member, Topic};
pub use report::{Options, Proven, Reason, Report};
pub use verify::{Flaw, Gap, Verdict, verify};

pub mod dense;

mod assignment;
mod certificate;
mod claims;
mod group;
mod interner;
mod racks;
mod report;
mod shares;
mod solve;
mod verify;
mod withhold;
