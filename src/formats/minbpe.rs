//! minbpe's `.model` files: a line "minbpe v1", the pattern, the number of special tokens, a line for each of
//! them (name, a space, id), and a line of two ids for each merge; the first merge makes id 256.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Error, Result, show};
use crate::pretokenize::Unmatched;
use crate::room;
use crate::tokenizer::parts::PatternEngines;
use crate::tokenizer::parts::place::{quoted, refused};
use crate::tokenizer::{Provenance, SourcePattern, Tokenizer};
use crate::vocab::Vocab;

const VERSION: &str = "minbpe v1";
const KIND: &str = "a .model file of minbpe";
/// The maximum number of bytes of all tokens together. Each line can double the longest token, so 40 lines
/// could fill any memory.
const MAX_BYTES: usize = 1 << 26;

/// A `.model` file that was read.
#[derive(Debug)]
pub struct MinbpeFile<'a> {
    /// The pattern; empty for none.
    pub pattern: &'a str,
    /// Names and ids of the special tokens, in the order of the file.
    pub special_tokens: Vec<(&'a str, u32)>,
    /// The two ids of each merge.
    pub merges: Vec<(u32, u32)>,
}

impl<'a> MinbpeFile<'a> {
    /// Reads a file.
    pub fn parse(text: &'a str) -> Result<Self> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let mut lines = (1..).zip(text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)));
        let mut next = || lines.next().unwrap_or((0, ""));
        let (_, version) = next();
        if version.trim() != VERSION {
            return Err(broken(1, format!("expected {}, got {}", quoted(VERSION), quoted(version))));
        }
        let (_, pattern) = next();
        let (line, count) = next();
        if line != 3 {
            return Err(broken(3, "the file ends before the number of special tokens"));
        }
        let count = number(count.trim(), 3)? as usize;
        let left = text.split('\n').count() - 3;
        if count > left {
            return Err(broken(3, format!("{count} special tokens, but only {left} lines follow")));
        }
        let (mut special_tokens, mut names) = (room::for_items(count)?, FxHashSet::default());
        for (line, content) in lines.by_ref().take(count) {
            let Some((name, id)) = content.rsplit_once(' ').filter(|(name, _)| !name.is_empty()) else {
                let reason = format!("expected a special token and its id, got {}", quoted(content));
                return Err(broken(line, reason));
            };
            if !names.insert(name) {
                return Err(broken(line, format!("the special token {} is there twice", quoted(name))));
            }
            special_tokens.push((name, number(id, line)?));
        }
        Ok(MinbpeFile { pattern, special_tokens, merges: merges(lines)? })
    }
}

impl MinbpeFile<'_> {
    pub(super) fn is_beginning(head: &[u8]) -> bool {
        head.starts_with(VERSION.as_bytes())
    }

    /// The vocabulary: the bytes by their values, the merges from 256 on, and the special tokens.
    pub fn vocab(&self) -> Result<Vocab> {
        let mut tokens: Vec<(u32, Vec<u8>)> = (0..=255_u8).map(|byte| (byte.into(), vec![byte])).collect();
        for (id, &(left, right)) in (256..).zip(&self.merges) {
            let part = |id: u32| &*tokens[id as usize].1;
            let token = [part(left), part(right)].concat();
            room::push(&mut tokens, (id, token))?;
        }
        let part = |id: u32| tokens[id as usize].1.clone();
        let merges = room::collected(self.merges.iter().map(|&(left, right)| (part(left), part(right))))?;
        let specials = self.special_tokens.iter();
        let specials: Vec<_> = specials.map(|(name, id)| (name.as_bytes().to_vec(), Some(*id))).collect();
        Vocab::new(&tokens, Some(&merges), &specials)
    }
}

/// Reads the tokenizer of a file.
///
/// # Errors
/// Those of [`MinbpeFile::parse`], of the pattern and of the vocabulary; [`Error::BrokenPart`] for a special
/// token that minbpe never finds, while toksmith does.
pub(super) fn read(data: &[u8], engines: &dyn PatternEngines) -> Result<Tokenizer> {
    let text = str::from_utf8(data)
        .map_err(|error| refused(KIND, format!("not UTF-8 at byte {}", error.valid_up_to())))?;
    let file = MinbpeFile::parse(text)?;
    for (number, (name, _)) in file.special_tokens.iter().enumerate() {
        let mut earlier = file.special_tokens[..number].iter();
        if let Some((earlier, _)) = earlier.find(|(earlier, _)| name.starts_with(earlier)) {
            let [name, earlier] = [*name, *earlier].map(quoted);
            let reason = format!(
                "the special token {name} begins with {earlier}, which stands before it: minbpe finds the earlier one, and \
                 toksmith the longer: put the longer one first"
            );
            return Err(broken(number + 4, reason));
        }
    }
    let pattern = match file.pattern {
        "" => SourcePattern::whole(Unmatched::Drop),
        pattern => engines.pattern(pattern, 0, Unmatched::Drop)?,
    };
    Tokenizer::new(file.vocab()?, pattern, Provenance::default())
}

