//! What the codec does, seen from outside.

mod any_bytes;
mod claims;
mod conformance;
mod golden;
mod in_the_wild;
mod kafka_protocol;
mod naive;
mod neighbours;
mod round_trip;
mod strategies;
mod writing;
