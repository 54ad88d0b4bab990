//! `main` is in `assign.c`: all that it does is to call librdkafka's internals.
#![no_main]
#![forbid(unsafe_code)]

// Links librdkafka.
use rdkafka_sys as _;
