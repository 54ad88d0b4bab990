//! This consumer as a member of its group: what it says when it joins, and what it remembers.

use std::collections::BTreeMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kafka_sticky_protocol::SubscriptionWriter;

use crate::assignor::{Assignor, AssignorError, Joining};
use crate::decoded::{self, Decoded};
use crate::events::{Event, EventLog, Events};
use crate::ffi::{self, Callbacks, Join, Partitions, Share};
use crate::membership::{Assigned, Led};
use crate::memory::Memory;
use crate::plan::Plan;
use crate::round::Round;
use crate::strategy::RebalanceProtocol;

/// A member as it offers one of its strategies.
pub(crate) struct Member {
    /// The assignor's, as the group knows it.
    name: String,
    assignor: Arc<dyn Assignor>,
    /// The protocol that the assignor is registered with.
    protocol: RebalanceProtocol,
    shared: Arc<Shared>,
}

/// What is the same for all strategies of a member. librdkafka's main thread writes, the application reads.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    events: Arc<EventLog>,
}

#[derive(Debug, Default)]
struct State {
    /// As of the last JoinGroup.
    subscription: Vec<String>,
    assigned: Option<Arc<Assigned>>,
    /// The last plan that this member made as the leader, until it is given its share of it.
    planned: Option<Planned>,
    /// Of the last generation that this member was given a share of, if it led that.
    memory: Arc<Memory>,
}

/// A plan that the group need not have been given: members may have left while it was made.
#[derive(Debug)]
struct Planned {
    generation: i32,
    led: Led,
    memory: Memory,
}

impl Shared {
    pub(crate) fn assigned(&self) -> Option<Arc<Assigned>> {
        self.lock().assigned.clone()
    }

    pub(crate) fn events(&self) -> Events {
        self.events.from_now()
    }

    /// Notes what this member was given by the strategy of this name.
    fn given(&self, strategy: &str, share: Share<'_>) -> Arc<Assigned> {
        let mut state = self.lock();
        let generation = share.generation();
        let planned = state.planned.take().filter(|planned| planned.generation == generation);
        let (led, memory) = planned.map(|planned| (planned.led, planned.memory)).unzip();
        state.memory = Arc::new(memory.unwrap_or_default());
        let assigned = Arc::new(Assigned {
            generation,
            strategy: strategy.to_owned(),
            member_id: String::from_utf8_lossy(share.member_id()).into_owned(),
            subscription: state.subscription.clone(),
            partitions: by_topic(share.partitions()),
            led,
        });
        state.assigned = Some(Arc::clone(&assigned));
        drop(state);
        self.events.add(Event::Assigned(Arc::clone(&assigned)));
        assigned
    }

    /// Each change is a single assignment, so the state is whole even after a panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// librdkafka's own version of the subscription, and Java's.
    const SUBSCRIPTION_VERSION: i16 = 3;
    /// librdkafka's leader drops a member that names more.
    const MOST_TOPICS: usize = 10_000;

    pub(crate) fn new(assignor: Arc<dyn Assignor>, protocol: RebalanceProtocol, shared: Arc<Shared>) -> Self {
        Self { name: assignor.name().to_owned(), assignor, protocol, shared }
    }

    /// Calls one of the assignor's methods; where that errs or panics, an event says so.
    fn ask<T>(&self, method: &'static str, call: impl FnOnce() -> Result<T, AssignorError>) -> Option<T> {
        let reason = match catch_unwind(AssertUnwindSafe(call)) {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(error)) => error.to_string(),
            Err(payload) => {
                let reason = format!("it panicked: {}", ffi::message_of(&*payload));
                // Dropping it may panic again.
                mem::forget(payload);
                reason
            }
        };
        self.failed(method, reason);
        None
    }

    fn failed(&self, method: &'static str, reason: String) {
        self.shared.events.add(Event::AssignorFailed { assignor: self.name.clone(), method, reason });
    }

    /// What this member says when it joins, and after what it was given last. Of `owned`, an eager member holds nothing.
    pub(crate) fn subscription(
        &self,
        topics: &[String],
        owned: &[(String, Vec<i32>)],
        last: Option<&Assigned>,
        rack: Option<&str>,
    ) -> Option<Vec<u8>> {
        let protocol = self.protocol;
        let owned = if protocol == RebalanceProtocol::Eager { &[] } else { owned };
        let joining = Joining { topics, protocol, owned, last };
        let user_data = self.ask("user_data", || self.assignor.user_data(&joining)).flatten();
        SubscriptionWriter::new(topics.iter().map(String::as_str))
            .user_data(user_data.as_deref())
            .owned_partitions(owned.iter().map(|(topic, partitions)| (topic.as_str(), partitions)))
            .generation_id(last.map(|last| last.generation))
            .rack_id(rack)
            .write(Self::SUBSCRIPTION_VERSION)
            .inspect_err(|error| self.failed("user_data", error.to_string()))
            .ok()
    }

    fn plan(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
        let planned = self.ask("assign", || {
            let plan = self.assignor.assign(round)?;
            plan.check(round)?;
            Ok(plan)
        });
        let mut plan = match planned {
            Some(plan) => plan,
            None => Plan::from_core(round, &round.group()?.assign()),
        };
        plan.withhold(round);
        Ok(plan)
    }
}

