//! Every form of sticky user data that clients were seen to send: bar-7, foo-1, foo-0, generation 5.

use hex_literal::hex;
use kafka_sticky_protocol::{
    Framing, MemberClaims, Order, StickyUserData, StickyUserDataWriter, Strategy, Subscription, UserData,
};

const BARE: &[u8] =
    &hex!("00000002 0003626172 00000001 00000007 0003666f6f 00000002 00000001 00000000 00000005");
const FRAMED: &[u8] =
    &hex!("0001 00000002 0003626172 00000001 00000007 0003666f6f 00000002 00000001 00000000 00000005");

#[test]
fn the_bare_form_of_java_sarama_franz_go_aiokafka_and_kafka_python_2() {
    assert_reads(BARE, Framing::Bare);
}

#[test]
fn the_framed_form_of_kafka_python_3() {
    assert_reads(FRAMED, Framing::Framed);
}

fn assert_reads(bytes: &[u8], framing: Framing) {
    let user_data = StickyUserData::read(bytes).unwrap();
    assert_eq!(user_data.framing(), framing);
    assert_eq!((user_data.wire_version(), user_data.generation()), (1, Some(5)));
    assert!(user_data.previous_assignment().pairs().eq([("bar", 7), ("foo", 1), ("foo", 0)]));
    assert!(user_data.trailing().is_empty());

    let writer = StickyUserDataWriter::from(&user_data).order(Order::AsGiven);
    assert_eq!(writer.write(1).unwrap(), bytes);
}

#[test]
fn framed_versions_above_1_are_read_and_written_as_1() {
    let mut newer = FRAMED.to_vec();
    newer[1] = 9;
    newer.extend([0xaa, 0xbb]);
    let user_data = StickyUserData::read(&newer).unwrap();
    assert_eq!((user_data.wire_version(), user_data.version()), (9, 1));
    assert_eq!((user_data.generation(), user_data.trailing()), (Some(5), &[0xaa, 0xbb][..]));

    let written = StickyUserDataWriter::from(&user_data).order(Order::AsGiven).write(9).unwrap();
    assert_eq!(written, [FRAMED, &[0xaa, 0xbb]].concat());
}

/// Nothing tells it apart, and nobody sends it: kafka-python 3 writes version 1.
#[test]
fn framed_version_0_reads_as_the_bare_form_without_topics() {
    let bytes = StickyUserDataWriter::new([("foo", [1])], None).framing(Framing::Framed).write(0).unwrap();
    assert_eq!(bytes, hex!("0000 00000001 0003666f6f 00000001 00000001"));
    let user_data = StickyUserData::read(&bytes).unwrap();
    assert_eq!((user_data.framing(), user_data.previous_assignment().len()), (Framing::Bare, 0));
}

#[test]
fn a_first_join_of_kafka_python_3_claims_nothing() {
    let bytes = hex!("0000 00000002 0003626172 0003666f6f 00000000");
    let subscription = Subscription::read(&bytes).unwrap();
    assert!(subscription.topics().iter().eq(["bar", "foo"]));
    assert_eq!(subscription.user_data(), Some(&[][..]));

    let member = MemberClaims::read(Strategy::Sticky, &subscription);
    assert_eq!(member.user_data(), &UserData::Absent);
    assert!(member.claims().is_empty());
}

#[test]
fn a_rejoin_of_kafka_python_3_claims_what_it_had() {
    let bytes = [&hex!("0000 00000002 0003666f6f 0003626172 00000028")[..], FRAMED].concat();
    let subscription = Subscription::read(&bytes).unwrap();
    assert!(subscription.topics().iter().eq(["foo", "bar"]));
    assert_eq!((subscription.version(), subscription.trailing().len()), (0, 0));

    let member = MemberClaims::read(Strategy::Sticky, &subscription);
    assert!(member.claims().pairs().eq([("bar", 7), ("foo", 1), ("foo", 0)]));
    assert_eq!(member.claims_generation(), Some(5));
    assert!(member.holds().is_empty());
}

#[test]
fn franz_go_claims_nothing_under_eager() {
    let first_join = StickyUserData::read(&[0, 0, 0, 0]).unwrap();
    assert_eq!((first_join.version(), first_join.generation()), (0, None));
    assert!(first_join.previous_assignment().is_empty());

    let rejoin = StickyUserData::read(&[0, 0, 0, 0, 0, 0, 0, 8]).unwrap();
    assert_eq!((rejoin.version(), rejoin.generation()), (1, Some(8)));
    assert!(rejoin.previous_assignment().is_empty());
}

#[test]
fn the_two_forms_are_never_mistaken_for_each_other() {
    // What the other form would have to be: a count of topics that nothing can hold.
    let as_count = i32::from_be_bytes(FRAMED[..4].try_into().unwrap());
    assert!(as_count >= 65_536);
    for length in 0..FRAMED.len() {
        assert!(StickyUserData::read(&FRAMED[..length]).is_err(), "{length} bytes of the framed form");
    }
}
