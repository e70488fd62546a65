//! GPT-2's two files: `vocab.json`, an object of tokens with their ids, and `merges.txt`, a merge a line.
//! Tokens are spelled with a character for each byte.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use super::reading::{Entries, not_json, text_of, unread};
use crate::error::{Error, Result, show, show_reason};
use crate::room;
use crate::spelling::{spelled, unspelled};
use crate::tokenizer::parts::place::quoted;
use crate::vocab::{SpecialSpec, Vocab};

const VERSION: &str = "#version: 0.2\n";

/// A file: its path for messages, and its content.
pub(super) type NamedData<'a> = (&'a Path, &'a [u8]);

pub(super) type Merge = (Vec<u8>, Vec<u8>);

/// The vocabulary of the two files.
///
/// Some writers leave special tokens unspelled: the name of one is taken literally if its spelling is not
/// there as well, and if it does not spell a token of a merge.
pub(super) fn read(vocab: NamedData<'_>, merges: NamedData<'_>, specials: &[SpecialSpec]) -> Result<Vocab> {
    let merges = merges_of(merges)?;
    let made = LazyCell::new(|| -> HashSet<Vec<u8>> {
        let tokens = |(left, right): &Merge| [left.clone(), right.clone(), [&**left, right].concat()];
        merges.iter().flat_map(tokens).collect()
    });
    let tokens = tokens_of_vocab(vocab, specials, &|token| made.contains(token))?;
    Vocab::new(&tokens, Some(&merges), specials)
}

/// The contents of `vocab.json` and `merges.txt`.
pub(super) fn write(vocab: &Vocab) -> Result<[Vec<u8>; 2]> {
    vocab.check_as_list("merges.txt")?;
    let mut ids: HashMap<&[u8], u32> = HashMap::new();
    let mut json = Vec::new();
    for (id, token) in vocab.tokens().iter() {
        if let Some(other) = ids.insert(token, id) {
            let reason = format!("vocab.json cannot hold two ids, {other} and {id}, for {}", show(token));
            return Err(Error::Unwritable(reason));
        }
        let (start, name) = (if json.is_empty() { "{" } else { ", " }, Value::from(spelled(token)));
        room::extend(&mut json, format!("{start}{name}: {id}").as_bytes())?;
    }
    room::extend(&mut json, b"}")?;
    let mut lines = VERSION.as_bytes().to_vec();
    for (left, right) in vocab.listed_merges()?.0 {
        let [left, right] = [left, right].map(|index| spelled(vocab.tokens().bytes_at(index)));
        room::extend(&mut lines, format!("{left} {right}\n").as_bytes())?;
    }
    Ok([json, lines])
}

/// The merges of `merges.txt` in order. A first line that begins `#version` is no merge; `# #` is one.
pub(super) fn merges_of((path, data): NamedData<'_>) -> Result<Vec<Merge>> {
    let mut merges = Vec::new();
    for (line, text) in (1..).zip(text_of(data, path)?.split('\n')) {
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() || (line == 1 && text.starts_with("#version")) {
            continue;
        }
        let part = |part: &str| unspelled(part).filter(|part| !part.is_empty());
        let merge = text.split_once(' ').and_then(|(left, right)| Some((part(left)?, part(right)?)));
        let merge = merge.ok_or_else(|| {
            let reason = format!("expected two tokens with one space between, got {}", quoted(text));
            unread(path, format!("line {line}: {reason}"))
        })?;
        room::push(&mut merges, merge)?;
    }
    Ok(merges)
}

/// The names of a `vocab.json` with their ids, in order. Each name is there once.
pub(super) fn names_of((path, data): NamedData<'_>) -> Result<Vec<(String, u32)>> {
    let text = text_of(data, path)?;
    room::check_available(2 * text.len())?;
    let Entries(entries) =
        serde_json::from_str::<Entries<&RawValue>>(text).map_err(|error| not_json(path, &error))?;
    let id = |(name, id): (String, &RawValue)| match id.get().parse() {
        Ok(id) => Ok((name, id)),
        Err(_) => {
            let (name, id) = (quoted(&name), show_reason(id.get()));
            Err(unread(path, format!("the id of token {name} is {id}, not a whole number below 2^32")))
        }
    };
    entries.into_iter().map(id).collect()
}

/// Ids and bytes of the tokens in a `vocab.json`; `is_made` says whether a token is one of a merge.
fn tokens_of_vocab(
    (path, data): NamedData<'_>,
    specials: &[SpecialSpec],
    is_made: &dyn Fn(&[u8]) -> bool,
) -> Result<Vec<(u32, Vec<u8>)>> {
    let names = names_of((path, data))?;
    let literal = specials.iter().map(|(name, _)| str::from_utf8(name).unwrap_or_default());
    let mut literal: HashSet<&str> = literal.filter(|name| name.chars().nth(1).is_some()).collect();
    if !literal.is_empty() {
        let known: HashSet<&str> = names.iter().map(|(name, _)| &**name).collect();
        literal.retain(|name| {
            let is_other = || unspelled(name).is_some_and(|bytes| is_made(&bytes));
            !known.contains(&*spelled(name.as_bytes())) && !is_other()
        });
    }
    let token = |(name, id): &(String, u32)| {
        let token = if literal.contains(&**name) { Some(name.clone().into_bytes()) } else { unspelled(name) };
        let reason = "holds a character that stands for no byte in GPT-2's table; if it is a special token, list it in \
            special_tokens";
        let token = token.ok_or_else(|| unread(path, format!("token {} {reason}", quoted(name))))?;
        Ok((*id, token))
    };
    names.iter().map(token).collect()
}
