//! The loop that makes one merge after the other.

use std::ops::Range;

use super::checkpoint::Saver;
use super::corpus::Corpus;
use super::index::{Pair, PairIndex};
use super::limit::{Limit, MaxBytes};
use super::memory::BYTES_PER_MERGE;
use super::neighbours::Neighbours;
use super::options::{Merge, Options, Ties};
use super::queue::Queue;
use super::scan;
use super::tokens::TokenInfo;
use crate::control::Control;
use crate::error::Result;
use crate::memory;
use crate::room;
use crate::vocab::{Semantics, Vocab};

/// Postings that are looked at, and then rewritten, as one block, so that the cells stay in the cache in
/// between. Blocks of 65,536 postings made multi slower: 443 ms instead of 366.
const POSTINGS_PER_BLOCK: usize = 1 << 8;

/// Work between two checks of the control, in postings: some tens of microseconds.
const WORK_PER_CHECK: usize = 1 << 12;
/// The work of a merge beside its postings, in postings.
const WORK_PER_MERGE: usize = 1 << 6;

/// The factor by which the threshold is lowered when no pair is left above it. Higher first thresholds with
/// several scans made multi 1.5 to 2 times slower.
const THRESHOLD_DIVISOR: u64 = 8;

/// Merges for which memory is reserved at the start.
const RESERVED_MERGES: usize = 1 << 16;

/// Marks a neighbour whose pair is not indexed.
const NO_CURSOR: usize = usize::MAX;

/// How many of the merges add a token; `first` tokens existed before them.
pub(super) fn added(first: u32, merges: &[Merge]) -> usize {
    merges.iter().filter(|merge| merge.token >= first).count()
}

/// What the trainers of several texts share, since all of them make the same merges.
pub(super) struct Shared {
    pub(super) tokens: TokenInfo,
    before: Neighbours,
    after: Neighbours,
}

impl Shared {
    /// For trainers whose texts `vocab` laid out.
    pub(super) fn new(vocab: Option<&Vocab>, ties: Ties) -> Self {
        let (before, after) = Default::default();
        Shared { tokens: TokenInfo::new(vocab, ties), before, after }
    }
}

/// The state of a training.
pub(super) struct Trainer<'c, T, L = MaxBytes> {
    corpus: T,
    tokens: TokenInfo,
    index: PairIndex,
    queue: Queue,
    before: Neighbours,
    after: Neighbours,
    /// The positions of the pair in the current block of postings.
    hits: Vec<u32>,
    merges: Vec<Merge>,
    /// The number of tokens that may still be added.
    room: usize,
    /// The index has every pair that occurs at least this often. Rarer pairs exist in the corpus only.
    threshold: u64,
    /// The lowest threshold: the minimum count of a pair that is merged.
    floor: u64,
    /// The maximum size of a token.
    limit: L,
    /// Bytes of memory that the training may take; `None` for no limit.
    memory_limit: Option<u64>,
    /// Bytes of memory from which on the index is made again: the occurrences that are gone, and pairs that
    /// it has no room for, are left out.
    full_index_bytes: u64,
    /// The vocabulary that laid out the corpus, if it has tokens that merging does not make.
    unmergeable_vocab: Option<&'c Vocab>,
    /// Work since the last check of the control, in postings.
    unchecked: usize,
    control: &'c Control<'c>,
}

impl<'c, T: Corpus, L: Limit> Trainer<'c, T, L> {
    /// The number of tokens that may still be added after `merges`; `first` tokens existed before them.
    pub(super) fn room(first: u32, merges: &[Merge], options: &Options) -> usize {
        options.max_merges.saturating_sub(added(first, merges))
    }

