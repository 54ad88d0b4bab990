//! What is printed, and what the docs say to put in, is valid by the schemas; what is decoded encodes to the same bytes.

use std::{fs, sync::LazyLock};

use jsonschema::Validator;
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};

use crate::command::{assigned, json as printed, kafka_sticky, root};

static SCHEMAS: LazyLock<Value> = LazyLock::new(|| {
    let path = root().join("crates/cli/schemas/formats.schema.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
});

fn schema(definition: &str) -> Validator {
    let mut schema = SCHEMAS.clone();
    assert!(schema["$defs"].get(definition).is_some(), "{definition}");
    schema["$ref"] = format!("#/$defs/{definition}").into();
    jsonschema::validator_for(&schema).expect("the schema is valid")
}

#[track_caller]
pub(crate) fn valid(definition: &str, value: &Value) {
    let schema = schema(definition);
    let errors: Vec<String> =
        schema.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{definition}: {errors:?}\n{value}");
}

fn example(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(root().join("docs/cli").join(name)).unwrap()).unwrap()
}

#[test]
fn the_examples_are_valid_input() {
    valid("group", &example("group.json"));
    valid("subscription", &{
        let mut subscription = example("subscription.json");
        for (field, default) in
            [("user_data", Value::Null), ("generation_id", Value::Null), ("rack_id", Value::Null)]
        {
            subscription[field] = default;
        }
        subscription["trailing"] = "".into();
        subscription
    });
    valid("run", &example("run.json"));
    valid("run", &example("cooperative.json"));
}

#[test]
fn results_are_valid() {
    let result = printed(kafka_sticky(["assign", "docs/cli/group.json"]));
    valid("result", &result);
    assert_eq!(result.get("changes"), None);
    let explained = printed(kafka_sticky(["assign", "--explain", "docs/cli/group.json"]));
    valid("result", &explained);
    assert_eq!(explained["changes"].as_array().unwrap().len(), 3);
    let lines = kafka_sticky(["assign", "--jsonl", "docs/cli/groups.jsonl"]).output().unwrap().stdout;
    let lines: Vec<Value> =
        serde_json::Deserializer::from_slice(&lines).into_iter().map(Result::unwrap).collect();
    valid("result", &lines[0]);
    valid("bad_line", &lines[1]);
    valid("result", &lines[2]);
}

#[test]
fn histories_are_valid() {
    for run in ["docs/cli/run.json", "docs/cli/cooperative.json"] {
        valid("history", &printed(kafka_sticky(["simulate", run])));
    }
}

#[test]
fn what_the_schema_refuses_is_refused() {
    for group in [
        json!({"topics": {"t": -1}}),
        json!({"topics": {"t": 2_147_483_648_u32}}),
        json!({"topics": {"t": {"racks": []}}}),
        json!({"members": {"m": {"topic": []}}}),
        json!({"members": {"m": {"owned": {"t": [2_147_483_648_u32]}}}}),
        json!({"protocol": "range"}),
        json!([]),
    ] {
        assert!(!schema("group").is_valid(&group), "{group}");
        assert_eq!(
            kafka_sticky(["assign"]).stdin(group.to_string()).output().unwrap().status.code(),
            Some(2)
        );
    }
}

#[test]
fn absent_fields_have_their_defaults() {
    let result =
        assigned(&json!({"topics": {"t": 2}, "members": {"m": {}, "n": {"topics": ["t", "t", "nowhere"]}}}));
    valid("result", &result);
    assert_eq!(result["assignment"], json!({"m": {}, "n": {"t": [0, 1]}}));
    valid("result", &assigned(&json!({})));
}

