//! Bad input is said in one line: where it is and what was expected. Exit status 2, nothing on standard output.

use snapbox::cmd::Command;

use crate::command::kafka_sticky;

/// Fails with this status and a line that starts so.
#[track_caller]
fn refused_with(command: Command, status: i32, expected: &str) {
    let output = command.output().expect("the command runs");
    let said = String::from_utf8(output.stderr).expect("errors are UTF-8");
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.ends_with('\n'), "{said}");
    let said = said.trim_end();
    assert!(said.starts_with(&format!("kafka-sticky: {expected}")), "{said}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[track_caller]
fn refused(group: &str, expected: &str) {
    let command = kafka_sticky(["assign"]).stdin(group.to_owned());
    refused_with(command, 2, &format!("standard input: {expected}"));
}

#[test]
fn no_json() {
    refused("members: consumer-1", "$: expected value at line 1 column 1");
}

#[test]
fn cut_off_json() {
    refused("{\"topics\": {\"a\": 1", "$.topics: EOF while parsing an object at line 1 column 18");
}

#[test]
fn more_than_one_value() {
    refused("{} {}", "$: trailing characters, expected the end at line 1 column 4");
}

#[test]
fn a_wrong_type() {
    refused(
        r#"{"members": {"consumer-1": {"topics": "orders"}}}"#,
        "$.members.consumer-1.topics: invalid type: string \"orders\", expected a sequence at line 1 column 46",
    );
}

#[test]
fn a_wrong_type_deep_inside() {
    refused(
        r#"{"members": {"my consumer": {"owned": {"orders": [0, "1"]}}}}"#,
        "$.members[\"my consumer\"].owned.orders[1]: invalid type: string \"1\", expected i32 at line 1 column 56",
    );
}

#[test]
fn a_list_in_place_of_an_object() {
    refused("[]", "$: invalid type: sequence, expected an object at line 1 column 0");
    refused(r#"{"members": {"a": [["orders"]]}}"#, "$.members.a: invalid type: sequence, expected an object");
    let command = kafka_sticky(["encode", "assignment"]).stdin(r#"{"assigned_partitions": [["t", [0]]]}"#);
    refused_with(
        command,
        2,
        "standard input: $.assigned_partitions[0]: invalid type: sequence, expected an object",
    );
}

#[test]
fn an_unknown_field() {
    refused(
        r#"{"members": {"a": {"topic": []}}}"#,
        "$.members.a.topic: unknown field `topic`, expected one of `topics`, `owned`",
    );
}

#[test]
fn an_unknown_strategy() {
    refused(
        r#"{"protocol": "range"}"#,
        "$.protocol: unknown variant `range`, expected `sticky` or `cooperative-sticky`",
    );
}

#[test]
fn a_negative_count() {
    refused(
        r#"{"topics": {"orders": -1}}"#,
        "$.topics.orders: invalid value: integer `-1`, expected a number of partitions, 0 to 2147483647",
    );
}

#[test]
fn a_partition_count_of_2_to_the_31() {
    refused(
        r#"{"topics": {"orders": {"partitions": 2147483648}}}"#,
        "$.topics.orders.partitions: invalid value: integer `2147483648`, expected a number of partitions, 0 to 2147483647",
    );
}

#[test]
fn too_many_partitions_in_all() {
    refused(
        r#"{"topics": {"a": 1073741824, "b": 1073741824}}"#,
        "$.topics: topic \"b\" brings the partitions to 2^31 - 1 or more",
    );
}

#[test]
fn a_partition_number_beyond_int32() {
    refused(
        r#"{"members": {"a": {"owned": {"t": [2147483648]}}}}"#,
        "$.members.a.owned.t[0]: invalid value: integer `2147483648`, expected i32",
    );
}

#[test]
fn racks_for_another_number_of_partitions() {
    refused(
        r#"{"topics": {"orders": {"partitions": 2, "racks": [["a"]]}}}"#,
        "$.topics.orders: `racks` has 1 lists, expected one for each of 2 partitions",
    );
}

#[test]
fn a_name_given_twice() {
    refused(r#"{"topics": {"b": 1, "a": 2, "b": 3}}"#, "$.topics: \"b\" is given twice, expected it once");
    refused(r#"{"members": {"a": {}, "a": {}}}"#, "$.members: \"a\" is given twice, expected it once");
    refused(r#"{"topics": {}, "topics": {}}"#, "$: duplicate field `topics`");
}

#[test]
fn names_with_line_breaks_stay_in_one_line() {
    refused(
        "{\"members\": {\"a\\nb\\u001b[31m\": 7}}",
        "$.members[\"a\\nb\\u001b[31m\"]: invalid type: integer `7`, expected an object",
    );
}

#[test]
fn an_empty_file() {
    refused("", "$: nothing there, expected a JSON object");
    let decode = kafka_sticky(["decode", "subscription"]).stdin("");
    refused_with(decode, 2, "standard input: version at byte 0: needs 2 bytes, but 0 are left");
}

#[test]
fn a_directory() {
    refused_with(kafka_sticky(["assign", "docs"]), 2, "cannot read docs: Is a directory");
    refused_with(kafka_sticky(["assign", "--jsonl", "docs"]), 2, "cannot read docs: Is a directory");
}

#[test]
fn a_file_that_is_not_there() {
    refused_with(kafka_sticky(["simulate", "nowhere.json"]), 2, "cannot read nowhere.json: No such file");
}

#[track_caller]
fn event_refused(event: &str, expected: &str) {
    let run = format!(
        r#"{{"group": {{"topics": {{"orders": 6}}, "members": {{"a": {{"topics": ["orders"]}}}}}},
            "events": [{{"grow": {{"orders": 7}}}}, {event}]}}"#
    );
    let command = kafka_sticky(["simulate"]).stdin(run);
    refused_with(command, 2, &format!("standard input: $.events[1].{expected}"));
}

#[test]
fn an_unknown_member_in_an_event() {
    event_refused(r#"{"leave": "b"}"#, "leave: \"b\" is no member at this point, expected one");
    event_refused(
        r#"{"subscribe": {"b": []}}"#,
        "subscribe.b: \"b\" is no member at this point, expected one",
    );
}

#[test]
fn an_unknown_topic_in_an_event() {
    event_refused(r#"{"delete": "clicks"}"#, "delete: \"clicks\" is no topic at this point, expected one");
    event_refused(
        r#"{"grow": {"clicks": 1}}"#,
        "grow.clicks: \"clicks\" is no topic at this point, expected one",
    );
}

#[test]
fn what_exists_already_in_an_event() {
    event_refused(
        r#"{"join": {"a": {}}}"#,
        "join.a: this member is in the group already, expected a new one",
    );
    event_refused(
        r#"{"create": {"orders": 1}}"#,
        "create.orders: this topic exists already, expected a new one",
    );
}

#[test]
fn a_topic_that_shrinks() {
    event_refused(
        r#"{"grow": {"orders": 6}}"#,
        "grow.orders: 6 partitions, expected at least the 7 that there are: topics do not shrink",
    );
}

#[test]
fn an_event_that_there_is_not() {
    let command = kafka_sticky(["simulate"]).stdin(r#"{"events": [{"crash": "a"}]}"#);
    refused_with(command, 2, "standard input: $.events[0]: unknown variant `crash`, expected one of `join`");
}

#[test]
fn cut_off_hex() {
    let odd = kafka_sticky(["decode", "user-data", "--hex", "0000 0"]);
    refused_with(odd, 2, "--hex: byte 5: cut off in the middle of a byte, expected hex digits");
    let cut =
        kafka_sticky(["decode", "subscription", "--hex", "0001 00000001 0003 666f6f ffffffff 00000001"]);
    refused_with(
        cut,
        2,
        "--hex: owned_partitions at byte 19: needs 6 bytes, but 0 are left; \
         read before it: version 1, topics [\"foo\"], user_data null",
    );
}

#[test]
fn what_is_no_hex() {
    let command = kafka_sticky(["decode", "user-data", "--hex", "00 0g"]);
    refused_with(command, 2, "--hex: byte 4: found 'g', expected hex digits, two for each byte");
}

#[test]
fn what_is_no_base64() {
    let command = kafka_sticky(["decode", "user-data", "--base64", "AAA*"]);
    refused_with(command, 2, "--base64: byte 3: found '*', expected base64");
}

#[test]
fn a_cut_off_assignment_says_what_was_read() {
    let command = kafka_sticky([
        "decode",
        "assignment",
        "--hex",
        "0000 00000001 0001 74 00000001 00000005 00000004 01",
    ]);
    refused_with(
        command,
        2,
        "--hex: user_data at byte 21: needs 4 bytes, but 1 are left; read before it: version 0, \
         assigned_partitions [{\"partitions\":[5],\"topic\":\"t\"}]",
    );
}

#[test]
fn a_negative_version() {
    let decode = kafka_sticky(["decode", "subscription", "--hex", "ffff 00000000 ffffffff"]);
    refused_with(decode, 2, "--hex: version at byte 0: -1 is negative");
    let encode = kafka_sticky(["encode", "subscription"]).stdin("{\"version\": -1}");
    refused_with(encode, 2, "standard input: $: cannot write version -1: versions start at 0");
    let encode = kafka_sticky(["encode", "assignment", "--version", "-1"]).stdin("{}");
    refused_with(encode, 2, "standard input: $: cannot write version -1: versions start at 0");
}

#[test]
fn invalid_utf8() {
    let hex = "0000 00000001 0003 61ff62 ffffffff";
    let strict = kafka_sticky(["decode", "subscription", "--hex", hex]);
    refused_with(strict, 2, "--hex: topics at byte 9: not valid UTF-8; read before it: version 0");
    kafka_sticky(["decode", "subscription", "--lossy", "--hex", hex]).assert().success();
}

#[test]
fn an_unknown_field_of_a_message() {
    let command = kafka_sticky(["encode", "subscription"]).stdin("{\"topic\": []}");
    refused_with(
        command,
        2,
        "standard input: $.topic: unknown field `topic`, expected one of `version`, `topics`",
    );
}

#[test]
fn odd_hex_in_a_message() {
    let command = kafka_sticky(["encode", "subscription"]).stdin("{\"user_data\": \"012\"}");
    refused_with(
        command,
        2,
        "standard input: $.user_data: invalid length at 2 of the string, expected two hex digits",
    );
}

#[test]
fn wrong_usage() {
    refused_with(kafka_sticky([]), 2, "'kafka-sticky' requires a subcommand but one was not provided");
    refused_with(kafka_sticky(["assing"]), 2, "unrecognized subcommand 'assing'");
    refused_with(
        kafka_sticky(["assign", "--format", "xml"]),
        2,
        "invalid value 'xml' for '--format <FORMAT>'",
    );
    refused_with(kafka_sticky(["assign", "--jsonl", "--format", "table"]), 2, "--jsonl prints JSON");
    refused_with(kafka_sticky(["man", "nothing"]), 2, "there is no command \"nothing\"");
    refused_with(
        kafka_sticky(["decode", "user-data", "--hex", "00", "--base64", "00"]),
        2,
        "the argument '--hex [<HEX>]' cannot be used with '--base64 [<TEXT>]'",
    );
}

#[test]
fn a_picture_that_cannot_be_written() {
    let command = kafka_sticky(["simulate", "--svg", "nowhere/run.svg", "docs/cli/run.json"]);
    refused_with(command, 1, "cannot write nowhere/run.svg: No such file");
}
