//! Methods of values, filters and tests: those that published templates use. All others are left to Jinja.

use std::rc::Rc;
use std::sync::Arc;

use memchr::memmem;

use super::json::to_json;
use super::text::{Bail, Eval, Text};
use super::value::{Dict, Value};

/// The methods of Python's dicts: as attributes they come before keys of the same names.
const DICT_METHODS: [&str; 11] =
    ["clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"];

/// `value.name`.
pub(super) fn attribute(value: &Value, name: &str) -> Eval<Value> {
    match value {
        Value::Dict(rows) if !DICT_METHODS.contains(&name) && !name.starts_with('_') => {
            Ok(rows.get(name).map_or(Value::Undefined, |(_, value)| value.clone()))
        }
        Value::Namespace(names) => names.borrow().get(name).cloned().ok_or(Bail),
        Value::None if !name.starts_with('_') => Ok(Value::Undefined),
        Value::Loop(place) => of_loop(&place.0, place.1, name),
        _ => Err(Bail),
    }
}

fn of_loop(items: &[Value], index: usize, name: &str) -> Eval<Value> {
    let number = |number: usize| Ok(Value::Int(number as i64));
    let item = |item: Option<&Value>| Ok(item.cloned().unwrap_or(Value::Undefined));
    match name {
        "index" => number(index + 1),
        "index0" => number(index),
        "length" => number(items.len()),
        "revindex" => number(items.len() - index),
        "revindex0" => number(items.len() - index - 1),
        "first" => Ok(Value::Bool(index == 0)),
        "last" => Ok(Value::Bool(index + 1 == items.len())),
        "previtem" => item(index.checked_sub(1).and_then(|at| items.get(at))),
        "nextitem" => item(items.get(index + 1)),
        _ => Err(Bail),
    }
}

/// `value[key]`.
pub(super) fn item(value: &Value, key: &Value) -> Eval<Value> {
    match (value, key) {
        (Value::Dict(rows), Value::Text(key)) => match rows.get(&key.string) {
            Some((_, value)) => Ok(value.clone()),
            None => attribute(value, &key.string),
        },
        (Value::List(items), Value::Int(index)) => {
            let at = if *index < 0 { index + items.len() as i64 } else { *index };
            let item = usize::try_from(at).ok().and_then(|at| items.get(at));
            Ok(item.cloned().unwrap_or(Value::Undefined))
        }
        (Value::Text(text), Value::Int(index)) => {
            let count = if *index < 0 { text.string.chars().count() as i64 } else { 0 };
            let Ok(at) = usize::try_from(index + count) else { return Ok(Value::Undefined) };
            let character = text.string.char_indices().nth(at);
            let part =
                character.map(|(at, character)| text.part(&text.string[at..at + character.len_utf8()]));
            Ok(part.map_or(Value::Undefined, Value::text))
        }
        _ => Err(Bail),
    }
}

/// `value[start:stop:step]`.
pub(super) fn slice(value: &Value, [start, stop, step]: [Option<i64>; 3]) -> Eval<Value> {
    let step = step.unwrap_or(1);
    if step != 1 && !(step == -1 && start.is_none() && stop.is_none()) {
        return Err(Bail);
    }
    let range = |len: usize| {
        let place =
            |place: i64| (if place < 0 { place + len as i64 } else { place }).clamp(0, len as i64) as usize;
        let (start, stop) = (start.map_or(0, place), stop.map_or(len, place));
        start..stop.max(start)
    };
    match value {
        Value::List(items) => {
            let mut items = items[range(items.len())].to_vec();
            if step < 0 {
                items.reverse();
            }
            Ok(Value::list(items))
        }
        Value::Text(text) if step == 1 => {
            let places: Vec<usize> =
                text.string.char_indices().map(|(at, _)| at).chain([text.string.len()]).collect();
            let range = range(places.len() - 1);
            Ok(Value::text(text.part(&text.string[places[range.start]..places[range.end]])))
        }
        _ => Err(Bail),
    }
}

/// Characters that Python's `strip` takes off, and Rust's `trim` does not.
fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// `value.name(arguments)`.
pub(super) fn method(value: &Value, name: &str, arguments: &[Value]) -> Eval<Value> {
    match value {
        Value::Text(text) => of_text(text, name, arguments),
        Value::Dict(rows) => of_dict(rows, name, arguments),
        _ => Err(Bail),
    }
}

