//! Mistral's `tekken.json`: a pattern, tokens in the order of their ranks, and special tokens with the ids
//! below them.
//!
//! The file may hold more tokens than the tokenizer has: `default_vocab_size` counts the special tokens too.
//! Special tokens that are not listed are named after their ids; files of up to version 7 list none of them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{Error, Result, show_text};
use crate::room;
use crate::tokenizer::parts::PatternEngines;
use crate::tokenizer::parts::place::refused;
use crate::tokenizer::{Provenance, SourcePattern, Tokenizer};
use crate::vocab::{SpecialSpec, Vocab};

/// The special tokens of files that list none.
const UNLISTED: &str = "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] \
    [TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] \
    [TOOL_CONTENT]";
/// The version of files that are written, the oldest one: the others say which control tokens a chat has,
/// which a tokenizer does not know.
const VERSION: &str = "v3";
/// The last version whose files may list no special tokens.
const LAST_UNLISTED_VERSION: u32 = 7;
const MAX_SPECIALS: u32 = 1 << 16;

#[derive(Deserialize)]
struct Content {
    config: Config,
    vocab: Vec<Row>,
    special_tokens: Option<Vec<SpecialRow>>,
}

#[derive(Deserialize)]
struct Config {
    pattern: String,
    default_vocab_size: u32,
    default_num_special_tokens: u32,
    version: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    rank: u32,
    token_bytes: String,
}

#[derive(Deserialize)]
struct SpecialRow {
    rank: u32,
    token_str: String,
}

/// Names that no other tokenizer's file begins with.
const NAMES: [&[u8]; 3] = [b"\"default_num_special_tokens\"", b"\"token_bytes\"", b"\"is_control\""];

pub(super) fn is_beginning(head: &[u8]) -> bool {
    let has = |name: &&[u8]| memchr::memmem::find(head, name).is_some();
    head.trim_ascii_start().starts_with(b"{") && NAMES.iter().any(has)
}

/// Reads the tokenizer of a file. Its special tokens are those that the file lists, and `<SPECIAL_n>` for the
/// others.
pub(super) fn read(data: &[u8], engines: &dyn PatternEngines) -> Result<Tokenizer> {
    let Content { config, vocab, special_tokens: listed } =
        serde_json::from_slice(data).map_err(|error| refused("$", error.to_string()))?;
    let (size, specials) = (config.default_vocab_size, config.default_num_special_tokens);
    if specials > size.min(MAX_SPECIALS) {
        let reason = format!("{specials} special tokens in a vocabulary of {size}");
        return Err(refused("$.config.default_num_special_tokens", reason));
    }
    let listed = match listed {
        Some(rows) => rows.into_iter().map(|row| (row.token_str, row.rank)).collect(),
        None if is_unlisted(config.version.as_deref()) => {
            (0..).zip(UNLISTED.split(' ')).map(|(id, name)| (name.to_owned(), id)).collect()
        }
        None => return Err(refused("$.special_tokens", "no list, which files after version 7 have")),
    };
    let names = special_tokens(listed, specials)?;
    let tokens = tokens(&vocab, size - specials, specials)?;
    drop(vocab);
    let pattern = SourcePattern::of_tiktoken_source(&config.pattern, engines)?;
    Tokenizer::new(Vocab::new(&tokens, None, &names)?, pattern, Provenance::default())
}

/// The content of a file, a token a line.
///
/// # Errors
/// [`Error::Unwritable`] for steps that the file does not hold, and for ids of another order;
/// [`Error::OutOfMemory`].
pub(super) fn write(tokenizer: &Tokenizer, engines: &dyn PatternEngines) -> Result<Vec<u8>> {
    super::ranks::check(tokenizer, "tekken.json")?;
    let pattern = tokenizer.pattern();
    let read = |source: &str| SourcePattern::of_tiktoken_source(source, engines).ok();
    match pattern.source.as_deref().filter(|source| read(source).is_some_and(|read| read == **pattern)) {
        Some(source) => content(tokenizer.vocab(), source),
        None => Err(Error::Unwritable(format!(
            "tekken.json has a pattern in the dialect of tiktoken's engine, and {} is not known to mean the same there",
            pattern.source.as_deref().map_or_else(|| "None".to_owned(), show_text)
        ))),
    }
}

