//! The same groups and the same bytes through this project and through other clients: `cargo xtask bench peers`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use lexopt::prelude::*;

use crate::options::Options;
use crate::schedule::Schedule;

mod answers;
mod bench;
mod bytes;
mod cells;
mod codec;
mod groups;
mod histories;
mod judge;
mod leader;
mod never_worse;
mod options;
mod ours;
mod peer;
mod picture;
mod random;
mod schedule;
mod shapes;
mod table;
mod whole;

const USAGE: &str = "\
Usage: peers assign GROUPS ANSWERS WARM_MS MEASURE_MS STRATEGY   what the other clients' programs do, by ours
       peers bench [--quick | --test] [--json] [--cases TEXT] [--peers NAME/...] PROGRAMS
       peers leader [--quick | --test] [--json] [--cases TEXT] PROGRAMS
       peers never-worse [--groups COUNT] PROGRAMS
       peers bytes [--write] PROGRAMS
       peers codec [--json] PROGRAMS
       peers picture RESULTS SVG            of what bench --json printed
       peers codec-work CODEC WORK TOPICS TIMES   what codec counts

PROGRAMS: --java CLASSPATH --python INTERPRETER --scripts FOLDER --go PROGRAM --librdkafka PROGRAM --folder FOLDER";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut parser = lexopt::Parser::from_env();
    let Some(Value(command)) = parser.next()? else { bail!("{USAGE}") };
    if command == "assign" {
        return assign(&mut parser);
    }
    if command == "codec-work" {
        let (codec, work) = (parser.value()?.string()?, parser.value()?.string()?);
        return codec::work(&codec, &work, parser.value()?.parse()?, parser.value()?.parse()?);
    }
    if command == "picture" {
        return picture::draw(&PathBuf::from(parser.value()?), &PathBuf::from(parser.value()?));
    }
    let run = match command.to_str() {
        Some("bench") => bench::run,
        Some("leader") => whole::run,
        Some("never-worse") => never_worse::run,
        Some("bytes") => bytes::run,
        Some("codec") => codec::run,
        _ => bail!("{USAGE}"),
    };
    let options = Options::parse(&mut parser)?;
    fs::create_dir_all(&options.programs.folder)?;
    run(&options)
}

fn assign(parser: &mut lexopt::Parser) -> Result<()> {
    let (groups, answers) = (PathBuf::from(parser.value()?), PathBuf::from(parser.value()?));
    let millis = |text: OsString| Ok::<_, lexopt::Error>(Duration::from_millis(text.parse()?));
    let schedule = Schedule { warm: millis(parser.value()?)?, measure: millis(parser.value()?)? };
    ours::assign(&groups, &answers, schedule, parser.value()?.parse()?)
}