    /// A trainer that continues after `merges`. The corpus must be laid out by `vocab`, which contains what
    /// they made; `first` tokens existed before them.
    pub(super) fn new(
        corpus: T,
        vocab: Option<&'c Vocab>,
        first: u32,
        merges: Vec<Merge>,
        limit: L,
        options: &Options,
        control: &'c Control<'c>,
    ) -> Result<Self> {
        control.advance(added(first, &merges) as u64);
        let left = Self::room(first, &merges, options);
        let mut tokens = TokenInfo::new(vocab, options.ties);
        if options.max_words.is_some() {
            tokens.use_token_cells();
        }
        let left = left.min(corpus.max_merges());
        let floor = options.min_frequency.max(1);
        let mut merges = merges;
        // Unused memory is never touched, and growing would fragment memory.
        room::reserve(&mut merges, left.min(RESERVED_MERGES))?;
        let mut trainer = Trainer {
            merges,
            room: left,
            memory_limit: options.memory_limit,
            unmergeable_vocab: vocab.filter(|vocab| vocab.has_unmergeable()),
            ..Self::with_empty_index(corpus, tokens, floor, limit, control)
        };
        match vocab {
            None => trainer.index_pairs_of_bytes()?,
            Some(vocab) => {
                let guess = scan::threshold_of_total(trainer.corpus.pairs(), trainer.corpus.len(), left);
                trainer.index_pairs(guess.max(floor), u64::MAX, |token| {
                    vocab.tokens().bytes_at(token).to_vec()
                })?;
            }
        }
        trainer.fill_queue()?;
        Ok(trainer)
    }

    fn with_empty_index(
        corpus: T,
        tokens: TokenInfo,
        floor: u64,
        limit: L,
        control: &'c Control<'c>,
    ) -> Self {
        Trainer {
            corpus,
            tokens,
            index: PairIndex::default(),
            queue: Queue::new(floor),
            before: Neighbours::default(),
            after: Neighbours::default(),
            hits: vec![0; POSTINGS_PER_BLOCK],
            merges: Vec::new(),
            room: 0,
            threshold: floor,
            floor,
            limit,
            memory_limit: None,
            full_index_bytes: u64::MAX,
            unmergeable_vocab: None,
            unchecked: 0,
            control,
        }
    }

    /// A trainer of one of several texts, for [`Trainer::most_frequent`] and [`Trainer::merge_tokens`].
    /// Another text may need a pair that is rare here, so it indexes every pair.
    pub(super) fn of_several(
        corpus: T,
        vocab: Option<&Vocab>,
        limit: L,
        shared: &mut Shared,
        control: &'c Control<'c>,
    ) -> Result<Self> {
        let mut trainer = Self::with_empty_index(corpus, TokenInfo::new(None, Ties::Ids), 1, limit, control);
        trainer.swap(shared);
        match vocab {
            None if !trainer.may_merge_bytes() => (),
            None => {
                let tallies = scan::tally_bytes(&trainer.corpus, control)?;
                (trainer.index, _) = scan::index_bytes(&trainer.corpus, tallies, 1, u64::MAX, control)?;
            }
            Some(vocab) => {
                trainer.index_pairs(1, u64::MAX, |token| vocab.tokens().bytes_at(token).to_vec())?;
            }
        }
        trainer.fill_queue()?;
        trainer.swap(shared);
        Ok(trainer)
    }

    /// Takes over what is shared, or gives it back.
    fn swap(&mut self, shared: &mut Shared) {
        std::mem::swap(&mut self.tokens, &mut shared.tokens);
        std::mem::swap(&mut self.before, &mut shared.before);
        std::mem::swap(&mut self.after, &mut shared.after);
    }

    /// The tokens of the most frequent pair, and its count. The pair must be merged next, or no other asked
    /// for.
    pub(super) fn most_frequent(&mut self, tokens: &TokenInfo) -> Result<Option<(u32, u32, u64)>> {
        let pair = self.queue.pop(&mut self.index, &self.corpus, tokens)?;
        Ok(pair.map(|pair| {
            let (left, right) = self.index.tokens(pair);
            (left, right, self.index.count(pair))
        }))
    }

    /// Merges two tokens into `token`, the last of the shared ones, wherever they are side by side. Returns
    /// by how many tokens this makes the text shorter.
    pub(super) fn merge_tokens(
        &mut self,
        left: u32,
        right: u32,
        token: u32,
        shared: &mut Shared,
    ) -> Result<u64> {
        let Some(pair) = self.index.number(left, right) else { return Ok(0) };
        let pair = self.index.take_from_queue(pair);
        self.swap(shared);
        let merges = self.count_merges(&pair);
        let merged = self.merge_taken(&pair, token);
        self.swap(shared);
        merged.map(|()| merges)
    }