pub(super) fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    check(tokenizer)?;
    tokenizer.vocab().check_as_list(KIND)?;
    let mut specials: Vec<(&str, u32)> = tokenizer.special_tokens().collect();
    // minbpe finds the first name in the list that fits: with the longest first, it is the longest, as in
    // toksmith.
    specials.sort_by_key(|(name, id)| (usize::MAX - name.chars().count(), *id));
    let pattern = tokenizer.pattern().source.as_deref().unwrap_or_default();
    let names = specials.iter().map(|(name, _)| ("special token", *name));
    for (what, text) in [("pattern", pattern)].into_iter().chain(names) {
        if text.contains(['\n', '\r']) {
            let reason = format!("{KIND} has one line for the {what}, and {} has a line break", quoted(text));
            return Err(Error::Unwritable(reason));
        }
    }
    let mut lines = vec![VERSION.to_owned(), pattern.to_owned(), specials.len().to_string()];
    lines.extend(specials.into_iter().map(|(name, id)| format!("{name} {id}")));
    lines
        .extend(minbpe_merges(tokenizer.vocab())?.into_iter().map(|(left, right)| format!("{left} {right}")));
    Ok((lines.join("\n") + "\n").into_bytes())
}

/// Checks that the file can hold the steps, the pattern and the special tokens.
fn check(tokenizer: &Tokenizer) -> Result<()> {
    if let Some(pipeline) = tokenizer.pipeline() {
        pipeline.check_fits(KIND)?;
    }
    let pattern = tokenizer.pattern();
    let reason = if let (None, Some((name, _))) = (&pattern.source, tokenizer.special_tokens().next()) {
        format!("without a pattern holds no special tokens, and there is {}", quoted(name))
    } else if pattern.flags != 0 {
        "holds no flags of the pattern: write them into it, as in (?i)".into()
    } else if pattern.source.is_some()
        && pattern.named().is_none()
        && pattern.pretokenizer.unmatched == Unmatched::Keep
    {
        "loses text that the pattern does not match, and this tokenizer keeps it".into()
    } else {
        return Ok(());
    };
    Err(Error::Unwritable(format!("{KIND} {reason}")))
}

/// The ids of the two parts of each merge of a tokenizer that minbpe could have: the bytes have their values
/// as ids, and the merges count up from 256.
fn minbpe_merges(vocab: &Vocab) -> Result<Vec<(u32, u32)>> {
    let id = |token: &[u8]| vocab.ordinary_id(token).unwrap_or_default();
    for byte in 0..=255_u8 {
        let id = id(&[byte]);
        if id != u32::from(byte) {
            return Err(Error::Unwritable(format!(
                "a .model file of minbpe numbers the bytes by their values, and here {} has the id {id}: only a tokenizer \
                 that was trained with special_ids=\"last\" has that",
                show(&[byte])
            )));
        }
    }
    let merges = vocab.merges_by_index().iter();
    let merge = |(number, &(left, right)): (u32, &(u32, u32))| {
        let tokens = vocab.tokens();
        let token = [tokens.bytes_at(left), tokens.bytes_at(right)].concat();
        let id = id(&token);
        if id != number {
            return Err(Error::Unwritable(format!(
                "a .model file of minbpe numbers the merges from 256 on, and here {} has the id {id}, not {number}",
                show(&token)
            )));
        }
        Ok((tokens.id_at(left), tokens.id_at(right)))
    };
    room::collected((256..).zip(merges).map(merge))?.into_iter().collect()
}

/// The merges, checked before memory is taken for their tokens.
fn merges<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Vec<(u32, u32)>> {
    let (mut merges, mut lengths, mut bytes) = (Vec::new(), vec![1_usize; 256], 0);
    let mut made = FxHashMap::default();
    for (line, content) in lines {
        let mut ids = content.split_whitespace();
        let (Some(left), Some(right), None) = (ids.next(), ids.next(), ids.next()) else {
            return Err(broken(line, format!("expected the two ids of a merge, got {}", quoted(content))));
        };
        let (left, right) = (number(left, line)?, number(right, line)?);
        let length = |id: u32| lengths.get(id as usize).copied();
        let Some(length) = length(left).zip(length(right)).map(|(left, right)| left + right) else {
            let unknown = left.max(right);
            return Err(broken(line, format!("{left} {right}: there is no token {unknown} yet")));
        };
        if let Some(id) = made.insert((left, right), lengths.len()) {
            return Err(broken(line, format!("{left} {right} is already the merge into {id}")));
        }
        bytes += length;
        if bytes > MAX_BYTES {
            return Err(broken(line, format!("the tokens up to here have more than {MAX_BYTES} bytes")));
        }
        room::push(&mut merges, (left, right))?;
        room::push(&mut lengths, length)?;
    }
    Ok(merges)
}

fn number(text: &str, line: usize) -> Result<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= 10;
    let number = text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| broken(line, format!("{} is not a whole number below 2^32", quoted(text))))
}

fn broken(line: usize, reason: impl Into<String>) -> Error {
    refused(format!("line {line}"), reason)
}
