//! Groups as a real Kafka 4.3 described them: the bytes are those of Java's clients 4.3.1.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::{
    Answer,
    cluster::{Described, DescribedMember},
    table,
    view::View,
    what_if::WhatIf,
};

/// `StickyAssignor`, after a fourth member joined that has nothing to claim.
const STICKY: [(&str, &str, &str); 4] = [
    (
        "consumer-1-ce82",
        "0003000000020006636c69636b7300066f72646572730000002c000000020006636c69636b73000000020000000000000002\
         00066f72646572730000000100000003000000020000000000000002ffff",
        "0003000000020006636c69636b73000000010000000200066f72646572730000000100000003ffffffff",
    ),
    (
        "consumer-2-5087",
        "0003000000020006636c69636b7300066f72646572730000002c000000020006636c69636b730000000100000001\
         00066f7264657273000000020000000100000004000000020000000000000002ffff",
        "00030000000100066f7264657273000000020000000100000004ffffffff",
    ),
    (
        "consumer-3-e18c",
        "00030000000100066f7264657273000000200000000100066f72646572730000000300000000000000020000000500000002\
         0000000000000002ffff",
        "00030000000100066f726465727300000003000000000000000200000005ffffffff",
    ),
    (
        "consumer-4-1d2b",
        "0003000000020006636c69636b7300066f7264657273ffffffff00000000ffffffff00067261636b2d61",
        "0003000000010006636c69636b73000000020000000000000001ffffffff",
    ),
];

/// `CooperativeStickyAssignor`.
const COOPERATIVE: [(&str, &str, &str); 3] = [
    (
        "consumer-1-14b2",
        "0003000000020006636c69636b7300066f72646572730000000400000003000000020006636c69636b7300000002\
         000000000000000200066f7264657273000000010000000500000003ffff",
        "0003000000020006636c69636b7300000002000000000000000200066f72646572730000000100000005ffffffff",
    ),
    (
        "consumer-2-63c3",
        "0003000000020006636c69636b7300066f72646572730000000400000003000000020006636c69636b730000000100000001\
         00066f726465727300000002000000020000000400000003ffff",
        "0003000000020006636c69636b73000000010000000100066f7264657273000000020000000200000004ffffffff",
    ),
    (
        "consumer-3-89eb",
        "00030000000100066f726465727300000004000000030000000000000003ffff",
        "00030000000100066f726465727300000003000000000000000100000003ffffffff",
    ),
];

/// `RangeAssignor`.
const RANGE: [(&str, &str, &str); 3] = [
    (
        "consumer-1-70b6",
        "0003000000020006636c69636b7300066f7264657273ffffffff0000000000000002ffff",
        "0003000000020006636c69636b7300000002000000000000000100066f7264657273000000020000000000000001ffffffff",
    ),
    (
        "consumer-2-e21a",
        "0003000000020006636c69636b7300066f7264657273ffffffff0000000000000002ffff",
        "0003000000020006636c69636b73000000010000000200066f7264657273000000020000000200000003ffffffff",
    ),
    (
        "consumer-3-8d1f",
        "00030000000100066f7264657273ffffffff00000000ffffffffffff",
        "00030000000100066f7264657273000000020000000400000005ffffffff",
    ),
];

fn described(protocol: &str, members: &[(&str, &str, &str)]) -> Described {
    let bytes = |hex: &str| HEXLOWER.decode(hex.as_bytes()).unwrap();
    let member = |&(id, metadata, assignment): &(&str, &str, &str)| DescribedMember {
        id: id.to_owned(),
        client_id: id[..10].to_owned(),
        host: "127.0.0.1".to_owned(),
        metadata: bytes(metadata),
        assignment: bytes(assignment),
    };
    Described {
        group: "billing".to_owned(),
        state: "Stable".to_owned(),
        protocol_type: "consumer".to_owned(),
        protocol: protocol.to_owned(),
        members: members.iter().map(member).collect(),
        topics: BTreeMap::from([("clicks".to_owned(), 3), ("orders".to_owned(), 6), ("other".to_owned(), 1)]),
    }
}

