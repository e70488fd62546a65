//! Vocabularies with tokens of several words: the words of a pretoken come from the cache, and then their
//! tokens merge.
//!
//! Under such a vocabulary a pretoken is a run of many words, which hardly occurs twice, but its words occur
//! all the time. So the list of merges is divided into two stages at any place, best at the first merge that
//! joins two words. Since the merges of the first stage have the lower ranks, and take nothing that the
//! second one makes, a pretoken is merged by all of them if it is merged by the first stage, and its tokens
//! then by the second.
//!
//! 1. A pretoken is cut into words, but only between two bytes that no merge of the first stage joins: so
//!    none crosses the cut, and the first stage encodes each word by itself, like a pretoken of an ordinary
//!    vocabulary.
//! 2. A merge of the second stage joins two tokens of the first stage that met in its place. All such pairs
//!    are known: at all other places the tokens fall into sections, and each is merged by itself.
//!
//! Where the pattern is a [`WordRuns`], its pretokens are not searched. The text is cut into words, and only
//! where a known pair of tokens meets at the end of a word it is asked whether a pretoken also ends there.

use std::mem;

use super::fragments::Fragments;
use super::hot_loop::{HotLoop, PretokenRun};
use super::joined_pairs::JoinedPairs;
use super::lookup::Lookup;
use super::output::{Sink, StagedOutput, StagingBuffer};
use super::section::OpenTokens;
use crate::error::{Error, Result};
use crate::pretokenize::class::{char_start, decode_char};
use crate::pretokenize::spellings::NAMES;
use crate::pretokenize::{ENDS, Isa, Junctions, Named, Pattern, Pretokenizer, Scanner, WordRuns};
use crate::room;
use crate::vocab::{Model, Vocab};

/// The part of the merges, one eighth, that the first stage has at least. With fewer, the tokens of a word
/// are many.
const FIRST_STAGE_DIVISOR: usize = 8;
/// Tokens that are tried to find a pattern that cuts them into words.
const TRIED_TOKENS: usize = 1 << 10;
/// Bytes of text, about, whose words are encoded before their tokens are merged.
const STRETCH_BYTES: usize = if cfg!(test) { 1 << 6 } else { 1 << 13 };
/// Marks a token that the merges do not make.
const NOWHERE: u32 = u32::MAX;

/// A list of merges in two stages. Tokens are indices of the whole vocabulary.
pub(super) struct Superwords {
    /// The vocabulary of the first stage, whose ids are the indices of the whole vocabulary.
    pub(super) first: Vocab,
    /// A pattern that cuts text into words, with its instruction set.
    words: (Named, Isa),
    /// The pattern of the vocabulary, if words tell where its pretokens end.
    runs: Option<WordRuns>,
    /// The pairs of bytes that no merge of the first stage joins.
    apart: Junctions,
    /// The bytes of each token of the first stage.
    lengths: Vec<u32>,
    /// The tokens of the first stage that meet inside a token of the second.
    joined: JoinedPairs,
}

/// Working memory.
#[derive(Default)]
pub(super) struct Buffers {
    /// Where pretokens of the pattern that cuts text into words end.
    ends: Vec<usize>,
    /// Where words end.
    words: Vec<usize>,
    /// The tokens of the first stage.
    tokens: Vec<u32>,
    /// The places between two tokens that may be joined.
    places: Vec<TokenPlace>,
    section: OpenTokens,
    ids: Vec<u32>,
}

/// A place between two tokens: how many tokens are before it, and where it is in the text.
#[derive(Clone, Copy, Default)]
struct TokenPlace {
    token: usize,
    byte: usize,
}

/// A text with the vocabulary and the pattern that it is encoded with.
#[derive(Clone, Copy)]
pub(super) struct Encoded<'a> {
    pub(super) vocab: &'a Vocab,
    pub(super) pretokenizer: &'a Pretokenizer,
    pub(super) text: &'a [u8],
    /// Where the text begins in the text of the call.
    pub(super) base: usize,
}

/// What encodes words.
pub(super) struct Parts<'p, 'l> {
    pub(super) lookup: &'p mut Lookup<'l>,
    pub(super) run: &'p mut HotLoop,
    pub(super) fragments: &'p mut Fragments,
    pub(super) staged: &'p mut StagingBuffer,
    pub(super) buffers: &'p mut Buffers,
}

