//! A text in cells of 16 bits, for vocabularies of up to 65,534 tokens.
//!
//! The merge loop waits for memory most of the time, and this takes half as much. There is no room for how often a
//! word occurs: words stand by that, the most frequent first, so that a position tells it.

use super::Words;
use super::text::{self, Text, WORDS_PER_CHECK};
use super::tokens::BYTES;
use crate::control::Control;
use crate::error::Result;
use crate::simd;

const SENTINEL: u16 = u16::MAX;
/// What stands at the start of a token that is no more: no posting matches it.
const DEAD: u16 = SENTINEL - 1;

/// How many merges there are ids for.
pub(super) const MAX_MERGES: usize = DEAD as usize - BYTES as usize;

/// Words that occur less often find their place by that, the few others are sorted.
const LIGHT: usize = 1 << 12;

/// Cells of a page: for each it is known which words it begins with.
const PAGE_BITS: u32 = 6;

/// Words that occur equally often, one behind the other.
struct Run {
    start: u32,
    weight: u64,
}

/// See the module. The order of words is not that of the text.
pub(super) struct Narrow {
    cells: Vec<u16>,
    runs: Vec<Run>,
    /// By page: the run that it begins in.
    pages: Vec<u32>,
}

/// Where words go.
struct Places {
    /// The next word that occurs so often.
    light: Vec<u32>,
    /// The others, in their order.
    heavy: std::vec::IntoIter<u32>,
}

impl Places {
    fn next(&mut self, word: &[u8], weight: u64) -> usize {
        match self.light.get_mut(weight as usize) {
            Some(place) if weight < LIGHT as u64 => {
                let start = *place;
                *place += word.len() as u32 + 1;
                start as usize
            }
            _ => self.heavy.next().unwrap_or(0) as usize,
        }
    }
}

impl Narrow {
    /// Lays out the words that have a pair, as bytes.
    pub(super) fn new<'w>(words: impl Words<'w>, control: &Control) -> Result<Self> {
        let mut light = vec![0u32; LIGHT];
        let mut heavy = Vec::new();
        let size = text::measure(words.clone(), control, |word, weight| {
            // What does not fit is refused before it is used.
            let room = word.len() as u32 + 1;
            match light.get_mut(weight as usize).filter(|_| weight < LIGHT as u64) {
                Some(cells) => *cells = cells.wrapping_add(room),
                None => heavy.push((weight, room)),
            }
        })?;
        let (runs, mut places) = arrange(light, &heavy);
        let mut narrow = Narrow { cells: vec![SENTINEL; size as usize], pages: pages(&runs, size), runs };
        for (i, (word, weight)) in words.filter(text::has_pairs).enumerate() {
            if i % WORDS_PER_CHECK == 0 {
                control.check()?;
            }
            let start = places.next(word, weight);
            let cells = &mut narrow.cells[start..start + word.len()];
            cells.iter_mut().zip(word).for_each(|(cell, &byte)| *cell = u16::from(byte));
        }
        Ok(narrow)
    }
}

/// The runs of words, and where each goes: from how many cells there are of each weight, and the weight and the cells
/// of each heavy word.
fn arrange(light: Vec<u32>, heavy: &[(u64, u32)]) -> (Vec<Run>, Places) {
    let mut order: Vec<u32> = (0..heavy.len() as u32).collect();
    order.sort_by_key(|&word| std::cmp::Reverse(heavy[word as usize].0));
    let mut runs: Vec<Run> = Vec::new();
    let mut next = 1;
    let mut starts = vec![0; heavy.len()];
    for word in order {
        let (weight, cells) = heavy[word as usize];
        if runs.last().is_none_or(|run| run.weight != weight) {
            runs.push(Run { start: next, weight });
        }
        starts[word as usize] = next;
        next += cells;
    }
    let mut places = light;
    for (weight, place) in places.iter_mut().enumerate().rev() {
        let cells = std::mem::replace(place, next);
        if cells > 0 {
            runs.push(Run { start: next, weight: weight as u64 });
            next += cells;
        }
    }
    // No position is behind it.
    runs.push(Run { start: u32::MAX, weight: 0 });
    (runs, Places { light: places, heavy: starts.into_iter() })
}

fn pages(runs: &[Run], size: u32) -> Vec<u32> {
    let mut run = 0;
    (0..=size >> PAGE_BITS)
        .map(|page| {
            while runs.get(run + 1).is_some_and(|next| next.start <= page << PAGE_BITS) {
                run += 1;
            }
            run as u32
        })
        .collect()
}

impl Text for Narrow {
    fn max_merges(&self) -> usize {
        MAX_MERGES
    }

    fn pairs(&self) -> u64 {
        0
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
