//! Judges the solver from outside: an oracle that shares nothing with it, random groups of every structure,
//! and the scenarios that Kafka's own test suites, KIP-54 and kafka-python's documentation know by name.
//!
//! `case` is a group as plain data, `rules` the contract read naively, `optimum` the oracle; `subject` is the one
//! place that calls the crate under test, and `judge` holds the properties every result must have.

mod case;
mod flow;
mod generate;
mod history;
mod judge;
mod optimum;
mod oracle_tests;
mod properties;
mod random_groups;
mod rules;
mod scenarios;
mod seeded;
mod shrink;
mod subject;
mod text;
