//! The filter `tojson`, as `transformers` defines it: Python's `json.dumps(value, ensure_ascii=False,
//! indent=indent)`.

use super::text::{Bail, Eval, Text};
use super::value::Value;
use crate::encode::{Mark, marks};

/// Bytes of the longest JSON.
const MAX_JSON: usize = 1 << 24;

/// A value as JSON. It is trusted if all texts in it are, and has the other marks that one of them has.
pub(super) fn to_json(value: &Value, indent: Option<usize>) -> Eval<Text> {
    let mut writer = Writer { json: String::new(), indent, all: marks::TRUSTED, any: 0 };
    writer.value(value, 0)?;
    let mark = writer.all | writer.any & !(marks::TRUSTED | marks::UNKNOWN);
    Ok(Text::new(writer.json, mark))
}

struct Writer {
    json: String,
    indent: Option<usize>,
    all: Mark,
    any: Mark,
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) -> Eval<()> {
        if self.json.len() > MAX_JSON {
            return Err(Bail);
        }
        match value {
            Value::None => self.json.push_str("null"),
            Value::Bool(flag) => self.json.push_str(if *flag { "true" } else { "false" }),
            Value::Int(number) => self.json.push_str(&number.to_string()),
            Value::Float(digits) => self.json.push_str(digits),
            Value::Text(text) => {
                text.runs().for_each(|(_, mark)| self.mark(mark));
                self.string(&text.string)?;
            }
            Value::List(items) => {
                self.json.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.separator(at, depth + 1);
                    self.value(item, depth + 1)?;
                }
                self.end(items.len(), depth, ']');
            }
            Value::Dict(rows) => {
                self.json.push('{');
                for (at, (key, (mark, value))) in rows.iter().enumerate() {
                    self.separator(at, depth + 1);
                    if !key.is_empty() {
                        self.mark(*mark);
                    }
                    self.string(key)?;
                    self.json.push_str(": ");
                    self.value(value, depth + 1)?;
                }
                self.end(rows.len(), depth, '}');
            }
            _ => return Err(Bail),
        }
        Ok(())
    }

    fn mark(&mut self, mark: Mark) {
        self.all &= mark;
        self.any |= mark;
    }

    /// What comes before an item.
    fn separator(&mut self, at: usize, depth: usize) {
        match self.indent {
            None if at > 0 => self.json.push_str(", "),
            None => {}
            Some(_) => {
                self.json.push_str(if at > 0 { "," } else { "" });
                self.line(depth);
            }
        }
    }

    fn end(&mut self, items: usize, depth: usize, bracket: char) {
        if self.indent.is_some() && items > 0 {
            self.line(depth);
        }
        self.json.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        self.json.push('\n');
        self.json.extend(std::iter::repeat_n(' ', depth * self.indent.unwrap_or(0)));
    }

    /// Writes a string. Python escapes the same characters as `serde_json`, in the same way.
    fn string(&mut self, string: &str) -> Eval<()> {
        self.json.push_str(&serde_json::to_string(string).map_err(|_| Bail)?);
        Ok(())
    }
}
