//! This consumer as a member of its group: what it says when it joins, and what it remembers.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str;
use std::sync::Arc;
use std::time::Instant;

use kafka_sticky_protocol::SubscriptionWriter;

use crate::assignor::{Assignor, AssignorError, Joining};
use crate::decoded::{self, Decoded};
use crate::events::Event;
use crate::ffi::{self, Callbacks, Join, Share};
use crate::membership::Led;
use crate::memory::Memory;
use crate::plan::Plan;
use crate::round::Round;
use crate::shared::{self, Claims, Planned, Shared};
use crate::strategy::RebalanceProtocol;

/// A member as it offers one of its strategies.
pub(crate) struct Member {
    /// The assignor's, as the group knows it.
    name: String,
    assignor: Arc<dyn Assignor>,
    /// The protocol that the assignor is registered with.
    protocol: RebalanceProtocol,
    place: Place,
    shared: Arc<Shared>,
}

/// A strategy's place in the list of those that a member offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It notes what happens to the member as a whole.
    First,
    Later,
}

impl Member {
    /// librdkafka's own version of the subscription, and Java's.
    const SUBSCRIPTION_VERSION: i16 = 3;

    pub(crate) fn new(
        assignor: Arc<dyn Assignor>,
        protocol: RebalanceProtocol,
        place: Place,
        shared: Arc<Shared>,
    ) -> Self {
        Self { name: assignor.name().to_owned(), assignor, protocol, place, shared }
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
        self.shared.add(Event::AssignorFailed { assignor: self.name.clone(), method, reason });
    }

    /// What this member says when it joins, and after what it was given last. Of `owned`, an eager member holds nothing.
    pub(crate) fn subscription(
        &self,
        topics: &[String],
        owned: &[(String, Vec<i32>)],
        claims: &Claims,
        rack: Option<&str>,
    ) -> Option<Vec<u8>> {
        let protocol = self.protocol;
        let owned = if protocol == RebalanceProtocol::Eager { &[] } else { owned };
        let joining = Joining { topics, protocol, owned, last: claims.last() };
        let user_data = self.ask("user_data", || self.assignor.user_data(&joining)).flatten();
        SubscriptionWriter::new(topics.iter().map(String::as_str))
            .user_data(user_data.as_deref())
            .owned_partitions(owned.iter().map(|(topic, partitions)| (topic.as_str(), partitions)))
            .generation_id(claims.generation())
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
            None => {
                let group = round.group()?;
                Plan::from_core(round, &group, &group.assign())
            }
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
        if self.place == Place::First {
            self.shared.joins(join);
        }
        let topics = shared::sorted_topics(join);
        let (claims, owned) = (self.shared.claims(join), shared::by_topic(join.owned()));
        let rack = join.rack().and_then(|rack| str::from_utf8(rack).ok()).filter(|rack| !rack.is_empty());
        self.subscription(&topics, &owned, &claims, rack)
    }

    fn assign(&self, raw: &mut ffi::Round<'_>) -> Result<(), String> {
        let started = Instant::now();
        let (generation, matching) = (raw.generation(), raw.matching());
        // Not under the lock: the application need not wait for the assignment to be computed.
        let memory = self.shared.memory();
        let leader_id = raw.leader_id();
        let planned = decoded::with_round(raw, &self.name, &memory, |decoded| {
            let Decoded { round, unreadable } = decoded;
            for (member_id, error) in unreadable {
                let (member_id, reason) = (member_id.to_owned(), error.to_string());
                self.shared.add(Event::UserDataUnreadable { member_id, reason });
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
        if let Some(proven) = plan.report.map(|report| report.proven).filter(|proven| !proven.all()) {
            self.shared.add(Event::Unproven { generation, proven });
        }
        let led = Led {
            members: raw.member_count(),
            report: plan.report,
            changes: plan.changes,
            remembered: remembered.len(),
            took: started.elapsed(),
            matching,
        };
        self.shared.plans(Planned { generation, led, memory });
        if !remembered.is_empty() {
            self.shared.add(Event::Remembered { member_ids: remembered });
        }
        Ok(())
    }

    fn assigned(&self, share: Share<'_>) {
        let assigned = self.shared.given(&self.name, self.protocol, share);
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
    place: Place,
    shared: Arc<Shared>,
}

impl Follower {
    pub(crate) fn new(name: &'static str, place: Place, shared: Arc<Shared>) -> Self {
        Self { name, place, shared }
    }
}

impl Callbacks for Follower {
    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    fn join(&self, join: Join<'_>) -> Option<Vec<u8>> {
        if self.place == Place::First {
            self.shared.joins(join);
        }
        None
    }

    fn assign(&self, _: &mut ffi::Round<'_>) -> Result<(), String> {
        Err(String::from("librdkafka assigns by this strategy"))
    }

    fn assigned(&self, share: Share<'_>) {
        // All of librdkafka's that is followed is eager: its `cooperative-sticky` is replaced.
        self.shared.given(self.name, RebalanceProtocol::Eager, share);
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
