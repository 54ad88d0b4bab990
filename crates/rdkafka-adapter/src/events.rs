//! What happens in a group that its application cannot see otherwise.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kafka_sticky_core::Proven;
use rdkafka::types::RDKafkaErrorCode;

use crate::membership::Assigned;
use crate::partitions::{self, ByTopic};

/// Something that happened to a member. Its `Display` is a sentence for people, with what to do about it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The member joins its group, for the first time or for the next generation.
    #[non_exhaustive]
    Joining {
        /// As whom; `None` where the broker has yet to give it an id.
        member_id: Option<String>,
        /// How many topics it names.
        topics: usize,
        /// How often it has joined since it was last given something: 1, as a rule. A member that is new to its group
        /// joins twice where the broker first hands out an id (KIP-394).
        attempt: u32,
        /// Why it lost what it had, in librdkafka's words, if it has since it joined last.
        after_loss: Option<String>,
    },
    /// The member claims what its predecessor had: a saved state.
    #[non_exhaustive]
    Resuming {
        /// The generation of the state.
        generation: i32,
        /// How many partitions it claims.
        claimed: usize,
        /// How many it does not, since they are not subscribed to or do not exist any more.
        dropped: usize,
    },
    /// A saved state is of another group, and so is not claimed.
    #[non_exhaustive]
    StateIgnored {
        /// The group that it is of.
        group: String,
    },
    /// The member was given its share of a generation. The rebalance callback follows.
    Assigned(Arc<Assigned>),
    /// The member has to give up partitions. The rebalance callback follows, on the same thread: the one that polls.
    #[non_exhaustive]
    Revoked {
        /// The generation that it was given them in, or kept them to.
        generation: i32,
        /// As whom it had them.
        member_id: String,
        /// Which, topic by topic, both sorted: under an eager strategy all, at every rebalance.
        partitions: Vec<(String, Vec<i32>)>,
        /// They are lost: somebody else may have them already, and they cannot be committed any more. The member
        /// missed its heartbeats, was polled too late, or the group has forgotten it.
        lost: bool,
    },
    /// The group does not accept the member. It tries again about once a second.
    #[non_exhaustive]
    Refused {
        /// The broker's answer. `InconsistentGroupProtocol`: none of the strategies offered is offered by all members.
        code: RDKafkaErrorCode,
        /// The strategies that this member offers, in order of preference.
        offered: Vec<String>,
        /// The strategy that the group used when this member was last given something.
        last_used: Option<String>,
    },
    /// The member joins again and again, and is given nothing. Said at the 4th time, the 8th, the 16th and so on.
    #[non_exhaustive]
    StillUnassigned {
        /// How often it has joined since it was last given something.
        joins: u32,
        /// For how long.
        since: Duration,
        /// Why it was refused last, if it was.
        refused: Option<RDKafkaErrorCode>,
    },
    /// An assignor panicked, erred, or planned something invalid. In `assign`, `kafka-sticky-core` assigned the round in
    /// its place; in `user_data`, the member joined without.
    #[non_exhaustive]
    AssignorFailed {
        /// The assignor's name.
        assignor: String,
        /// Which of its methods.
        method: &'static str,
        /// What it said.
        reason: String,
    },
    /// The user data of a member of the group is in no known form, so nothing is known of what it had.
    #[non_exhaustive]
    UserDataUnreadable {
        /// The member's id.
        member_id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The leader remembered what it gave to members that claim nothing themselves.
    #[non_exhaustive]
    Remembered {
        /// The members' ids.
        member_ids: Vec<String>,
    },
    /// The leader came to the bound on the work of one assignment: it is valid, but perhaps not the best.
    #[non_exhaustive]
    Unproven {
        /// The generation.
        generation: i32,
        /// Which objectives are proven all the same.
        proven: Proven,
    },
    /// librdkafka will leave this member out of the assignment: a leader of its kind drops members that name no topic,
    /// or more than 10,000.
    #[non_exhaustive]
    TooManyTopics {
        /// How many it names.
        topics: usize,
    },
    /// As many events as this happened before the oldest that is still known.
    Missed(u64),
}

impl Event {
    /// How many partitions and members it names.
    pub(crate) fn named(&self) -> usize {
        match self {
            Self::Assigned(assigned) => assigned.named(),
            Self::Revoked { partitions, .. } => partitions::count(partitions),
            Self::Remembered { member_ids } => member_ids.len(),
            _ => 1,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Joining { member_id, topics, attempt, after_loss } => {
                match member_id {
                    Some(id) => write!(f, "{id} joins with {topics} topics")?,
                    None => write!(f, "a new member joins with {topics} topics")?,
                }
                if *attempt > 1 {
                    write!(f, ", for the {attempt}th time since it was last given something")?;
                }
                after_loss.iter().try_for_each(|reason| write!(f, "; it had lost what it had: {reason}"))
            }
            Self::Resuming { generation, claimed, dropped } => write!(
                f,
                "claims {claimed} partitions by a saved state of generation {generation}, and passes over {dropped} \
                 that there are no longer"
            ),
            Self::StateIgnored { group } => {
                write!(f, "the saved state is of the group {group}, and is not used: keep one for each group")
            }
            Self::Assigned(assigned) => assigned.fmt(f),
            Self::Revoked { generation, member_id, partitions, lost } => {
                let verb = if *lost { "lost" } else { "gives up" };
                write!(f, "{member_id} {verb} {} of generation {generation}", ByTopic(partitions))
            }
            Self::Refused { code, offered, last_used } => {
                write!(f, "the group refuses this member ({code}), which offers {}", offered.join(", "))?;
                if let Some(used) = last_used {
                    write!(f, "; the group used {used} when this member was last in it")?;
                }
                if *code == RDKafkaErrorCode::InconsistentGroupProtocol {
                    f.write_str(
                        "; all members must offer one strategy in common: put the one that the group uses into \
                         partition.assignment.strategy, beside the new one",
                    )?;
                }
                Ok(())
            }
            Self::StillUnassigned { joins, since, refused } => {
                write!(f, "joined {joins} times in {:.0} s and was given nothing", since.as_secs_f64())?;
                refused.iter().try_for_each(|code| write!(f, "; refused last with {code}"))
            }
            Self::AssignorFailed { assignor, method, reason } => {
                write!(f, "the assignor {assignor} failed in {method}, and was replaced: {reason}")
            }
            Self::UserDataUnreadable { member_id, reason } => {
                write!(f, "the user data of {member_id} is unreadable, so what it had is not known: {reason}")
            }
            Self::Remembered { member_ids } => {
                write!(f, "remembered what members had that do not say it: {}", member_ids.join(", "))
            }
            Self::Unproven { generation, proven } => write!(
                f,
                "generation {generation} is assigned, but at the bound on the work: proven are {}",
                Objectives(*proven)
            ),
            Self::TooManyTopics { topics } => write!(
                f,
                "this member names {topics} topics, and librdkafka's leaders leave out who names more than 10,000: \
                 subscribe to fewer"
            ),
            Self::Missed(count) => write!(f, "{count} events were not read in time"),
        }
    }
}

struct Objectives(Proven);

impl fmt::Display for Objectives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Proven { balance, racks, moves, returns } = self.0;
        let proven = [(balance, "balance"), (racks, "racks"), (moves, "moves"), (returns, "returns")];
        let proven: Vec<&str> = proven.into_iter().filter_map(|(so, name)| so.then_some(name)).collect();
        f.write_str(if proven.is_empty() { "none" } else { "" })?;
        f.write_str(&proven.join(", "))
    }
}
