//! How the parts that all messages are made of are read: Kafka's primitive types, on nom.
//!
//! Each parser takes the rest of the input and returns what is left of it. Nothing is allocated
//! here for what is valid: arrays and strings are checked and stepped over, and the views read
//! them again when asked.

use alloc::vec::Vec;

use bytes::BufMut;
use nom::IResult;
use nom::bytes::complete::take;
use nom::number::complete::{be_i16, be_i32};

use crate::blob::Blob;
use crate::error::{Field, PartitionFields, ReadError};
use crate::text;

const STRING_MIN: usize = 2;
const PARTITIONS_MIN: usize = 4;
const PARTITION: usize = 4;

pub(crate) type Parsed<'a, T> = IResult<&'a [u8], T, Fault>;

/// An error that does not know the length of the input yet, and so counts from its end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Truncated { field: Field, needed: usize, available: usize },
    UnexpectedNull { field: Field, length: i32, left: usize },
    InvalidUtf8 { field: Field, left: usize },
    NegativeVersion { version: i16 },
}

impl Fault {
    fn in_input_of(self, total: usize) -> ReadError {
        match self {
            Self::Truncated { field, needed, available } => {
                ReadError::Truncated { field, offset: total - available, needed, available }
            }
            Self::UnexpectedNull { field, length, left } => {
                ReadError::UnexpectedNull { field, offset: total - left, length }
            }
            Self::InvalidUtf8 { field, left } => ReadError::InvalidUtf8 { field, offset: total - left },
            Self::NegativeVersion { version } => ReadError::NegativeVersion { version },
        }
    }
}

impl From<Fault> for nom::Err<Fault> {
    fn from(fault: Fault) -> Self {
        Self::Error(fault)
    }
}

/// A stretch of the input. It stays valid when the input is copied, so that owned messages need no
/// second parse.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// An array: how many elements, and where they are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Array {
    pub(crate) count: usize,
    pub(crate) elements: Span,
}

/// What to do about strings that are not UTF-8.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InvalidUtf8 {
    IsAnError,
    IsReplaced,
}

/// Reads a message's layout, and replaces invalid strings first where that is wanted: the blob
/// returned is the one that the layout belongs to.
pub(crate) fn read<'a, L>(
    blob: Blob<'a>,
    invalid: InvalidUtf8,
    message: impl for<'i> Fn(&'i [u8], &mut Cursor<'i>) -> Parsed<'i, L>,
) -> Result<(Blob<'a>, L), ReadError> {
    let mut cursor = Cursor::new(&blob, invalid);
    let layout = cursor.run(&blob, &message)?;
    let Some(replaced) = cursor.finish() else {
        return Ok((blob, layout));
    };
    let blob = Blob::from(replaced);
    let layout = Cursor::new(&blob, InvalidUtf8::IsAnError).run(&blob, &message)?;
    Ok((blob, layout))
}

/// What the parsers of one message share: the whole input, and what became of its strings.
#[derive(Debug)]
pub(crate) struct Cursor<'i> {
    input: &'i [u8],
    invalid: InvalidUtf8,
    /// The input up to `copied` with its invalid strings replaced; empty while there was none.
    replaced: Vec<u8>,
    copied: usize,
}

impl<'i> Cursor<'i> {
    fn new(input: &'i [u8], invalid: InvalidUtf8) -> Self {
        Self { input, invalid, replaced: Vec::new(), copied: 0 }
    }

    fn run<L>(
        &mut self,
        input: &'i [u8],
        message: impl Fn(&'i [u8], &mut Cursor<'i>) -> Parsed<'i, L>,
    ) -> Result<L, ReadError> {
        match message(input, self) {
            Ok((_, layout)) => Ok(layout),
            Err(nom::Err::Error(fault) | nom::Err::Failure(fault)) => Err(fault.in_input_of(input.len())),
            // Only nom's streaming parsers ask for more input, and none is used here.
            Err(nom::Err::Incomplete(_)) => unreachable!("complete parsers never ask for more"),
        }
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        if self.copied == 0 {
            return None;
        }
        self.replaced.extend_from_slice(&self.input[self.copied..]);
        Some(self.replaced)
    }

    pub(crate) fn position(&self, rest: &[u8]) -> usize {
        self.input.len() - rest.len()
    }

    fn span(&self, from: &[u8], to: &[u8]) -> Span {
        Span { start: self.position(from), end: self.position(to) }
    }

