//! The same groups and the same bytes through this project and through other clients: `cargo xtask bench peers`.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use lexopt::prelude::*;

mod answers;
mod bench;
mod cells;
mod groups;
mod judge;
mod leader;
mod ours;
mod peer;
mod random;
mod schedule;
mod shapes;
mod table;

const USAGE: &str = "\
Usage: peers assign GROUPS ANSWERS WARM_MS MEASURE_MS STRATEGY   what the other clients' programs do, by ours
       peers bench [--quick | --test] [--json] [--cases TEXT] PROGRAMS

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
    match command.to_str() {
        Some("assign") => {
            let (groups, answers) = (PathBuf::from(parser.value()?), PathBuf::from(parser.value()?));
            let millis = |text: std::ffi::OsString| Ok::<_, anyhow::Error>(Duration::from_millis(text.parse()?));
            let schedule = schedule::Schedule { warm: millis(parser.value()?)?, measure: millis(parser.value()?)? };
            let strategy = parser.value()?.string()?.parse()?;
            ours::assign(&groups, &answers, schedule, strategy)
        }
        Some("bench") => bench::run(&bench_options(&mut parser)?),
        _ => bail!("{USAGE}"),
    }
}

fn bench_options(parser: &mut lexopt::Parser) -> Result<bench::Options> {
    let mut scope = cells::Scope::All;
    let (mut json, mut only) = (false, None);
    let mut programs = ProgramOptions::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("quick") => scope = cells::Scope::Quick,
            Long("test") => scope = cells::Scope::Test,
            Long("json") => json = true,
            Long("cases") => only = Some(parser.value()?.string()?),
            Long(option) => {
                let option = option.to_owned();
                programs.set(&option, parser)?;
            }
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(bench::Options { scope, json, only, programs: programs.complete()? })
}

#[derive(Default)]
struct ProgramOptions {
    java: Option<String>,
    python: Option<PathBuf>,
    scripts: Option<PathBuf>,
    go: Option<PathBuf>,
    librdkafka: Option<PathBuf>,
    folder: Option<PathBuf>,
}

impl ProgramOptions {
    fn set(&mut self, option: &str, parser: &mut lexopt::Parser) -> Result<()> {
        let value = parser.value()?;
        match option {
            "java" => self.java = Some(value.string()?),
            "python" => self.python = Some(value.into()),
            "scripts" => self.scripts = Some(value.into()),
            "go" => self.go = Some(value.into()),
            "librdkafka" => self.librdkafka = Some(value.into()),
            "folder" => self.folder = Some(value.into()),
            _ => bail!("there is no option --{option}\n\n{USAGE}"),
        }
        Ok(())
    }

    fn complete(self) -> Result<peer::Programs> {
        Ok(peer::Programs {
            java: self.java.context("--java is missing")?,
            python: self.python.context("--python is missing")?,
            scripts: self.scripts.context("--scripts is missing")?,
            go: self.go.context("--go is missing")?,
            librdkafka: self.librdkafka.context("--librdkafka is missing")?,
            folder: self.folder.context("--folder is missing")?,
        })
    }
}
