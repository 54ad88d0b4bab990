//! What is the same for all strategies of a member: where it stands in its group.

use std::str;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rdkafka::types::RDKafkaErrorCode;

use crate::event_log::{EventLog, Events};
use crate::events::Event;
use crate::ffi::{Join, Names, Partitions, Share};
use crate::membership::{Assigned, Led};
use crate::memory::Memory;
use crate::partitions;
use crate::saved_state::SavedState;
use crate::strategy::RebalanceProtocol;

/// librdkafka's main thread and the one that polls write, the application reads.
#[derive(Debug)]
pub(crate) struct Shared {
    group: String,
    /// The strategies, in order of preference.
    offered: Vec<String>,
    state: Mutex<State>,
    events: Arc<EventLog>,
}

#[derive(Debug, Default)]
struct State {
    /// As of the last JoinGroup.
    subscription: Vec<String>,
    assigned: Option<Arc<Assigned>>,
    /// What its predecessor had, or it had itself and has lost, until it is given something.
    had: Option<SavedState>,
    /// Since it was last given something.
    joining: Option<Attempts>,
    /// Since it joined last.
    has_lost: bool,
    /// The last plan that this member made as the leader, until it is given its share of it.
    planned: Option<Planned>,
    /// Of the last generation that this member was given a share of, if it led that.
    memory: Arc<Memory>,
}

#[derive(Debug, Clone, Copy)]
struct Attempts {
    count: u32,
    first: Instant,
    refused: Option<RDKafkaErrorCode>,
}

/// A plan that the group need not have been given: members may have left while it was made.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) generation: i32,
    pub(crate) led: Led,
    pub(crate) memory: Memory,
}

/// What a member had, by its own account.
pub(crate) enum Claims {
    Nothing,
    Given(Arc<Assigned>),
    /// It holds nothing of it any more, or never did: its predecessor had it.
    Had {
        had: Arc<Assigned>,
        /// That the member was in last itself.
        generation: Option<i32>,
    },
}

impl Claims {
    pub(crate) fn last(&self) -> Option<&Assigned> {
        match self {
            Self::Nothing => None,
            Self::Given(last) | Self::Had { had: last, .. } => Some(last),
        }
    }

    /// The generation that the member was in itself.
    pub(crate) fn generation(&self) -> Option<i32> {
        match self {
            Self::Nothing => None,
            Self::Given(last) => Some(last.generation),
            Self::Had { generation, .. } => *generation,
        }
    }
}

impl Shared {
    /// Fewer joins in a row than this are nothing out of the ordinary.
    const MANY_JOINS: u32 = 4;
    /// librdkafka's leader drops a member that names more topics.
    const MOST_TOPICS: usize = 10_000;

    pub(crate) fn new(names: Names, offered: Vec<String>, resumed: Option<SavedState>) -> Self {
        let group = names.group.clone();
        let state = Mutex::new(State { had: resumed, ..State::default() });
        Self { group, offered, state, events: Arc::new(EventLog::new(names)) }
    }

    pub(crate) fn assigned(&self) -> Option<Arc<Assigned>> {
        self.lock().assigned.clone()
    }

    /// What the next process is to claim.
    pub(crate) fn saved_state(&self) -> Option<SavedState> {
        let state = self.lock();
        let given = state.assigned.as_ref().map(|assigned| SavedState::of(&self.group, assigned));
        state.had.clone().or(given)
    }

    /// What a member claims that joins.
    pub(crate) fn claims(&self, join: Join<'_>) -> Claims {
        let state = self.lock();
        let (given, had) = (state.assigned.clone(), state.had.clone());
        drop(state);
        let empty_handed = given.as_ref().is_none_or(|given| given.load() == 0);
        let had = had.filter(|_| empty_handed).map(|had| had.claims(join.topics()));
        match (had.filter(|had| had.load() > 0), given) {
            (None, None) => Claims::Nothing,
            (None, Some(given)) => Claims::Given(given),
            (Some(had), given) => {
                Claims::Had { had: Arc::new(had), generation: given.map(|given| given.generation) }
            }
        }
    }

    pub(crate) fn memory(&self) -> Arc<Memory> {
        Arc::clone(&self.lock().memory)
    }

    pub(crate) fn events(&self) -> Events {
        self.events.from_now()
    }

    pub(crate) fn add(&self, event: Event) {
        self.events.add(event);
    }

    /// There is no client any more.
    pub(crate) fn ended(&self) {
        self.events.end();
    }

