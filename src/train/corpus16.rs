//! A text in cells of 16 bits, for vocabularies of up to 65,534 tokens.
//!
//! The merge loop waits for memory most of the time, and this takes half as much. There is no room for how often a
//! word occurs: words stand by that, the most frequent first, so that a position tells it.

use std::collections::BTreeMap;

use super::corpus::{self, Corpus, WORDS_PER_CHECK};
use super::tokens::BYTE_TOKENS;
use crate::control::Control;
use crate::error::Result;
use crate::room;
use crate::simd;

const SENTINEL: u16 = u16::MAX;
/// In the first cell of a token that was merged into another: no posting matches it.
const DEAD: u16 = SENTINEL - 1;

/// How many merges there are ids for.
pub(super) const MAX_MERGES: usize = DEAD as usize - BYTE_TOKENS as usize;

/// Weights below this have a share in a list, the few greater ones in a map.
const LIGHT_WEIGHTS: usize = 1 << 12;

/// Cells of a page: for each it is known which words it begins with.
const PAGE_BITS: u32 = 6;

/// Words that occur equally often, one behind the other.
struct WeightRun {
    start: u32,
    weight: u64,
    words: u32,
}

/// The corpus in cells of 16 bits. Words are not in the order of the text.
pub(super) struct Corpus16 {
    cells: Vec<u16>,
    runs: Vec<WeightRun>,
    /// By page: the run that it begins in.
    pages: Vec<u32>,
}

/// The cells and words of one weight; later, where the next word of this weight goes.
#[derive(Clone, Copy, Default)]
struct Share {
    cells: u32,
    words: u32,
}

/// Shares by weight.
struct Shares {
    light: Vec<Share>,
    heavy: BTreeMap<u64, Share>,
}

impl Shares {
    fn of(&mut self, weight: u64) -> &mut Share {
        match self.light.get_mut(weight as usize) {
            Some(share) if weight < LIGHT_WEIGHTS as u64 => share,
            _ => self.heavy.entry(weight).or_default(),
        }
    }

    /// The runs of words; from now on a share says where its next word goes.
    fn arrange(&mut self) -> Vec<WeightRun> {
        let mut runs: Vec<WeightRun> = Vec::new();
        let mut next = 1;
        let heavy = self.heavy.iter_mut().rev().map(|(&weight, share)| (weight, share));
        let light = self.light.iter_mut().enumerate().rev().map(|(weight, share)| (weight as u64, share));
        for (weight, share) in heavy.chain(light).filter(|(_, share)| share.words > 0) {
            runs.push(WeightRun { start: next, weight, words: share.words });
            next += std::mem::replace(&mut share.cells, next);
        }
        // No position is behind it.
        runs.push(WeightRun { start: u32::MAX, weight: 0, words: 0 });
        runs
    }
}

impl Corpus16 {
    /// Lays out the words that have a pair, as bytes, in their order where they occur equally often. `measured` are the
    /// same words in any order.
    pub(super) fn new<'w>(
        measured: impl Iterator<Item = (&'w [u8], u64)>,
        words: impl Iterator<Item = (&'w [u8], u64)>,
        control: &Control,
    ) -> Result<Self> {
        let mut shares = Shares { light: vec![Share::default(); LIGHT_WEIGHTS], heavy: BTreeMap::new() };
        let size = corpus::measure(measured, control, |word, weight| {
            let share = shares.of(weight);
            // An overflow is refused by `measure` before the sum is used.
            share.cells = share.cells.wrapping_add(word.len() as u32 + 1);
            share.words += 1;
        })?;
        let runs = shares.arrange();
        let cells = room::filled(SENTINEL, size as usize)?;
        let mut corpus16 = Corpus16 { cells, pages: pages(&runs, size)?, runs };
        for (i, (word, weight)) in words.filter(corpus::has_pairs).enumerate() {
            if i % WORDS_PER_CHECK == 0 {
                control.check()?;
            }
            let place = &mut shares.of(weight).cells;
            let start = *place as usize;
            *place += word.len() as u32 + 1;
            let cells = &mut corpus16.cells[start..start + word.len()];
            cells.iter_mut().zip(word).for_each(|(cell, &byte)| *cell = u16::from(byte));
        }
        Ok(corpus16)
    }
}

fn pages(runs: &[WeightRun], size: u32) -> Result<Vec<u32>> {
    let mut run = 0;
    room::collected((0..=size >> PAGE_BITS).map(|page| {
        while runs.get(run + 1).is_some_and(|next| next.start <= page << PAGE_BITS) {
            run += 1;
        }
        run as u32
    }))
}

impl Corpus for Corpus16 {
    fn max_merges(&self) -> usize {
        MAX_MERGES
    }

    fn pairs(&self) -> u64 {
        0
    }

    fn common_weight(&self, words: usize) -> u64 {
        let mut left = words as u64;
        let all = |run: &&WeightRun| {
            left = left.saturating_sub(run.words.into());
            left == 0
        };
        self.runs.iter().find(all).map_or(0, |run| run.weight)
    }

    fn len(&self) -> usize {
        self.cells.len()
    }

    #[inline]
    fn sentinel(&self) -> u32 {
        SENTINEL.into()
    }

    #[inline]
    fn prefetch(&self, position: u32) {
        simd::prefetch(&self.cells, position as usize);
    }

    #[inline]
    fn token(&self, position: u32) -> u32 {
        self.cells[position as usize].into()
    }

    #[inline]
    fn weight(&self, position: u32) -> u64 {
        let mut run = self.pages[(position >> PAGE_BITS) as usize] as usize;
        self.next_weight(position, &mut run)
    }

    #[inline]
    fn next_weight(&self, position: u32, hint: &mut usize) -> u64 {
        while self.runs[*hint + 1].start <= position {
            *hint += 1;
        }
        self.runs[*hint].weight
    }

    #[inline]
    fn merge(&mut self, first: u32, second: u32, end: u32, token: u32) {
        self.cells[first as usize] = token as u16;
        // Killed first: where the second token is one byte long, its only cell becomes the end.
        self.cells[second as usize] = DEAD;
        self.cells[end as usize - 1] = token as u16;
    }
}