    /// How often merging a pair will happen. Of overlapping occurrences (aaa) the first one merges.
    fn count_merges(&self, pair: &Pair) -> u64 {
        if pair.left != pair.right {
            return pair.count;
        }
        let step = self.tokens.length(pair.left);
        let (mut merges, mut end) = (0, 0);
        for &position in &self.index.pool[pair.postings()] {
            let is_live = position >= end
                && self.corpus.token(position) == pair.left
                && self.corpus.token(position + step) == pair.right;
            if is_live {
                merges += self.corpus.weight(position);
                end = position + 2 * step;
            }
        }
        merges
    }

    /// Indexes the pairs of bytes before the first merge.
    fn index_pairs_of_bytes(&mut self) -> Result<()> {
        let tallies = scan::tally_bytes(&self.corpus, self.control)?;
        if self.may_merge_bytes() {
            let guess = scan::first_threshold(&tallies, self.corpus.len(), self.room);
            // Most merges complete a word, so the last of them is about as frequent as the rarest of that
            // many words.
            let common = self.corpus.common_weight(self.room / 4 * 3);
            let threshold = guess.max(common).max(self.floor);
            let bytes = self.bytes_at_first();
            (self.index, self.threshold) =
                scan::index_bytes(&self.corpus, tallies, threshold, bytes, self.control)?;
        }
        Ok(())
    }

    /// Whether two bytes may be a token.
    fn may_merge_bytes(&self) -> bool {
        self.limit.fits(&self.tokens, 0, 0)
    }

    /// Bytes of memory for index and queue; `None` for no limit.
    fn index_bytes(&self) -> Option<u64> {
        let merges = (self.merges.len() as u64 + self.room as u64).min(1 << 30);
        // Beside the corpus there are the tokens, and the neighbours of the pair that is merged.
        let taken = self.corpus.memory() + self.corpus.len() as u64 / 2 + merges * BYTES_PER_MERGE;
        self.memory_limit.map(|limit| limit.saturating_sub(taken))
    }

    /// Bytes of memory for a new index: as much again is left for the pairs that merges will make.
    fn bytes_at_first(&self) -> u64 {
        self.index_bytes().map_or(u64::MAX, |bytes| bytes / 2)
    }

    /// Indexes pairs of any tokens, none of which occurs more than `highest` times.
    fn index_pairs(&mut self, threshold: u64, highest: u64, bytes_of: impl Fn(u32) -> Vec<u8>) -> Result<()> {
        let wanted = scan::Wanted { threshold, highest, bytes: self.bytes_at_first() };
        let (index, threshold) =
            scan::index_pairs(&self.corpus, &self.tokens, &self.limit, wanted, bytes_of, self.control)?;
        self.index = index;
        self.threshold = threshold.max(self.floor);
        Ok(())
    }

    /// Puts all pairs of the index into a new queue.
    fn fill_queue(&mut self) -> Result<()> {
        self.queue = Queue::new(self.threshold);
        for (pair, count) in self.index.iter() {
            self.queue.push(pair, count, &self.index, &self.tokens)?;
        }
        if let Some(bytes) = self.index_bytes() {
            self.full_index_bytes = bytes.max(self.index.memory().saturating_mul(2));
        }
        Ok(())
    }

    /// Learns all merges that there is room for. Returns `false` before that if the corpus must be laid out
    /// again.
    pub(super) fn run(&mut self, saver: &mut Saver<'_>) -> Result<bool> {
        while self.room > 0 {
            self.check_control(WORK_PER_MERGE)?;
            saver.offer(&self.merges)?;
            match self.queue.pop(&mut self.index, &self.corpus, &self.tokens)? {
                Some(pair) => {
                    if self.must_lay_out_after(pair)? {
                        return Ok(false);
                    }
                    let count = self.index.count(pair);
                    self.merge(pair)?;
                    self.room -= 1;
                    if self.index.memory() > self.full_index_bytes {
                        self.index_again(self.threshold, count)?;
                    }
                }
                None if self.threshold > self.floor => self.lower_threshold()?,
                None => break,
            }
        }
        Ok(true)
    }

