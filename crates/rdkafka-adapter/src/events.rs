//! What happens in a group that its application cannot see otherwise.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::membership::Assigned;

/// Something that happened to a member.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The member was given its share of a generation. The rebalance callback follows.
    Assigned(Arc<Assigned>),
    /// An assignor panicked, erred, or planned something invalid. In `assign`, `kafka-sticky-core` assigned the round in
    /// its place; in `user_data`, the member joined without.
    AssignorFailed {
        /// The assignor's name.
        assignor: String,
        /// Which of its methods.
        method: &'static str,
        /// What it said.
        reason: String,
    },
    /// The user data of a member of the group is in no known form, so nothing is known of what it had.
    UserDataUnreadable {
        /// The member's id.
        member_id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The leader remembered what it gave to members that claim nothing themselves.
    Remembered {
        /// The members' ids.
        member_ids: Vec<String>,
    },
    /// librdkafka will leave this member out of the assignment: a leader of its kind drops members that name no topic,
    /// or more than 10,000.
    TooManyTopics {
        /// How many it names.
        topics: usize,
    },
    /// As many events as this happened before the oldest that is still known.
    Missed(u64),
}

/// The events of one member from some moment on. Several may be read side by side, each at its own pace.
///
/// The last 1,024 are kept: who reads too late is told how many it [missed](Event::Missed).
#[derive(Debug)]
pub struct Events {
    log: Arc<EventLog>,
    next: u64,
}

impl Events {
    /// The next event; waits for it where there is none yet. It never ends.
    pub async fn next(&mut self) -> Event {
        let log = Arc::clone(&self.log);
        loop {
            let happened = log.happened.notified();
            tokio::pin!(happened);
            // From here on nothing is missed.
            happened.as_mut().enable();
            if let Some(event) = self.try_next() {
                return event;
            }
            happened.await;
        }
    }

    /// The next event, if it has happened already.
    pub fn try_next(&mut self) -> Option<Event> {
        let log = self.log.lock();
        let oldest = log.count - log.recent.len() as u64;
        if self.next < oldest {
            let missed = oldest - self.next;
            self.next = oldest;
            return Some(Event::Missed(missed));
        }
        let event = log.recent.get(usize::try_from(self.next - oldest).ok()?)?.clone();
        self.next += 1;
        Some(event)
    }
}

/// The latest events of one member.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    latest: Mutex<Latest>,
    happened: Notify,
}

#[derive(Debug, Default)]
struct Latest {
    /// How many there were in all.
    count: u64,
    recent: VecDeque<Event>,
}

impl EventLog {
    const KEPT: usize = 1024;

    /// Called on librdkafka's main thread: bounded, and waits for no reader.
    pub(crate) fn add(&self, event: Event) {
        trace(&event);
        let mut latest = self.lock();
        if latest.recent.len() == Self::KEPT {
            latest.recent.pop_front();
        }
        latest.recent.push_back(event);
        latest.count += 1;
        drop(latest);
        self.happened.notify_waiters();
    }

    /// What happens from now on.
    pub(crate) fn from_now(self: &Arc<Self>) -> Events {
        Events { log: Arc::clone(self), next: self.lock().count }
    }

    fn lock(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn trace(event: &Event) {
    match event {
        Event::Assigned(assigned) => tracing::info!(
            generation = assigned.generation,
            member_id = assigned.member_id,
            strategy = assigned.strategy,
            leader = assigned.led.is_some(),
            load = assigned.load(),
            "assigned"
        ),
        Event::AssignorFailed { assignor, method, reason } => {
            tracing::error!(assignor, method, reason, "an assignor failed and was replaced");
        }
        Event::UserDataUnreadable { member_id, reason } => {
            tracing::warn!(member_id, reason, "a member's user data is unreadable");
        }
        Event::Remembered { member_ids } => tracing::info!(?member_ids, "remembered what members had"),
        Event::TooManyTopics { topics } => {
            tracing::error!(
                topics,
                "librdkafka leaves members with more than 10,000 topics out of the assignment"
            );
        }
        Event::Missed(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembered(log: &EventLog, id: usize) {
        log.add(Event::Remembered { member_ids: vec![id.to_string()] });
    }

    #[test]
    fn each_reader_sees_all_that_happens_after_it_came() {
        let log = Arc::new(EventLog::default());
        remembered(&log, 0);
        let (mut first, mut second) = (log.from_now(), log.from_now());
        assert!(first.try_next().is_none());
        remembered(&log, 1);
        remembered(&log, 2);
        for reader in [&mut first, &mut second] {
            for expected in ["1", "2"] {
                let Some(Event::Remembered { member_ids }) = reader.try_next() else { panic!("no event") };
                assert_eq!(member_ids, [expected]);
            }
            assert!(reader.try_next().is_none());
        }
    }

    #[test]
    fn a_reader_that_never_reads_costs_no_more_than_what_is_kept_and_learns_what_it_missed() {
        let log = Arc::new(EventLog::default());
        let mut late = log.from_now();
        (0..EventLog::KEPT + 5).for_each(|id| remembered(&log, id));
        assert_eq!(log.lock().recent.len(), EventLog::KEPT);
        assert!(matches!(late.try_next(), Some(Event::Missed(5))));
        let Some(Event::Remembered { member_ids }) = late.try_next() else { panic!("no event") };
        assert_eq!(member_ids, ["5"]);
    }
}
