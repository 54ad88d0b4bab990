//! Completions and manual pages.

use std::{io::Write as _, process::ExitCode};

use clap_complete::Shell;
use clap_mangen::Man;

use crate::{arguments, failure::Failure, output};

/// `kafka-sticky completions`
pub(crate) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut arguments::definition(), "kafka-sticky", &mut script);
    print(&script)
}

/// `kafka-sticky man`
pub(crate) fn man(command: Option<&str>) -> Result<ExitCode, Failure> {
    let mut definition = arguments::definition();
    definition.build();
    let Some(name) = command else { return print(&page(definition)?) };
    let found = definition.find_subcommand(name).cloned();
    let found = found.ok_or_else(|| Failure::Usage(format!("there is no command {name:?}; try --help")))?;
    let title = found.get_display_name().unwrap_or(name).to_owned();
    print(&page(found.name(title))?)
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}

fn print(text: &[u8]) -> Result<ExitCode, Failure> {
    let mut output = output::plain();
    output.write_all(text)?;
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}
