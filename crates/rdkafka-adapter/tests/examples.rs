//! Every example does what it says, and says so with its exit status.
#![cfg(all(feature = "mocking", feature = "tokio"))]

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// More than any example may take.
const A_MINUTE: Duration = Duration::from_secs(60);

/// Where Cargo puts examples: beside the folder of this very test.
fn executable(example: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let executable = profile.join("examples").join(format!("{example}{}", env::consts::EXE_SUFFIX));
    assert!(
        executable.is_file(),
        "{} is not there: `cargo test` builds examples unless it is told which targets to build; \
         `cargo build --examples --features mocking` does",
        executable.display()
    );
    executable
}

fn runs(example: &str) {
    let mut process = Command::new(executable(example))
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
