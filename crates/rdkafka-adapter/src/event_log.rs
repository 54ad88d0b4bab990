//! Where events go: to `tracing`, to metrics, and to whoever reads them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::Stream;
use futures_util::stream;
use tokio::sync::Notify;

use crate::events::Event;
use crate::ffi::Names;
#[cfg(feature = "metrics")]
use crate::metrics;
use crate::traces;

/// The events of one member from some moment on. Several may be read side by side, each at its own pace.
///
/// The last 1,024 are kept, or fewer if they name more than 100,000 partitions and members between them; the very last
/// always is. Who reads too late is told how many it [missed](Event::Missed), and who never reads costs nothing.
#[derive(Debug)]
pub struct Events {
    log: Arc<EventLog>,
    next: u64,
}

impl Events {
    /// The next event; waits for it where there is none yet. `None` once the consumer is gone and all is read.
    ///
    /// Nothing is lost where the future is dropped before it is ready.
    pub async fn next(&mut self) -> Option<Event> {
        let log = Arc::clone(&self.log);
        loop {
            let happened = log.happened.notified();
            tokio::pin!(happened);
            // From here on nothing is missed.
            happened.as_mut().enable();
            let ended = log.lock().ended;
            if let Some(event) = self.try_next() {
                return Some(event);
            }
            if ended {
                return None;
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

    /// The same as a `Stream`, which ends when the consumer is gone.
    ///
    /// ```
    /// use kafka_sticky_rdkafka_adapter::{CreateConsumer, Membership};
    /// use futures_util::StreamExt as _;
    /// use rdkafka::ClientConfig;
    /// use rdkafka::consumer::BaseConsumer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let consumer: BaseConsumer = ClientConfig::new().set("group.id", "billing").create_consumer()?;
    /// let events = Membership::of(&consumer).ok_or("it was created by this crate")?.events();
    /// drop(consumer);
    /// assert!(events.into_stream().map(|event| event.to_string()).collect::<Vec<_>>().await.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_stream(self) -> impl Stream<Item = Event> + Send {
        stream::unfold(self, |mut events| async { Some((events.next().await?, events)) })
    }
}

/// The latest events of one member.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    names: Names,
    latest: Mutex<Latest>,
    happened: Notify,
}

#[derive(Debug, Default)]
struct Latest {
    /// How many there were in all.
    count: u64,
    recent: VecDeque<Event>,
    /// How many partitions and members the recent ones name.
    named: usize,
    /// There will be no more.
    ended: bool,
}

impl EventLog {
    const KEPT: usize = 1024;
    /// Bounds what is kept for groups of many partitions.
    const NAMED: usize = 100_000;

    pub(crate) fn new(names: Names) -> Self {
        #[cfg(feature = "metrics")]
        metrics::describe();
        Self { names, ..Self::default() }
    }

    /// Bounded in time and space, and waits for no reader: it is called on librdkafka's main thread.
    pub(crate) fn add(&self, event: Event) {
        traces::trace(&self.names, &event);
        #[cfg(feature = "metrics")]
        metrics::record(&self.names, &event);
        let mut latest = self.lock();
        latest.named += event.named();
        latest.recent.push_back(event);
        latest.count += 1;
        while latest.recent.len() > Self::KEPT || (latest.named > Self::NAMED && latest.recent.len() > 1) {
            latest.named -= latest.recent.pop_front().map_or(0, |oldest| oldest.named());
        }
        drop(latest);
        self.happened.notify_waiters();
    }

    /// The consumer is gone.
    pub(crate) fn end(&self) {
        #[cfg(feature = "metrics")]
        metrics::ended(&self.names);
        self.lock().ended = true;
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

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn remembered(log: &EventLog, ids: impl IntoIterator<Item = usize>) {
        log.add(Event::Remembered { member_ids: ids.into_iter().map(|id| id.to_string()).collect() });
    }

    fn ids(event: Option<Event>) -> Vec<String> {
        let Some(Event::Remembered { member_ids }) = event else { panic!("no event") };
        member_ids
    }

    #[test]
    fn each_reader_sees_all_that_happens_after_it_came() {
        let log = Arc::new(EventLog::default());
        remembered(&log, [0]);
        let (mut first, mut second) = (log.from_now(), log.from_now());
        assert!(first.try_next().is_none());
        remembered(&log, [1]);
        remembered(&log, [2]);
        for reader in [&mut first, &mut second] {
            for expected in ["1", "2"] {
                assert_eq!(ids(reader.try_next()), [expected]);
            }
            assert!(reader.try_next().is_none());
        }
    }

    #[test]
    fn a_reader_that_never_reads_costs_no_more_than_what_is_kept_and_learns_what_it_missed() {
        let log = Arc::new(EventLog::default());
        let mut late = log.from_now();
        (0..EventLog::KEPT + 5).for_each(|id| remembered(&log, [id]));
        assert_eq!(log.lock().recent.len(), EventLog::KEPT);
        assert!(matches!(late.try_next(), Some(Event::Missed(5))));
        assert_eq!(ids(late.try_next()), ["5"]);
    }

    #[test]
    fn of_events_that_name_many_only_few_are_kept_but_always_the_last() {
        let log = Arc::new(EventLog::default());
        let mut late = log.from_now();
        (0..10).for_each(|_| remembered(&log, 0..EventLog::NAMED / 4));
        assert_eq!(log.lock().recent.len(), 4);
        remembered(&log, 0..EventLog::NAMED + 1);
        assert_eq!(log.lock().recent.len(), 1);
        assert!(matches!(late.try_next(), Some(Event::Missed(10))));
        assert_eq!(ids(late.try_next()).len(), EventLog::NAMED + 1);
        remembered(&log, [0]);
        assert_eq!(log.lock().named, 1);
    }

    #[test]
    fn a_reader_that_waits_is_woken_by_an_event_and_by_the_end() {
        let log = Arc::new(EventLog::default());
        let mut reader = log.from_now();
        let mut context = Context::from_waker(Waker::noop());
        {
            let mut next = pin!(reader.next());
            assert!(next.as_mut().poll(&mut context).is_pending());
            remembered(&log, [1]);
            let Poll::Ready(event) = next.poll(&mut context) else { panic!("not woken") };
            assert_eq!(ids(event), ["1"]);
        }
        remembered(&log, [2]);
        log.end();
        let Poll::Ready(event) = pin!(reader.next()).poll(&mut context) else { panic!("not woken") };
        assert_eq!(ids(event), ["2"]);
        assert!(matches!(pin!(reader.next()).poll(&mut context), Poll::Ready(None)));
    }
}
