//! A pattern at work: text between special tokens → pretokens.

use std::ops::Range;
use std::sync::Arc;

use super::compiled::{Automaton, CompiledScanner};
use super::cut::CutRule;
use super::junctions::{JunctionScanner, Junctions};
use super::named::Named;
use super::scanner::Scanner;
use super::splitter::Splitter;
use crate::error::Result;
use crate::room;
use crate::simd::{ENDS, Isa};

/// What happens to text that a pattern does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmatched {
    /// It becomes pieces of its own, so that nothing is lost.
    Keep,
    /// It is left out, as with `re.findall`.
    Drop,
}

impl Unmatched {
    /// The name of the value in files and options.
    pub fn name(self) -> &'static str {
        if self == Unmatched::Keep { "keep" } else { "drop" }
    }

    /// The value of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Unmatched::Keep, Unmatched::Drop].into_iter().find(|value| value.name() == name)
    }
}

/// Where pretokens begin and end.
#[derive(Clone)]
pub enum Pattern {
    /// Nowhere: the text between special tokens is one piece.
    Whole,
    /// A named pattern, by its scanner for an instruction set.
    Named(Named, Isa),
    /// A pattern that was compiled.
    Compiled(Arc<Automaton>),
    /// Between two characters, by the bytes on both sides.
    Junctions(Arc<Junctions>),
    /// Any pattern that something outside the core runs. The rule says where its text may be cut. It is a
    /// proven property of the pattern, or [`CutRule::Never`] for a pattern of which nothing is known.
    Custom(Arc<dyn Splitter>, CutRule),
}

/// A pattern, and what happens to text that it does not match.
#[derive(Clone)]
pub struct Pretokenizer {
    /// The pattern.
    pub pattern: Pattern,
    /// What happens to text without a match. The named patterns match all text.
    pub unmatched: Unmatched,
}

impl Pretokenizer {
    /// Calls `f` with each pretoken of `text` (text between special tokens), in order, in bytes.
    ///
    /// # Errors
    /// Errors of `f` or of the splitter.
    #[inline]
    pub fn for_each(&self, text: &[u8], mut f: impl FnMut(Range<usize>) -> Result<()>) -> Result<()> {
        self.for_each_while(text, |range| f(range).map(|()| true))
    }

    /// The pretokens of `text` (text between special tokens), in order, in bytes.
    ///
    /// # Errors
    /// Errors of the splitter; [`crate::Error::OutOfMemory`].
    pub fn ranges(&self, text: &[u8]) -> Result<Vec<Range<usize>>> {
        let mut ranges = Vec::new();
        self.for_each(text, |range| room::push(&mut ranges, range))?;
        Ok(ranges)
    }

