//! Kafka's consumer-group messages and sticky user data.
#![no_std]
#![forbid(unsafe_code)]
