//! From a `ClientConfig` to a consumer that offers its strategies.

use std::fmt;
use std::sync::Arc;

use rdkafka::ClientConfig;
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, DefaultConsumerContext};
use rdkafka::error::RDKafkaErrorCode;
#[cfg(feature = "tokio")]
use rdkafka::{consumer::StreamConsumer, util::AsyncRuntime};

use crate::assignor::Assignor;
use crate::error::Error;
use crate::ffi::{self, Installed, Names, Offer, Refused};
use crate::member::{Follower, Member, Place};
use crate::saved_state::SavedState;
use crate::shared::Shared;
use crate::sticky::{CooperativeSticky, Sticky};
use crate::strategy::{RebalanceProtocol, Strategies, Strategy};

const STRATEGY: &str = "partition.assignment.strategy";
const GROUP_PROTOCOL: &str = "group.protocol";

/// Creates consumers whose `partition.assignment.strategy` may name this crate's strategies.
///
/// The two methods stand beside [`ClientConfig::create`] and [`ClientConfig::create_with_context`] and do what those
/// do. [`Assignors`] does the same with assignors of your own.
///
/// ```no_run
/// use kafka_sticky_rdkafka_adapter::CreateConsumer;
/// use rdkafka::ClientConfig;
/// use rdkafka::consumer::{BaseConsumer, Consumer};
///
/// let consumer: BaseConsumer = ClientConfig::new()
///     .set("bootstrap.servers", "localhost:9092")
///     .set("group.id", "billing")
///     .set("partition.assignment.strategy", "sticky")
///     .create_consumer()?;
/// consumer.subscribe(&["orders"])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait CreateConsumer {
    /// Creates a [`BaseConsumer`] or `StreamConsumer` with rdkafka's default context.
    ///
    /// # Errors
    ///
    /// See [`Error`]: the configuration names something that there is not or that does not go together, or librdkafka
    /// refuses.
    fn create_consumer<T>(&self) -> Result<T, Error>
    where
        T: FromClientConfigAndContext<DefaultConsumerContext> + AssignedConsumer<DefaultConsumerContext>;

    /// Creates a [`BaseConsumer`] or `StreamConsumer` with a context of your own, which need not know of this crate.
    ///
    /// # Errors
    ///
    /// As [`create_consumer`](Self::create_consumer).
    fn create_consumer_with_context<C, T>(&self, context: C) -> Result<T, Error>
    where
        C: ConsumerContext,
        T: FromClientConfigAndContext<C> + AssignedConsumer<C>;
}

impl CreateConsumer for ClientConfig {
    fn create_consumer<T>(&self) -> Result<T, Error>
    where
        T: FromClientConfigAndContext<DefaultConsumerContext> + AssignedConsumer<DefaultConsumerContext>,
    {
        Assignors::new().create_consumer(self, DefaultConsumerContext)
    }

    fn create_consumer_with_context<C, T>(&self, context: C) -> Result<T, Error>
    where
        C: ConsumerContext,
        T: FromClientConfigAndContext<C> + AssignedConsumer<C>,
    {
        Assignors::new().create_consumer(self, context)
    }
}

/// The assignors that `partition.assignment.strategy` may name besides librdkafka's: [`Sticky`], [`CooperativeSticky`], and
/// yours.
///
/// ```no_run
/// # use kafka_sticky_rdkafka_adapter::{Assignor, AssignorError, Plan, RebalanceProtocol, Round};
/// # struct ByLag;
/// # impl Assignor for ByLag {
/// #     fn name(&self) -> &str { "by-lag" }
/// #     fn rebalance_protocol(&self) -> RebalanceProtocol { RebalanceProtocol::Eager }
/// #     fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> { Ok(Plan::new(round)) }
/// # }
/// use kafka_sticky_rdkafka_adapter::Assignors;
/// use rdkafka::ClientConfig;
/// use rdkafka::consumer::{BaseConsumer, DefaultConsumerContext};
///
/// let mut config = ClientConfig::new();
/// config.set("group.id", "billing").set("partition.assignment.strategy", "by-lag, sticky");
/// let assignors = Assignors::new().with(ByLag);
/// let consumer: BaseConsumer = assignors.create_consumer(&config, DefaultConsumerContext)?;
/// # Ok::<(), kafka_sticky_rdkafka_adapter::Error>(())
/// ```
#[derive(Clone)]
pub struct Assignors {
    known: Vec<Arc<dyn Assignor>>,
    resumed: Option<SavedState>,
}

impl Assignors {
    /// This crate's two.
    pub fn new() -> Self {
        Self { known: vec![Arc::new(Sticky::new()), Arc::new(CooperativeSticky::new())], resumed: None }
    }

    /// Adds one of yours. It stands in for another of the same name, be that librdkafka's.
    pub fn with(mut self, assignor: impl Assignor) -> Self {
        self.known.push(Arc::new(assignor));
        self
    }

    /// Has the consumer claim, when it first joins, what its predecessor had: for one consumer, as two with the same claims
    /// would cancel each other out. Strategies of librdkafka's claim nothing.
    ///
    /// ```
    /// use std::fs;
    ///
    /// use kafka_sticky_rdkafka_adapter::{Assignors, Membership, SavedState};
    /// use rdkafka::ClientConfig;
    /// use rdkafka::consumer::{BaseConsumer, DefaultConsumerContext};
    ///
    /// # let path = std::env::temp_dir().join("no state here");
    /// let mut assignors = Assignors::new();
    /// // Whatever is wrong with it: without a state the consumer starts as any new member.
    /// if let Some(state) = fs::read(path).ok().and_then(|bytes| SavedState::from_bytes(&bytes).ok()) {
    ///     assignors = assignors.resuming(state);
    /// }
    /// let mut config = ClientConfig::new();
    /// config.set("group.id", "billing").set("partition.assignment.strategy", "sticky");
    /// let consumer: BaseConsumer = assignors.create_consumer(&config, DefaultConsumerContext)?;
    /// # Ok::<(), kafka_sticky_rdkafka_adapter::Error>(())
    /// ```
    pub fn resuming(self, state: SavedState) -> Self {
        Self { resumed: Some(state), ..self }
    }

