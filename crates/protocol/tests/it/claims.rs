//! What members claim and hold, by strategy.

use hex_literal::hex;
use kafka_sticky_protocol::{
    Framing, MemberClaims, StickyUserDataWriter, Strategy, Subscription, SubscriptionWriter, UnknownStrategy,
    UserData, cooperative_user_data,
};

use Strategy::{CooperativeSticky, Sticky};

/// Claims with their generation, holds with theirs.
type Read = ((Vec<(String, i32)>, Option<i32>), (Vec<(String, i32)>, Option<i32>));

fn read(strategy: Strategy, writer: &SubscriptionWriter<'_>, version: i16) -> Read {
    let bytes = writer.write(version).unwrap();
    let subscription = Subscription::read(&bytes).unwrap();
    let member = MemberClaims::read(strategy, &subscription);
    let owned = |(topic, partition): (&str, i32)| (topic.to_owned(), partition);
    (
        (member.claims().pairs().map(owned).collect(), member.claims_generation()),
        (member.holds().pairs().map(owned).collect(), member.holds_generation()),
    )
}

fn partitions<const N: usize>(pairs: [(&str, i32); N]) -> Vec<(String, i32)> {
    pairs.map(|(topic, partition)| (topic.to_owned(), partition)).into()
}

fn sticky_v1() -> Vec<u8> {
    StickyUserDataWriter::new([("a", [1, 2])], Some(6)).write(1).unwrap()
}

fn sticky_v0() -> Vec<u8> {
    StickyUserDataWriter::new([("a", [1, 2])], None).write(0).unwrap()
}

fn framed() -> Vec<u8> {
    StickyUserDataWriter::new([("a", [1, 2])], Some(6)).framing(Framing::Framed).write(1).unwrap()
}

fn owning<'a>(user_data: Option<&'a [u8]>, generation: Option<i32>) -> SubscriptionWriter<'a> {
    SubscriptionWriter::new(["a", "b"])
        .user_data(user_data)
        .owned_partitions([("b", [0])])
        .generation_id(generation)
}

fn owning_nothing<'a>(user_data: Option<&'a [u8]>, generation: Option<i32>) -> SubscriptionWriter<'a> {
    SubscriptionWriter::new(["a", "b"]).user_data(user_data).generation_id(generation)
}

#[test]
fn sticky_claims_come_from_the_user_data_alone_in_any_form() {
    let a = || partitions([("a", 1), ("a", 2)]);
    for version in 0..=3 {
        let cases = [
            (sticky_v1(), (a(), Some(6))),
            (sticky_v0(), (a(), None)),
            (framed(), (a(), Some(6))),
            (vec![], (vec![], None)),
            (vec![1, 2, 3], (vec![], None)),
            (hex!("00000009").into(), (vec![], None)),
        ];
        for (user_data, claims) in cases {
            let (read, holds) = read(Sticky, &owning(Some(&user_data), Some(9)), version);
            assert_eq!(read, claims, "version {version}, {user_data:02x?}");
            assert_eq!(holds, (vec![], None), "sticky members hold nothing while they join");
        }
        assert_eq!(read(Sticky, &owning(None, Some(9)), version), ((vec![], None), (vec![], None)));
    }
}

#[test]
fn cooperative_claims_and_holds_are_the_owned_partitions() {
    let b = || partitions([("b", 0)]);
    let user_data = sticky_v1();
    // The subscription's generation decides where it has one, whatever the user data says.
    for user_data in [None, Some(&user_data[..]), Some(&hex!("00000003")), Some(&[1, 2, 3])] {
        for version in 2..=3 {
            let expected = ((b(), Some(9)), (b(), Some(9)));
            assert_eq!(read(CooperativeSticky, &owning(user_data, Some(9)), version), expected);
        }
    }
}

