//! Sticky partition assignment that is provably the most even and, among those, moves the least.
#![forbid(unsafe_code)]
