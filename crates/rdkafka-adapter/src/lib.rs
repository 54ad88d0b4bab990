//! Kafka's sticky assignor inside librdkafka.
