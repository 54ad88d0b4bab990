//! Any bytes are sticky user data, in one of its forms, or an error.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kafka_sticky_fuzz::sticky_user_data(bytes));