fn answer(described: &Described, without: &[&str], with: u32) -> Result<(Value, String), String> {
    let view = View::of(described);
    let without: Vec<String> = without.iter().map(|member| (*member).to_owned()).collect();
    let what_if = WhatIf { without: &without, with };
    let next = what_if.is_asked().then(|| what_if.answer(&view)).transpose();
    let next = next.map_err(|error| error.to_string())?;
    let json = serde_json::to_value(Answer { view: &view, next: next.as_ref() }).unwrap();
    valid(&json);
    let mut text = Vec::new();
    table::print(&mut text, &view, next.as_ref()).unwrap();
    Ok((json, String::from_utf8(text).unwrap()))
}

#[track_caller]
fn valid(json: &Value) {
    let mut schema: Value = serde_json::from_str(include_str!("../../schemas/formats.schema.json")).unwrap();
    schema["$ref"] = "#/$defs/group_view".into();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = schema.iter_errors(json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{json}");
}

#[test]
fn a_sticky_group_is_shown_with_its_claims() {
    let (json, text) = answer(&described("sticky", &STICKY), &[], 0).unwrap();
    let first = &json["members"]["consumer-1-ce82"];
    assert_eq!(first["claims"], json!({"clicks": [0, 2], "orders": [3]}));
    assert_eq!((&first["generation"], &first["load"]), (&json!(2), &json!(2)));
    assert_eq!(json["members"]["consumer-4-1d2b"]["rack"], "rack-a");
    assert_eq!(json["topics"], json!({"clicks": 3, "orders": 6}));
    assert_eq!(json.get("next"), None);
    assert_data_eq!(
        text,
        str![[r#"
billing: Stable, sticky

  member            host        subscribes to   claimed when it joined   assigned         load
────────────────────────────────────────────────────────────────────────────────────────────────
  consumer-1-ce82   127.0.0.1   clicks          clicks 0, 2              clicks 2            2
                                orders          orders 3                 orders 3
                                                in generation 2
  consumer-2-5087   127.0.0.1   clicks          clicks 1                 orders 1, 4         2
                                orders          orders 1, 4
                                                in generation 2
  consumer-3-e18c   127.0.0.1   orders          orders 0, 2, 5           orders 0, 2, 5      3
                                                in generation 2
  consumer-4-1d2b   127.0.0.1   clicks          –                        clicks 0, 1         2
                                orders

4 members and 9 partitions: 2 to 3 each. No split is more even.
Note: members have racks; those of the replicas are not asked for, so racks do not count here

"#]]
    );
}

#[test]
fn what_if_says_what_moves_and_why() {
    let (json, text) = answer(&described("sticky", &STICKY), &["consumer-2"], 0).unwrap();
    let next = &json["next"];
    assert_eq!(next["without"], json!(["consumer-2-5087"]));
    assert_eq!(next["report"]["moved"], 0);
    let of_the_leaver =
        |change: &Value| change["from"] == "consumer-2-5087" && change["reason"] == "unclaimed";
    assert!(next["changes"].as_array().unwrap().iter().all(of_the_leaver), "{next}");
    assert_data_eq!(
        text,
        str![[r#"
billing: Stable, sticky

  member            host        subscribes to   claimed when it joined   assigned         load
────────────────────────────────────────────────────────────────────────────────────────────────
  consumer-1-ce82   127.0.0.1   clicks          clicks 0, 2              clicks 2            2
                                orders          orders 3                 orders 3
                                                in generation 2
  consumer-2-5087   127.0.0.1   clicks          clicks 1                 orders 1, 4         2
                                orders          orders 1, 4
                                                in generation 2
  consumer-3-e18c   127.0.0.1   orders          orders 0, 2, 5           orders 0, 2, 5      3
                                                in generation 2
  consumer-4-1d2b   127.0.0.1   clicks          –                        clicks 0, 1         2
                                orders

4 members and 9 partitions: 2 to 3 each. No split is more even.
Note: members have racks; those of the replicas are not asked for, so racks do not count here

The next rebalance without consumer-2-5087

  member            assigned
────────────────────────────────────
  consumer-1-ce82   clicks 2
                    orders 3, 4
  consumer-3-e18c   orders 0, 2, 5
  consumer-4-1d2b   clicks 0, 1
                    orders 1

3 members and 9 partitions: 3 each. All 7 that had an owner stay. Proven optimal.

  topic    partitions   from              to                reason
───────────────────────────────────────────────────────────────────────
  orders   4            consumer-2-5087   consumer-1-ce82   unclaimed
  orders   1            consumer-2-5087   consumer-4-1d2b   unclaimed


"#]]
    );
}

#[test]
fn under_cooperative_sticky_what_moves_is_withheld() {
    let (json, text) = answer(&described("cooperative-sticky", &COOPERATIVE), &[], 1).unwrap();
    assert_eq!(json["members"]["consumer-1-14b2"]["claims"], json!({"clicks": [0, 2], "orders": [5]}));
    assert_eq!(json["members"]["consumer-1-14b2"]["generation"], 3);
    assert_eq!(json["next"]["with"], json!(["new-1"]));
    assert_eq!(json["next"]["assignment"]["new-1"], json!({}));
    assert_eq!(json["next"]["changes"].as_array().unwrap().len(), 2);
    assert_data_eq!(
        text,
        str![[r#"
billing: Stable, cooperative-sticky

  member            host        subscribes to   claimed when it joined   assigned         load
────────────────────────────────────────────────────────────────────────────────────────────────
  consumer-1-14b2   127.0.0.1   clicks          clicks 0, 2              clicks 0, 2         3
                                orders          orders 5                 orders 5
                                                in generation 3
  consumer-2-63c3   127.0.0.1   clicks          clicks 1                 clicks 1            3
                                orders          orders 2, 4              orders 2, 4
                                                in generation 3
  consumer-3-89eb   127.0.0.1   orders          –                        orders 0, 1, 3      3

3 members and 9 partitions: 3 each. No split is more even.

The next rebalance with new-1

  member            assigned      withheld
────────────────────────────────────────────
  consumer-1-14b2   clicks 0, 2   –
                    orders 5
  consumer-2-63c3   orders 2, 4   –
  consumer-3-89eb   orders 0, 1   –
  new-1             –             clicks 1
                                  orders 3

4 members and 9 partitions: 2 to 3 each. Of 9 that had an owner, 7 stay and 2 move. Proven optimal.

  topic    partitions   from              to      reason
───────────────────────────────────────────────────────────
  clicks   1            consumer-2-63c3   new-1   balance
  orders   3            consumer-3-89eb   new-1   balance


"#]]
    );
}

#[test]
fn a_range_group_is_read_and_answered_as_sticky() {
    let (json, text) = answer(&described("range", &RANGE), &[], 2).unwrap();
    assert_eq!(json["balance"]["sum_of_squares"], 29);
    assert_eq!(json["balance"]["least_sum_of_squares"], 27);
    assert_eq!(json["members"]["consumer-1-70b6"]["generation"], 2);
    assert_eq!(json["next"]["protocol"], "sticky");
    assert!(text.contains("Note: as sticky does it; the group runs range\n"), "{text}");
}

#[test]
fn roundrobin_is_read_and_other_strategies_are_said_to_be_unknown() {
    let (json, _) = answer(&described("roundrobin", &RANGE), &[], 0).unwrap();
    assert_eq!(json["notes"], json!([]));
    let (json, _) = answer(&described("by-lag", &RANGE), &[], 0).unwrap();
    assert_eq!(json["notes"], json!(["what members of a \"by-lag\" group claim is not known"]));
    assert_eq!(json["members"]["consumer-3-8d1f"]["topics"], json!(["orders"]));
    assert_eq!(json["members"]["consumer-3-8d1f"]["load"], 2);
}

#[test]
fn groups_of_others_are_not_read() {
    let connect = Described { protocol_type: "connect".to_owned(), ..described("sessioned", &RANGE) };
    let (json, _) = answer(&connect, &[], 0).unwrap();
    assert_eq!(json["balance"], Value::Null);
    assert_eq!(json["members"]["consumer-1-70b6"]["assignment"], json!({}));
    assert_eq!(json["notes"][0], "a group of type \"connect\", not of consumers: its bytes are not read");
}

#[test]
fn one_member_that_cannot_be_read_costs_the_others_nothing() {
    let mut group = described("sticky", &STICKY);
    group.members[0].metadata.truncate(40);
    group.members[1].metadata[30] = 0xff;
    group.members[2].assignment.truncate(3);
    let (json, text) = answer(&group, &[], 0).unwrap();
    assert_eq!(
        json["members"]["consumer-1-ce82"]["notes"],
        json!(["its subscription cannot be read: user_data at byte 26: needs 44 bytes, but 14 are left"])
    );
    assert!(
        json["members"]["consumer-2-5087"]["notes"][0]
            .as_str()
            .unwrap()
            .starts_with("its user data cannot be read")
    );
    assert!(
        json["members"]["consumer-3-e18c"]["notes"][0]
            .as_str()
            .unwrap()
            .starts_with("its assignment cannot be read")
    );
    assert_eq!(json["members"]["consumer-4-1d2b"]["notes"], json!([]));
    assert_eq!(text.matches("Note: consumer-").count(), 3, "{text}");
}

#[test]
fn a_rebalancing_group_says_that_the_broker_does_not_say_more() {
    let silent = [("consumer-1-ce82", "", ""), ("consumer-2-5087", "", "")];
    let group = Described { state: "PreparingRebalance".to_owned(), ..described("", &silent) };
    let (json, _) = answer(&group, &[], 0).unwrap();
    assert_eq!(json["balance"], Value::Null);
    assert_eq!(
        json["notes"],
        json!(["while a group is PreparingRebalance, the broker does not say what its members have"])
    );
    let refused = answer(&group, &[], 1).unwrap_err();
    assert!(refused.ends_with("(PreparingRebalance); try again when it is Stable"), "{refused}");
}

#[test]
fn an_empty_group_has_nobody_to_ask_about() {
    let group = Described { state: "Empty".to_owned(), ..described("", &[]) };
    let (json, text) = answer(&group, &[], 0).unwrap();
    assert_eq!(json["notes"], json!(["the group has no members"]));
    assert_eq!(text, "billing: Empty, no protocol\n\nNote: the group has no members\n");
    assert_eq!(answer(&group, &[], 1).unwrap_err(), "the group has no members to start from");
}

#[test]
fn who_is_to_leave_must_be_one_member() {
    let mut group = described("sticky", &STICKY);
    let refused = answer(&group, &["consumer-9"], 0).unwrap_err();
    assert!(
        refused.starts_with("\"consumer-9\" is no member of the group; there are consumer-1-ce82, "),
        "{refused}"
    );
    group.members[1].client_id = "consumer-1".to_owned();
    let refused = answer(&group, &["consumer-1"], 0).unwrap_err();
    assert_eq!(refused, "several members have the client id \"consumer-1\"; name a member id");
    assert!(answer(&group, &["consumer-1-ce82"], 0).is_ok());
}

#[test]
fn topics_that_may_not_be_seen_are_said() {
    let mut group = described("sticky", &STICKY);
    group.topics.remove("clicks");
    let (json, _) = answer(&group, &[], 0).unwrap();
    assert_eq!(json["topics"], json!({"orders": 6}));
    assert!(json["notes"].to_string().contains("topic \\\"clicks\\\" does not exist, or may not be seen"));
}
