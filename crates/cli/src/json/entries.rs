//! JSON objects whose keys are names.

use std::{
    borrow::{Borrow, Cow},
    collections::HashSet,
    fmt,
    marker::PhantomData,
    ops::Deref,
};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, MapAccess, Visitor},
};

/// A name from the input, borrowed from it unless it had escapes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The entries of an object, in the order given. No name comes twice.
#[derive(Debug, Clone)]
pub(crate) struct Entries<'a, V>(Vec<(Name<'a>, V)>);

impl<'a> From<&'a str> for Name<'a> {
    fn from(name: &'a str) -> Self {
        Self(Cow::Borrowed(name))
    }
}

impl From<String> for Name<'_> {
    fn from(name: String) -> Self {
        Self(Cow::Owned(name))
    }
}

impl Deref for Name<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<V> Default for Entries<'_, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'a, V> Deref for Entries<'a, V> {
    type Target = [(Name<'a>, V)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<V> Entries<'_, V> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a, V> FromIterator<(Name<'a>, V)> for Entries<'a, V> {
    /// The names must differ.
    fn from_iter<I: IntoIterator<Item = (Name<'a>, V)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl<'a, V> IntoIterator for Entries<'a, V> {
    type Item = (Name<'a>, V);
    type IntoIter = std::vec::IntoIter<(Name<'a>, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<V: Serialize> Serialize for Entries<'_, V> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Entries<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<'a, V>(PhantomData<(Name<'a>, V)>);

impl<'de: 'a, 'a, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<'a, V> {
    type Value = Entries<'a, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Vec<(Name<'a>, V)> = Vec::new();
        // Built where names first come out of order: while they ascend, none comes twice.
        let mut seen: Option<HashSet<Name<'a>>> = None;
        while let Some(name) = map.next_key::<Name<'a>>()? {
            if seen.is_none() && entries.last().is_some_and(|(last, _)| *last >= name) {
                seen = Some(entries.iter().map(|(name, _)| name.clone()).collect());
            }
            if seen.as_mut().is_some_and(|seen| !seen.insert(name.clone())) {
                return Err(A::Error::custom(format_args!("{:?} is given twice, expected it once", &*name)));
            }
            entries.push((name, map.next_value()?));
        }
        Ok(Entries(entries))
    }
}