    /// This member joins; once for all its strategies.
    pub(crate) fn joins(&self, join: Join<'_>) {
        let subscription = sorted_topics(join);
        let topics = subscription.len();
        let mut state = self.lock();
        let fresh = Attempts { count: 0, first: Instant::now(), refused: None };
        let attempts = state.joining.get_or_insert(fresh);
        attempts.count = attempts.count.saturating_add(1);
        let Attempts { count, first, refused } = *attempts;
        let after_loss = std::mem::take(&mut state.has_lost).then(|| text(join.reason()));
        state.subscription = subscription;
        let foreign = state.had.take_if(|had| had.group() != self.group);
        let resumed = state.had.clone().filter(|_| state.assigned.is_none());
        drop(state);

        let member_id = Some(text(join.member_id())).filter(|id| !id.is_empty());
        self.events.add(Event::Joining { member_id, topics, attempt: count, after_loss });
        if let Some(foreign) = foreign {
            self.events.add(Event::StateIgnored { group: foreign.group().to_owned() });
        }
        if let Some(resumed) = resumed {
            let (claimed, had) =
                (resumed.claims(join.topics()).load(), partitions::count(resumed.partitions()));
            let generation = resumed.generation();
            self.events.add(Event::Resuming { generation, claimed, dropped: had - claimed });
        }
        if topics > Self::MOST_TOPICS {
            self.events.add(Event::TooManyTopics { topics });
        }
        if count >= Self::MANY_JOINS && count.is_power_of_two() {
            self.events.add(Event::StillUnassigned { joins: count, since: first.elapsed(), refused });
        }
    }

    /// This member leads, and made a plan.
    pub(crate) fn plans(&self, planned: Planned) {
        self.lock().planned = Some(planned);
    }

    /// This member was given something by the strategy of this name and protocol.
    pub(crate) fn given(
        &self,
        strategy: &str,
        protocol: RebalanceProtocol,
        share: Share<'_>,
    ) -> Arc<Assigned> {
        let partitions = by_topic(share.partitions());
        let mut state = self.lock();
        let generation = share.generation();
        let planned = state.planned.take().filter(|planned| planned.generation == generation);
        let (led, memory) = planned.map(|planned| (planned.led, planned.memory)).unzip();
        state.memory = Arc::new(memory.unwrap_or_default());
        let resumed = || state.had.as_ref().map(SavedState::assigned);
        let before = state.assigned.clone().or_else(resumed);
        let before = before.as_ref().map_or(&[][..], |before| &before.partitions);
        // What is withheld from it now is given in a later generation, and until then it says what it had.
        if protocol == RebalanceProtocol::Eager || !partitions.is_empty() {
            state.had = None;
        }
        let assigned = Arc::new(Assigned {
            generation,
            strategy: strategy.to_owned(),
            member_id: text(share.member_id()),
            subscription: state.subscription.clone(),
            gained: partitions::less(&partitions, before),
            lost: partitions::less(before, &partitions),
            partitions,
            took: state.joining.take().map(|joining| joining.first.elapsed()).unwrap_or_default(),
            led,
        });
        state.assigned = Some(Arc::clone(&assigned));
        drop(state);
        self.events.add(Event::Assigned(Arc::clone(&assigned)));
        assigned
    }

    /// This member gives partitions up, or has lost them.
    pub(crate) fn revoked(&self, partitions: Partitions<'_>, lost: bool) {
        let partitions = by_topic(partitions);
        let mut state = self.lock();
        state.has_lost |= lost;
        let had = state.assigned.clone();
        if let Some(had) = had.as_ref().filter(|had| lost && had.load() > 0) {
            state.had = Some(SavedState::of(&self.group, had));
        }
        drop(state);
        let generation = had.as_ref().map_or(-1, |had| had.generation);
        let member_id = had.map_or_else(String::new, |had| had.member_id.clone());
        self.events.add(Event::Revoked { generation, member_id, partitions, lost });
    }

    /// The group does not accept this member.
    pub(crate) fn refused(&self, code: RDKafkaErrorCode) {
        let mut state = self.lock();
        if let Some(joining) = &mut state.joining {
            joining.refused = Some(code);
        }
        let last_used = state.assigned.as_ref().map(|assigned| assigned.strategy.clone());
        drop(state);
        self.events.add(Event::Refused { code, offered: self.offered.clone(), last_used });
    }

    /// Each change leaves the state whole, also if a panic follows.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The topics that a member joins with.
pub(crate) fn sorted_topics(join: Join<'_>) -> Vec<String> {
    let names = join.topics().filter_map(|(topic, _)| Some(str::from_utf8(topic).ok()?.to_owned()));
    let mut topics: Vec<String> = names.collect();
    topics.sort_unstable();
    topics
}

/// Topic by topic, both sorted.
pub(crate) fn by_topic(partitions: Partitions<'_>) -> Vec<(String, Vec<i32>)> {
    partitions::sorted(
        partitions.iter().filter_map(|(topic, partition)| Some((str::from_utf8(topic).ok()?, partition))),
    )
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
