//! The `group` command where no cluster answers it. A real Kafka is asked in `cargo xtask interop`.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use rdkafka::mocking::MockCluster;

use crate::command::kafka_sticky;

fn said(arguments: &[&str]) -> (Option<i32>, String) {
    let output = kafka_sticky(["group", "--group", "billing"]).args(arguments).output().unwrap();
    assert!(output.stdout.is_empty());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_broker_that_is_not_there() {
    // A port that was free just now.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let broker = format!("127.0.0.1:{port}");
    let started = Instant::now();
    let (status, said) = said(&["--bootstrap-server", &broker, "--timeout", "1"]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with(&format!("kafka-sticky: no answer from {broker} within 1 s: ")), "{said}");
    assert!(said.contains("Connection refused") && said.lines().count() == 1, "{said}");
    assert!(started.elapsed() >= Duration::from_secs(1));
}

#[test]
fn a_broker_that_never_answers() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let broker = silent.local_addr().unwrap().to_string();
    let (status, said) = said(&["--bootstrap-server", &broker, "--timeout", "1"]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with(&format!("kafka-sticky: no answer from {broker} within 1 s")), "{said}");
}

/// librdkafka's embedded cluster knows groups, but not the requests that describe them.
#[test]
fn a_cluster_that_does_not_describe_groups() {
    let cluster = MockCluster::new(1).unwrap();
    let (status, said) = said(&["--bootstrap-server", &cluster.bootstrap_servers(), "--timeout", "2"]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with("kafka-sticky: ") && said.lines().count() == 1, "{said}");
}

#[test]
fn properties_that_librdkafka_does_not_have() {
    let (status, said) = said(&["--bootstrap-server", "localhost:1", "--set", "no.such=1"]);
    assert_eq!(status, Some(2));
    assert_eq!(said, "kafka-sticky: --set no.such: No such configuration property: \"no.such\"\n");
}

#[test]
fn secrets_are_read_from_elsewhere_and_never_printed() {
    let group = |pairs: &[&str]| {
        let mut command = kafka_sticky(["group", "--group", "billing", "--bootstrap-server", "localhost:1"])
            .env("SECRET", "hunter2");
        for pair in pairs {
            command = command.args(["--set", pair]);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("hunter2"), "{said}");
        assert_eq!(output.status.code(), Some(2), "{said}");
        said
    };
    assert!(group(&["sasl.password=hunter2"]).contains("expected env:VARIABLE or file:PATH"));
    assert!(group(&["sasl.password=env:NOT_SET"]).contains("environment variable NOT_SET"));
    assert!(group(&["sasl.password=file:nowhere"]).contains("cannot read nowhere"));
    // librdkafka repeats values that it refuses.
    assert!(group(&["security.protocol=env:SECRET"]).contains("--set security.protocol: "));
}

#[test]
fn what_has_an_option_of_its_own_is_not_set() {
    let (status, said) = said(&["--bootstrap-server", "localhost:1", "--set", "group.id=other"]);
    assert_eq!((status, &*said), (Some(2), "kafka-sticky: --set group.id: use --group\n"));
    let (status, _) = self::said(&["--bootstrap-server", "localhost:1", "--set", "novalue"]);
    assert_eq!(status, Some(2));
}