/// The content of a file. `pattern` is in the dialect of tiktoken's engine.
fn content(vocab: &Vocab, pattern: &str) -> Result<Vec<u8>> {
    let (tokens, specials) = (vocab.tokens(), vocab.special_ids().len() as u32);
    let mut names: Vec<(u32, String)> = room::for_items(specials as usize)?;
    let names_of_core = vocab.specials().tokens().iter().map(|name| String::from_utf8_lossy(name));
    names.extend(vocab.special_ids().iter().copied().zip(names_of_core.map(String::from)));
    names.sort_unstable();
    let has_gaps = tokens.iter().zip(0..).any(|((id, _), place)| id != place);
    if has_gaps || names.iter().zip(0..).any(|((id, _), place)| *id != place) {
        let reason =
            "tekken.json gives special tokens the ids from 0 on and all others those behind, without gaps";
        return Err(Error::Unwritable(reason.into()));
    }
    if (0..=255_u8).any(|byte| tokens.get(specials + u32::from(byte)) != Some(&[byte][..])) {
        let reason = "tekken.json has the 256 bytes, in order, behind its special tokens";
        return Err(Error::Unwritable(reason.into()));
    }
    let config = json!({
        "default_num_special_tokens": names.len(),
        "default_vocab_size": tokens.len(),
        "num_vocab_tokens": tokens.len() - names.len(),
        "pattern": pattern,
        "version": VERSION,
    });
    let special = |(id, name): &(u32, String)| json!({"is_control": true, "rank": id, "token_str": name});
    let token = |(rank, (_, bytes)): (u32, (u32, &[u8]))| {
        let (encoded, text) = (BASE64_STANDARD.encode(bytes), str::from_utf8(bytes).ok());
        json!({"rank": rank, "token_bytes": encoded, "token_str": text})
    };
    let ordinary = tokens.iter().skip(names.len());
    let mut file = Vec::new();
    room::extend(&mut file, format!("{{\"config\": {},\n\"special_tokens\": [", ascii(&config)).as_bytes())?;
    put_rows(&mut file, names.iter().map(special))?;
    room::extend(&mut file, b"],\n\"vocab\": [")?;
    put_rows(&mut file, (0..).zip(ordinary).map(token))?;
    room::extend(&mut file, b"]}\n")?;
    Ok(file)
}

fn put_rows(file: &mut Vec<u8>, rows: impl Iterator<Item = Value>) -> Result<()> {
    for (number, row) in rows.enumerate() {
        room::extend(file, if number == 0 { &b"\n"[..] } else { b",\n" })?;
        room::extend(file, ascii(&row).as_bytes())?;
    }
    Ok(())
}

/// The JSON of a value, with escapes in place of characters beyond ASCII: whatever the encoding that a reader
/// assumes.
fn ascii(value: &Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
        }
    }
    text
}

/// Whether files of a version may list no special tokens. Versions are "v3", "v7", "v7m1", "v11" and so on.
fn is_unlisted(version: Option<&str>) -> bool {
    let digits = version.unwrap_or("v3").trim_start_matches('v').split(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).is_some_and(|version: u32| version <= LAST_UNLISTED_VERSION)
}

/// All special tokens in the order of their ids; those that the file does not list come last.
fn special_tokens(mut listed: Vec<(String, u32)>, count: u32) -> Result<Vec<SpecialSpec>> {
    listed.sort_by_key(|(_, rank)| *rank);
    if listed.len() > count as usize || listed.iter().zip(0..).any(|((_, rank), id)| *rank != id) {
        let reason = format!("the ranks are not 0, 1, 2 and so on, below {count}");
        return Err(refused("$.special_tokens", reason));
    }
    let first = listed.len() as u32;
    let unlisted = (first..count).map(|id| (format!("<SPECIAL_{id}>"), id));
    Ok(listed.into_iter().chain(unlisted).map(|(name, id)| (name.into_bytes(), Some(id))).collect())
}

/// The first `count` tokens, with ids from `first_id` on.
fn tokens(rows: &[Row], count: u32, first_id: u32) -> Result<Vec<(u32, Vec<u8>)>> {
    if rows.len() < count as usize {
        let reason =
            format!("{} tokens, fewer than the {count} that config.default_vocab_size asks for", rows.len());
        return Err(refused("$.vocab", reason));
    }
    let mut tokens = room::for_items(count as usize)?;
    for (rank, row) in (0..count).zip(rows) {
        if row.rank != rank {
            let reason = format!("expected {rank}, got {}", row.rank);
            return Err(refused(format!("$.vocab[{rank}].rank"), reason));
        }
        let bytes = BASE64_STANDARD.decode(&row.token_bytes).map_err(|_| {
            let reason = format!("{} is not base64", show_text(&row.token_bytes));
            refused(format!("$.vocab[{rank}].token_bytes"), reason)
        })?;
        tokens.push((first_id + rank, bytes));
    }
    Ok(tokens)
}
