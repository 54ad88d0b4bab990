//! Every example does what it says, and says so with its exit status.
#![cfg(all(feature = "metrics", feature = "mocking", feature = "tokio"))]

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

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
