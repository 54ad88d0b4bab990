use core::fmt;
use core::str::FromStr;

use thiserror::Error;

use crate::error::ReadError;
use crate::sticky::StickyUserData;
use crate::subscription::Subscription;
use crate::views::TopicPartitions;

/// Which of Kafka's sticky strategies a group runs; they read claims from different places.
///
/// ```
/// use kafka_sticky_protocol::Strategy;
///
/// assert_eq!("cooperative-sticky".parse(), Ok(Strategy::CooperativeSticky));
/// assert_eq!(Strategy::Sticky.to_string(), "sticky");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Strategy {
    /// `sticky`: members give up everything before they join, and say in their user data what they
    /// had.
    Sticky,
    /// `cooperative-sticky`: members keep what they own while they join, and list it in their
    /// subscription (KIP-429).
    CooperativeSticky,
}

impl Strategy {
    /// The strategy's name in a group.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sticky => "sticky",
            Self::CooperativeSticky => "cooperative-sticky",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        match name {
            "sticky" => Ok(Self::Sticky),
            "cooperative-sticky" => Ok(Self::CooperativeSticky),
            _ => Err(UnknownStrategy),
        }
    }
}

/// A name that is neither `sticky` nor `cooperative-sticky`.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
#[error("not a sticky strategy; there are `sticky` and `cooperative-sticky`")]
pub struct UnknownStrategy;

/// What a member's user data turns out to be under a strategy.
///
/// ```
/// use kafka_sticky_protocol::{Strategy, UserData};
///
/// // Java's and Sarama's members of a cooperative group send four bytes.
/// let user_data = UserData::read(Strategy::CooperativeSticky, Some(&[0, 0, 0, 9]));
/// assert_eq!(user_data, UserData::Generation(Some(9)));
///
/// // Under `sticky` the same bytes would be nine topics, and there is not one.
/// let user_data = UserData::read(Strategy::Sticky, Some(&[0, 0, 0, 9]));
/// assert!(matches!(user_data, UserData::Unreadable(_)));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum UserData<'a> {
    /// Null or no bytes: the member says nothing.
    Absent,
    /// Exactly four bytes under `cooperative-sticky`: the generation of the owned partitions, `None`
    /// where it is negative. Java and Sarama send this.
    Generation(Option<i32>),
    /// Sticky user data, in any of its forms. Under `cooperative-sticky`, librdkafka and franz-go
    /// send this.
    Sticky(StickyUserData<'a>),
    /// Anything else, with what is wrong with it as sticky user data.
    Unreadable(ReadError),
}

impl<'a> UserData<'a> {
    /// Reads user data; there is none for which this fails.
    ///
    /// A topic name that is not UTF-8 is read as Java reads it: as the name of a topic that does not
    /// exist, which costs the member nothing but its claims on that one. Otherwise nothing is
    /// allocated.
    pub fn read(strategy: Strategy, user_data: Option<&'a [u8]>) -> Self {
        let Some(bytes) = user_data.filter(|bytes| !bytes.is_empty()) else {
            return Self::Absent;
        };
        if let (Strategy::CooperativeSticky, Ok(generation)) = (strategy, <[u8; 4]>::try_from(bytes)) {
            return Self::Generation(non_negative(i32::from_be_bytes(generation)));
        }
        match StickyUserData::read_lossy(bytes) {
            Ok(sticky) => Self::Sticky(sticky),
            Err(error) => Self::Unreadable(error),
        }
    }

    /// The generation it has, in whatever form; `None` where that is negative.
    pub fn generation(&self) -> Option<i32> {
        match self {
            Self::Generation(generation) => *generation,
            Self::Sticky(sticky) => sticky.generation(),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }

    /// The partitions it lists, if any.
    fn partitions(&self) -> TopicPartitions<'_> {
        match self {
            Self::Sticky(sticky) => sticky.previous_assignment(),
            Self::Absent | Self::Generation(_) | Self::Unreadable(_) => TopicPartitions::default(),
        }
    }

    /// Whether this is version 1 of sticky user data and lists partitions.
    fn is_v1_with_partitions(&self) -> bool {
        match self {
            Self::Sticky(sticky) => sticky.version() == 1 && sticky.previous_assignment().has_partitions(),
            Self::Absent | Self::Generation(_) | Self::Unreadable(_) => false,
        }
    }
}