fn of_text(text: &Arc<Text>, name: &str, arguments: &[Value]) -> Eval<Value> {
    let part = |part: &str| match part.len() == text.string.len() {
        true => Ok(Value::Text(text.clone())),
        false => Ok(Value::text(text.part(part))),
    };
    let string = &*text.string;
    match (name, arguments) {
        ("strip", []) => part(string.trim_matches(is_space)),
        ("lstrip", []) => part(string.trim_start_matches(is_space)),
        ("rstrip", []) => part(string.trim_end_matches(is_space)),
        ("strip", [Value::Text(set)]) => part(string.trim_matches(|c| set.string.contains(c))),
        ("lstrip", [Value::Text(set)]) => part(string.trim_start_matches(|c| set.string.contains(c))),
        ("rstrip", [Value::Text(set)]) => part(string.trim_end_matches(|c| set.string.contains(c))),
        ("startswith", [Value::Text(start)]) => Ok(Value::Bool(string.starts_with(&*start.string))),
        ("endswith", [Value::Text(end)]) => Ok(Value::Bool(string.ends_with(&*end.string))),
        ("split", [Value::Text(separator)]) if !separator.string.is_empty() => {
            let parts = string.split(&*separator.string).map(|part| Value::text(text.part(part)));
            Ok(Value::list(parts.collect()))
        }
        ("split", [Value::Text(separator), Value::Int(count @ 0..)]) if !separator.string.is_empty() => {
            let parts = string.splitn(*count as usize + 1, &*separator.string);
            Ok(Value::list(parts.map(|part| Value::text(text.part(part))).collect()))
        }
        ("replace", [Value::Text(old), Value::Text(new)]) if !old.string.is_empty() => {
            let parts: Vec<Text> = string.split(&*old.string).map(|part| text.part(part)).collect();
            Ok(Value::text(Text::joined(&parts, new)?))
        }
        ("upper", []) => text.recased(string.to_ascii_uppercase()).map(Value::text).ok_or(Bail),
        ("lower", []) => text.recased(string.to_ascii_lowercase()).map(Value::text).ok_or(Bail),
        ("capitalize", []) => {
            let mut made = string.to_ascii_lowercase();
            made.get_mut(..1).ok_or(Bail)?.make_ascii_uppercase();
            text.recased(made).map(Value::text).ok_or(Bail)
        }
        _ => Err(Bail),
    }
}

fn of_dict(rows: &Rc<Dict>, name: &str, arguments: &[Value]) -> Eval<Value> {
    let key = |key: &str, mark| Value::text(Text::new(key.to_owned(), mark));
    match (name, arguments) {
        ("get", [Value::Text(key), rest @ ..]) if rest.len() < 2 => {
            let value = rows.get(&key.string).map(|(_, value)| value);
            Ok(value.or(rest.first()).cloned().unwrap_or(Value::None))
        }
        ("items", []) => {
            let row = |(name, (mark, value)): (&String, &(_, Value))| {
                Value::list(vec![key(name, *mark), value.clone()])
            };
            Ok(Value::Iterable(Rc::new(rows.iter().map(row).collect())))
        }
        ("keys", []) => {
            Ok(Value::Iterable(Rc::new(rows.iter().map(|(name, (mark, _))| key(name, *mark)).collect())))
        }
        ("values", []) => {
            Ok(Value::Iterable(Rc::new(rows.values().map(|(_, value)| value.clone()).collect())))
        }
        _ => Err(Bail),
    }
}

/// `value | name(arguments)`; `named` has the arguments with names.
pub(super) fn filter(value: &Value, name: &str, arguments: &[Value], named: &[(&str, Value)]) -> Eval<Value> {
    match (name, named) {
        ("tojson", _) if arguments.is_empty() => return json(value, named),
        ("map", [("attribute", Value::Text(attribute))]) if arguments.is_empty() => {
            let values =
                value.items()?.iter().map(|item| of_item(item, &attribute.string)).collect::<Eval<_>>()?;
            return Ok(Value::Iterable(Rc::new(values)));
        }
        (_, []) => {}
        _ => return Err(Bail),
    }
    match (name, value, arguments) {
        ("trim", Value::Text(text), []) => of_text(text, "strip", &[]),
        ("upper" | "lower" | "capitalize" | "replace", Value::Text(text), _) => {
            of_text(text, name, arguments)
        }
        ("string", Value::Text(_), []) => Ok(value.clone()),
        ("string", _, []) => value.shown().map(Value::Text),
        ("default" | "d", value, [other, rest @ ..]) if rest.len() < 2 => match (value, rest) {
            (Value::Undefined, _) => Ok(other.clone()),
            (value, [Value::Bool(true)]) if !value.is_true()? => Ok(other.clone()),
            (value, [] | [Value::Bool(_)]) => Ok(value.clone()),
            _ => Err(Bail),
        },
        ("length" | "count", value, []) => Ok(Value::Int(match value {
            Value::List(items) => items.len(),
            Value::Dict(rows) => rows.len(),
            Value::Text(text) => text.string.chars().count(),
            _ => return Err(Bail),
        } as i64)),
        ("first", Value::List(items), []) => Ok(items.first().cloned().unwrap_or(Value::Undefined)),
        ("last", Value::List(items), []) => Ok(items.last().cloned().unwrap_or(Value::Undefined)),
        ("list", Value::List(_) | Value::Dict(_) | Value::Iterable(_), []) => Ok(Value::List(value.items()?)),
        ("items", Value::Dict(rows), []) => of_dict(rows, "items", &[]),
        ("dictsort", Value::Dict(rows), []) => sorted(rows),
        ("selectattr", _, _) => selected(value, arguments, true),
        ("rejectattr", _, _) => selected(value, arguments, false),
        ("join", Value::List(_) | Value::Iterable(_), [Value::Text(separator)]) => {
            let texts = value.items()?.iter().map(Value::shown).collect::<Eval<Vec<_>>>()?;
            Ok(Value::text(Text::joined(&texts, separator)?))
        }
        _ => Err(Bail),
    }
}