    /// Creates a consumer that offers what its configuration names. Each consumer has a membership of its own; the
    /// assignors are shared.
    ///
    /// # Errors
    ///
    /// As [`CreateConsumer::create_consumer`].
    pub fn create_consumer<C, T>(&self, config: &ClientConfig, context: C) -> Result<T, Error>
    where
        C: ConsumerContext,
        T: FromClientConfigAndContext<C> + AssignedConsumer<C>,
    {
        if config.get(GROUP_PROTOCOL).is_some_and(|protocol| protocol.eq_ignore_ascii_case("consumer")) {
            return Err(Error::GroupProtocol);
        }
        let strategies = Strategies::parse(config.get(STRATEGY).unwrap_or(Strategies::DEFAULT), &self.known)?;

        let mut config = config.clone();
        // librdkafka knows only its own names when the client is created. This one stands in until they are installed.
        config.set(STRATEGY, "range");
        let mut consumer: T = config.create_with_context(context)?;
        install_strategies(&mut consumer, strategies, self.resumed.clone())?;
        Ok(consumer)
    }

    /// Gives a consumer that was created elsewhere its strategies, in place of those it was configured with: for
    /// consumers whose creation is not in your hands. `strategies` is what `partition.assignment.strategy` would say.
    ///
    /// # Errors
    ///
    /// As [`CreateConsumer::create_consumer`], and [`Error::AlreadySubscribed`]. After an error the consumer must not be
    /// subscribed: it may offer only some of its strategies.
    ///
    /// ```
    /// use kafka_sticky_rdkafka_adapter::Assignors;
    /// use rdkafka::ClientConfig;
    /// use rdkafka::consumer::BaseConsumer;
    ///
    /// let mut consumer: BaseConsumer = ClientConfig::new().set("group.id", "billing").create()?;
    /// Assignors::new().install(&mut consumer, "sticky")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn install<C, T>(&self, consumer: &mut T, strategies: &str) -> Result<(), Error>
    where
        C: ConsumerContext,
        T: AssignedConsumer<C>,
    {
        install_strategies(consumer, Strategies::parse(strategies, &self.known)?, self.resumed.clone())
    }
}

impl Default for Assignors {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Assignors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.known.iter().map(|assignor| assignor.name())).finish()
    }
}

fn install_strategies<C, T>(
    consumer: &mut T,
    strategies: Strategies,
    resumed: Option<SavedState>,
) -> Result<(), Error>
where
    C: ConsumerContext,
    T: AssignedConsumer<C>,
{
    // Anything else that is asked of such a consumer would not be answered.
    if let Installed::InAnotherProcess(process) = ffi::installed(consumer) {
        return Err(Error::forked(process));
    }
    let topics = match consumer.subscription() {
        Ok(subscription) => subscription.count(),
        Err(error) if error.rdkafka_error_code() == Some(RDKafkaErrorCode::UnknownGroup) => {
            return Err(Error::NoGroup);
        }
        Err(error) => return Err(error.into()),
    };
    if topics > 0 {
        return Err(Error::AlreadySubscribed { topics });
    }
    ffi::install(consumer, |names| offers(strategies, names, resumed)).map_err(|refused| match refused {
        Refused::Version { built_for, linked } => Error::LibrdkafkaVersion { built_for, linked },
        Refused::Layout => Error::LibrdkafkaLayout,
        Refused::NoGroup => Error::NoGroup,
        Refused::Code(code) => Error::Register(code),
    })
}

fn offers(
    Strategies { offered, protocol }: Strategies,
    names: Names,
    resumed: Option<SavedState>,
) -> Vec<Offer> {
    let strategies = offered.iter().map(|strategy| strategy.name().to_string_lossy().into_owned());
    let shared = Arc::new(Shared::new(names, strategies.collect(), resumed));
    let offer = |(index, strategy)| {
        let place = if index == 0 { Place::First } else { Place::Later };
        let shared = Arc::clone(&shared);
        match strategy {
            Strategy::Builtin(name) => {
                // Both are ASCII.
                let follower = Follower::new(name.to_str().unwrap_or_default(), place, shared);
                Offer::Builtin { name, callbacks: Arc::new(follower) }
            }
            Strategy::Ours { name, assignor } => Offer::Ours {
                name,
                cooperative: protocol == RebalanceProtocol::Cooperative,
                callbacks: Arc::new(Member::new(assignor, protocol, place, shared)),
            },
        }
    };
    offered.into_iter().enumerate().map(offer).collect()
}

/// The consumers that can be given strategies: rdkafka's own two.
///
/// Sealed: that a consumer is subscribed only through a reference to it is what makes installing safe.
pub trait AssignedConsumer<C: ConsumerContext>: Consumer<C> + sealed::Sealed {}

impl<C: ConsumerContext> AssignedConsumer<C> for BaseConsumer<C> {}

#[cfg(feature = "tokio")]
impl<C: ConsumerContext + 'static, R: AsyncRuntime> AssignedConsumer<C> for StreamConsumer<C, R> {}

mod sealed {
    use super::*;

    pub trait Sealed {}

    impl<C: ConsumerContext> Sealed for BaseConsumer<C> {}

    #[cfg(feature = "tokio")]
    impl<C: ConsumerContext + 'static, R: AsyncRuntime> Sealed for StreamConsumer<C, R> {}
}
