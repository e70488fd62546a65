//! One merge after the other.

use std::ops::Range;

use super::arena::Arena;
use super::index::{Pair, PairIndex};
use super::neighbours::Neighbours;
use super::queue::Queue;
use super::tokens::Tokens;
use super::{Merge, Options, Words, scan};
use crate::control::{Control, Stage};
use crate::error::Result;

/// Postings that are looked at, and then rewritten, at a time: what they touch stays in the cache between.
const BLOCK: usize = 1 << 8;

/// By how much the threshold falls when it is reached.
const SHRINK: u64 = 8;

const NONE: usize = usize::MAX;

/// The state of a training.
pub(super) struct Trainer<'c> {
    arena: Arena,
    tokens: Tokens,
    index: PairIndex,
    queue: Queue,
    before: Neighbours,
    after: Neighbours,
    /// The occurrences of the pair that is being merged.
    hits: Vec<u32>,
    merges: Vec<Merge>,
    max_merges: usize,
    /// The index knows every pair that occurs this often. All others are implicit in the arena.
    threshold: u64,
    /// The threshold that is never undercut.
    floor: u64,
    control: &'c Control<'c>,
}

impl<'c> Trainer<'c> {
    pub(super) fn new<'w>(
        words: impl Words<'w>,
        options: &Options,
        control: &'c Control<'c>,
    ) -> Result<Self> {
        control.begin(Stage::Merge, options.max_merges as u64);
        let arena = Arena::new(words, options.max_merges, control)?;
        let tokens = Tokens::new(options.ties);
        let tallies = scan::tally_bytes(&arena, control)?;
        let floor = options.min_frequency.max(1);
        let threshold = scan::first_threshold(&tallies, arena.len(), options.max_merges).max(floor);
        let index = scan::index_bytes(&arena, &tallies, threshold, control)?;
        let max_merges = options.max_merges.min(arena.max_merges());
        let mut trainer = Trainer {
            arena,
            tokens,
            index,
            queue: Queue::new(threshold),
            before: Neighbours::default(),
            after: Neighbours::default(),
            hits: vec![0; BLOCK],
            merges: Vec::new(),
            max_merges,
            threshold,
            floor,
            control,
        };
        trainer.fill_queue();
        Ok(trainer)
    }

    fn fill_queue(&mut self) {
        self.queue = Queue::new(self.threshold);
        for (pair, count) in self.index.iter() {
            self.queue.push(pair, count, &self.index, &self.tokens);
        }
    }

    /// All merges.
    pub(super) fn run(mut self) -> Result<Vec<Merge>> {
        while self.merges.len() < self.max_merges {
            self.control.check()?;
            match self.queue.pop(&mut self.index, &self.arena, &self.tokens) {
                Some(pair) => self.merge(pair)?,
                None if self.threshold > self.floor => self.lower_threshold()?,
                None => break,
            }
        }
        Ok(self.merges)
    }

    /// Takes rarer pairs into the index.
    fn lower_threshold(&mut self) -> Result<()> {
        self.threshold = (self.threshold / SHRINK).max(self.floor);
        self.index = PairIndex::default();
        self.index = scan::index_pairs(&self.arena, &self.tokens, self.threshold, self.control)?;
        self.fill_queue();
        Ok(())
    }

    fn merge(&mut self, pair: u32) -> Result<()> {
        let pair = self.index.take(pair);
        self.merges.push(Merge { left: pair.left, right: pair.right, count: pair.count });
        let token = self.tokens.push(pair.left, pair.right);
        self.before.clear(self.tokens.len());
        self.after.clear(self.tokens.len());
        let mut postings = pair.postings();
        while !postings.is_empty() {
            self.control.check()?;
            let some = postings.start..postings.end.min(postings.start + BLOCK);
            postings.start = some.end;
            let hits = self.find(&pair, some);
            self.rewrite(&pair, token, hits);
        }
        self.lower_counts(&pair, token);
        self.add_pairs(token);
        self.index.tidy();
        self.control.advance(1);
        Ok(())
    }

    /// Collects the postings where the pair still stands; returns how many. On its own, and without a
    /// branch on what is read, so that many reads of the arena are under way at a time.
    fn find(&mut self, pair: &Pair, postings: Range<usize>) -> usize {
        let step = self.tokens.length(pair.left);
        let length = step + self.tokens.length(pair.right);
        let mut found = 0;
        let mut around = 0;
        for &position in self.index.postings(postings) {
            self.hits[found] = position;
            let live =
                (self.arena.token(position) == pair.left) & (self.arena.token(position + step) == pair.right);
            found += usize::from(live);
            around |= self.arena.token(position - 1) | self.arena.token(position + length);
        }
        // The reads are the point: `rewrite` will find the neighbours in the cache.
        std::hint::black_box(around);
        found
    }

    /// Merges the hits, and sums up what stands around them.
    fn rewrite(&mut self, pair: &Pair, token: u32, hits: usize) {
        let step = self.tokens.length(pair.left);
        let length = self.tokens.length(token);
        let sentinel = self.arena.sentinel();
        for &position in &self.hits[..hits] {
            // Of overlapping occurrences (aaa) the first is merged, and the next is no more.
            if pair.left == pair.right
                && (self.arena.token(position) != pair.left
                    || self.arena.token(position + step) != pair.right)
            {
                continue;
            }
            let weight = self.arena.weight(position);
            let before = self.arena.token(position - 1);
            let after = self.arena.token(position + length);
            self.arena.merge(position, position + step, position + length, token);
            if before != sentinel {
                self.before.note(before, position, weight);
            }
            if after != sentinel {
                self.after.note(after, position, weight);
            }
        }
    }

    /// Takes the pairs that the merge broke off their counts.
    fn lower_counts(&mut self, pair: &Pair, token: u32) {
        for before in &self.before.distinct {
            self.index.lower(before.token, pair.left, before.count);
        }
        for after in &self.after.distinct {
            self.index.lower(pair.right, after.token, after.count);
        }
        // Where occurrences touch (abab), the one behind was seen as `left` and then became `token`.
        if let Some(&mut super::neighbours::Neighbour { count, .. }) = self.before.get_mut(token)
            && let Some(after) = self.after.get_mut(pair.left)
        {
            after.count -= count;
        }
    }

    /// Indexes the pairs that the merge made.
    fn add_pairs(&mut self, token: u32) {
        for (side, is_before) in [(&mut self.before, true), (&mut self.after, false)] {
            let mut kept = false;
            for neighbour in &mut side.distinct {
                neighbour.cursor = NONE;
                if neighbour.count >= self.threshold {
                    let other = neighbour.token;
                    let (left, right) = if is_before { (other, token) } else { (token, other) };
                    neighbour.cursor = self.index.next_start();
                    neighbour.back = if is_before { self.tokens.length(other) } else { 0 };
                    let pair = self.index.add(left, right, neighbour.count, neighbour.places);
                    self.queue.push(pair, neighbour.count, &self.index, &self.tokens);
                    kept = true;
                }
            }
            if kept {
                let pool = self.index.pool();
                for &(slot, position) in &side.occurrences {
                    let neighbour = &mut side.distinct[slot as usize];
                    if let Some(posting) = pool.get_mut(neighbour.cursor) {
                        *posting = position - neighbour.back;
                        neighbour.cursor += 1;
                    }
                }
            }
        }
    }
}