impl Superwords {
    /// The stages of a vocabulary in which merges join words; `None` for others, and where pretokens are no
    /// runs of words.
    pub(super) fn of(vocab: &Vocab, pretokenizer: &Pretokenizer) -> Option<Self> {
        if !matches!(pretokenizer.pattern, Pattern::Compiled(_) | Pattern::Custom(..)) || !is_plain(vocab) {
            return None;
        }
        let (tokens, merges) = (vocab.tokens(), vocab.merges_by_index());
        let joins = |&(left, right): &(u32, u32)| joins_words(tokens.bytes_at(left), tokens.bytes_at(right));
        let count = merges.iter().position(joins)?;
        if count < merges.len() / FIRST_STAGE_DIVISOR {
            return None;
        }
        let runs = match &pretokenizer.pattern {
            Pattern::Compiled(automaton) => automaton.word_runs(),
            _ => None,
        };
        let superwords = Self::with_first_stage(vocab, count).ok().flatten()?;
        let words = runs.map_or(superwords.words, |runs| (runs.named, Isa::best()));
        Some(Superwords { runs, words, ..superwords })
    }

    /// The stages of a vocabulary whose first one has `count` merges; `None` if the list cannot be divided.
    pub(super) fn with_first_stage(vocab: &Vocab, count: usize) -> Result<Option<Self>> {
        let Some(pairs) = vocab.pairs().filter(|_| is_plain(vocab)) else { return Ok(None) };
        let (tokens, merges) = (vocab.tokens(), vocab.merges_by_index());
        // The first and the last token of the first stage in each token.
        let mut ends = room::filled((NOWHERE, NOWHERE), tokens.len())?;
        (0..=255).map(|byte| pairs.byte_token(byte)).for_each(|token| ends[token as usize] = (token, token));
        let mut joined = JoinedPairs::with_room(merges.len() - count)?;
        for (rank, &(left, right)) in merges.iter().enumerate() {
            let made = pairs.result(rank as u32, (left, right));
            let ((first, before), (after, last)) = (ends[left as usize], ends[right as usize]);
            // Each token is made by one merge, and taken by later ones only.
            let is_new = ends[made as usize] == (NOWHERE, NOWHERE)
                && pairs.rank_of_symbols(left, right) == rank as u32;
            if first == NOWHERE || last == NOWHERE || !is_new {
                return Ok(None);
            }
            ends[made as usize] = if rank < count { (made, made) } else { (first, last) };
            if rank >= count {
                joined.insert(before, after, pairs.rank_of_symbols(before, after));
            }
        }
        let of_first =
            (0..).zip(&ends).filter(|&(token, &(first, _))| first == token).map(|(token, _)| token);
        let kept = room::collected(of_first.map(|token| (token, tokens.bytes_at(token))))?;
        let mut lengths = room::filled(0, tokens.len())?;
        kept.iter().for_each(|(token, bytes)| lengths[*token as usize] = bytes.len() as u32);
        let bytes = |&(left, right): &(u32, u32)| (tokens.bytes_at(left), tokens.bytes_at(right));
        let first = Vocab::of_views(kept, Some(merges[..count].iter().map(bytes).collect()), &[], true)?;
        let apart = Junctions::all_but(first.joined_bytes());
        let words = (best_words(&first), Isa::best());
        Ok(Some(Superwords { first, words, runs: None, apart, lengths, joined }))
    }

    /// Adds the ids of a text. `ends` is working memory.
    ///
    /// # Errors
    /// Errors of the pattern, of merging and of the sink.
    pub(super) fn encode(
        &self,
        encoded: Encoded<'_>,
        ends: &mut [usize; ENDS],
        parts: &mut Parts<'_, '_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let Encoded { vocab, pretokenizer, text, base } = encoded;
        let (cuts, mut first) = (pretokenizer.cut_rule(), 0);
        while first < text.len() && sink.wants_more() {
            let cut = self.runs.and_then(|_| cuts.next_cut(text, first + STRETCH_BYTES));
            let text = &text[first..cut.unwrap_or(text.len())];
            if let Some(runs) = self.runs.filter(|runs| runs.keeps_ends_of_named(text)) {
                sink.start(base + first);
                self.encode_stretch(vocab, runs, text, parts, sink)?;
            } else {
                pretokenizer.for_each_run(text, ends, |start, ends| {
                    sink.start(base + first + start);
                    self.encode_run(vocab, PretokenRun { text, start, ends }, parts, sink)?;
                    Ok(sink.wants_more())
                })?;
            }
            first += text.len();
        }
        Ok(())
    }

