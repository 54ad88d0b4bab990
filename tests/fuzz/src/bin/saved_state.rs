//! Any bytes are a saved state or an error.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kafka_sticky_fuzz::saved_state(bytes));
