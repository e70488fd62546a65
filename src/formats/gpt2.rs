//! GPT-2's two files: `vocab.json`, an object of tokens with their ids, and `merges.txt`, a merge a line. Tokens are spelled
//! with a character for each byte.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use super::reading::{Entries, not_json, text_of, unread};
use crate::error::{Error, Result, show};
use crate::room;
use crate::spelling::{spell, unspelled};
use crate::tokenizer::parts::place::quoted;
use crate::vocab::Vocab;

/// The first line of `merges.txt`.
const VERSION: &str = "#version: 0.2\n";

/// A file: its path for messages, and its content.
pub(super) type NamedData<'a> = (&'a Path, &'a [u8]);

/// The two tokens of a merge.
pub(super) type Merge = (Vec<u8>, Vec<u8>);

/// The two files, read.
#[derive(Debug)]
pub(super) struct Gpt2Files {
    /// Ids and bytes of the tokens.
    pub(super) tokens: Vec<(u32, Vec<u8>)>,
    /// The merges.
    pub(super) merges: Vec<Merge>,
}

impl Gpt2Files {
    /// Reads the two files.
    ///
    /// Some writers leave special tokens unspelled: a name in `special_tokens` is taken literally if its spelling is not there
    /// as well, and if it does not spell a token of a merge.
    ///
    /// # Errors
    /// [`Error::Unread`] and [`Error::Record`], which name the file, the token and the line; [`Error::OutOfMemory`].
    pub(super) fn read(vocab: NamedData<'_>, merges: NamedData<'_>, special_tokens: &[&str]) -> Result<Self> {
        let listed = merges_of(merges)?;
        let made = LazyCell::new(|| -> HashSet<Vec<u8>> {
            listed
                .iter()
                .flat_map(|((left, right), _)| [left.clone(), right.clone(), [&**left, right].concat()])
                .collect()
        });
        let tokens = tokens_of_vocab(vocab, special_tokens, &|token| made.contains(token))?;
        let known: HashSet<&[u8]> = tokens.iter().map(|(_, token)| &**token).collect();
        let mut joined = Vec::new();
        for ((left, right), line) in &listed {
            joined.clear();
            joined.extend_from_slice(left);
            joined.extend_from_slice(right);
            if let Some(unknown) = [left, right, &joined].into_iter().find(|token| !known.contains(&***token))
            {
                let [left, right, unknown] = [left, right, unknown].map(|token| show(token));
                let reason = format!(
                    "the merge ({left}, {right}) needs the token {unknown}, which is not in {}",
                    vocab.0.display()
                );
                return Err(in_line(merges.0, *line, reason));
            }
        }
        Ok(Gpt2Files { tokens, merges: listed.into_iter().map(|(merge, _)| merge).collect() })
    }

    /// The contents of `vocab.json` and `merges.txt`.
    ///
    /// # Errors
    /// [`Error::Unwritable`] for a vocabulary whose ids a list of merges does not give, and for a token with two ids;
    /// [`Error::OutOfMemory`].
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
}

/// The merges of `merges.txt` in order, each with its line. A first line that begins `#version` is no merge; `# #` is one.
///
/// # Errors
/// [`Error::Unread`], [`Error::Record`].
pub(super) fn merges_of((path, data): NamedData<'_>) -> Result<Vec<(Merge, usize)>> {
    let (mut merges, mut first) = (Vec::new(), HashMap::new());
    for (line, text) in (1..).zip(text_of(data, path)?.split('\n')) {
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() || (line == 1 && text.starts_with("#version")) {
            continue;
        }
        let part = |part: &str| unspelled(part).filter(|part| !part.is_empty());
        let Some(merge) = text.split_once(' ').and_then(|(left, right)| Some((part(left)?, part(right)?)))
        else {
            let reason = format!("expected two tokens with one space between, got {}", quoted(text));
            return Err(in_line(path, line, reason));
        };
        if let Some(first) = first.insert(text, line) {
            return Err(in_line(path, line, format!("the merge {} repeats line {first}", quoted(text))));
        }
        room::push(&mut merges, (merge, line))?;
    }
    Ok(merges)
}

/// The text of a `vocab.json`, which is an object with each name once.
///
/// # Errors
/// [`Error::Unread`], [`Error::Record`].
pub(super) fn vocab_text<'d>((path, data): NamedData<'d>) -> Result<&'d str> {
    entries((path, data)).map(|(text, _)| text)
}

fn entries<'d>((path, data): NamedData<'d>) -> Result<(&'d str, Vec<(String, &'d RawValue)>)> {
    let text = text_of(data, path)?;
    room::check_available(2 * text.len())?;
    match serde_json::from_str(text) {
        Ok(Entries(entries)) => Ok((text, entries)),
        Err(error) => Err(not_json(path, &error)),
    }
}

