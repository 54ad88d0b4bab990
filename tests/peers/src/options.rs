//! What the command line says.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use lexopt::prelude::*;

use crate::cells::Scope;
use crate::peer::{Peer, Programs};

/// Where the other clients' programs are, and a folder for groups and answers.
const PROGRAMS: [&str; 6] = ["java", "python", "scripts", "go", "librdkafka", "folder"];

pub(crate) struct Options {
    pub(crate) scope: Scope,
    /// A line of JSON for each result.
    pub(crate) json: bool,
    /// Only the cases whose name contains this.
    pub(crate) only: Option<String>,
    /// The peers that are timed beside ours.
    pub(crate) peers: Vec<Peer>,
    /// How many random groups there are.
    pub(crate) groups: usize,
    /// Check in what the neighbours write now.
    pub(crate) write: bool,
    pub(crate) programs: Programs,
}

impl Options {
    pub(crate) fn parse(parser: &mut lexopt::Parser) -> Result<Self> {
        let mut scope = Scope::All;
        let (mut json, mut only, mut write) = (false, None, false);
        let (mut peers, mut groups) = (Peer::OTHERS.to_vec(), 3000);
        let mut programs: HashMap<&str, OsString> = HashMap::new();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("quick") => scope = Scope::Quick,
                Long("test") => scope = Scope::Test,
                Long("json") => json = true,
                Long("write") => write = true,
                Long("cases") => only = Some(parser.value()?.string()?),
                Long("peers") => {
                    let names = parser.value()?.string()?;
                    peers.retain(|peer| names.split('/').any(|name| peer.to_string() == name));
                }
                Long("groups") => groups = parser.value()?.parse()?,
                Long(option) => {
                    let known = PROGRAMS.into_iter().find(|known| *known == option);
                    let Some(option) = known else { bail!("there is no option --{option}") };
                    programs.insert(option, parser.value()?);
                }
                other => return Err(other.unexpected().into()),
            }
        }
        let mut program =
            |option: &str| programs.remove(option).with_context(|| format!("--{option} is missing"));
        let programs = Programs {
            java: program("java")?.string()?,
            python: PathBuf::from(program("python")?),
            scripts: PathBuf::from(program("scripts")?),
            go: PathBuf::from(program("go")?),
            librdkafka: PathBuf::from(program("librdkafka")?),
            folder: PathBuf::from(program("folder")?),
        };
        Ok(Self { scope, json, only, peers, groups, write, programs })
    }

    /// Whether a case is asked for.
    pub(crate) fn wants(&self, case: &str) -> bool {
        self.only.as_ref().is_none_or(|only| case.contains(only))
    }
}
