//! A corpus in cells of 16 bits, for vocabularies of up to 65,534 tokens.
//!
//! The merge loop waits for memory most of the time, and these cells take half as much as those of 32 bits.
//! They have no room for the weight of a word. So the words are sorted by weight, the highest first, and a
//! position tells the weight.

use std::collections::BTreeMap;

use super::corpus::{self, Corpus};
use super::tokens::{BYTE_TOKENS, TokenInfo};
use crate::control::Control;
use crate::error::Result;
use crate::memory;
use crate::room;
use crate::simd;

/// Stands between words.
const SENTINEL: u16 = u16::MAX;
/// Stands in the first cell of a token that was merged into its left neighbour, so that no posting matches
/// it.
const DEAD: u16 = SENTINEL - 1;

/// The number of merges for which there are ids.
pub(super) const MAX_MERGES: usize = DEAD as usize - BYTE_TOKENS as usize;

/// Weights below this have an entry in a list; higher ones, which few words have, are in a map.
const LIGHT_WEIGHTS: usize = 1 << 12;

/// log2 of the cells of a page. For each page the first run is stored, so that a search looks at few runs.
const PAGE_BITS: u32 = 6;

/// The words of one weight, which are neighbours in the corpus.
struct WeightRun {
    start: u32,
    weight: u64,
    words: u32,
}

/// A corpus in cells of 16 bits. Words are sorted by weight.
pub(super) struct Corpus16 {
    cells: Vec<u16>,
    runs: Vec<WeightRun>,
    /// For each page, the index of the run that contains its first cell.
    pages: Vec<u32>,
}

/// The number of cells and words of one weight. Once the runs are arranged, `cells` is the position of the
/// next word of this weight.
#[derive(Clone, Copy, Default)]
struct Share {
    cells: u32,
    words: u32,
}

/// Shares by weight: low weights in a list, high ones in a map.
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

    /// Lays out the runs, the highest weight first, and turns the shares into the positions of their words.
    fn arrange(&mut self) -> Vec<WeightRun> {
        let mut runs: Vec<WeightRun> = Vec::new();
        let mut next = 1;
        let heavy = self.heavy.iter_mut().rev().map(|(&weight, share)| (weight, share));
        let light = self.light.iter_mut().enumerate().rev().map(|(weight, share)| (weight as u64, share));
        for (weight, share) in heavy.chain(light).filter(|(_, share)| share.words > 0) {
            runs.push(WeightRun { start: next, weight, words: share.words });
            next += std::mem::replace(&mut share.cells, next);
        }
        // An end mark: no position is beyond it.
        runs.push(WeightRun { start: u32::MAX, weight: 0, words: 0 });
        runs
    }
}

/// A corpus without words, and where each word will be.
pub(super) struct Layout {
    pub(super) corpus: Corpus16,
    shares: Shares,
}

impl Layout {
    /// A layout for the words that have pairs, in any order.
    pub(super) fn new<'w>(words: impl Iterator<Item = (&'w [u8], u64)>, control: &Control) -> Result<Self> {
        let mut shares = Shares { light: vec![Share::default(); LIGHT_WEIGHTS], heavy: BTreeMap::new() };
        let size = corpus::measure(words, control, |word, weight| {
            let share = shares.of(weight);
            // If the sum wraps, `measure` fails, and the sum is not used.
            share.cells = share.cells.wrapping_add(word.len() as u32 + 1);
            share.words += 1;
        })?;
        let runs = shares.arrange();
        // Zeros take no memory until they are overwritten, so the corpus may grow while the words are freed.
        let mut cells = memory::zeros(size as usize)?;
        cells[0] = SENTINEL;
        Ok(Layout { corpus: Corpus16 { cells, pages: pages(&runs, size)?, runs }, shares })
    }

    /// Writes a word as bytes. Words of equal weight keep the order in which they are written.
    pub(super) fn write(&mut self, word: &[u8], weight: u64) {
        if !corpus::has_pairs(&(word, weight)) {
            return;
        }
        let place = &mut self.shares.of(weight).cells;
        let start = *place as usize;
        *place += word.len() as u32 + 1;
        let cells = &mut self.corpus.cells[start..*place as usize];
        cells.iter_mut().zip(word).for_each(|(cell, &byte)| *cell = u16::from(byte));
        cells[word.len()] = SENTINEL;
    }
}

/// The index of the first run of each page.
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

    fn memory(&self) -> u64 {
        (size_of_val(&*self.cells) + size_of_val(&*self.pages)) as u64
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
        // The second token is marked before the end is written: if it has one byte, its cell is the end.
        self.cells[second as usize] = DEAD;
        self.cells[end as usize - 1] = token as u16;
    }

    fn compact(&mut self, tokens: &TokenInfo, control: &Control) -> Result<()> {
        let mut runs = self.runs.iter_mut().peekable();
        corpus::compact(&mut self.cells, u32::from, tokens, control, |from, to| {
            while let Some(run) = runs.next_if(|run| run.start == from) {
                run.start = to;
            }
        })?;
        self.pages = pages(&self.runs, self.cells.len() as u32)?;
        Ok(())
    }
}
