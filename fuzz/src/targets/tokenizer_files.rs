//! What the targets of tokenizer files have in common: damage to a file, the tokenizer that it becomes, and
//! SentencePiece's algorithm from its definition.

use toksmith::dialects::{Ranges, Tables, Translation};
use toksmith::formats::huggingface::TokenizerFile;
use toksmith::pipeline::Pipeline;
use toksmith::pretokenize::{Matcher, UNICODE_VERSION, Unmatched};
use toksmith::tokenizer::SourcePattern;
use toksmith::tokenizer::parts::{FilePipeline, PatternEngines};
use toksmith::{Control, Encoder, Error, Result, Vocab, decode};

use super::input::Input;

/// Characters of pieces and texts.
pub(super) const LETTERS: [&str; 10] = ["a", "a", "b", "▁", " ", "é", "中", "<", "s", ">"];

/// A file with up to three changes.
pub(super) fn damaged(mut file: Vec<u8>, input: &mut Input<'_>) -> Vec<u8> {
    for _ in 0..input.below(4) {
        let at = u16::from_le_bytes([input.byte(), input.byte()]) as usize % file.len().max(1);
        match input.below(4) {
            0 => file.truncate(at),
            1 => file.insert(at.min(file.len()), input.byte()),
            _ if at < file.len() => file[at] = input.byte(),
            _ => {}
        }
    }
    file
}

/// The patterns that have a scanner; any other one is refused.
struct Scanners;

impl Tables for Scanners {
    fn matched(&self, source: &str) -> Result<Ranges> {
        Err(Error::Pattern(source.to_owned()))
    }

    fn matched_among(&self, source: &str, _: &str) -> Result<Ranges> {
        Err(Error::Pattern(source.to_owned()))
    }
}

impl PatternEngines for Scanners {
    fn engine(&self, pattern: &Translation) -> Result<Matcher> {
        Err(Error::Pattern(pattern.pattern.clone()))
    }

    fn pattern(&self, source: &str, _: u32, _: Unmatched) -> Result<SourcePattern> {
        Err(Error::Pattern(source.to_owned()))
    }

    fn unicode(&self) -> Result<String> {
        Ok(UNICODE_VERSION.to_owned())
    }

    fn tokenizer_class(&self, _: &str) -> Option<String> {
        None
    }
}

/// The tokenizer of a file. Its vocabulary is the same when it is saved and loaded again.
pub(super) fn opened(file: &TokenizerFile) -> Result<Encoder> {
    let parts = ["normalizer", "pre_tokenizer", "decoder"].map(|name| file.part(name).clone());
    let added = file.added.iter().cloned();
    let kept = file.kept().map(|token| token.id);
    let steps = FilePipeline::read(&parts, &Scanners)?.with_tokens(added, kept)?;
    let vocab = file.vocab(steps.spelling(), &steps.token_texts()?, None)?;
    let specials: Vec<_> = vocab.specials().tokens().iter().cloned().zip(vocab.special_ids()).collect();
    let specials: Vec<_> = specials.into_iter().map(|(name, &id)| (name, Some(id))).collect();
    assert_eq!(Vocab::from_state(&vocab.state(), &specials).unwrap().state(), vocab.state());
    let encoder = Encoder::with_small_cache(vocab, steps.pretokenizer(), 1);
    Ok(match steps.is_plain()? {
        true => encoder,
        false => encoder.behind(Pipeline::new(steps.parts.clone())?),
    })
}

/// The ids of a text, with special tokens or without; all of them can be decoded.
pub(super) fn ids(encoder: &Encoder, text: &str, special: bool) -> Result<Vec<u32>> {
    let ids = encoder.encode_to_vec(text.as_bytes(), special, &Control::none())?;
    decode::decode(encoder.vocab(), &ids, &Control::none()).unwrap();
    Ok(ids)
}

/// A piece of a model: its text, score and type.
pub(super) type Row = (String, f32, u8);

/// A model of SentencePiece's kind.
#[derive(Default)]
pub(super) struct Model {
    pub(super) rows: Vec<Row>,
    pub(super) byte_fallback: bool,
    pub(super) add_dummy_prefix: bool,
    pub(super) remove_extra_whitespaces: bool,
    pub(super) escape_whitespaces: bool,
    pub(super) whitespace_as_suffix: bool,
}

