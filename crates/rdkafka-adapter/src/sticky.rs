//! This crate's own assignors.

use kafka_sticky_core::Options;
use kafka_sticky_protocol::{Framing, StickyUserDataWriter, WriteError, cooperative_user_data};

use crate::assignor::{Assignor, AssignorError, Joining};
use crate::membership::Assigned;
use crate::plan::Plan;
use crate::round::Round;
use crate::strategy::RebalanceProtocol;

/// `sticky`, as Java's `StickyAssignor`: eager, and each member says in its user data what it had last.
///
/// ```
/// use kafka_sticky_rdkafka_adapter::{Assignor, Sticky};
///
/// assert_eq!(Sticky::new().name(), "sticky");
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Sticky {
    framing: Framing,
    options: Options,
}

/// `cooperative-sticky`, as Java's `CooperativeStickyAssignor`: members keep processing through a rebalance, and what
/// changes hands is revoked in one and assigned in the next, which always is the last.
///
/// It stands in place of librdkafka's own of that name.
///
/// ```
/// use kafka_sticky_rdkafka_adapter::{Assignor, CooperativeSticky};
///
/// assert_eq!(CooperativeSticky::new().name(), "cooperative-sticky");
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct CooperativeSticky {
    options: Options,
}

impl Sticky {
    /// Writes user data as Java does, and reads every form in the wild.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes kafka-python 3's form, an int16 version before the same fields, for groups whose other members are that:
    /// it reads no other, and nobody but this crate reads both.
    ///
    /// ```
    /// use kafka_sticky_rdkafka_adapter::{Assignors, Sticky};
    ///
    /// let assignors = Assignors::new().with(Sticky::new().framed());
    /// ```
    pub fn framed(self) -> Self {
        Self { framing: Framing::Framed, ..self }
    }

    /// Bounds the work on one assignment, in arcs of a graph that are looked at: [`Options::budget`]. Leave it at the
    /// default unless [`Event::Unproven`](crate::Event::Unproven) comes and there is time for more, or the leader takes
    /// longer than its heartbeats can wait.
    ///
    /// ```
    /// use kafka_sticky_rdkafka_adapter::{Assignors, Sticky};
    ///
    /// let assignors = Assignors::new().with(Sticky::new().budget(200_000_000));
    /// ```
    pub fn budget(self, budget: u64) -> Self {
        Self { options: self.options.with_budget(budget), ..self }
    }

    fn user_data_of(self, assigned: &Assigned) -> Result<Vec<u8>, WriteError> {
        user_data(self.framing, borrowed(&assigned.partitions), assigned.generation)
    }
}

impl Assignor for Sticky {
    fn name(&self) -> &str {
        "sticky"
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        RebalanceProtocol::Eager
    }

    fn user_data(&self, joining: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        Ok(joining.last.map(|last| self.user_data_of(last)).transpose()?)
    }

    /// Each member is also told its share and the generation, in Java's form: a Sarama member claims next time what it
    /// was told.
    fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
        let group = round.group()?;
        let assignment = group.assign_with(&self.options);
        let mut plan = Plan::from_core(round, &group, &assignment);
        for (index, member) in round.members.iter().enumerate() {
            let share = assignment.member(member.id).into_iter().flat_map(|share| share.assigned());
            plan.tell(index, user_data(Framing::Bare, share, round.generation)?);
        }
        Ok(plan)
    }
}

impl CooperativeSticky {
    /// With the default bound on the work.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`Sticky::budget`].
    pub fn budget(self, budget: u64) -> Self {
        Self { options: self.options.with_budget(budget) }
    }
}

impl Assignor for CooperativeSticky {
    fn name(&self) -> &str {
        "cooperative-sticky"
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        RebalanceProtocol::Cooperative
    }

    /// The generation alone, in four bytes, as Java says it. A member that owns nothing any more but did, since it lost
    /// everything or is registered as eager, claims that in `sticky`'s form, which Java's leader passes over.
    fn user_data(&self, joining: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        let had = joining.last.filter(|last| !last.partitions.is_empty());
        if let (Some(had), true) = (had, joining.owned.is_empty()) {
            return Ok(Some(Sticky::new().user_data_of(had)?));
        }
        Ok(Some(cooperative_user_data(joining.last.map(|last| last.generation)).to_vec()))
    }

    fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
        let group = round.group()?;
        Ok(Plan::from_core(round, &group, &group.assign_with(&self.options)))
    }
}

/// Version 1 of sticky user data.
fn user_data<'p>(
    framing: Framing,
    partitions: impl Iterator<Item = (&'p str, &'p [i32])>,
    generation: i32,
) -> Result<Vec<u8>, WriteError> {
    StickyUserDataWriter::new(partitions, Some(generation)).framing(framing).write(1)
}

fn borrowed(partitions: &[(String, Vec<i32>)]) -> impl Iterator<Item = (&str, &[i32])> {
    partitions.iter().map(|(topic, partitions)| (topic.as_str(), partitions.as_slice()))
}