fn json(value: &Value, named: &[(&str, Value)]) -> Eval<Value> {
    let mut indent = None;
    for argument in named {
        match argument {
            ("indent", Value::Int(spaces @ 0..=16)) => indent = Some(*spaces as usize),
            ("ensure_ascii", Value::Bool(false)) => {}
            _ => return Err(Bail),
        }
    }
    Ok(Value::text(to_json(value, indent)?))
}

/// The attribute that a filter asks for.
fn of_item(item: &Value, name: &str) -> Eval<Value> {
    match item {
        Value::Dict(_) if !name.contains('.') => attribute(item, name),
        _ => Err(Bail),
    }
}

/// The items of which an attribute passes a test, or fails it.
fn selected(value: &Value, arguments: &[Value], passes: bool) -> Eval<Value> {
    let [Value::Text(name), Value::Text(test), rest @ ..] = arguments else { return Err(Bail) };
    let mut kept = Vec::new();
    for item in value.items()?.iter() {
        if self::test(&of_item(item, &name.string)?, &test.string, rest)? == passes {
            kept.push(item.clone());
        }
    }
    Ok(Value::Iterable(Rc::new(kept)))
}

/// The rows of a dict by their keys, whatever their case.
fn sorted(rows: &Rc<Dict>) -> Eval<Value> {
    let items = of_dict(rows, "items", &[])?.items()?;
    let mut keyed: Vec<(String, Value)> =
        rows.keys().map(|key| key.to_ascii_lowercase()).zip(items.iter().cloned()).collect();
    keyed.sort_by(|left, right| left.0.cmp(&right.0));
    let is_ascii = rows.keys().all(|key| key.is_ascii());
    if is_ascii { Ok(Value::list(keyed.into_iter().map(|(_, item)| item).collect())) } else { Err(Bail) }
}

/// `value is name(arguments)`.
pub(super) fn test(value: &Value, name: &str, arguments: &[Value]) -> Eval<bool> {
    let is_of =
        |is: bool| if value.is_opaque() && !matches!(value, Value::Float(_)) { Err(Bail) } else { Ok(is) };
    match (name, arguments) {
        ("defined", []) => Ok(!matches!(value, Value::Undefined)),
        ("undefined", []) => Ok(matches!(value, Value::Undefined)),
        ("none", []) => Ok(matches!(value, Value::None)),
        ("string", []) => is_of(matches!(value, Value::Text(_))),
        ("mapping", []) => is_of(matches!(value, Value::Dict(_))),
        ("number", []) => is_of(matches!(value, Value::Int(_) | Value::Bool(_) | Value::Float(_))),
        ("boolean", []) => is_of(matches!(value, Value::Bool(_))),
        ("true", []) => is_of(matches!(value, Value::Bool(true))),
        ("false", []) => is_of(matches!(value, Value::Bool(false))),
        ("sequence" | "iterable", []) => {
            is_of(matches!(value, Value::Text(_) | Value::List(_) | Value::Dict(_) | Value::Undefined))
        }
        ("equalto" | "eq" | "==", [other]) => value.equals(other),
        ("ne" | "!=", [other]) => Ok(!value.equals(other)?),
        ("in", [container]) => contains(container, value),
        _ => Err(Bail),
    }
}

/// `value in container`.
pub(super) fn contains(container: &Value, value: &Value) -> Eval<bool> {
    match (container, value) {
        (Value::Text(text), Value::Text(part)) => {
            Ok(memmem::find(text.string.as_bytes(), part.string.as_bytes()).is_some())
        }
        (Value::Dict(rows), Value::Text(key)) => Ok(rows.contains_key(&key.string)),
        (Value::List(items), _) => {
            for item in items.iter() {
                if item.equals(value)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Err(Bail),
    }
}
