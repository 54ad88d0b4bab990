//! What a consumer can see of its place in the group.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kafka_sticky_core::{Reason, Report};
use rdkafka::consumer::{Consumer, ConsumerContext};

use crate::error::Error;
use crate::event_log::Events;
use crate::ffi::{self, Installed};
use crate::partitions::{self, ByTopic};
use crate::saved_state::SavedState;
use crate::shared::Shared;

/// A consumer's place in its group, as librdkafka told the assignor; it is always ahead of the rebalance callbacks.
///
/// Cheap to clone, and of use after the consumer is gone. Its methods never wait for librdkafka, so they may be called
/// from any callback.
#[derive(Debug, Clone)]
pub struct Membership {
    shared: Arc<Shared>,
}

impl Membership {
    /// The membership of a consumer that was created, or given its strategies, by this crate; `None` of any other.
    ///
    /// `None`, and an error to `tracing`, also in a process that was forked from the consumer's: only the memory of a
    /// consumer is copied, not its threads, so that it is a member of nothing there.
    pub fn of<C: ConsumerContext>(consumer: &impl Consumer<C>) -> Option<Self> {
        match ffi::installed(consumer) {
            Installed::Nothing => None,
            Installed::Here(callbacks) => Some(Self { shared: callbacks.shared() }),
            Installed::InAnotherProcess(process) => {
                tracing::error!("{}", Error::forked(process));
                None
            }
        }
    }

    /// The last assignment that this member was given; `None` before the first. It stays through revocation and loss:
    /// it is what the member will claim when it joins again.
    pub fn assigned(&self) -> Option<Arc<Assigned>> {
        self.shared.assigned()
    }

    /// What the process that comes after this one is to claim, to be written down: what this member was given last.
    /// `None` before the first assignment, unless it [resumes](crate::Assignors::resuming) a state itself. Under a cooperative
    /// strategy a member that comes back is first given nothing, and this stays what it had until it is given something.
    ///
    /// It changes with every [`Event::Assigned`](crate::Event::Assigned), and stays after the consumer is gone.
    pub fn saved_state(&self) -> Option<SavedState> {
        self.shared.saved_state()
    }

    /// What happens to this member from now on.
    pub fn events(&self) -> Events {
        self.shared.events()
    }
}

/// What a member was given in one generation of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assigned {
    /// The generation of the group.
    pub generation: i32,
    /// The strategy that the group uses.
    pub strategy: String,
    /// The member id that the broker gave.
    pub member_id: String,
    /// The topics that this member named when it joined this generation, patterns expanded, sorted.
    pub subscription: Vec<String>,
    /// Topic by topic, the partitions given, both sorted. No topic is without partitions.
    pub partitions: Vec<(String, Vec<i32>)>,
    /// Of those, the ones that it was not given the time before. The others are [kept](Self::kept), which under an eager
    /// strategy means given up and given back.
    pub gained: Vec<(String, Vec<i32>)>,
    /// What it was given the time before, and now is not.
    pub lost: Vec<(String, Vec<i32>)>,
    /// How long the rebalance took this member: since it joined, the first time if several times. Most of it is waiting
    /// for others. Zero where that is not known.
    pub took: Duration,
    /// How the group was assigned, if this member led it.
    pub led: Option<Led>,
}

impl Assigned {
    /// An assignment of your own making, to try an assignor on: of a follower whose member id is not set.
    pub fn new(strategy: &str, generation: i32, partitions: Vec<(String, Vec<i32>)>) -> Self {
        Self {
            generation,
            strategy: strategy.to_owned(),
            member_id: String::new(),
            subscription: partitions.iter().map(|(topic, _)| topic.clone()).collect(),
            gained: partitions.clone(),
            lost: Vec::new(),
            partitions,
            took: Duration::ZERO,
            led: None,
        }
    }

    /// How many partitions were given.
    pub fn load(&self) -> usize {
        partitions::count(&self.partitions)
    }

    /// How many of them the member was given the time before, too.
    pub fn kept(&self) -> usize {
        self.load() - partitions::count(&self.gained)
    }

    /// How many partitions it lists, in all.
    pub(crate) fn named(&self) -> usize {
        let changes = self.led.as_ref().map_or(0, |led| led.changes.len());
        self.load() + partitions::count(&self.gained) + partitions::count(&self.lost) + changes
    }
}

impl fmt::Display for Assigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { generation, strategy, member_id, gained, lost, .. } = self;
        let (load, kept) = (self.load(), self.kept());
        write!(f, "generation {generation} by {strategy}: {member_id} has {load} partitions, kept {kept}, ")?;
        write!(f, "gained {}, lost {}", ByTopic(gained), ByTopic(lost))?;
        let Some(led) = &self.led else { return Ok(()) };
        write!(f, "; led {} members in {:?}", led.members, led.took)?;
        led.report.iter().try_for_each(|report| write!(f, ", moved {} of {}", report.moved, report.owned))
    }
}

/// How a leader assigned its group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Led {
    /// How many members the group has.
    pub members: usize,
    /// What the assignment came to, where `kafka-sticky-core` made it.
    pub report: Option<Report>,
    /// The partitions that change hands and why, where `kafka-sticky-core` made the assignment: all that somebody in the
    /// group claims and does not keep, and of those whose member is gone the ones that the leader gave to it one
    /// generation before. Sorted by topic and partition.
    pub changes: Vec<Change>,
    /// How many members' claims were this leader's own memory.
    pub remembered: usize,
    /// How long it took on librdkafka's main thread, reading what the members sent included.
    pub took: Duration,
    /// How long librdkafka took before, on the same thread, to match members, topics and subscriptions; `None` where that
    /// is not known. Heartbeats wait for both.
    pub matching: Option<Duration>,
}

/// A partition that changes hands. Where its former owner still holds it, it does so in the follow-up rebalance.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition number.
    pub partition: i32,
    /// The id of the member that had it: of its owner or, where nobody claims it, of a member that is gone. `None` where
    /// several claim it alike, or only members that no longer subscribe to it.
    pub from: Option<Arc<str>>,
    /// The id of the member that it goes to.
    pub to: Arc<str>,
    /// Why; `Unclaimed` says here that the member that had it is gone.
    pub reason: Reason,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { topic, partition, from, to, reason } = self;
        write!(f, "{topic}-{partition} from {} to {to}: {reason}", from.as_deref().unwrap_or("nobody"))
    }
}