    /// Adds the ids of a text whose pretokens end where those of the words do, but for the places inside of
    /// runs.
    fn encode_stretch(
        &self,
        vocab: &Vocab,
        runs: WordRuns,
        text: &[u8],
        parts: &mut Parts<'_, '_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let mut all = mem::take(&mut parts.buffers.ends);
        let ends = scan(self.words, text, &mut all)?;
        let named = runs.over(text, ends);
        let words = grown(&mut parts.buffers.words, ends.len())?;
        let mut count = 0;
        for (at, &end) in ends.iter().enumerate() {
            words[count] = end;
            count += usize::from(self.apart.is_cut_at(text, end) || !named.joins(at));
        }
        parts.buffers.words.truncate(count);
        let joins = |at| named.joins(at);
        self.encode_words(vocab, PretokenRun { text, start: 0, ends }, joins, parts, sink)?;
        parts.buffers.ends = all;
        Ok(())
    }

    /// Adds the ids of neighbouring pretokens.
    pub(super) fn encode_run(
        &self,
        vocab: &Vocab,
        pretokens: PretokenRun<'_>,
        parts: &mut Parts<'_, '_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        self.cut(pretokens, parts.buffers)?;
        self.encode_words(vocab, pretokens, |_| false, parts, sink)
    }

    /// Cuts pretokens into words.
    fn cut(&self, pretokens: PretokenRun<'_>, buffers: &mut Buffers) -> Result<()> {
        let PretokenRun { text, start, ends: pretokens } = pretokens;
        let Buffers { ends, words, .. } = buffers;
        words.clear();
        let Some(&last) = pretokens.last() else { return Ok(()) };
        let ends = scan(self.words, &text[start..last], ends)?;
        room::reserve(words, ends.len() + pretokens.len())?;
        let mut next = 0;
        for end in ends.iter().map(|end| start + end) {
            while pretokens[next] < end {
                words.push(pretokens[next]);
                next += 1;
            }
            if pretokens[next] == end {
                next += 1;
                words.push(end);
            } else if self.apart.is_cut_at(text, end) {
                words.push(end);
            }
        }
        Ok(())
    }

    /// Adds the ids of the words that were found. `joins(at)` says whether the pretoken goes on at end number
    /// `at`.
    fn encode_words(
        &self,
        vocab: &Vocab,
        pretokens: PretokenRun<'_>,
        joins: impl Fn(usize) -> bool,
        parts: &mut Parts<'_, '_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let Parts { lookup, run, fragments, staged, buffers } = parts;
        buffers.tokens.clear();
        let mut output = StagedOutput::<true>::new(&mut buffers.tokens, &self.first, staged);
        let mut start = pretokens.start;
        for ends in buffers.words.chunks(ENDS) {
            lookup.control.check()?;
            let words = PretokenRun { text: pretokens.text, start, ends };
            run.encode(lookup, words, &mut output, |lookup, miss, output| {
                fragments.encode(lookup, miss, output)
            })?;
            start = ends[ends.len() - 1];
        }
        output.flush()?;
        self.merge(vocab, pretokens, joins, lookup, buffers)?;
        if sink.reads_ids() {
            sink.ids(vocab, &buffers.ids)
        } else {
            sink.count(buffers.ids.len());
            Ok(())
        }
    }

