//! Any bytes are an assignment or an error.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kafka_sticky_fuzz::assignment(bytes));
