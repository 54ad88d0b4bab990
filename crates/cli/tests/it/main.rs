//! Tests of the built command, by what it prints.

mod bad_input;
mod behaviour;
mod command;
mod formats;
mod golden;
#[cfg(feature = "group")]
mod group;
mod pictures;
mod simulations;
#[cfg(unix)]
mod terminal;