    /// Makes ids of the tokens of the first stage.
    fn merge(
        &self,
        vocab: &Vocab,
        PretokenRun { start, ends, .. }: PretokenRun<'_>,
        joins: impl Fn(usize) -> bool,
        lookup: &mut Lookup<'_>,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let pairs = vocab.pairs().ok_or(Error::BrokenState)?;
        let count = self.find_places(start, buffers)?;
        let Buffers { tokens, places, section, ids, .. } = buffers;
        ids.clear();
        section.clear(); // a call that was interrupted leaves tokens
        room::reserve(ids, tokens.len())?;
        let id = |&token: &u32| vocab.tokens().id_at(token);
        // How many tokens are in the ids or in the section, and how many ends are before a place.
        let (mut done, mut next) = (0, 0);
        for &TokenPlace { token: at, byte } in &places[..count] {
            let Some(rank) = self.joined.rank(tokens[at - 1], tokens[at]) else { continue };
            while ends[next] < byte {
                next += 1;
            }
            if ends[next] == byte && !joins(next) {
                continue;
            }
            if done < at - 1 && !section.is_empty() {
                section.finish(tokens[done], pairs, id, lookup, ids)?;
                done += 1;
            }
            ids.extend(tokens[done..at - 1].iter().map(id));
            section.push(tokens[at - 1], rank)?;
            done = at;
        }
        if !section.is_empty() {
            section.finish(tokens[done], pairs, id, lookup, ids)?;
            done += 1;
        }
        ids.extend(tokens[done..].iter().map(id));
        Ok(())
    }

    /// Finds the places between two tokens that may be joined, and returns how many there are. No step
    /// depends on whether they are, which is hard to predict.
    fn find_places(&self, start: usize, Buffers { tokens, places, .. }: &mut Buffers) -> Result<usize> {
        let places = grown(places, tokens.len())?;
        let Some((&(mut last), tokens)) = tokens.split_first() else { return Ok(0) };
        let (mut byte, mut count) = (start, 0);
        for (before, &token) in tokens.iter().enumerate() {
            byte += self.lengths[last as usize] as usize;
            places[count] = TokenPlace { token: before + 1, byte };
            count += usize::from(self.joined.may_have(last, token));
            last = token;
        }
        Ok(count)
    }
}

/// The ends of the pretokens of a text by a named pattern. `ends` is working memory.
fn scan<'e>((named, isa): (Named, Isa), text: &[u8], ends: &'e mut Vec<usize>) -> Result<&'e [usize]> {
    let (mut scanner, mut count) = (Scanner::new(named, isa, text), 0);
    loop {
        let room = grown(ends, count + ENDS)?[count..].first_chunk_mut();
        let more = room.map_or(0, |room| scanner.fill(room));
        if more == 0 {
            return Ok(&ends[..count]);
        }
        count += more;
    }
}

/// The items of working memory, at least `len`.
fn grown<T: Copy + Default>(items: &mut Vec<T>, len: usize) -> Result<&mut [T]> {
    if items.len() < len {
        room::reserve(items, len - items.len())?;
        items.resize(len, T::default());
    }
    Ok(items)
}

/// Whether the tokens are the bytes and what the merges of a list make, so that the list can be divided.
fn is_plain(vocab: &Vocab) -> bool {
    matches!(vocab.model(), Model::Merges { .. }) && !vocab.has_unmergeable()
}

/// Whether a space between two letters is at the place where two tokens meet.
fn joins_words(left: &[u8], right: &[u8]) -> bool {
    if left.last() != Some(&b' ') && right.first() != Some(&b' ') {
        return false;
    }
    let token = [left, right].concat();
    let is_letter = |at: usize| at < token.len() && decode_char(&token, at).0.is_letter();
    (left.len().max(2) - 1..=left.len())
        .any(|at| token.get(at) == Some(&b' ') && is_letter(at + 1) && is_letter(char_start(&token, at)))
}

/// The named pattern that cuts the fewest tokens of a vocabulary: the one that it was trained with, or one
/// like it.
fn best_words(vocab: &Vocab) -> Named {
    let tokens = vocab.tokens();
    let is_whole =
        |named: Named, token: &[u8]| Scanner::new(named, Isa::best(), token).fill(&mut [0; ENDS]) < 2;
    let step = tokens.len().div_ceil(TRIED_TOKENS);
    let tried = tokens.iter().step_by(step).map(|(_, token)| token);
    let tried: Vec<&[u8]> = tried.filter(|token| str::from_utf8(token).is_ok()).collect();
    let whole = |named: Named| tried.iter().filter(|token| is_whole(named, token)).count();
    // The first of several: `rev`, since the last of them would be taken.
    NAMES.iter().rev().map(|&(_, named)| named).max_by_key(|&named| whole(named)).unwrap_or(Named::Gpt2)
}