impl Callbacks for Member {
    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    fn join(&self, join: Join<'_>) -> Option<Vec<u8>> {
        let mut topics: Vec<String> =
            join.topics().filter_map(|topic| Some(str::from_utf8(topic).ok()?.to_owned())).collect();
        topics.sort_unstable();
        if topics.len() > Self::MOST_TOPICS {
            self.shared.events.add(Event::TooManyTopics { topics: topics.len() });
        }
        let (last, owned) = (self.shared.assigned(), by_topic(join.owned()));
        let rack = join.rack().and_then(|rack| str::from_utf8(rack).ok()).filter(|rack| !rack.is_empty());
        let message = self.subscription(&topics, &owned, last.as_deref(), rack);
        self.shared.lock().subscription = topics;
        message
    }

    fn assign(&self, raw: &mut ffi::Round<'_>) -> Result<(), String> {
        let started = Instant::now();
        let (events, generation) = (&self.shared.events, raw.generation());
        // Not under the lock: the application need not wait for the assignment to be computed.
        let memory = Arc::clone(&self.shared.lock().memory);
        let leader_id = raw.leader_id();
        let planned = decoded::with_round(raw, &self.name, &memory, |decoded| {
            let Decoded { round, unreadable } = decoded;
            for (member_id, error) in unreadable {
                let (member_id, reason) = (member_id.to_owned(), error.to_string());
                events.add(Event::UserDataUnreadable { member_id, reason });
            }
            let remembered = round.members.iter().filter(|member| member.remembered);
            let remembered: Vec<String> = remembered.map(|member| member.id.to_owned()).collect();
            let plan = self.plan(&round)?;
            let memory = Memory::of(&round, &plan, leader_id);
            Ok::<_, AssignorError>((plan, memory, remembered))
        });
        let (plan, memory, remembered) =
            planned.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        for member in 0..raw.member_count() {
            for (topic, partition) in plan.given(member) {
                raw.give(member, topic, partition);
            }
            raw.tell(member, plan.told(member));
        }
        let led = Led { report: plan.report, remembered: remembered.len(), took: started.elapsed() };
        self.shared.lock().planned = Some(Planned { generation, led, memory });
        if !remembered.is_empty() {
            events.add(Event::Remembered { member_ids: remembered });
        }
        Ok(())
    }

    fn assigned(&self, share: Share<'_>) {
        let assigned = self.shared.given(&self.name, share);
        self.ask("assigned", || {
            self.assignor.assigned(&assigned);
            Ok(())
        });
    }

    fn panicked(&self, callback: &'static str, message: &str) {
        self.failed(callback, format!("it panicked: {message}"));
    }
}

/// A member as it offers one of librdkafka's strategies: what it is given by that is what it claims by another.
pub(crate) struct Follower {
    name: &'static str,
    shared: Arc<Shared>,
}

impl Follower {
    pub(crate) fn new(name: &'static str, shared: Arc<Shared>) -> Self {
        Self { name, shared }
    }
}

impl Callbacks for Follower {
    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    fn assigned(&self, share: Share<'_>) {
        self.shared.given(self.name, share);
    }

    fn panicked(&self, callback: &'static str, message: &str) {
        tracing::error!(
            strategy = self.name,
            callback,
            message,
            "listening to librdkafka's own strategy panicked"
        );
    }
}

/// Topic by topic, both sorted.
fn by_topic(partitions: Partitions<'_>) -> Vec<(String, Vec<i32>)> {
    let mut topics: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
    for (topic, partition) in partitions.iter() {
        let Ok(topic) = str::from_utf8(topic) else { continue };
        topics.entry(topic).or_default().push(partition);
    }
    let sorted = |(topic, mut partitions): (&str, Vec<i32>)| {
        partitions.sort_unstable();
        (topic.to_owned(), partitions)
    };
    topics.into_iter().map(sorted).collect()
}