    /// Checks the control, which reads the clock, once enough work was done since the last check.
    #[inline]
    fn check_control(&mut self, work: usize) -> Result<()> {
        self.unchecked += work;
        if self.unchecked < WORK_PER_CHECK {
            return Ok(());
        }
        self.unchecked = 0;
        self.control.check()
    }

    /// All merges, including those that the trainer began with.
    pub(super) fn into_merges(self) -> Vec<Merge> {
        self.merges
    }

    /// Adds rarer pairs to the index.
    fn lower_threshold(&mut self) -> Result<()> {
        let threshold = (self.threshold / THRESHOLD_DIVISOR).max(self.floor);
        self.index_again(threshold, self.threshold - 1)
    }

    /// Makes a new index of the pairs that now reach a threshold. None occurs more than `highest` times.
    ///
    /// Since all positions are written anew, the corpus is compacted first.
    fn index_again(&mut self, threshold: u64, highest: u64) -> Result<()> {
        // The memory of the old index is freed before the new one is made.
        (self.index, self.queue) = (PairIndex::default(), Queue::new(self.floor));
        self.corpus.compact(&self.tokens, self.control)?;
        self.tokens.use_token_cells();
        if self.memory_limit.is_some() {
            memory::release_freed();
        }
        // The counts of all pairs were checked before, so none is too large.
        self.index_pairs(threshold, highest, |_| Vec::new())?;
        self.fill_queue()
    }

    /// Whether a pair becomes a token for which other merges of the vocabulary wait. If so, the merge is
    /// recorded, and the words are then encoded again, which has its effects.
    ///
    /// This needs tokens that merging did not make so far. Under merges semantics the pair becomes one of
    /// them, and listed merges with that token become possible at once; under rank semantics the pair becomes
    /// a part of such a token.
    fn must_lay_out_after(&mut self, pair: u32) -> Result<bool> {
        let Some(vocab) = self.unmergeable_vocab else { return Ok(false) };
        let (left, right) = self.index.tokens(pair);
        let bytes = self.tokens.joined(left, right);
        let token = match vocab.ordinary_index(&bytes) {
            Some(token) => token,
            None if vocab.semantics() == Semantics::Ranks && vocab.ends_an_unmergeable(&bytes) => {
                self.tokens.len() as u32
            }
            None => return Ok(false),
        };
        room::push(&mut self.merges, Merge { left, right, token, count: self.index.count(pair) })?;
        Ok(true)
    }

    /// Merges a pair everywhere.
    fn merge(&mut self, pair: u32) -> Result<()> {
        let pair = self.index.take(pair);
        self.queue.prefetch_next(&self.index, &self.corpus);
        let token = self.tokens.push(pair.left, pair.right)?;
        self.limit.push(pair.left, pair.right)?;
        let merge = Merge { left: pair.left, right: pair.right, token, count: pair.count };
        room::push(&mut self.merges, merge)?;
        self.merge_taken(&pair, token)?;
        self.control.advance(1);
        Ok(())
    }

    /// Merges a pair that was taken from the index.
    fn merge_taken(&mut self, pair: &Pair, token: u32) -> Result<()> {
        self.before.clear(self.tokens.len())?;
        self.after.clear(self.tokens.len())?;
        let mut postings = pair.postings();
        while !postings.is_empty() {
            self.check_control(POSTINGS_PER_BLOCK)?;
            let some = postings.start..postings.end.min(postings.start + POSTINGS_PER_BLOCK);
            postings.start = some.end;
            let hits = self.find(pair, some);
            self.before.make_room(hits)?;
            self.after.make_room(hits)?;
            self.rewrite(pair, token, hits, postings.clone());
        }
        self.lower_counts(pair, token);
        self.add_pairs(token)?;
        self.index.tidy();
        Ok(())
    }