fn non_negative(generation: i32) -> Option<i32> {
    Some(generation).filter(|generation| *generation >= 0)
}

/// The user data of a member of a `cooperative-sticky` group, as Java writes it: four bytes, the
/// generation, -1 for none.
///
/// ```
/// use kafka_sticky_protocol::cooperative_user_data;
///
/// assert_eq!(cooperative_user_data(Some(9)), [0, 0, 0, 9]);
/// assert_eq!(cooperative_user_data(None), [0xff; 4]);
/// ```
pub fn cooperative_user_data(generation: Option<i32>) -> [u8; 4] {
    generation.unwrap_or(-1).max(-1).to_be_bytes()
}

/// What a member claims and holds, read from its subscription by the rules of a strategy.
///
/// A *claim* is what it had, and would best keep. A *hold* is what it still processes, so that
/// nobody else may have it yet.
///
/// | | claims | their generation | holds |
/// |---|---|---|---|
/// | `sticky` | the user data's partitions | the user data's | none |
/// | `cooperative-sticky`, owned partitions | these | the subscription's, else the user data's | as the claims |
/// | `cooperative-sticky`, no owned partitions, or version 0 | the partitions of version 1 user data | that user data's | none |
///
/// All is as the member says: nothing tells whether the partitions exist, or are subscribed to, and
/// any of them may be listed twice.
///
/// ```
/// use kafka_sticky_protocol::{
///     MemberClaims, Strategy, StickyUserDataWriter, Subscription, SubscriptionWriter, UserData,
/// };
///
/// let user_data = StickyUserDataWriter::new([("orders", [0, 1])], Some(7)).write(1)?;
/// let subscription = SubscriptionWriter::new(["orders"]).user_data(Some(&user_data)).write(3)?;
///
/// let subscription = Subscription::read(&subscription)?;
/// let member = MemberClaims::read(Strategy::Sticky, &subscription);
/// assert!(member.claims().pairs().eq([("orders", 0), ("orders", 1)]));
/// assert_eq!(member.claims_generation(), Some(7));
/// assert!(member.holds().is_empty());
///
/// if let UserData::Unreadable(error) = member.user_data() {
///     eprintln!("claims nothing, as its user data cannot be read: {error}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemberClaims<'a> {
    owned: TopicPartitions<'a>,
    owned_generation: Option<i32>,
    user_data: UserData<'a>,
    source: Source,
}

/// Where the claims are.
#[derive(Clone, Copy, Debug)]
enum Source {
    OwnedPartitions,
    UserData,
}

impl<'a> MemberClaims<'a> {
    /// Reads a member's claims and holds; there is no subscription for which this fails.
    ///
    /// Where only the pieces of a subscription are known,
    /// [`SubscriptionWriter::build`](crate::SubscriptionWriter::build) puts them together.
    pub fn read(strategy: Strategy, subscription: &'a Subscription<'_>) -> Self {
        let user_data = UserData::read(strategy, subscription.user_data());
        match strategy {
            Strategy::Sticky => Self {
                owned: TopicPartitions::default(),
                owned_generation: None,
                user_data,
                source: Source::UserData,
            },
            Strategy::CooperativeSticky => {
                let owned = subscription.owned_partitions();
                let source = if !owned.has_partitions() && user_data.is_v1_with_partitions() {
                    Source::UserData
                } else {
                    Source::OwnedPartitions
                };
                let owned_generation = subscription.generation_id().or(user_data.generation());
                Self { owned, owned_generation, user_data, source }
            }
        }
    }

    /// The partitions that the member claims.
    pub fn claims(&self) -> TopicPartitions<'_> {
        match self.source {
            Source::OwnedPartitions => self.owned,
            Source::UserData => self.user_data.partitions(),
        }
    }

    /// The generation of its claims.
    pub fn claims_generation(&self) -> Option<i32> {
        match self.source {
            Source::OwnedPartitions => self.owned_generation,
            Source::UserData => self.user_data.generation(),
        }
    }

    /// The partitions that the member still processes.
    pub fn holds(&self) -> TopicPartitions<'_> {
        self.owned
    }

    /// The generation of its holds.
    pub fn holds_generation(&self) -> Option<i32> {
        self.owned_generation
    }

    /// What its user data is, unreadable included.
    pub fn user_data(&self) -> &UserData<'a> {
        &self.user_data
    }
}
