//! From a `ClientConfig` to a consumer that offers its strategies.

use std::sync::Arc;

use rdkafka::ClientConfig;
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, DefaultConsumerContext};
use rdkafka::error::RDKafkaErrorCode;
#[cfg(feature = "tokio")]
use rdkafka::{consumer::StreamConsumer, util::AsyncRuntime};

use crate::error::Error;
use crate::ffi::{self, Offer, Refused};
use crate::member::Member;
use crate::strategy::{Strategies, Strategy};

const STRATEGY: &str = "partition.assignment.strategy";
const GROUP_PROTOCOL: &str = "group.protocol";

/// Creates consumers whose `partition.assignment.strategy` may name this crate's strategies.
///
/// The two methods stand beside [`ClientConfig::create`] and [`ClientConfig::create_with_context`] and do what those
/// do; a configuration that names none of this crate's strategies gives the very same consumer.
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
        self.create_consumer_with_context(DefaultConsumerContext)
    }

    fn create_consumer_with_context<C, T>(&self, context: C) -> Result<T, Error>
    where
        C: ConsumerContext,
        T: FromClientConfigAndContext<C> + AssignedConsumer<C>,
    {
        if self.get(GROUP_PROTOCOL).is_some_and(|protocol| protocol.eq_ignore_ascii_case("consumer")) {
            return Err(Error::GroupProtocol);
        }
        let configured = self.get(STRATEGY).unwrap_or(Strategies::DEFAULT);
        let strategies = Strategies::parse(configured)?;

        let mut config = self.clone();
        // librdkafka knows only its own names when the client is created. This one stands in until `install`.
        config.set(STRATEGY, "range");
        let mut consumer: T = config.create_with_context(context)?;
        install_strategies(&mut consumer, &strategies)?;
        Ok(consumer)
    }
}

/// Gives a consumer that was created elsewhere its strategies, in place of those it was configured with.
///
/// `strategies` is what `partition.assignment.strategy` would say. [`CreateConsumer`] does this for you; it is for
/// consumers whose creation is not in your hands.
///
/// # Errors
///
/// As [`CreateConsumer::create_consumer`], and [`Error::AlreadySubscribed`]. After an error the consumer must not be
/// subscribed: it may offer only some of its strategies.
///
/// ```
/// use kafka_sticky_rdkafka_adapter::install;
/// use rdkafka::ClientConfig;
/// use rdkafka::consumer::BaseConsumer;
///
/// let mut consumer: BaseConsumer = ClientConfig::new().set("group.id", "billing").create()?;
/// install(&mut consumer, "sticky")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn install<C, T>(consumer: &mut T, strategies: &str) -> Result<(), Error>
where
    C: ConsumerContext,
    T: AssignedConsumer<C>,
{
    let strategies = Strategies::parse(strategies)?;
    install_strategies(consumer, &strategies)
}

fn install_strategies<C, T>(consumer: &mut T, strategies: &Strategies) -> Result<(), Error>
where
    C: ConsumerContext,
    T: AssignedConsumer<C>,
{
    let topics = match consumer.subscription() {
        Ok(subscription) => subscription.count(),
        Err(error) if error.rdkafka_error_code() == Some(RDKafkaErrorCode::UnknownGroup) => return Err(Error::NoGroup),
        Err(error) => return Err(error.into()),
    };
    if topics > 0 {
        return Err(Error::AlreadySubscribed { topics });
    }
    ffi::install(consumer, strategies.iter().map(offer).collect()).map_err(|refused| match refused {
        Refused::Version { built_for, linked } => Error::LibrdkafkaVersion { built_for, linked },
        Refused::Layout => Error::LibrdkafkaLayout,
        Refused::NoGroup => Error::NoGroup,
        Refused::Code(code) => Error::Register(code),
    })
}

fn offer(strategy: Strategy) -> Offer {
    match strategy {
        Strategy::Sticky => {
            Offer::Ours { name: strategy.name(), cooperative: false, callbacks: Arc::new(Member::new()) }
        }
        Strategy::Range | Strategy::RoundRobin | Strategy::CooperativeSticky => Offer::Builtin(strategy.name()),
    }
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