impl Model {
    /// A model of few pieces, which are made of each other; some have one score.
    pub(super) fn chosen(input: &mut Input<'_>) -> Self {
        let mut rows: Vec<Row> =
            [("<unk>", 2), ("<s>", 3)].map(|(text, kind)| (text.to_owned(), 0.0, kind)).into();
        let byte_fallback = input.below(16) == 0; // which takes most of the time
        if byte_fallback {
            rows.extend((0..=255).map(|byte| (format!("<0x{byte:02X}>"), 0.0, 6)));
        }
        let letters = LETTERS.iter().filter(|letter| **letter != " ").skip(1);
        rows.extend(letters.map(|letter| ((*letter).to_owned(), -100.0, 1)));
        let first = rows.len() - LETTERS.len() + 2;
        for number in 0..input.below(16) {
            let mut pick = || rows[first + input.below(rows.len() - first)].0.clone();
            let text = pick() + &pick();
            let (kind, score) = (input.byte(), input.below(64));
            let kind = if kind < 200 { 1 } else { kind % 7 };
            let score = if score < 32 { -(number as f32) } else { (score % 3) as f32 };
            rows.push((text, score, kind));
        }
        Model {
            rows,
            byte_fallback,
            add_dummy_prefix: input.flag(),
            remove_extra_whitespaces: input.flag(),
            escape_whitespaces: input.below(4) > 0,
            whitespace_as_suffix: input.below(4) == 0,
        }
    }

    fn of_kind(&self, text: &str, kinds: &[u8]) -> Option<usize> {
        self.rows.iter().position(|(piece, _, kind)| piece == text && kinds.contains(kind))
    }

    /// The longest user-defined piece that a text begins with.
    fn symbol<'t>(&self, text: &'t str) -> Option<&'t str> {
        let symbols =
            self.rows.iter().filter(|(piece, _, kind)| *kind == 4 && text.starts_with(piece.as_str()));
        symbols.map(|(piece, ..)| &text[..piece.len()]).max_by_key(|piece| piece.len())
    }

    fn first<'t>(&self, text: &'t str) -> &'t str {
        let character = || &text[..text.chars().next().map_or(0, char::len_utf8)];
        self.symbol(text).unwrap_or_else(character)
    }

    /// A text as it is merged; its user-defined pieces stay as they are.
    fn normalized(&self, mut text: &str) -> String {
        let space = if self.escape_whitespaces { "▁" } else { " " };
        while self.remove_extra_whitespaces && !text.is_empty() && self.first(text) == " " {
            text = &text[1..];
        }
        if text.is_empty() {
            return String::new();
        }
        let prefix = self.add_dummy_prefix && !self.whitespace_as_suffix;
        let mut out = if prefix { space.to_owned() } else { String::new() };
        let mut after_space = self.remove_extra_whitespaces;
        while !text.is_empty() {
            let first = self.first(text);
            text = &text[first.len()..];
            let kept = if after_space { first.trim_start_matches(' ') } else { first };
            out += &kept.replace(' ', space);
            if !kept.is_empty() {
                after_space = self.remove_extra_whitespaces && kept.ends_with(' ');
            }
        }
        while self.remove_extra_whitespaces && out.ends_with(space) {
            out.truncate(out.len() - space.len());
        }
        if self.add_dummy_prefix && self.whitespace_as_suffix {
            out += space;
        }
        out
    }

    /// The ids that SentencePiece gives a text.
    pub(super) fn ids(&self, text: &str) -> Vec<u32> {
        self.merged(&self.normalized(text))
    }

    /// The ids of a normalized text: the best pair of neighbours merges, the leftmost of equal ones.
    pub(super) fn merged(&self, mut text: &str) -> Vec<u32> {
        let mut symbols: Vec<(String, bool)> = Vec::new();
        while !text.is_empty() {
            let first = self.first(text);
            symbols.push((first.to_owned(), self.symbol(text).is_some()));
            text = &text[first.len()..];
        }
        loop {
            let mut best: Option<(usize, f32)> = None;
            for at in 1..symbols.len() {
                let (left, right) = (&symbols[at - 1], &symbols[at]);
                let row = self.of_kind(&(left.0.clone() + &right.0), &[1]).filter(|_| !left.1 && !right.1);
                let score = row.map(|row| self.rows[row].1);
                if score.is_some_and(|score| best.is_none_or(|(_, highest)| score > highest)) {
                    best = score.map(|score| (at, score));
                }
            }
            let Some((at, _)) = best else { break };
            let (right, _) = symbols.remove(at);
            symbols[at - 1].0 += &right;
        }
        let mut ids = Vec::new();
        let mut after_unknown = false;
        for (piece, _) in &symbols {
            let known = self.of_kind(piece, &[1, 4]);
            match known {
                Some(id) => ids.push(id),
                None if self.byte_fallback => ids.extend(
                    piece.bytes().map(|byte| self.of_kind(&format!("<0x{byte:02X}>"), &[6]).unwrap()),
                ),
                None if after_unknown => {}
                None => ids.extend(self.of_kind("<unk>", &[2])),
            }
            after_unknown = known.is_none();
        }
        ids.into_iter().map(|id| id as u32).collect()
    }
}
