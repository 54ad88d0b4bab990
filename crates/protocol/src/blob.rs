use alloc::vec::Vec;
use core::ops::Deref;

use bytes::Bytes;

use crate::wire::Span;

/// The bytes of one message: somebody else's, or shared ownership of them.
#[derive(Clone)]
pub(crate) enum Blob<'a> {
    Borrowed(&'a [u8]),
    Shared(Bytes),
}

impl Blob<'_> {
    pub(crate) fn into_owned(self) -> Blob<'static> {
        Blob::Shared(match self {
            Self::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
            Self::Shared(bytes) => bytes,
        })
    }

    pub(crate) fn span(&self, span: Span) -> &[u8] {
        &self[span.start..span.end]
    }

    /// Like [`span`](Self::span), sharing the bytes where they are shared and copying them else.
    pub(crate) fn shared(&self, span: Span) -> Bytes {
        match self {
            Self::Borrowed(_) => Bytes::copy_from_slice(self.span(span)),
            Self::Shared(bytes) => bytes.slice_ref(self.span(span)),
        }
    }

    /// The text at `span`, which was checked to be UTF-8 when the message was read.
    pub(crate) fn text(&self, span: Span) -> &str {
        str::from_utf8(self.span(span)).unwrap_or_default()
    }
}

impl Deref for Blob<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl From<Vec<u8>> for Blob<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(bytes.into())
    }
}
