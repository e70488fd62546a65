//! The values of templates.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::text::{Bail, Eval, Text};
use crate::encode::Mark;

/// The mapping of a template, with marks on its keys.
pub(super) type Dict = IndexMap<String, (Mark, Value), DefaultHashBuilder>;

/// A value, small enough to be returned in registers.
#[derive(Clone)]
pub(super) enum Value {
    Undefined,
    None,
    Bool(bool),
    Int(i64),
    /// The digits of a number with a fraction, which is only shown.
    Float(Rc<String>),
    Text(Arc<Text>),
    List(Rc<Vec<Value>>),
    Dict(Rc<Dict>),
    /// Items that are only gone through: a view of a dict, or what a filter yields.
    Iterable(Rc<Vec<Value>>),
    Namespace(Rc<RefCell<FxHashMap<String, Value>>>),
    /// The items of a loop, and the index of the present one.
    Loop(Rc<(Rc<Vec<Value>>, usize)>),
    /// A function, by its name.
    Global,
}

const _: () = assert!(size_of::<Value>() == 16);

impl Value {
    /// The value of JSON, all texts in it with a mark.
    pub(super) fn of_json(json: Json, mark: Mark) -> Eval<Value> {
        Ok(match json {
            Json::Null => Value::None,
            Json::Bool(flag) => Value::Bool(flag),
            Json::String(string) => Value::text(Text::new(string, mark)),
            Json::Number(number) => match (number.as_i64(), number.to_string()) {
                (Some(number), _) => Value::Int(number),
                (None, digits) => Value::Float(shortest(&digits).ok_or(Bail)?.into()),
            },
            Json::Array(items) => {
                Value::list(items.into_iter().map(|item| Value::of_json(item, mark)).collect::<Eval<_>>()?)
            }
            Json::Object(rows) => {
                let row = |(key, value)| Ok((key, (mark, Value::of_json(value, mark)?)));
                Value::Dict(Rc::new(rows.into_iter().map(row).collect::<Eval<_>>()?))
            }
        })
    }

    pub(super) fn text(text: Text) -> Value {
        Value::Text(Arc::new(text))
    }

    pub(super) fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(items))
    }

    /// Bytes of a text, or how many items there are.
    pub(super) fn size(&self) -> usize {
        match self {
            Value::Text(text) => text.string.len(),
            Value::List(items) | Value::Iterable(items) => items.len(),
            Value::Dict(rows) => rows.len(),
            _ => 0,
        }
    }

    pub(super) fn is_true(&self) -> Eval<bool> {
        Ok(match self {
            Value::Undefined | Value::None => false,
            Value::Bool(flag) => *flag,
            Value::Int(number) => *number != 0,
            Value::Text(text) => !text.string.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Dict(rows) => !rows.is_empty(),
            Value::Global => true,
            Value::Float(_) | Value::Iterable(_) | Value::Namespace(_) | Value::Loop(_) => return Err(Bail),
        })
    }

    /// Whether two values are equal, as in Python.
    pub(super) fn equals(&self, right: &Value) -> Eval<bool> {
        Ok(match (self, right) {
            (Value::Text(left), Value::Text(right)) => left.string == right.string,
            (Value::Undefined, Value::Undefined) | (Value::None, Value::None) => true,
            (Value::Bool(_) | Value::Int(_), Value::Bool(_) | Value::Int(_)) => {
                self.as_int()? == right.as_int()?
            }
            (Value::List(_) | Value::Dict(_), Value::List(_) | Value::Dict(_)) => return Err(Bail),
            _ if self.is_opaque() || right.is_opaque() => return Err(Bail),
            _ => false,
        })
    }

    /// Whether comparing the value, or asking what it is, is left to Jinja.
    pub(super) fn is_opaque(&self) -> bool {
        use Value::{Float, Global, Iterable, Loop, Namespace};
        matches!(self, Float(_) | Iterable(_) | Global | Namespace(_) | Loop(_))
    }

    pub(super) fn as_int(&self) -> Eval<i64> {
        match self {
            Value::Int(number) => Ok(*number),
            Value::Bool(flag) => Ok(i64::from(*flag)),
            _ => Err(Bail),
        }
    }

    /// What is shown of the value.
    pub(super) fn shown(&self) -> Eval<Arc<Text>> {
        Ok(Arc::new(match self {
            Value::Text(text) => return Ok(text.clone()),
            Value::Undefined => Text::default(),
            Value::None => Text::unknown("None".to_owned()),
            Value::Bool(flag) => Text::unknown(if *flag { "True" } else { "False" }.to_owned()),
            Value::Int(number) => Text::unknown(number.to_string()),
            Value::Float(digits) => Text::unknown(digits.to_string()),
            _ => return Err(Bail),
        }))
    }

    /// The items that a loop takes.
    pub(super) fn items(&self) -> Eval<Rc<Vec<Value>>> {
        match self {
            Value::List(items) | Value::Iterable(items) => Ok(items.clone()),
            Value::Dict(rows) => {
                let key = |(key, (mark, _)): (&String, &(Mark, Value))| Text::new(key.clone(), *mark);
                Ok(Rc::new(rows.iter().map(key).map(Value::text).collect()))
            }
            Value::Undefined => Ok(Rc::default()),
            _ => Err(Bail),
        }
    }
}

/// A number as Python shows it, if that has no exponent.
fn shortest(digits: &str) -> Option<String> {
    let number: f64 = digits.parse().ok()?;
    let is_plain = number == 0.0 || (1e-4..1e16).contains(&number.abs());
    (is_plain && digits.contains(['.', 'e', 'E'])).then(|| format!("{number:?}"))
}
