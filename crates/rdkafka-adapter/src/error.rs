//! What can go wrong before a consumer runs, and what to do about it.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};

/// Why a consumer could not be given its strategies.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `partition.assignment.strategy` names a strategy that neither this crate nor librdkafka has.
    #[error(
        "partition.assignment.strategy names \"{name}\", which is none of the strategies there are: {known}; \
         correct the name, take it out, or add the assignor of that name"
    )]
    UnknownStrategy {
        /// The name as configured.
        name: String,
        /// The names that would do, separated by commas.
        known: String,
    },

    /// `partition.assignment.strategy` names no strategy at all.
    #[error(
        "partition.assignment.strategy names no strategy; set it to \"sticky\", or remove it for librdkafka's default"
    )]
    NoStrategy,

    /// `group.protocol` is `consumer`: the broker assigns then (KIP-848), and no client has a say.
    #[error(
        "group.protocol is \"consumer\", under which the broker computes the assignment (KIP-848) and \
         partition.assignment.strategy has no effect; set group.protocol to \"classic\" or remove it"
    )]
    GroupProtocol,

    /// The client is in no group.
    #[error("the consumer has no group.id; without a group there is nothing to assign, so set one")]
    NoGroup,

    /// The consumer has subscribed, so librdkafka may be reading its strategies at this moment.
    #[error(
        "the consumer is already subscribed to {topics} topic(s); install strategies before the first subscribe"
    )]
    AlreadySubscribed {
        /// How many topics or patterns it subscribes to.
        topics: usize,
    },

    /// The librdkafka in this program is of another version than the one whose internals this crate was built for.
    #[error(
        "this program runs librdkafka {linked:#010x}, but kafka-sticky-rdkafka-adapter was built for \
         {built_for:#010x}; use the rdkafka-sys that this crate asks for and link nothing else that brings a librdkafka"
    )]
    LibrdkafkaVersion {
        /// The version of the headers, as `RD_KAFKA_VERSION` has it.
        built_for: i32,
        /// What `rd_kafka_version()` says.
        linked: i32,
    },

    /// The librdkafka in this program has the right version but other build options, and so other structures.
    #[error(
        "the librdkafka in this program was built with other options than the one that kafka-sticky-rdkafka-adapter was \
         built for, so its structures differ; link only the librdkafka of rdkafka-sys, and rebuild from clean"
    )]
    LibrdkafkaLayout,

    /// The consumer belongs to the process that this one was forked from: its threads are not here.
    #[error(
        "the consumer was created in process {created_in}, and this is process {here}, forked from it: a consumer's threads \
         stay behind, so here it reads nothing and most of its calls never return; create consumers after forking"
    )]
    Forked {
        /// The id of the process that the consumer works in.
        created_in: u32,
        /// The id of this process.
        here: u32,
    },

    /// librdkafka refused.
    #[error("librdkafka refused: {0}")]
    Kafka(#[from] KafkaError),

    /// librdkafka refused to register a strategy.
    #[error("librdkafka refused to register the strategies ({0}); this consumer cannot be used")]
    Register(RDKafkaErrorCode),
}

impl Error {
    pub(crate) fn forked(created_in: u32) -> Self {
        Self::Forked { created_in, here: std::process::id() }
    }
}
