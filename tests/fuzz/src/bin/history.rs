//! A group needs at most one follow-up, whatever happens to it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kafka_sticky_fuzz::history(bytes));