    /// Collects the postings at which the pair still occurs; returns how many there are. It is a loop of its
    /// own without a branch that depends on the corpus, so that many reads of memory overlap.
    fn find(&mut self, pair: &Pair, postings: Range<usize>) -> usize {
        let step = self.tokens.length(pair.left);
        let length = step + self.tokens.length(pair.right);
        let mut count = 0;
        let mut around = 0;
        for &position in &self.index.pool[postings] {
            self.hits[count] = position;
            let live = (self.corpus.token(position) == pair.left)
                & (self.corpus.token(position + step) == pair.right);
            count += usize::from(live);
            around |= self.corpus.token(position - 1) | self.corpus.token(position + length);
        }
        // These reads bring the neighbours into the cache for `rewrite`; the compiler must not remove them.
        std::hint::black_box(around);
        count
    }

    /// Merges the collected occurrences and adds up their neighbours. Meanwhile prefetches the cells of the
    /// postings `ahead`.
    fn rewrite(&mut self, pair: &Pair, token: u32, hits: usize, ahead: Range<usize>) {
        let step = self.tokens.length(pair.left);
        let length = self.tokens.length(token);
        let sentinel = self.corpus.sentinel();
        let mut ahead = self.index.pool[ahead].iter();
        for &position in &self.hits[..hits] {
            if let Some(&next) = ahead.next() {
                self.corpus.prefetch(next);
            }
            // Of overlapping occurrences (aaa) the first one is merged, after which the next one does not
            // exist any more.
            if pair.left == pair.right
                && (self.corpus.token(position) != pair.left
                    || self.corpus.token(position + step) != pair.right)
            {
                continue;
            }
            let weight = self.corpus.weight(position);
            let before = self.corpus.token(position - 1);
            let after = self.corpus.token(position + length);
            self.corpus.merge(position, position + step, position + length, token);
            if before != sentinel && self.before.note(before, position, weight) {
                self.index.prefetch_lookup(before, pair.left);
            }
            if after != sentinel && self.after.note(after, position, weight) {
                self.index.prefetch_lookup(pair.right, after);
            }
        }
    }

    /// Lowers the counts of the pairs that the merge broke up.
    fn lower_counts(&mut self, pair: &Pair, token: u32) {
        for before in &mut self.before.distinct {
            before.pair = self.index.guess(before.token, pair.left);
        }
        for after in &mut self.after.distinct {
            after.pair = self.index.guess(pair.right, after.token);
        }
        for before in &self.before.distinct {
            if let Some(guess) = before.pair {
                self.index.lower(before.token, pair.left, guess, before.count);
            }
        }
        for after in &self.after.distinct {
            if let Some(guess) = after.pair {
                self.index.lower(pair.right, after.token, guess, after.count);
            }
        }
        // If occurrences touch (abab), the second was seen as `left` on the right of the first, and became
        // `token` later.
        if let Some(&mut super::neighbours::Neighbour { count, .. }) = self.before.get_mut(token)
            && let Some(after) = self.after.get_mut(pair.left)
        {
            after.count -= count;
        }
    }

    /// Indexes the pairs that the merge made, and puts them into the queue.
    fn add_pairs(&mut self, token: u32) -> Result<()> {
        for (side, is_before) in [(&mut self.before, true), (&mut self.after, false)] {
            let mut kept = false;
            for neighbour in &mut side.distinct {
                neighbour.cursor = NO_CURSOR;
                let other = neighbour.token;
                let (left, right) = if is_before { (other, token) } else { (token, other) };
                if neighbour.count >= self.threshold && self.limit.fits(&self.tokens, left, right) {
                    neighbour.cursor = self.index.pool.len();
                    neighbour.back = if is_before { self.tokens.length(other) } else { 0 };
                    let pair = self.index.add(left, right, neighbour.count, neighbour.places)?;
                    self.queue.push(pair, neighbour.count, &self.index, &self.tokens)?;
                    kept = true;
                }
            }
            if kept {
                let pool = &mut self.index.pool;
                for &(slot, position) in &side.occurrences {
                    let neighbour = &mut side.distinct[slot as usize];
                    if let Some(posting) = pool.get_mut(neighbour.cursor) {
                        *posting = position - neighbour.back;
                        neighbour.cursor += 1;
                    }
                }
            }
        }
        Ok(())
    }
}
