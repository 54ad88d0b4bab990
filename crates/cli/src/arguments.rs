//! What the command line may say.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum, error::ErrorKind};
use clap_complete::Shell;

use crate::{failure::Failure, input::Source};

/// Kafka's sticky partition assignment from the command line: look at a group, plan a change, decode a blob.
#[derive(Debug, Parser)]
#[command(
    name = "kafka-sticky",
    version,
    subcommand_required = true,
    arg_required_else_help = false,
    after_help = "Exit status: 0 done; 1 the work could not be done; 2 bad input or usage.\n\n\
                  Example:\n  kafka-sticky assign --explain group.json"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Assign a group's partitions to its members
    #[command(after_help = "Example:\n  kafka-sticky assign --format table --explain group.json")]
    Assign(AssignArguments),
    /// Print what bytes of the group protocol say, as JSON
    #[command(after_help = "Example:\n  kafka-sticky decode user-data --hex \"00000000 00000007\"")]
    Decode(DecodeArguments),
    /// Print the bytes of what `decode` prints, as hex
    #[command(
        after_help = "Example:\n  echo '{\"topics\": [\"orders\"]}' | kafka-sticky encode subscription --version 1"
    )]
    Encode(EncodeArguments),
    /// Follow a group through events: members come and go, topics grow
    #[command(after_help = "Example:\n  kafka-sticky simulate --format table --svg run.svg run.json")]
    Simulate(SimulateArguments),
    /// Look at a group on a cluster, and at what its next rebalance would do
    #[cfg(feature = "group")]
    #[command(
        after_help = "Example:\n  kafka-sticky group --bootstrap-server localhost:9092 --group billing --with 2"
    )]
    Group(GroupArguments),
    /// Print a script that completes commands and options in a shell
    #[command(after_help = "Example:\n  kafka-sticky completions bash > /etc/bash_completion.d/kafka-sticky")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    #[command(after_help = "Example:\n  kafka-sticky man assign > kafka-sticky-assign.1")]
    Man {
        /// Of this command
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AssignArguments {
    /// A group in JSON; standard input where none is named
    pub(crate) file: Option<PathBuf>,
    /// Read a group from each line, and print a result for each
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// Say why, for each partition that is not kept
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

#[derive(Debug, Args)]
pub(crate) struct DecodeArguments {
    /// What the bytes are
    pub(crate) message: Message,
    /// The bytes; standard input where none is named
    file: Option<PathBuf>,
    /// The bytes are hex, spaces do no harm: this text, or what is read
    #[arg(long, value_name = "HEX", num_args = 0..=1, conflicts_with = "base64")]
    hex: Option<Option<String>>,
    /// The bytes are base64: this text, or what is read
    #[arg(long, value_name = "TEXT", num_args = 0..=1)]
    base64: Option<Option<String>>,
    /// Whose user data it is
    #[arg(long, value_name = "STRATEGY", default_value = "sticky")]
    pub(crate) protocol: ProtocolArgument,
    /// Replace what is not UTF-8, as Java does
    #[arg(long)]
    pub(crate) lossy: bool,
}

/// How bytes are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    Raw,
    Hex,
    Base64,
}

#[derive(Debug, Args)]
pub(crate) struct EncodeArguments {
    /// What to encode
    pub(crate) message: Message,
    /// The JSON; standard input where none is named
    pub(crate) file: Option<PathBuf>,
    /// The version to write, in place of that in the JSON
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) version: Option<i16>,
    /// Whose user data it is
    #[arg(long, value_name = "STRATEGY", default_value = "sticky")]
    pub(crate) protocol: ProtocolArgument,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    /// A group and events in JSON; standard input where none is named
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgument,
    /// Draw who holds what as time goes on, too
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[cfg(feature = "group")]
#[derive(Debug, Args)]
pub(crate) struct GroupArguments {
    /// A broker of the cluster; several with commas
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) bootstrap_server: String,
    /// The group
    #[arg(long, value_name = "ID")]
    pub(crate) group: String,
    /// A property of librdkafka's; `env:VARIABLE` and `file:PATH` stand for what is there
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// How long to wait for the cluster, all in all
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// What the next rebalance would do if this member left
    #[arg(long, value_name = "MEMBER")]
    pub(crate) without: Vec<String>,
    /// What it would do if this many members like the first joined
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) with: Option<u32>,
    #[command(flatten)]
    pub(crate) format: FormatArgument,
}

#[derive(Debug, Args)]
pub(crate) struct FormatArgument {
    /// How to print: a table for people where nothing is said and this is a terminal, else JSON
    #[arg(long)]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Json,
    Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Message {
    Subscription,
    Assignment,
    UserData,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtocolArgument {
    Sticky,
    CooperativeSticky,
}

impl DecodeArguments {
    /// How the bytes are written down, the text where it is in the arguments, and where it is read from else.
    pub(crate) fn input(&self) -> (Notation, Option<&str>, Source) {
        let source = Source::new(self.file.as_ref());
        match (&self.hex, &self.base64) {
            (Some(Some(text)), _) => (Notation::Hex, Some(text), Source::Argument("--hex")),
            (_, Some(Some(text))) => (Notation::Base64, Some(text), Source::Argument("--base64")),
            (Some(None), _) => (Notation::Hex, None, source),
            (_, Some(None)) => (Notation::Base64, None, source),
            (None, None) => (Notation::Raw, None, source),
        }
    }
}

/// Reads the command line. Help and the version are printed here.
pub(crate) fn parse() -> Result<Command, Failure> {
    let matches = Cli::command().try_get_matches();
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => Ok(cli.command),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                error.print()?;
                Err(Failure::Done)
            }
            _ => Err(Failure::Usage(in_one_line(&error))),
        },
    }
}

/// What clap says over several lines, without the usage.
fn in_one_line(error: &clap::Error) -> String {
    let said = error.render().to_string();
    let said = said.split("\n\nUsage:").next().unwrap_or_default();
    let said = said.split("\n\nFor more information").next().unwrap_or_default();
    let words: Vec<&str> = said.strip_prefix("error: ").unwrap_or(said).split_whitespace().collect();
    format!("{}; try --help", words.join(" "))
}

/// The command line as clap has it, for completions and manual pages.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        definition().debug_assert();
    }

    #[test]
    fn every_command_shows_one_example() {
        for command in definition().get_subcommands_mut() {
            let help = command.render_help().to_string();
            assert_eq!(help.matches("Example:\n  ").count(), 1, "{help}");
        }
    }
}
