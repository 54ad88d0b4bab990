//! From a configuration to a consumer, or to an error that says what to do.

use kafka_sticky_rdkafka_adapter::{Assignors, CreateConsumer, Error, Membership};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer, DefaultConsumerContext, StreamConsumer};

fn config(strategies: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("group.id", "group").set("partition.assignment.strategy", strategies);
    config
}

fn refused(config: &ClientConfig) -> Error {
    match config.create_consumer::<BaseConsumer>() {
        Ok(_) => panic!("{config:?} gave a consumer"),
        Err(error) => error,
    }
}

#[test]
fn gives_a_base_consumer() {
    let consumer: BaseConsumer = config("sticky").create_consumer().unwrap();
    assert!(Membership::of(&consumer).unwrap().assigned().is_none());
}

#[tokio::test]
async fn gives_a_stream_consumer() {
    let consumer: StreamConsumer = config("sticky, range").create_consumer().unwrap();
    assert!(Membership::of(&consumer).is_some());
}

#[test]
fn passes_strategies_of_librdkafka_through() {
    for strategies in ["range", "roundrobin,range"] {
        let consumer: BaseConsumer = config(strategies).create_consumer().unwrap();
        assert!(Membership::of(&consumer).is_some(), "{strategies}");
    }
    let consumer: BaseConsumer = ClientConfig::new().set("group.id", "group").create_consumer().unwrap();
    assert!(Membership::of(&consumer).is_some());
}

#[test]
fn leaves_other_consumers_alone() {
    let consumer: BaseConsumer = config("range").create().unwrap();
    assert!(Membership::of(&consumer).is_none());
}

#[test]
fn refuses_the_consumer_group_protocol() {
    let error = refused(config("sticky").set("group.protocol", "consumer"));
    assert!(matches!(error, Error::GroupProtocol), "{error:?}");
    assert!(error.to_string().contains("set group.protocol to \"classic\""), "{error}");
}

#[test]
fn refuses_a_strategy_that_there_is_not() {
    let error = refused(&config("sticky,stickier"));
    assert!(matches!(&error, Error::UnknownStrategy { name, .. } if name == "stickier"), "{error:?}");
}

#[test]
fn takes_strategies_of_both_rebalance_protocols_which_librdkafka_refuses() {
    let consumer: BaseConsumer = config("cooperative-sticky,sticky,range").create_consumer().unwrap();
    assert!(Membership::of(&consumer).is_some());
    assert!(config("cooperative-sticky,range").create::<BaseConsumer>().is_err());
}

#[test]
fn refuses_a_consumer_without_a_group() {
    let error = refused(ClientConfig::new().set("partition.assignment.strategy", "sticky"));
    assert!(matches!(error, Error::NoGroup), "{error:?}");
}

#[test]
fn passes_on_what_librdkafka_refuses() {
    let error = refused(config("sticky").set("session.timeout.ms", "soon"));
    assert!(matches!(error, Error::Kafka(_)), "{error:?}");
    assert!(error.to_string().contains("session.timeout.ms"), "{error}");
}

#[test]
fn refuses_a_consumer_that_has_subscribed() {
    let mut consumer: BaseConsumer = config("range").create().unwrap();
    consumer.subscribe(&["orders", "payments"]).unwrap();
    let error = Assignors::new().install(&mut consumer, "sticky").unwrap_err();
    assert!(matches!(error, Error::AlreadySubscribed { topics: 2 }), "{error:?}");
}

#[test]
fn installs_in_a_consumer_made_elsewhere() {
    let mut consumer: BaseConsumer<DefaultConsumerContext> =
        config("roundrobin").create_with_context(DefaultConsumerContext).unwrap();
    Assignors::new().install(&mut consumer, "sticky").unwrap();
    assert!(Membership::of(&consumer).is_some());
}

#[test]
fn installs_other_strategies_over_the_first() {
    let mut consumer: BaseConsumer = config("sticky,range").create_consumer().unwrap();
    for strategies in ["range", "cooperative-sticky", "roundrobin,sticky,range"] {
        Assignors::new().install(&mut consumer, strategies).unwrap();
        assert!(Membership::of(&consumer).is_some(), "{strategies}");
    }
}
