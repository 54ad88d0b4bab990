//! Groups on a real Kafka, their members of several clients, each in a process of its own.
//!
//! [`cluster`] starts the brokers; [`client`] says which clients there are, and how a member of each is started;
//! [`group`] starts members and watches them; [`verdict`] judges what a group settled on. A [`scenario`] is what happens to
//! a group, and [`scenarios`] lists them: a new one goes into a file of its own there.

pub mod client;
pub mod cluster;
pub mod described;
pub mod group;
pub mod member;
pub mod process;
pub mod road;
pub mod scenario;
pub mod scenarios;
pub mod verdict;
