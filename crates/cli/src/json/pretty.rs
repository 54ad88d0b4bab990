//! JSON that people can read as well: objects indented, lists of scalars in one line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Writes `value` and a line break.
pub(crate) fn write_pretty(output: &mut impl Write, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *output, Pretty::default()))?;
    output.write_all(b"\n").map_err(serde_json::Error::io)
}

#[derive(Default)]
struct Pretty {
    open: Vec<Open>,
    /// Whether the one closed last, or being open, is empty.
    is_empty: bool,
}

/// An object or list whose end is still to come.
enum Open {
    Object,
    List { of_objects: bool },
}

impl Pretty {
    fn new_line(&self, output: &mut (impl Write + ?Sized)) -> io::Result<()> {
        output.write_all(b"\n")?;
        for _ in &self.open {
            output.write_all(b"  ")?;
        }
        Ok(())
    }

    fn begin(&mut self, what: Open) {
        self.open.push(what);
        self.is_empty = true;
    }
}

impl Formatter for Pretty {
    fn begin_object<W: Write + ?Sized>(&mut self, output: &mut W) -> io::Result<()> {
        if let Some(Open::List { of_objects }) = self.open.last_mut() {
            *of_objects = true;
            self.new_line(output)?;
        }
        self.begin(Open::Object);
        output.write_all(b"{")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, output: &mut W, first: bool) -> io::Result<()> {
        self.is_empty = false;
        if !first {
            output.write_all(b",")?;
        }
        self.new_line(output)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, output: &mut W) -> io::Result<()> {
        output.write_all(b": ")
    }

    fn end_object<W: Write + ?Sized>(&mut self, output: &mut W) -> io::Result<()> {
        self.open.pop();
        if !std::mem::take(&mut self.is_empty) {
            self.new_line(output)?;
        }
        output.write_all(b"}")
    }

    fn begin_array<W: Write + ?Sized>(&mut self, output: &mut W) -> io::Result<()> {
        self.begin(Open::List { of_objects: false });
        output.write_all(b"[")
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, output: &mut W, first: bool) -> io::Result<()> {
        self.is_empty = false;
        match self.open.last() {
            _ if first => Ok(()),
            Some(Open::List { of_objects: true }) => output.write_all(b","),
            _ => output.write_all(b", "),
        }
    }

    fn end_array<W: Write + ?Sized>(&mut self, output: &mut W) -> io::Result<()> {
        let closed = self.open.pop();
        self.is_empty = false;
        if let Some(Open::List { of_objects: true }) = closed {
            self.new_line(output)?;
        }
        output.write_all(b"]")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pretty(value: &Value) -> String {
        let mut output = Vec::new();
        write_pretty(&mut output, value).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn lists_of_scalars_stay_in_one_line() {
        let value = json!({"a": {"x": [0, 1, 2]}, "b": {}, "c": []});
        assert_eq!(
            pretty(&value),
            "{\n  \"a\": {\n    \"x\": [0, 1, 2]\n  },\n  \"b\": {},\n  \"c\": []\n}\n"
        );
    }

    #[test]
    fn what_is_written_reads_as_what_was_given() {
        let value = json!([[], [{}], {"a": [{"b": null}, {"c": [1.5, "é\n\""]}, []], "d": {"e": {}}}, true]);
        assert_eq!(serde_json::from_str::<Value>(&pretty(&value)).unwrap(), value);
    }
}
