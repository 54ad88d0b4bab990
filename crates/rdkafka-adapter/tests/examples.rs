//! Every example does what it says, and says so with its exit status.
#![cfg(all(feature = "metrics", feature = "mocking", feature = "tokio"))]

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use kafka_sticky_rdkafka_adapter::SavedState;
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;

/// More than any example may take.
const A_MINUTE: Duration = Duration::from_secs(60);

/// The folder of the examples' executables, built as this test was.
///
/// `cargo test --all-targets` builds examples only as tests of themselves, which run nothing.
fn executables() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let test = env::current_exe().unwrap();
        let profile = test.parent().and_then(Path::parent).unwrap();
        let name = profile.file_name().and_then(OsStr::to_str).unwrap();
        let status = Command::new(env!("CARGO"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            // All of the workspace, so that features, and with them what is built already, are those of its tests.
            .args(["build", "--quiet", "--workspace", "--examples", "--target-dir"])
            .arg(profile.parent().unwrap())
            .args(["--profile", if name == "debug" { "dev" } else { name }])
            .status()
            .unwrap();
        assert!(status.success(), "the examples do not build");
        profile.join("examples")
    })
}

fn runs(example: &str) -> String {
    let executable = executables().join(format!("{example}{}", env::consts::EXE_SUFFIX));
    let mut process = Command::new(executable)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    // What an example prints fits into a pipe.
    while process.try_wait().unwrap().is_none() {
        if started.elapsed() > A_MINUTE {
            process.kill().unwrap();
        }
        sleep(Duration::from_millis(50));
    }
    let output = process.wait_with_output().unwrap();
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{example}: {}\n{said}\n{complained}", output.status);
    assert!(!said.is_empty(), "{example} shows nothing");
    assert_eq!(complained, "", "{example} ends untidily:\n{said}");
    said.into_owned()
}

#[test]
fn sticky_group() {
    runs("sticky_group");
}

#[test]
fn cooperative_group() {
    runs("cooperative_group");
}

#[test]
fn by_lag() {
    runs("by_lag");
}

#[test]
fn fixed_homes() {
    runs("fixed_homes");
}

#[test]
fn neighbours() {
    runs("neighbours");
}

#[test]
fn racks() {
    runs("racks");
}

#[test]
fn restart() {
    runs("restart");
}

#[test]
fn service() {
    let said = runs("service");
    for metric in [
        "kafka_sticky_assignments_total{group=\"billing\",client_id=\"billing-1\",strategy=\"cooperative-sticky\"}",
        "kafka_sticky_partitions{group=\"billing\",client_id=\"billing-2\"} 0",
    ] {
        assert!(said.contains(metric), "{metric} in\n{said}");
    }
    assert!(said.contains("resuming") && said.contains("shutting down"), "{said}");
}

/// A process that does not outlive a test that fails.
#[cfg(unix)]
struct Stopped(Child);

#[cfg(unix)]
impl Drop for Stopped {
    fn drop(&mut self) {
        // Fails where it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// As it runs in production: on a cluster that somebody else keeps, until it is interrupted.
#[cfg(unix)]
#[test]
fn service_on_a_cluster_runs_until_it_is_stopped_and_leaves_its_state() {
    let cluster = GroupCluster::start(1).unwrap();
    cluster.create_topic("orders", 3).unwrap();
    let folder = env::temp_dir().join(format!("kafka-sticky-service-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (log, state) = (folder.join("log"), folder.join("state"));
    let service = Command::new(executables().join("service"))
        .args(["--bootstrap-server", &cluster.bootstrap_servers(), "--topic", "orders", "--state"])
        .arg(&state)
        .stdin(Stdio::null())
        .stdout(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let mut service = Stopped(service);
    let said = || fs::read_to_string(&log).unwrap();
    let started = Instant::now();
    while !(state.exists() && said().contains("load=3")) {
        assert!(started.elapsed() < A_MINUTE, "it is given nothing:\n{}", said());
        assert_eq!(service.0.try_wait().unwrap(), None, "it ended by itself:\n{}", said());
        sleep(Duration::from_millis(50));
    }
    let interrupt = Command::new("kill").args(["-s", "INT", &service.0.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    while service.0.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < 2 * A_MINUTE, "it does not end:\n{}", said());
        sleep(Duration::from_millis(50));
    }
    assert!(service.0.wait().unwrap().success(), "{}", said());
    let state = SavedState::from_bytes(&fs::read(&state).unwrap()).unwrap();
    assert_eq!((state.group(), state.partitions()), ("billing", &[("orders".to_owned(), vec![0, 1, 2])][..]));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_example_is_run_here_and_listed_in_the_guide() {
    let here = include_str!("examples.rs");
    let guide = include_str!("../../../docs/guide.md");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let (Some(name), Some("rs")) =
            (path.file_stem().and_then(OsStr::to_str), path.extension().and_then(OsStr::to_str))
        else {
            continue;
        };
        assert!(here.contains(&format!("runs(\"{name}\")")), "{name} is not run");
        assert!(guide.contains(&format!("| `{name}` |")), "{name} is not in the guide");
    }
}
