//! Everything that is checked in, through the target that it is for: on any machine, without a fuzzer.

use std::fs;
use std::path::{Path, PathBuf};

use kafka_sticky_fuzz::TARGETS;

/// The inputs in a folder, if there is one.
fn inputs(folder: &str, target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(target);
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut inputs: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry of a folder").path()).collect();
    inputs.sort();
    inputs
}

fn run(target: fn(&[u8]), input: &Path) {
    eprintln!("{}", input.display());
    target(&fs::read(input).expect("a file that can be read"));
}

#[test]
fn the_corpus_breaks_nothing() {
    for (name, target) in TARGETS {
        let inputs = inputs("corpus", name);
        assert!(inputs.len() >= 10, "{name} has a corpus of {}", inputs.len());
        inputs.iter().for_each(|input| run(target, input));
    }
}

#[test]
fn what_once_broke_something_breaks_nothing_now() {
    for (name, target) in TARGETS {
        inputs("broke", name).iter().for_each(|input| run(target, input));
    }
}
