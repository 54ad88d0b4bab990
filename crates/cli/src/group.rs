//! `kafka-sticky group`

use std::{io::Write as _, process::ExitCode, time::Duration};

use serde::Serialize;

use crate::{
    arguments::{Format, GroupArguments},
    failure::Failure,
    output::{self, print_json},
};
use cluster::Cluster;
pub(crate) use cluster::ClusterError;
use settings::Settings;
use view::View;
use what_if::{Next, WhatIf};

mod cluster;
mod settings;
mod table;
#[cfg(test)]
mod tests;
mod view;
mod what_if;

/// What is printed as JSON.
#[derive(Serialize)]
struct Answer<'v> {
    #[serde(flatten)]
    view: &'v View,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'v Next>,
}

pub(crate) fn run(arguments: &GroupArguments) -> Result<ExitCode, Failure> {
    let settings = Settings::new(&arguments.bootstrap_server, &arguments.set)?;
    let timeout = Duration::from_secs(arguments.timeout);
    let described = Cluster::connect(settings, timeout)?.describe(&arguments.group)?;
    let view = View::of(&described);
    let what_if = WhatIf { without: &arguments.without, with: arguments.with.unwrap_or(0) };
    let next = if what_if.is_asked() { Some(what_if.answer(&view)?) } else { None };
    match arguments.format.chosen() {
        Format::Json => print_json(&Answer { view: &view, next: next.as_ref() })?,
        Format::Table => {
            let mut output = output::for_people();
            table::print(&mut output, &view, next.as_ref())?;
            output.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
