//! Vocabularies with tokens of several words: the words of a pretoken come from the cache, and then their tokens merge.
//!
//! Under such a vocabulary a pretoken is a run of many words, which hardly occurs twice, but its words occur all the
//! time. So the list of merges is divided into two stages at any place, best at the first merge that joins two words.
//! Since the merges of the first stage have the lower ranks, and take nothing that the second one makes, a pretoken is
//! merged by all of them if it is merged by the first stage, and its tokens then by the second.
//!
//! 1. A pretoken is cut into words, but only between two bytes that no merge of the first stage joins: so none crosses the
//!    cut, and the first stage encodes each word by itself, like a pretoken of an ordinary vocabulary.
//! 2. A merge of the second stage joins two tokens of the first stage that met in its place. All such pairs are known: at
//!    all other places the tokens fall into sections, and each is merged by itself.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::fragments::Fragments;
use super::hot_loop::{HotLoop, PretokenRun};
use super::lookup::Lookup;
use super::output::{Sink, StagedOutput, StagingBuffer};
use crate::error::Result;
use crate::merge::NEVER;
use crate::pretokenize::class::{char_start, decode_char};
use crate::pretokenize::spellings::NAMES;
use crate::pretokenize::{ENDS, Isa, Junctions, Named, Pattern, Pretokenizer, Scanner};
use crate::room;
use crate::vocab::{Semantics, Vocab};

/// The part of the merges, one eighth, that the first stage has at least. With fewer, the tokens of a word are many.
const FIRST_STAGE_DIVISOR: usize = 8;
/// Tokens that are tried to find a pattern that cuts them into words.
const TRIED_TOKENS: usize = 1 << 10;
/// Marks a token that the merges do not make.
const NOWHERE: u32 = u32::MAX;

/// A list of merges in two stages. Tokens are indices of the whole vocabulary.
pub(super) struct Superwords {
    /// The vocabulary of the first stage, whose ids are the indices of the whole vocabulary.
    pub(super) first: Vocab,
    /// A pattern that cuts text into words, with its instruction set.
    words: (Named, Isa),
    /// The pairs of bytes that no merge of the first stage joins.
    apart: Junctions,
    /// The bytes of each token of the first stage.
    lengths: Vec<u32>,
    /// The tokens of the first stage that meet inside a token of the second.
    joined: JoinedPairs,
}

/// Pairs of tokens with their ranks; that of pairs that never merge is [`NEVER`].
type JoinedPairs = HashMap<(u32, u32), u32, FxBuildHasher>;

/// Working memory.
#[derive(Default)]
pub(super) struct Buffers {
    /// Where the words of a run of pretokens end.
    words: Vec<usize>,
    /// The tokens of the first stage.
    tokens: Vec<u32>,
    section: Section,
    ids: Vec<u32>,
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
    /// The stages of a vocabulary in which merges join words; `None` for others, and where pretokens are no runs of words.
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
        Self::with_first_stage(vocab, count).ok().flatten()
    }

    /// The stages of a vocabulary whose first one has `count` merges; `None` if the list cannot be divided.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(super) fn with_first_stage(vocab: &Vocab, count: usize) -> Result<Option<Self>> {
        if !is_plain(vocab) {
            return Ok(None);
        }
        let (tokens, merges, pairs) = (vocab.tokens(), vocab.merges_by_index(), vocab.pairs());
        // The first and the last token of the first stage in each token.
        let mut ends = room::filled((NOWHERE, NOWHERE), tokens.len())?;
        (0..=255).map(|byte| pairs.byte_token(byte)).for_each(|token| ends[token as usize] = (token, token));
        let mut joined = JoinedPairs::default();
        joined.try_reserve(merges.len() - count).map_err(|_| room::out_of_memory(merges.len() - count))?;
        for (rank, &(left, right)) in merges.iter().enumerate() {
            let made = pairs.result(rank as u32);
            let ((first, before), (after, last)) = (ends[left as usize], ends[right as usize]);
            // Each token is made by one merge, and taken by later ones only.
            let is_new = ends[made as usize] == (NOWHERE, NOWHERE)
                && pairs.rank_of_symbols(left, right) == rank as u32;
            if first == NOWHERE || last == NOWHERE || !is_new {
                return Ok(None);
            }
            ends[made as usize] = if rank < count { (made, made) } else { (first, last) };
            if rank >= count {
                joined.insert((before, after), pairs.rank_of_symbols(before, after));
            }
        }
        let of_first =
            (0..).zip(&ends).filter(|&(token, &(first, _))| first == token).map(|(token, _)| token);
        let kept = room::collected(of_first.map(|token| (token, tokens.bytes_at(token))))?;
        let mut lengths = room::filled(0, tokens.len())?;
        kept.iter().for_each(|(token, bytes)| lengths[*token as usize] = bytes.len() as u32);
        let bytes = |&(left, right): &(u32, u32)| (tokens.bytes_at(left), tokens.bytes_at(right));
        let first = Vocab::of_extension(kept, merges[..count].iter().map(bytes).collect(), &[])?;
        let apart = Junctions::all_but(first.joined_bytes());
        let words = (best_words(&first), Isa::best());
        Ok(Some(Superwords { first, words, apart, lengths, joined }))
    }

    /// Adds the ids of neighbouring pretokens.
    ///
    /// # Errors
    /// Errors of merging and of the sink.
    pub(super) fn encode<S: Sink>(
        &self,
        vocab: &Vocab,
        pretokens: PretokenRun<'_>,
        parts: Parts<'_, '_>,
        sink: &mut S,
    ) -> Result<()> {
        let Parts { lookup, run, fragments, staged, buffers } = parts;
        self.cut(pretokens, buffers)?;
        buffers.tokens.clear();
        let mut output = StagedOutput::new(&mut buffers.tokens, &self.first, staged);
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
        self.merge(vocab, pretokens, lookup, buffers)?;
        if S::READS_IDS {
            sink.ids(vocab, &buffers.ids)
        } else {
            sink.count(buffers.ids.len());
            Ok(())
        }
    }

    /// Cuts pretokens into words.
    fn cut(&self, pretokens: PretokenRun<'_>, buffers: &mut Buffers) -> Result<()> {
        let PretokenRun { text, start, ends: pretokens } = pretokens;
        let words = &mut buffers.words;
        words.clear();
        let Some(&last) = pretokens.last() else { return Ok(()) };
        let mut scanner = Scanner::new(self.words.0, self.words.1, &text[start..last]);
        let (mut ends, mut next) = ([0; ENDS], 0);
        loop {
            let count = scanner.fill(&mut ends);
            if count == 0 {
                return Ok(());
            }
            room::reserve(words, count + pretokens.len() - next)?;
            for end in ends[..count].iter().map(|end| start + end) {
                while pretokens[next] < end {
                    words.push(pretokens[next]);
                    next += 1;
                }
                if pretokens[next] == end {
                    next += 1;
                    words.push(end);
                } else if self.apart.is_cut(text[end - 1], text[end]) {
                    words.push(end);
                }
            }
        }
    }

    /// Makes ids of the tokens of the first stage.
    fn merge(
        &self,
        vocab: &Vocab,
        pretokens: PretokenRun<'_>,
        lookup: &mut Lookup<'_>,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let Buffers { tokens, section, ids, .. } = buffers;
        ids.clear();
        section.clear(); // a call that was interrupted leaves tokens
        room::reserve(ids, tokens.len())?;
        let (mut place, mut tokens) = (pretokens.start, tokens.iter().copied());
        for &end in pretokens.ends {
            let Some(mut last) = tokens.next() else { break };
            place += self.lengths[last as usize] as usize;
            while place < end {
                let Some(token) = tokens.next() else { break };
                place += self.lengths[token as usize] as usize;
                match self.joined.get(&(last, token)) {
                    Some(&rank) => section.push(last, rank)?,
                    None => section.finish(last, vocab, lookup, ids)?,
                }
                last = token;
            }
            section.finish(last, vocab, lookup, ids)?;
        }
        Ok(())
    }
}

