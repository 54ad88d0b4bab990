//! What an assignor is: the trait behind this crate's strategies and behind yours.

use std::error::Error;

use crate::membership::Assigned;
use crate::plan::Plan;
use crate::round::Round;
use crate::strategy::RebalanceProtocol;

/// What an assignor's own methods may fail with.
pub type AssignorError = Box<dyn Error + Send + Sync>;

/// A partition assignment strategy: what a member says when it joins, and how a leader assigns.
///
/// Its [`name`](Self::name) goes into `partition.assignment.strategy`, and it is handed to
/// [`Assignors::with`](crate::Assignors::with). This crate's own two, [`Sticky`](crate::Sticky) and
/// [`CooperativeSticky`](crate::CooperativeSticky), are written on this trait and nothing else.
///
/// librdkafka calls on its main thread, which also sends the heartbeats: be quick, wait for nothing, and do not call
/// into the client, most of whose calls wait for that very thread. All that is needed is handed over.
///
/// What members had is known under any assignor where they are cooperative, since their subscriptions list what they own,
/// and where the same member led the generation before, since it remembers. An eager assignor that wants more puts it into
/// its user data; in `sticky`'s form it is read as claims.
///
/// Nothing an assignor does can break its group. Where [`user_data`](Self::user_data) errs or panics, the member joins
/// without; where [`assign`](Self::assign) errs, panics or gives an invalid plan, `kafka-sticky-core` assigns that round;
/// an [`Event`](crate::Event) says so each time.
///
/// ```
/// use kafka_sticky_rdkafka_adapter::{Assignor, AssignorError, Plan, RebalanceProtocol, Round};
///
/// /// Gives each topic, whole, to its first subscriber.
/// struct WholeTopics;
///
/// impl Assignor for WholeTopics {
///     fn name(&self) -> &str {
///         "whole-topics"
///     }
///
///     fn rebalance_protocol(&self) -> RebalanceProtocol {
///         RebalanceProtocol::Eager
///     }
///
///     fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
///         let mut plan = Plan::new(round);
///         for (index, topic) in round.topics.iter().enumerate() {
///             let subscriber = round.members.iter().position(|member| member.subscription.contains(&topic.name));
///             let subscriber = subscriber.ok_or("a topic without a subscriber")?;
///             (0..topic.partitions).for_each(|partition| plan.give(subscriber, index, partition));
///         }
///         Ok(plan)
///     }
/// }
///
/// # use kafka_sticky_rdkafka_adapter::{RoundMember, RoundTopic};
/// let round = Round::new(1, [RoundTopic::new("orders", 3)], [RoundMember::new("a").subscribe(["orders"])]);
/// assert_eq!(WholeTopics.assign(&round)?.given(0).count(), 3);
/// # Ok::<(), AssignorError>(())
/// ```
pub trait Assignor: Send + Sync + 'static {
    /// The strategy's name, the same for all members of a group, without commas and spaces.
    fn name(&self) -> &str;

    /// Whether members give up everything before they join. Members of a cooperative assignor are registered as eager
    /// where `partition.assignment.strategy` names any eager strategy (KIP-429).
    fn rebalance_protocol(&self) -> RebalanceProtocol;

    /// The user data of the next subscription; null for `None`, as by default.
    ///
    /// # Errors
    ///
    /// Whatever you like: the member joins without user data then.
    fn user_data(&self, joining: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        let _ = joining;
        Ok(None)
    }

    /// Assigns a round, as the leader. Every partition of [`Round::topics`] goes to one member that subscribes to it.
    ///
    /// Give a partition to whom it should go even while somebody else [holds](crate::RoundMember::holds) it: the move is
    /// then made in two rebalances, and this is called for the second as well.
    ///
    /// # Errors
    ///
    /// Whatever you like: `kafka-sticky-core` assigns the round then.
    fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError>;

    /// This member was given something. By default nothing is done.
    fn assigned(&self, assigned: &Assigned) {
        let _ = assigned;
    }
}

/// A member that is about to join.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Joining<'j> {
    /// The topics that it subscribes to, patterns expanded, sorted.
    pub topics: &'j [String],
    /// The protocol that it was registered with.
    pub protocol: RebalanceProtocol,
    /// What it holds and will go on processing; none under the eager protocol. Topic by topic, sorted.
    pub owned: &'j [(String, Vec<i32>)],
    /// The last assignment it was given, by whatever strategy; it stays through revocation and loss. Before the first, what
    /// a [`SavedState`](crate::SavedState) says that its predecessor had, as far as it is subscribed to and exists: then the
    /// strategy and the member id are empty.
    pub last: Option<&'j Assigned>,
}

impl<'j> Joining<'j> {
    /// A member that joins for the first time and owns nothing, to try an assignor on.
    ///
    /// ```
    /// use kafka_sticky_rdkafka_adapter::{Assigned, Assignor, Joining, RebalanceProtocol, Sticky};
    ///
    /// let topics = ["orders".to_owned()];
    /// let joining = Joining::new(&topics, RebalanceProtocol::Eager);
    /// assert_eq!(Sticky::new().user_data(&joining)?, None);
    ///
    /// let last = Assigned::new("sticky", 7, vec![("orders".into(), vec![0, 1])]);
    /// assert!(Sticky::new().user_data(&joining.after(&last))?.is_some());
    /// # Ok::<(), kafka_sticky_rdkafka_adapter::AssignorError>(())
    /// ```
    pub fn new(topics: &'j [String], protocol: RebalanceProtocol) -> Self {
        Self { topics, protocol, owned: &[], last: None }
    }

    /// After it was given something.
    pub fn after(self, last: &'j Assigned) -> Self {
        Self { last: Some(last), ..self }
    }

    /// While it holds something.
    pub fn owning(self, owned: &'j [(String, Vec<i32>)]) -> Self {
        Self { owned, ..self }
    }
}
