//! Whatever a member sends claims and holds something or nothing.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kafka_sticky_fuzz::member_claims(bytes));
