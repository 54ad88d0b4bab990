//! Any bytes are a subscription or an error.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kafka_sticky_fuzz::subscription(bytes));