    /// Like [`Pretokenizer::for_each`], until `f` returns `false`.
    ///
    /// # Errors
    /// Errors of `f` or of the splitter.
    #[inline]
    pub fn for_each_while(&self, text: &[u8], mut f: impl FnMut(Range<usize>) -> Result<bool>) -> Result<()> {
        self.for_each_run(text, &mut [0; ENDS], |mut start, ends| {
            for &end in ends {
                if !f(std::mem::replace(&mut start, end)..end)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Calls `f` with runs of pretokens of `text`, in order: where the first one starts and where each ends,
    /// in bytes. Each starts where the one before it ends; where text is left out, a new run begins. Stops
    /// early when `f` returns `false`. `ends` is working memory.
    ///
    /// # Errors
    /// Errors of `f` or of the splitter.
    pub fn for_each_run(
        &self,
        text: &[u8],
        ends: &mut [usize; ENDS],
        mut f: impl FnMut(usize, &[usize]) -> Result<bool>,
    ) -> Result<()> {
        match &self.pattern {
            Pattern::Named(named, isa) => {
                let mut scanner = Scanner::new(*named, *isa, text);
                runs_in_a_row(|ends| scanner.fill(ends), ends, f)
            }
            Pattern::Junctions(junctions) => {
                let mut scanner = JunctionScanner::new(junctions, text);
                runs_in_a_row(|ends| scanner.fill(ends), ends, f)
            }
            Pattern::Compiled(automaton) => {
                let mut scanner = CompiledScanner::new(Isa::best(), automaton, text, self.keeps_unmatched());
                loop {
                    let (first, count) = scanner.fill(ends)?;
                    if count == 0 || !f(first, &ends[..count])? {
                        return Ok(());
                    }
                }
            }
            Pattern::Whole if text.is_empty() => Ok(()),
            Pattern::Whole => f(0, &[text.len()]).map(|_| ()),
            Pattern::Custom(splitter, _) => self.for_each_gathered(&**splitter, text, ends, f),
        }
    }

    /// Whether text that the pattern does not match becomes pieces.
    fn keeps_unmatched(&self) -> bool {
        self.unmatched == Unmatched::Keep
    }

    /// [`Pretokenizer::for_each_run`] for a pattern that gives one match at a time.
    fn for_each_gathered(
        &self,
        splitter: &dyn Splitter,
        text: &[u8],
        ends: &mut [usize; ENDS],
        mut f: impl FnMut(usize, &[usize]) -> Result<bool>,
    ) -> Result<()> {
        let (mut start, mut end, mut count, mut wants_more) = (0, 0, 0, true);
        let mut add = |range: Range<usize>| {
            if wants_more && (count == ENDS || range.start != end) {
                wants_more = count == 0 || f(start, &ends[..count])?;
                (start, count) = (range.start, 0);
            }
            if wants_more {
                ends[count] = range.end;
                (end, count) = (range.end, count + 1);
            }
            Ok(wants_more)
        };
        let (keeps_unmatched, mut matched) = (self.keeps_unmatched(), 0);
        splitter.split(text, &mut |range| {
            let gap = std::mem::replace(&mut matched, range.end)..range.start;
            Ok((!keeps_unmatched || gap.is_empty() || add(gap)?) && add(range)?)
        })?;
        if keeps_unmatched && matched < text.len() {
            add(matched..text.len())?;
        }
        if count > 0 { f(start, &ends[..count]).map(|_| ()) } else { Ok(()) }
    }

    /// Like [`Pretokenizer::for_each`] for text that continues: calls `f` only with pretokens that no
    /// continuation can change. Returns where the first of the other pretokens starts.
    ///
    /// # Errors
    /// Errors of `f` or of the splitter.
    pub fn for_each_settled(
        &self,
        text: &[u8],
        mut f: impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<usize> {
        let rule = self.cut_rule();
        let bound = rule.settled_end(text);
        if bound == 0 {
            return Ok(0);
        }
        // The bound of these is a cut: the pretokens before it are those of the text up to it.
        let is_cut = matches!(rule, CutRule::Compiled { .. } | CutRule::Junctions(_));
        let text = if is_cut { &text[..bound] } else { text };
        let mut settled = 0;
        self.for_each_while(text, |range| {
            let is_settled = range.end <= bound;
            if is_settled {
                settled = range.end;
                f(range)?;
            }
            Ok(is_settled)
        })?;
        Ok(if is_cut { bound } else { settled })
    }

    /// Where text may be cut without changing any pretoken.
    pub fn cut_rule(&self) -> CutRule {
        match &self.pattern {
            Pattern::Whole => CutRule::Never,
            Pattern::Named(named, _) => named.cut_rule(),
            Pattern::Compiled(automaton) => CutRule::Compiled {
                automaton: Arc::clone(automaton),
                keeps_unmatched: self.keeps_unmatched(),
            },
            Pattern::Junctions(junctions) => CutRule::Junctions(Arc::clone(junctions)),
            Pattern::Custom(_, rule) => rule.clone(),
        }
    }

    /// Whether several threads are faster than one: patterns of `regex` run under one lock.
    pub fn is_parallel(&self) -> bool {
        match &self.pattern {
            Pattern::Custom(splitter, _) => splitter.is_parallel(),
            _ => true,
        }
    }
}

/// Calls `f` with the runs of a text in which each pretoken starts where the one before it ends.
#[inline(always)]
fn runs_in_a_row(
    mut fill: impl FnMut(&mut [usize; ENDS]) -> usize,
    ends: &mut [usize; ENDS],
    mut f: impl FnMut(usize, &[usize]) -> Result<bool>,
) -> Result<()> {
    let mut start = 0;
    loop {
        let count = fill(ends);
        if count == 0 || !f(start, &ends[..count])? {
            return Ok(());
        }
        start = ends[count - 1];
    }
}
