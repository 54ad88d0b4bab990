//! This consumer as a member of its group: what it says when it joins, and what it remembers.

use std::collections::BTreeMap;
use std::str;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kafka_sticky_core::Report;

use crate::assign;
use crate::ffi::{Callbacks, Join, Partitions, Round, Share};
use crate::membership::Assigned;
use crate::wire;

/// A member that offers `sticky`.
#[derive(Debug, Default)]
pub(crate) struct Member {
    shared: Arc<Shared>,
}

/// What librdkafka's main thread writes and the application reads.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// As of the last JoinGroup.
    subscription: Vec<String>,
    /// The last plan that this member computed as the leader, and for which generation.
    led: Option<(i32, Report)>,
    assigned: Option<Arc<Assigned>>,
}

impl Member {
    pub(crate) fn new() -> Self {
        Self::default()
    }
}

impl Shared {
    pub(crate) fn assigned(&self) -> Option<Arc<Assigned>> {
        self.lock().assigned.clone()
    }

    /// Each change is a single assignment, so the state is whole even after a panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Callbacks for Member {
    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    fn join(&self, join: Join<'_>) -> Option<Vec<u8>> {
        let mut subscription: Vec<String> =
            join.topics().filter_map(|topic| Some(str::from_utf8(topic).ok()?.to_owned())).collect();
        subscription.sort_unstable();
        let claims = self.shared.assigned();
        let message = wire::subscription(&subscription, join.rack(), claims.as_deref());
        self.shared.lock().subscription = subscription;
        match message {
            Ok(message) => Some(message),
            Err(error) => {
                tracing::error!(%error, "joining without claims: the subscription could not be written");
                None
            }
        }
    }

    fn assign(&self, round: &mut Round<'_>) -> Result<(), String> {
        let report = assign::sticky(round).map_err(|error| error.to_string())?;
        self.shared.lock().led = Some((round.generation(), report));
        Ok(())
    }

    fn assigned(&self, share: Share<'_>) {
        let mut state = self.shared.lock();
        let generation = share.generation();
        let led = state.led.take().filter(|(of, _)| *of == generation).map(|(_, report)| report);
        let assigned = Assigned {
            generation,
            member_id: String::from_utf8_lossy(share.member_id()).into_owned(),
            subscription: state.subscription.clone(),
            partitions: by_topic(share.partitions()),
            led,
        };
        tracing::info!(
            generation,
            member_id = assigned.member_id,
            leader = assigned.led.is_some(),
            load = assigned.load(),
            "assigned"
        );
        state.assigned = Some(Arc::new(assigned));
    }

    fn panicked(&self, callback: &'static str, message: &str) {
        tracing::error!(callback, message, "an assignor's callback panicked");
    }
}

fn by_topic(partitions: Partitions<'_>) -> Vec<(String, Vec<i32>)> {
    let mut topics: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
    for (topic, partition) in partitions.iter() {
        let Ok(topic) = str::from_utf8(topic) else { continue };
        topics.entry(topic).or_default().push(partition);
    }
    topics
        .into_iter()
        .map(|(topic, mut partitions)| {
            partitions.sort_unstable();
            (topic.to_owned(), partitions)
        })
        .collect()
}