#[test]
fn cooperative_generations_come_from_the_user_data_where_the_subscription_has_none() {
    let b = || partitions([("b", 0)]);
    let cases: &[(Option<&[u8]>, Option<i32>)] = &[
        (None, None),
        (Some(&[]), None),
        (Some(&hex!("0000")), None),
        (Some(&hex!("00000003")), Some(3)),
        (Some(&hex!("fffffffe")), None),
        (Some(&sticky_v1()), Some(6)),
        (Some(&framed()), Some(6)),
        (Some(&sticky_v0()), None),
        (Some(&hex!("00000000 00000008")), Some(8)),
        (Some(&hex!("00000003 00000001")), None),
    ];
    for (user_data, generation) in cases {
        let expected = ((b(), *generation), (b(), *generation));
        assert_eq!(read(CooperativeSticky, &owning(*user_data, Some(9)), 1), expected, "{user_data:02x?}");
        assert_eq!(read(CooperativeSticky, &owning(*user_data, None), 3), expected, "{user_data:02x?}");
        assert_eq!(read(CooperativeSticky, &owning(*user_data, Some(-7)), 2), expected, "{user_data:02x?}");
    }
}

#[test]
fn cooperative_members_that_own_nothing_claim_what_version_1_user_data_lists() {
    let a = || partitions([("a", 1), ("a", 2)]);
    for user_data in [sticky_v1(), framed()] {
        for version in 0..=3 {
            // With the user data's own generation, newer one in the subscription or not.
            let (claims, (holds, _)) =
                read(CooperativeSticky, &owning_nothing(Some(&user_data), Some(9)), version);
            assert_eq!(claims, (a(), Some(6)), "version {version}");
            assert_eq!(holds, [], "claims of user data are never holds");
        }
    }
}

#[test]
fn cooperative_version_0_has_claims_but_never_holds() {
    let user_data = sticky_v1();
    let (claims, (holds, _)) = read(CooperativeSticky, &owning(Some(&user_data), Some(9)), 0);
    assert_eq!(claims, (partitions([("a", 1), ("a", 2)]), Some(6)));
    assert_eq!(holds, []);
}

#[test]
fn cooperative_user_data_of_version_0_is_no_claim() {
    let user_data = sticky_v0();
    let (claims, holds) = read(CooperativeSticky, &owning_nothing(Some(&user_data), None), 3);
    assert_eq!((claims.0, holds.0), (vec![], vec![]));
}

#[test]
fn topics_without_partitions_are_not_owned_partitions() {
    let user_data = sticky_v1();
    let bytes = [
        &hex!("0001 00000001 000161")[..],
        &(user_data.len() as i32).to_be_bytes(),
        &user_data,
        &hex!("00000001 000162 00000000"),
    ]
    .concat();
    let subscription = Subscription::read(&bytes).unwrap();
    let member = MemberClaims::read(CooperativeSticky, &subscription);
    assert!(member.claims().pairs().eq([("a", 1), ("a", 2)]));
    assert!(!member.holds().has_partitions());
}

#[test]
fn an_unreadable_claim_is_told_from_an_absent_one() {
    for strategy in [Sticky, CooperativeSticky] {
        let user_data = |bytes| {
            let subscription = SubscriptionWriter::new(["a"]).user_data(bytes).build(3).unwrap();
            matches!(MemberClaims::read(strategy, &subscription).user_data(), UserData::Unreadable(_))
        };
        assert!(!user_data(None));
        assert!(!user_data(Some(&[])));
        assert!(user_data(Some(&[1, 2, 3])));
    }
}

#[test]
fn a_topic_name_that_is_not_utf8_costs_no_other_claim() {
    let user_data = hex!("00000002 0001ff 00000001 00000000 000161 00000001 00000001 00000006");
    let (claims, _) = read(Sticky, &owning_nothing(Some(&user_data), None), 3);
    assert_eq!(claims, (partitions([("\u{fffd}", 0), ("a", 1)]), Some(6)));
}

#[test]
fn cooperative_generation_round_trips_as_in_java() {
    for (generation, expected) in [(None, None), (Some(10), Some(10)), (Some(-5), None)] {
        let bytes = cooperative_user_data(generation);
        assert_eq!(UserData::read(CooperativeSticky, Some(&bytes)).generation(), expected);
    }
    assert_eq!(UserData::read(CooperativeSticky, None).generation(), None);
}

#[test]
fn strategies_are_known_by_kafkas_names() {
    for strategy in [Sticky, CooperativeSticky] {
        assert_eq!(strategy.name().parse(), Ok(strategy));
    }
    assert_eq!("range".parse::<Strategy>(), Err(UnknownStrategy));
    assert_eq!("Sticky".parse::<Strategy>(), Err(UnknownStrategy));
}
