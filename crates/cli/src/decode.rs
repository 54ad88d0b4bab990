//! `kafka-sticky decode`

use std::{process::ExitCode, sync::LazyLock};

use data_encoding::{
    BASE64, BASE64_NOPAD, DecodeError, DecodeKind, Encoding, HEXLOWER_PERMISSIVE, Specification,
};
use kafka_sticky_protocol::{Assignment, Field, ReadError, StickyUserData, Subscription};
use serde::Serialize;
use serde_json::Value;

use crate::{
    arguments::{DecodeArguments, Message, Notation, ProtocolArgument},
    failure::Failure,
    input::BytesError,
    json::{AssignmentJson, GenerationJson, StickyUserDataJson, SubscriptionJson},
    output::print_json,
};

pub(crate) fn run(arguments: &DecodeArguments) -> Result<ExitCode, Failure> {
    let (notation, text, source) = arguments.input();
    let given = match text {
        Some(text) => text.as_bytes().to_vec(),
        None => source.read()?,
    };
    let bytes = denote(notation, given).map_err(|error| source.bytes(error))?;
    let unreadable = |error| source.message(error, read_before(arguments.message, &bytes, error));
    match arguments.message {
        Message::Subscription => {
            let read = if arguments.lossy { Subscription::read_lossy } else { Subscription::read };
            print_json(&SubscriptionJson::from(&read(&bytes).map_err(unreadable)?))?;
        }
        Message::Assignment => {
            let read = if arguments.lossy { Assignment::read_lossy } else { Assignment::read };
            print_json(&AssignmentJson::from(&read(&bytes).map_err(unreadable)?))?;
        }
        Message::UserData => match <[u8; 4]>::try_from(&*bytes) {
            Ok(four) if arguments.protocol == ProtocolArgument::CooperativeSticky => {
                print_json(&GenerationJson::read(four))?;
            }
            _ => {
                let read = if arguments.lossy { StickyUserData::read_lossy } else { StickyUserData::read };
                print_json(&StickyUserDataJson::from(&read(&bytes).map_err(unreadable)?))?;
            }
        },
    }
    Ok(ExitCode::SUCCESS)
}

/// The bytes that are written down.
fn denote(notation: Notation, given: Vec<u8>) -> Result<Vec<u8>, BytesError> {
    let (encoding, expected) = match notation {
        Notation::Raw => return Ok(given),
        Notation::Hex => (&*HEX, "hex digits, two for each byte"),
        Notation::Base64 if given.contains(&b'=') => (&*PADDED, "base64"),
        Notation::Base64 => (&*UNPADDED, "base64"),
    };
    encoding.decode(&given).map_err(|DecodeError { position, kind }| {
        let found = match (kind, given.get(position)) {
            (DecodeKind::Symbol, Some(&byte)) => format!("found {:?}", char::from(byte)),
            (DecodeKind::Length, _) => "cut off in the middle of a byte".to_owned(),
            (kind, _) => kind.to_string(),
        };
        BytesError { offset: position, problem: format!("{found}, expected {expected}") }
    })
}

static HEX: LazyLock<Encoding> = LazyLock::new(|| with_spaces(HEXLOWER_PERMISSIVE.specification()));
static PADDED: LazyLock<Encoding> = LazyLock::new(|| with_spaces(BASE64.specification()));
static UNPADDED: LazyLock<Encoding> = LazyLock::new(|| with_spaces(BASE64_NOPAD.specification()));

fn with_spaces(mut notation: Specification) -> Encoding {
    notation.ignore = " \t\r\n".to_owned();
    notation.encoding().expect("white space is no digit of the notation")
}

/// The fields before the one that could not be read, as `name value, …`.
fn read_before(message: Message, bytes: &[u8], error: ReadError) -> String {
    let json = match message {
        Message::Subscription => subscription_before(bytes, error.field()),
        Message::Assignment => assignment_before(bytes, error),
        Message::UserData => None,
    };
    let Some(Value::Object(fields)) = json else { return String::new() };
    let stopped = error.field().to_string();
    let stopped = stopped.split('.').next().unwrap_or_default();
    let order: &[&str] = match message {
        Message::Subscription => &["version", "topics", "user_data", "owned_partitions", "generation_id"],
        Message::Assignment => &["version", "assigned_partitions"],
        Message::UserData => &[],
    };
    let read = order.iter().take_while(|field| **field != stopped);
    read.filter_map(|field| Some(format!("{field} {}", fields.get(*field)?))).collect::<Vec<_>>().join(", ")
}

/// Every version is a prefix of the next: what could be read is what a lower one says.
fn subscription_before(bytes: &[u8], stopped: Field) -> Option<Value> {
    let version: i16 = match stopped {
        Field::OwnedPartitions | Field::OwnedPartitionsTopic | Field::OwnedPartitionsPartitions => 0,
        Field::GenerationId => 1,
        Field::RackId => 2,
        _ => return version_alone(bytes, stopped),
    };
    let mut lower = bytes.to_vec();
    lower.get_mut(..2)?.copy_from_slice(&version.to_be_bytes());
    let mut json = value(&SubscriptionJson::from(&Subscription::read_lossy(&lower).ok()?))?;
    json["version"] = version_alone(bytes, stopped)?["version"].take();
    Some(json)
}

/// With null in place of the user data, the rest can be read.
fn assignment_before(bytes: &[u8], error: ReadError) -> Option<Value> {
    if error.field() != Field::UserData {
        return version_alone(bytes, error.field());
    }
    // What is missing may be the length, or the bytes that it announces.
    let starts = [error.offset().checked_sub(4), Some(error.offset())];
    let read = |start: usize| {
        let with_null = [bytes.get(..start)?, &[0xff; 4]].concat();
        value(&AssignmentJson::from(&Assignment::read_lossy(&with_null).ok()?))
    };
    starts.into_iter().flatten().find_map(read)
}

fn version_alone(bytes: &[u8], stopped: Field) -> Option<Value> {
    let version = i16::from_be_bytes(*bytes.first_chunk()?);
    (stopped != Field::Version).then(|| serde_json::json!({ "version": version }))
}

fn value(message: &impl Serialize) -> Option<Value> {
    serde_json::to_value(message).ok()
}
