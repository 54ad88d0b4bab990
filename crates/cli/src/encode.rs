//! `kafka-sticky encode`

use std::{io::Write as _, process::ExitCode};

use data_encoding::HEXLOWER;
use kafka_sticky_protocol::WriteError;

use crate::{
    arguments::{EncodeArguments, Message, ProtocolArgument},
    failure::Failure,
    input::{self, JsonError, Source},
    json::{AssignmentJson, GenerationJson, StickyUserDataJson, SubscriptionJson},
    output,
};

pub(crate) fn run(arguments: &EncodeArguments) -> Result<ExitCode, Failure> {
    let source = Source::new(arguments.file.as_ref());
    let json = source.read()?;
    let bytes = encode(&json, arguments).map_err(|error| match error {
        Refused::Json(error) => source.json(error),
        Refused::Write(error) => source.json(JsonError::new("$", error.to_string())),
    })?;
    let mut output = output::plain();
    writeln!(output, "{}", HEXLOWER.encode(&bytes))?;
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}

enum Refused {
    Json(JsonError),
    Write(WriteError),
}

fn encode(json: &[u8], arguments: &EncodeArguments) -> Result<Vec<u8>, Refused> {
    let version = arguments.version;
    Ok(match arguments.message {
        Message::Subscription => input::parse::<SubscriptionJson>(json)?.write(version)?,
        Message::Assignment => input::parse::<AssignmentJson>(json)?.write(version)?,
        Message::UserData => {
            if arguments.protocol == ProtocolArgument::CooperativeSticky
                && version.is_none()
                // With any other field it is sticky's form.
                && let Ok(generation) = input::parse::<GenerationJson>(json)
            {
                return Ok(generation.write());
            }
            input::parse::<StickyUserDataJson>(json)?.write(version)?
        }
    })
}

impl From<JsonError> for Refused {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

impl From<WriteError> for Refused {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}
