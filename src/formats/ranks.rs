//! tiktoken's rank files: each line is a token in base64, whitespace, and its id.
//!
//! The empty token is written as only padding, `=` (Whisper's file has one). Empty lines, and a byte order
//! mark before the first line, are skipped.

use std::collections::HashSet;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::error::{Result, show};
use crate::room;
use crate::tokenizer::parts::place::refused;
use crate::tokenizer::{Provenance, SourcePattern, Tokenizer};
use crate::vocab::{SpecialSpec, Vocab};

/// Like Python's `b64decode(validate=True)`: padding is required, and unused bits of the last character are
/// ignored.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The tokens of a rank file.
#[derive(Debug)]
pub struct RankLines {
    bytes: Vec<u8>,
    /// The offset in `bytes` at which the token of each id ends.
    ends: IndexMap<u32, usize, FxBuildHasher>,
}

impl RankLines {
    /// Whether the first line has the form of a token and its id.
    pub(super) fn is_beginning(head: &[u8]) -> bool {
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        let Some(line) = head.split_inclusive(|&byte| byte == b'\n').next() else { return false };
        let Some(line) = line.strip_suffix(b"\n") else { return false };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(space) = line.iter().position(|&byte| byte == b' ') else { return false };
        let (token, id) = (&line[..space], &line[space + 1..]);
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        token.iter().all(is_base64) && !id.is_empty() && id.iter().all(u8::is_ascii_digit)
    }

    /// Reads a file.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let file = file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file);
        // Most lines have more than twelve bytes.
        let ends = IndexMap::with_capacity_and_hasher(file.len() / 12, FxBuildHasher);
        let mut lines = RankLines { bytes: Vec::with_capacity(file.len() / 2), ends };
        for (index, line) in file.split(|&byte| byte == b'\n').enumerate() {
            lines.add(line).map_err(|reason| refused(format!("line {}", index + 1), reason))?;
        }
        Ok(lines)
    }

    fn add(&mut self, line: &[u8]) -> std::result::Result<(), String> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        let expected = || format!("expected a token in base64 and its id, got {}", show(line));
        let end = line.iter().position(u8::is_ascii_whitespace).ok_or_else(expected)?;
        let (token, digits) = (&line[..end], line[end..].trim_ascii_start());
        let start = self.bytes.len();
        if token.iter().any(|&byte| byte != b'=') {
            self.bytes.resize(start + token.len(), 0);
            let len = BASE64
                .decode_slice(token, &mut self.bytes[start..])
                .map_err(|_| format!("{} is not base64", show(token)))?;
            self.bytes.truncate(start + len);
        }
        let id = number(digits).ok_or_else(|| match digits.iter().any(u8::is_ascii_whitespace) {
            true => expected(),
            false => format!("the id {} is not a whole number below 2^32", show(digits)),
        })?;
        match self.ends.insert(id, self.bytes.len()) {
            None => Ok(()),
            Some(_) => Err(format!("the id {id} of {} belongs to another token", show(&self.bytes[start..]))),
        }
    }

    /// Ids and tokens in the order of the file.
    pub fn tokens(&self) -> Vec<(u32, &[u8])> {
        let mut start = 0;
        let token = |(&id, &end): (&u32, &usize)| {
            let token = &self.bytes[start..end];
            start = end;
            (id, token)
        };
        self.ends.iter().map(token).collect()
    }
}

/// Reads the tokenizer of a file, which holds neither a pattern nor special tokens.
pub(super) fn read(
    data: Vec<u8>,
    pattern: SourcePattern,
    specials: &[SpecialSpec],
    known: Provenance,
) -> Result<Tokenizer> {
    let lines = RankLines::parse(&data)?;
    drop(data);
    let vocab = Vocab::of_views(lines.tokens(), None, specials, false)?;
    drop(lines);
    Tokenizer::new(vocab, pattern, known)
}

/// The content of a file: the ordinary tokens by their ids.
pub(super) fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    check(tokenizer, "a rank file")?;
    let special: HashSet<u32> = tokenizer.vocab().special_ids().iter().copied().collect();
    let mut file = Vec::new();
    for (id, token) in tokenizer.tokens().filter(|(id, _)| !special.contains(id)) {
        let encoded = if token.is_empty() { "=".to_owned() } else { BASE64.encode(token) };
        room::extend(&mut file, format!("{encoded} {id}\n").as_bytes())?;
    }
    Ok(file)
}

/// Checks that a format of ranks, without steps before the pattern, can hold a tokenizer.
pub(super) fn check(tokenizer: &Tokenizer, format: &str) -> Result<()> {
    if let Some(pipeline) = tokenizer.pipeline() {
        pipeline.check_fits(format)?;
    }
    tokenizer.vocab().check_as_ranks(format)
}

fn number(digits: &[u8]) -> Option<u32> {
    let is_plain = digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_plain)?.parse().ok()
}
