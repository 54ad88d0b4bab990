//! Any group is assigned, whatever its members send.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kafka_sticky_fuzz::group(bytes));
