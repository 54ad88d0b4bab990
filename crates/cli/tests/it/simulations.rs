//! A simulation is `assign`, again and again, with what members then own.

use std::fs;

use serde_json::{Map, Value, json};

use crate::command::{assigned, json as printed, kafka_sticky, root};

#[test]
fn a_simulation_is_assign_again_and_again() {
    for name in ["run.json", "cooperative.json"] {
        let run: Value =
            serde_json::from_str(&fs::read_to_string(root().join("docs/cli").join(name)).unwrap()).unwrap();
        let history = printed(kafka_sticky(["simulate"]).stdin(run.to_string()));
        let mut group = run["group"].clone();
        let events = run["events"].as_array().unwrap();
        let steps = history["steps"].as_array().unwrap();
        assert_eq!(steps.len(), events.len() + 1);
        for (at, step) in steps.iter().enumerate() {
            if let Some(event) = at.checked_sub(1).map(|at| &events[at]) {
                assert_eq!(&step["event"], event);
                happen(&mut group, event);
            }
            let rebalances = std::iter::once(step).chain(step["follow_ups"].as_array().unwrap());
            for rebalance in rebalances {
                same_as_assign(&mut group, rebalance);
            }
            let last = step["follow_ups"].as_array().unwrap().last().unwrap_or(step);
            assert_eq!(last["withheld"], json!({}));
        }
    }
}

#[test]
fn what_a_member_was_given_in_a_step_outweighs_an_older_claim_of_who_joins() {
    let run = json!({
        "group": {
            "topics": { "orders": 2 },
            "members": { "a": { "topics": ["orders"], "owned": { "orders": [0, 1] }, "generation": 5 } },
        },
        "events": [
            { "join": { "b": { "topics": ["orders"], "owned": { "orders": [0, 1] }, "generation": 5 } } },
        ],
    });
    let history = printed(kafka_sticky(["simulate"]).stdin(run.to_string()));
    // Were the two claims of one generation, nobody would own anything.
    assert_eq!(history["steps"][1]["report"]["owned"], 2, "{history}");
}

/// Assigns the group and lets its members own what they got.
fn same_as_assign(group: &mut Value, rebalance: &Value) {
    let result = assigned(group);
    for field in ["assignment", "withheld", "report"] {
        assert_eq!(result[field], rebalance[field], "{group}");
    }
    for (member, owned) in result["assignment"].as_object().unwrap() {
        group["members"][member]["owned"] = owned.clone();
        group["members"][member]["generation"] = rebalance["generation"].clone();
    }
}

fn happen(group: &mut Value, event: &Value) {
    let (what, details) = event.as_object().unwrap().iter().next().unwrap();
    let entries = |details: &Value| details.as_object().cloned().unwrap_or_default();
    match what.as_str() {
        "join" => object(group, "members").extend(entries(details)),
        "leave" => _ = object(group, "members").remove(details.as_str().unwrap()),
        "subscribe" => {
            for (member, topics) in entries(details) {
                group["members"][member]["topics"] = topics;
            }
        }
        "grow" | "create" => object(group, "topics").extend(entries(details)),
        "delete" => _ = object(group, "topics").remove(details.as_str().unwrap()),
        _ => panic!("what is {what}?"),
    }
}

fn object<'g>(group: &'g mut Value, field: &str) -> &'g mut Map<String, Value> {
    group[field].as_object_mut().unwrap()
}

/// From one step to the next, what is said to have moved is what is elsewhere.
#[test]
fn what_moved_is_what_is_elsewhere() {
    for run in ["docs/cli/run.json", "docs/cli/cooperative.json"] {
        let history = printed(kafka_sticky(["simulate", run]));
        let mut before = Vec::new();
        for step in history["steps"].as_array().unwrap() {
            let last = step["follow_ups"].as_array().unwrap().last().unwrap_or(step);
            let after = owners(&last["assignment"]);
            let mut moved = step["moved"].as_array().unwrap().clone();
            for (topic, partition, owner) in &after {
                let now = (topic, partition);
                let from = before.iter().find(|(topic, partition, _)| (topic, partition) == now);
                let from =
                    from.map_or(Value::Null, |(_, _, owner): &(String, i64, String)| owner.as_str().into());
                if from == owner.as_str() {
                    continue;
                }
                let at = moved
                    .iter()
                    .position(|moved| moved["topic"] == topic.as_str() && moved["partition"] == *partition);
                let moved = moved.remove(at.unwrap());
                assert_eq!((&moved["from"], &moved["to"]), (&from, &json!(owner)));
            }
            assert!(moved.iter().all(|moved| moved["to"].is_null()), "{moved:?}");
            before = after;
        }
    }
}

fn owners(assignment: &Value) -> Vec<(String, i64, String)> {
    let mut owners = Vec::new();
    for (member, share) in assignment.as_object().unwrap() {
        for (topic, partitions) in share.as_object().unwrap() {
            let numbers = partitions.as_array().unwrap().iter().filter_map(Value::as_i64);
            owners.extend(numbers.map(|number| (topic.clone(), number, member.clone())));
        }
    }
    owners
}

/// Whoever starts with something is seen to have had it.
#[test]
fn the_start_says_what_moved_from_the_owners_that_were_claimed() {
    let run = json!({"group": {"topics": {"t": 2}, "members": {
        "a": {"topics": ["t"], "owned": {"t": [0, 1]}, "generation": 4}, "b": {"topics": ["t"]}}}});
    let history = printed(kafka_sticky(["simulate"]).stdin(run.to_string()));
    let start = &history["steps"][0];
    assert_eq!(start["generation"], 5);
    assert_eq!(
        start["moved"],
        json!([{"topic": "t", "partition": 1, "from": "a", "to": "b", "reason": "balance"}])
    );
}