/// Ids and bytes of the tokens in a `vocab.json`; `is_made` says whether a token is one of a merge.
fn tokens_of_vocab(
    (path, data): NamedData<'_>,
    special_tokens: &[&str],
    is_made: &dyn Fn(&[u8]) -> bool,
) -> Result<Vec<(u32, Vec<u8>)>> {
    let (_, entries) = entries((path, data))?;
    let mut literal: HashSet<&str> =
        special_tokens.iter().copied().filter(|name| name.chars().nth(1).is_some()).collect();
    if !literal.is_empty() {
        let names: HashSet<&str> = entries.iter().map(|(name, _)| &**name).collect();
        literal.retain(|name| {
            let is_other = || unspelled(name).is_some_and(|bytes| is_made(&bytes));
            !names.contains(&*spelled(name.as_bytes())) && !is_other()
        });
    }
    let mut tokens: Vec<(u32, Vec<u8>)> = room::for_items(entries.len())?;
    let mut owners: HashMap<u32, usize> = HashMap::new();
    for (at, (name, id)) in entries.iter().enumerate() {
        let id: u32 = id.get().parse().map_err(|_| {
            let id = crate::error::show_reason(id.get());
            unread(path, format!("the id of token {} is {id}, not a whole number below 2^32", quoted(name)))
        })?;
        let token = if literal.contains(&**name) { Some(name.clone().into_bytes()) } else { unspelled(name) };
        let token = token.ok_or_else(|| {
            let reason = format!(
                "token {} holds a character that stands for no byte in GPT-2's table; if it is a special token, list it \
                 in special_tokens",
                quoted(name)
            );
            unread(path, reason)
        })?;
        if let Some(other) = owners.insert(id, at) {
            let (other, token) = (show(&tokens[other].1), show(&token));
            return Err(unread(path, format!("id {id} is given to both {other} and {token}")));
        }
        tokens.push((id, token));
    }
    Ok(tokens)
}

/// The spelling of a token.
pub(super) fn spelled(token: &[u8]) -> String {
    token.iter().map(|&byte| spell(byte)).collect()
}

fn in_line(path: &Path, line: usize, reason: String) -> Error {
    Error::Record { path: path.to_owned(), place: format!("line {line}"), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vocab: &str, merges: &[u8], special_tokens: &[&str]) -> Result<Gpt2Files> {
        let bytes = (0..=255).map(|byte| format!("{}: {byte}", Value::from(spelled(&[byte]))));
        let vocab = format!("{{{}{vocab}}}", bytes.collect::<Vec<_>>().join(","));
        let paths = [Path::new("vocab.json"), Path::new("merges.txt")];
        Gpt2Files::read((paths[0], vocab.as_bytes()), (paths[1], merges), special_tokens)
    }

    #[test]
    fn two_files_are_read_and_written() {
        let names = ["<| a|>", "<|b|>", "Ġt"];
        let files =
            read(", \"Ġt\": 256, \"<| a|>\": 300, \"<|b|>\": 301", b"#version: 0.2\r\n\n\xc4\xa0 t", &names)
                .unwrap();
        assert_eq!(files.merges, [(b" ".to_vec(), b"t".to_vec())]);
        let more = [(256, &b" t"[..]), (300, b"<| a|>"), (301, b"<|b|>")];
        assert_eq!(files.tokens[256..], more.map(|(id, token)| (id, token.to_vec())));
        let specials = [(b"<| a|>".to_vec(), None), (b"<|b|>".to_vec(), None)];
        let vocab = Vocab::new(&files.tokens, Some(&files.merges), &specials).unwrap();
        let [json, lines] = Gpt2Files::write(&vocab).unwrap();
        assert_eq!(lines, "#version: 0.2\nĠ t\n".as_bytes());
        let json = String::from_utf8(json).unwrap();
        assert!(
            json.ends_with("\"Ġt\": 256, \"<|Ġa|>\": 300, \"<|b|>\": 301}") && json.contains("\"\\\"\": 34")
        );
    }

    #[test]
    fn errors_name_the_file_the_token_and_the_line() {
        let long = "x".repeat(1 << 20);
        let cases: [(&str, &[u8], &str); 14] = [
            (", \"ab\": -1", b"", "vocab.json: the id of token 'ab' is -1, not a whole number below 2^32"),
            (", \"ab\": 4294967296", b"", "vocab.json: the id of token 'ab' is 4294967296"),
            (", \"ab\": 1.0", b"", "vocab.json: the id of token 'ab' is 1.0"),
            (", \"ab\": [1]", b"", "vocab.json: the id of token 'ab' is [1]"),
            (", \"ab\": 97", b"", "vocab.json: id 97 is given to both b\"a\" and b\"ab\""),
            (", \"a b\": 300", b"", "vocab.json: token 'a b' holds a character that stands for no byte"),
            (", \"a\": 300", b"", "vocab.json: 'a' is there twice"),
            (",\n}", b"", "vocab.json: line 2: not JSON: "),
            (
                "",
                b"#version\na  b",
                "merges.txt: line 2: expected two tokens with one space between, got 'a  b'",
            ),
            ("", "a 中".as_bytes(), "merges.txt: line 1: expected two tokens"),
            ("", long.as_bytes(), "merges.txt: line 1: expected two tokens"),
            (", \"ab\": 300", b"a b\n\na b", "merges.txt: line 3: the merge 'a b' repeats line 1"),
            (
                "",
                b"a b",
                "merges.txt: line 1: the merge (b\"a\", b\"b\") needs the token b\"ab\", which is not in vocab.json",
            ),
            ("", b"a b\n\xff", "merges.txt: not UTF-8 at byte 4"),
        ];
        for (vocab, merges, message) in cases {
            let error = read(vocab, merges, &[]).unwrap_err().to_string();
            assert!(error.starts_with(message) && error.len() < 300, "{error}");
        }
    }
}