/// Neighbouring tokens that may merge, but for the last one.
#[derive(Default)]
struct Section {
    tokens: Vec<u32>,
    /// The rank of each token with the next one.
    ranks: Vec<u32>,
}

impl Section {
    #[inline(always)]
    fn push(&mut self, token: u32, rank: u32) -> Result<()> {
        room::push(&mut self.tokens, token)?;
        room::push(&mut self.ranks, rank)
    }

    /// Adds the ids of the section, which is empty afterwards. `ids` has room for all of them.
    #[inline(always)]
    fn finish(
        &mut self,
        last: u32,
        vocab: &Vocab,
        lookup: &mut Lookup<'_>,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        if self.tokens.is_empty() {
            ids.push(vocab.tokens().id_at(last));
            return Ok(());
        }
        self.merge(last, vocab, lookup, ids)
    }

    #[inline(never)]
    fn merge(&mut self, last: u32, vocab: &Vocab, lookup: &mut Lookup<'_>, ids: &mut Vec<u32>) -> Result<()> {
        let Section { tokens, ranks } = self;
        let (pairs, id) = (vocab.pairs(), |token: u32| vocab.tokens().id_at(token));
        match (&**tokens, &**ranks) {
            (_, &[rank]) if rank != NEVER => ids.push(id(pairs.result(rank))),
            (&[first], _) => ids.extend([id(first), id(last)]),
            _ => {
                room::push(tokens, last)?;
                lookup.merger.merge_tokens(pairs, tokens, ranks, lookup.control)?;
                ids.extend(tokens.iter().map(|&token| id(token)));
            }
        }
        self.clear();
        Ok(())
    }

    fn clear(&mut self) {
        self.tokens.clear();
        self.ranks.clear();
    }
}

/// Whether the tokens are the bytes and what the merges of a list make, so that the list can be divided.
fn is_plain(vocab: &Vocab) -> bool {
    vocab.semantics() == Semantics::Merges
        && vocab.covers_text_exactly()
        && vocab.characters().is_none()
        && !vocab.has_unmergeable()
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

/// The named pattern that cuts the fewest tokens of a vocabulary: the one that it was trained with, or one like it.
fn best_words(vocab: &Vocab) -> Named {
    let tokens = vocab.tokens();
    let is_whole =
        |named: Named, token: &[u8]| Scanner::new(named, Isa::best(), token).ranges().nth(1).is_none();
    let step = tokens.len().div_ceil(TRIED_TOKENS);
    let tried = tokens.iter().step_by(step).map(|(_, token)| token);
    let tried: Vec<&[u8]> = tried.filter(|token| str::from_utf8(token).is_ok()).collect();
    let whole = |named: Named| tried.iter().filter(|token| is_whole(named, token)).count();
    // The first of several: `rev`, since the last of them would be taken.
    NAMES.iter().rev().map(|&(_, named)| named).max_by_key(|&named| whole(named)).unwrap_or(Named::Gpt2)
}
