//! What a broker may do to a group, on the embedded cluster.

use std::fmt;
use std::time::Duration;

use anyhow::Result;
use fastrand::Rng;
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_tests::cluster::Cluster;
use rdkafka::mocking::MockCoordinator;
use rdkafka::types::{RDKafkaApiKey as Api, RDKafkaRespErr as Code};

/// One thing that goes wrong, until it is lifted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Trouble {
    Down { broker: i32 },
    Slow { broker: i32, millis: u64 },
    Moved { coordinator: i32 },
    Refused { api: Api, code: Code, times: usize },
}

/// Without `NotCoordinator`, which a move of the coordinator causes anyway: where a member asks again whom it asked before, it
/// may join again before the mock cluster has seen its old connection close, and the mock cluster then ends the process.
const REFUSALS: [(Api, &[Code]); 5] = [
    (
        Api::JoinGroup,
        &[Code::RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, Code::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID],
    ),
    (
        Api::SyncGroup,
        &[Code::RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, Code::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID],
    ),
    (
        Api::Heartbeat,
        &[Code::RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, Code::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID],
    ),
    (
        Api::OffsetCommit,
        &[Code::RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, Code::RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT],
    ),
    (
        Api::Fetch,
        &[Code::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, Code::RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT],
    ),
];

impl Trouble {
    /// Anything, with this broker as the coordinator so far. That one stays up: a member that comes back to it may join twice,
    /// and the mock cluster then ends the process.
    pub(crate) fn any(random: &mut Rng, coordinator: i32) -> Self {
        let brokers = i32::from(Cluster::EMBEDDED_BROKERS);
        let broker = random.i32(1..=brokers);
        match random.u8(0..5) {
            0 if broker == coordinator => Self::Down { broker: broker % brokers + 1 },
            0 => Self::Down { broker },
            1 => Self::Slow { broker, millis: random.u64(20..400) },
            2 => Self::Moved { coordinator: broker },
            _ => {
                let (api, codes) = REFUSALS[random.usize(0..REFUSALS.len())];
                Self::Refused { api, code: codes[random.usize(0..codes.len())], times: random.usize(1..6) }
            }
        }
    }

    pub(crate) fn begin(self, cluster: &GroupCluster, group: &str) -> Result<()> {
        let mock = cluster.mock();
        match self {
            Self::Down { broker } => mock.broker_down(broker)?,
            Self::Slow { broker, millis } => {
                mock.broker_round_trip_time(broker, Duration::from_millis(millis))?;
            }
            Self::Moved { coordinator } => {
                mock.coordinator(MockCoordinator::Group(group.to_owned()), coordinator)?;
            }
            Self::Refused { api, code, times } => mock.request_errors(api, &vec![code; times]),
        }
        Ok(())
    }

    /// A coordinator that moved stays where it is.
    pub(crate) fn lift(self, cluster: &GroupCluster) -> Result<()> {
        let mock = cluster.mock();
        match self {
            Self::Down { broker } => mock.broker_up(broker)?,
            Self::Slow { broker, .. } => mock.broker_round_trip_time(broker, Duration::ZERO)?,
            Self::Moved { .. } => {}
            Self::Refused { api, .. } => mock.clear_request_errors(api),
        }
        Ok(())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Down { broker } => write!(f, "broker {broker} is down"),
            Self::Slow { broker, millis } => write!(f, "broker {broker} takes {millis} ms"),
            Self::Moved { coordinator } => write!(f, "broker {coordinator} coordinates"),
            Self::Refused { api, code, times } => {
                let code = format!("{code:?}");
                let code = code.trim_start_matches("RD_KAFKA_RESP_ERR_").to_lowercase();
                write!(f, "{api:?} is refused {times} times: {code}")
            }
        }
    }
}