#[test]
fn the_generation_being_formed_decides_which_claims_can_be_true() {
    let group = |forming: Value| {
        json!({"generation": forming, "topics": {"t": 1}, "members": {
            "a": {"topics": ["t"], "owned": {"t": [0]}, "generation": 8},
            "b": {"topics": ["t"], "owned": {"t": [0]}, "generation": 7}}})
    };
    assert_eq!(assigned(&group(9.into()))["assignment"]["a"], json!({"t": [0]}));
    assert_eq!(assigned(&group(Value::Null))["assignment"]["a"], json!({"t": [0]}));
    assert_eq!(assigned(&group(8.into()))["assignment"]["b"], json!({"t": [0]}));
}

#[test]
fn holds_withhold_under_cooperative_sticky_alone() {
    let group = |protocol: &str, holds: Value| {
        json!({"protocol": protocol, "topics": {"t": 1}, "members": {
            "a": {"topics": [], "owned": {"t": [0]}, "holds": holds},
            "b": {"topics": ["t"]}}})
    };
    let cooperative = assigned(&group("cooperative-sticky", Value::Null));
    assert_eq!(cooperative["withheld"], json!({"b": {"t": [0]}}));
    assert_eq!(cooperative["changes"][0]["reason"], "unsubscribed");
    assert_eq!(assigned(&group("cooperative-sticky", json!({})))["withheld"], json!({}));
    assert_eq!(assigned(&group("sticky", json!({"t": [0]})))["withheld"], json!({}));
}

#[test]
fn names_may_be_anything_that_json_can_say() {
    let name = "a \"b\"\n\u{1f600}\\";
    let result = assigned(&json!({"topics": {name: 1}, "members": {name: {"topics": [name]}}}));
    assert_eq!(result["assignment"], json!({name: {name: [0]}}));
}

/// The message of `decode` for these bytes as hex, if they can be read.
fn decoded(message: &str, bytes: &str) -> Option<Value> {
    let output = kafka_sticky(["decode", message, "--hex", bytes]).output().unwrap();
    output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
}

