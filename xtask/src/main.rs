//! The one entry for every check.
fn main() {}
