//! What a group's members count is what their events say.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use kafka_sticky_rdkafka_adapter::{Assigned, Assignors, Event};
use kafka_sticky_tests::manners::{Honest, Silent};
use kafka_sticky_tests::mixed::Mixed;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

const TOPICS: &[&str; 2] = &["orders", "payments"];
const SIZES: &[(&str, i32)] = &[("orders", 7), ("payments", 4)];

/// By client, and by name and further labels, the value; of histograms how many values they have.
type Counted = BTreeMap<String, BTreeMap<String, f64>>;

/// What was counted since this was asked last.
fn counted(snapshotter: &Snapshotter) -> Counted {
    let mut counted = Counted::new();
    for (key, _, _, value) in snapshotter.snapshot().into_vec() {
        let labels: Vec<(&str, &str)> =
            key.key().labels().map(|label| (label.key(), label.value())).collect();
        let [("group", "group"), ("client_id", client_id), more @ ..] = &labels[..] else {
            panic!("{labels:?}");
        };
        let more: Vec<&str> = more.iter().map(|(_, value)| *value).collect();
        let value = match value {
            DebugValue::Counter(count) => count as f64,
            DebugValue::Gauge(value) => value.into_inner(),
            DebugValue::Histogram(values) => values.len() as f64,
        };
        let name = format!("{} {}", key.key().name(), more.join(" ")).trim_end().to_owned();
        counted.entry((*client_id).to_owned()).or_default().insert(name, value);
    }
    counted
}

/// One recorder for the process, and so one test.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_counted_is_what_happened() -> Result<()> {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    recorder.install()?;

    let mut group = Mixed::new("sticky", SIZES)?;
    for name in ["leader", "follower"] {
        let mut config = group.config();
        config.set("client.id", name);
        group.join_with(name, TOPICS, &config, &Assignors::new())?;
        group.settle().await?;
    }
    group.join_raw("honest", TOPICS, None, Honest(TOPICS));
    group.settle().await?;
    group.join_raw("garbage", TOPICS, None, Silent::with(3, TOPICS, Some(&[0xff; 5])));
    let last = group.settle().await?;

    let all = counted(&snapshotter);
    for name in ["leader", "follower"] {
        let counted = &all[name];
        let events = group.events(name);
        let count = |of: &dyn Fn(&Event) -> usize| events.iter().map(of).sum::<usize>() as f64;
        let over = |of: &dyn Fn(&Assigned) -> usize| {
            count(&|event| match event {
                Event::Assigned(assigned) => of(assigned),
                _ => 0,
            })
        };
        let sizes = |listed: &[(String, Vec<i32>)]| listed.iter().map(|(_, of)| of.len()).sum::<usize>();
        let leads = f64::from(u8::from(name == "leader"));
        let expected = [
            ("joins_total", count(&|event| usize::from(matches!(event, Event::Joining { .. })))),
            ("join_attempts", 0.0),
            ("assignments_total sticky", over(&|_| 1)),
            ("generation", f64::from(last.number)),
            ("partitions", last.shares[name].len() as f64),
            ("partition_changes_total kept", over(&|assigned| assigned.kept())),
            ("partition_changes_total gained", over(&|assigned| sizes(&assigned.gained))),
            ("partition_changes_total lost", over(&|assigned| sizes(&assigned.lost))),
            ("rebalance_duration_seconds", over(&|_| 1)),
            (
                "revocations_total false",
                count(&|event| usize::from(matches!(event, Event::Revoked { lost: false, .. }))),
            ),
            ("leader", leads),
            ("group_members", 4.0 * leads),
            ("group_least_partitions", 2.0 * leads),
            ("group_most_partitions", 3.0 * leads),
        ];
        for (metric, value) in expected {
            let found = counted.get(&format!("kafka_sticky_{metric}"));
            ensure!(found == Some(&value), "{name}: {metric} is not {value}: {counted:#?}, {events:#?}");
        }
        if name == "leader" {
            let led = |of: &dyn Fn(&kafka_sticky_rdkafka_adapter::Led) -> usize| {
                over(&|assigned| assigned.led.as_ref().map_or(0, of))
            };
            let unreadable = |event: &Event| usize::from(matches!(event, Event::UserDataUnreadable { .. }));
            let expected = [
                ("assign_duration_seconds", led(&|_| 1)),
                ("matching_duration_seconds", led(&|_| 1)),
                ("group_moves_total balance", led(&|led| led.changes.len())),
                ("unreadable_user_data_total", count(&unreadable)),
            ];
            for (metric, value) in expected {
                let found = counted.get(&format!("kafka_sticky_{metric}"));
                ensure!(value > 0.0 && found == Some(&value), "{metric} is not {value}: {counted:#?}");
            }
        }
    }
    group.leave("leader").await?;
    assert_eq!(counted(&snapshotter)["leader"]["kafka_sticky_partitions"], 0.0);
    Ok(())
}