fn encoded(message: &str, json: &Value) -> String {
    let output = kafka_sticky(["encode", message]).stdin(json.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn well_known_bytes_read_and_write_as_themselves() {
    let cases = [
        ("subscription", "00010000000200036261720003666f6f0000000201020000000100036261720000000100000007"),
        ("subscription", "00030000000100036f6e65ffffffff00000000ffffffffffff"),
        ("subscription", "00030000000100036f6e650000000000000000000000050000"),
        ("assignment", "0000000000010003666f6f000000020000000100000000ffffffff"),
        ("user_data", "00000002000362617200000001000000070003666f6f".trim_end_matches('x')),
        ("user_data", "000000010003666f6f00000002000000000000000100000005"),
        ("user_data", "000000010003666f6f000000020000000000000001"),
        ("user_data", "0001000000010003666f6f00000002000000000000000100000005"),
    ];
    for (message, bytes) in cases {
        let command = message.replace('_', "-");
        let Some(json) = decoded(&command, bytes) else { continue };
        valid(message, &json);
        assert_eq!(encoded(&command, &json), bytes, "{json}");
    }
}

#[test]
fn four_bytes_are_a_generation_under_cooperative_sticky() {
    let cooperative = |arguments: [&str; 2], stdin: &str| {
        let command = kafka_sticky([arguments[0], "user-data", "--protocol", "cooperative-sticky"]);
        let command = if arguments[1].is_empty() { command } else { command.args(["--hex", arguments[1]]) };
        let output = command.stdin(stdin.to_owned()).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    for (bytes, generation, again) in
        [("00000009", json!(9), "00000009"), ("fffffffe", Value::Null, "ffffffff")]
    {
        let said = cooperative(["decode", bytes], "");
        let json: Value = serde_json::from_str(&said).unwrap();
        valid("cooperative_user_data", &json);
        assert_eq!(json["generation"], generation);
        assert_eq!(cooperative(["encode", ""], &said).trim_end(), again);
    }
    let v1 = "000000010003666f6f00000002000000000000000100000005";
    let said = cooperative(["decode", v1], "");
    assert_eq!(cooperative(["encode", ""], &said).trim_end(), v1);
}

#[test]
fn raw_bytes_and_base64_read_as_hex_does() {
    let expected = decoded("assignment", "0000 00000000\nffffffff").unwrap();
    let raw = kafka_sticky(["decode", "assignment"]).stdin(b"\0\0\0\0\0\0\xff\xff\xff\xff".to_vec());
    assert_eq!(printed(raw), expected);
    for text in ["AAAAAAAA/////w==", "AAAAAAAA/////w", "AAAA AAAA\n/////w=="] {
        assert_eq!(printed(kafka_sticky(["decode", "assignment", "--base64", text])), expected);
        assert_eq!(printed(kafka_sticky(["decode", "assignment", "--base64"]).stdin(text)), expected);
    }
    assert_eq!(
        printed(kafka_sticky(["decode", "assignment", "--hex"]).stdin("000000000000FFFFFFFF\n")),
        expected
    );
}

#[test]
fn versions_above_3_are_said_as_they_are_and_written_as_3() {
    let json = decoded("subscription", "0007 00000000 ffffffff 00000000 00000001 ffff 0102").unwrap();
    valid("subscription", &json);
    assert_eq!((&json["version"], &json["trailing"]), (&json!(7), &json!("0102")));
    assert_eq!(encoded("subscription", &json), "000300000000ffffffff0000000000000001ffff0102");
}

#[test]
fn what_is_left_out_of_a_message_has_its_default() {
    assert_eq!(encoded("subscription", &json!({})), "000300000000ffffffff00000000ffffffffffff");
    assert_eq!(encoded("assignment", &json!({})), "000300000000ffffffff");
    assert_eq!(encoded("user-data", &json!({})), "00000000ffffffff");
    let older = kafka_sticky(["encode", "user-data", "--version", "0"]).stdin("{}").output().unwrap();
    assert_eq!(older.stdout, b"00000000\n");
}

/// Bytes of a subscription of any version, as they come from members, nulls as -1.
fn subscriptions() -> impl Strategy<Value = String> {
    let name = "[a-z]{0,3}";
    let names = vec(name, 0..3);
    let owned = vec((name, vec(any::<i32>(), 0..3)), 0..3);
    let user_data = proptest::option::of(vec(any::<u8>(), 0..5));
    let parts =
        (0..4_i16, names, user_data, owned, -1..i32::MAX, proptest::option::of(name), vec(any::<u8>(), 0..3));
    parts.prop_map(|(version, topics, user_data, owned, generation, rack, trailing)| {
        let mut bytes = Vec::new();
        let string = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as i16).to_be_bytes());
            bytes.extend(text.bytes());
        };
        bytes.extend(version.to_be_bytes());
        bytes.extend((topics.len() as i32).to_be_bytes());
        topics.iter().for_each(|topic| string(&mut bytes, topic));
        bytes.extend(user_data.as_ref().map_or(-1, |data| data.len() as i32).to_be_bytes());
        bytes.extend(user_data.unwrap_or_default());
        if version >= 1 {
            bytes.extend((owned.len() as i32).to_be_bytes());
            for (topic, partitions) in owned {
                string(&mut bytes, &topic);
                bytes.extend((partitions.len() as i32).to_be_bytes());
                bytes.extend(partitions.iter().flat_map(|partition| partition.to_be_bytes()));
            }
        }
        if version >= 2 {
            bytes.extend(generation.to_be_bytes());
        }
        if version >= 3 {
            match rack {
                Some(rack) => string(&mut bytes, &rack),
                None => bytes.extend((-1_i16).to_be_bytes()),
            }
        }
        bytes.extend(trailing);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    })
}

#[test]
fn encode_gives_back_what_decode_read() {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(100) });
    let round_trip = |bytes: String| {
        let json = decoded("subscription", &bytes).expect("it can be read");
        valid("subscription", &json);
        prop_assert_eq!(encoded("subscription", &json), bytes);
        Ok(())
    };
    runner.run(&subscriptions(), round_trip).unwrap();
}