    pub(crate) fn topics(&mut self, input: &'i [u8]) -> Parsed<'i, Array> {
        let (elements, count) = count(input, Field::Topics, STRING_MIN)?;
        let mut rest = elements;
        for _ in 0..count {
            (rest, _) = self.string(rest, Field::Topics)?;
        }
        Ok((rest, Array { count, elements: self.span(elements, rest) }))
    }

    pub(crate) fn topic_partitions(&mut self, input: &'i [u8], fields: PartitionFields) -> Parsed<'i, Array> {
        let (elements, count) = count(input, fields.array, STRING_MIN + PARTITIONS_MIN)?;
        let mut rest = elements;
        for _ in 0..count {
            (rest, _) = self.string(rest, fields.topic)?;
            (rest, _) = partitions(rest, fields.partitions)?;
        }
        Ok((rest, Array { count, elements: self.span(elements, rest) }))
    }

    pub(crate) fn nullable_string(&mut self, input: &'i [u8], field: Field) -> Parsed<'i, Option<Span>> {
        let (rest, length) = int16(input, field)?;
        let Ok(length) = usize::try_from(length) else {
            return Ok((rest, None));
        };
        let (rest, text) = self.text(rest, field, length)?;
        Ok((rest, Some(text)))
    }

    fn string(&mut self, input: &'i [u8], field: Field) -> Parsed<'i, Span> {
        let (rest, length) = int16(input, field)?;
        let Ok(length) = usize::try_from(length) else {
            return Err(Fault::UnexpectedNull { field, length: length.into(), left: input.len() }.into());
        };
        self.text(rest, field, length)
    }

    fn text(&mut self, input: &'i [u8], field: Field, length: usize) -> Parsed<'i, Span> {
        let (rest, text) = raw(input, field, length)?;
        // Nearly every name is ASCII, which is the quicker check.
        if !text.is_ascii()
            && let Err(error) = str::from_utf8(text)
        {
            let fault = Fault::InvalidUtf8 { field, left: input.len() - error.valid_up_to() };
            self.replace(text, self.position(input)).ok_or(fault)?;
        }
        Ok((rest, self.span(input, rest)))
    }

    /// `None` where a string must not be, or cannot be, replaced.
    fn replace(&mut self, text: &[u8], start: usize) -> Option<()> {
        let InvalidUtf8::IsReplaced = self.invalid else {
            return None;
        };
        let replacement = text::replace_invalid(text);
        let length = i16::try_from(replacement.len()).ok()?;
        self.replaced.extend_from_slice(&self.input[self.copied..start - STRING_MIN]);
        self.replaced.put_i16(length);
        self.replaced.extend_from_slice(replacement.as_bytes());
        self.copied = start + text.len();
        Some(())
    }

    pub(crate) fn nullable_bytes(&self, input: &'i [u8], field: Field) -> Parsed<'i, Option<Span>> {
        let (rest, length) = int32(input, field)?;
        let Ok(length) = usize::try_from(length) else {
            return Ok((rest, None));
        };
        let (after, _) = raw(rest, field, length)?;
        Ok((after, Some(self.span(rest, after))))
    }
}

/// The int16 in front of a message; any that is not negative.
pub(crate) fn version(input: &[u8]) -> Parsed<'_, i16> {
    let (rest, version) = int16(input, Field::Version)?;
    if version < 0 {
        return Err(Fault::NegativeVersion { version }.into());
    }
    Ok((rest, version))
}

fn int16(input: &[u8], field: Field) -> Parsed<'_, i16> {
    be_i16::<_, ()>(input).map_err(|_| truncated(input, field, 2))
}

pub(crate) fn int32(input: &[u8], field: Field) -> Parsed<'_, i32> {
    be_i32::<_, ()>(input).map_err(|_| truncated(input, field, 4))
}

/// The generation that an int32 stands for: any negative one means none.
pub(crate) fn generation(input: &[u8], field: Field) -> Parsed<'_, Option<i32>> {
    let (rest, generation) = int32(input, field)?;
    Ok((rest, Some(generation).filter(|generation| *generation >= 0)))
}

/// Steps over one topic's partition numbers and returns them as they are.
fn partitions(input: &[u8], field: Field) -> Parsed<'_, &[u8]> {
    let (rest, count) = count(input, field, PARTITION)?;
    raw(rest, field, count.saturating_mul(PARTITION))
}

/// The number of elements of an array, refused where the rest of the input cannot hold as many.
fn count(input: &[u8], field: Field, element_min: usize) -> Parsed<'_, usize> {
    let (rest, length) = int32(input, field)?;
    let Ok(count) = usize::try_from(length) else {
        return Err(Fault::UnexpectedNull { field, length, left: input.len() }.into());
    };
    let needed = count.saturating_mul(element_min);
    if needed > rest.len() {
        return Err(truncated(rest, field, needed));
    }
    Ok((rest, count))
}

fn raw(input: &[u8], field: Field, length: usize) -> Parsed<'_, &[u8]> {
    take::<_, _, ()>(length)(input).map_err(|_| truncated(input, field, length))
}

fn truncated(input: &[u8], field: Field, needed: usize) -> nom::Err<Fault> {
    Fault::Truncated { field, needed, available: input.len() }.into()
}
