//! The hot loop: a run of pretokens → ids.
//!
//! Three passes over up to [`ENDS`] pretokens:
//!
//! 1. [`PrepareLookup`] makes the key of each pretoken, finds the bucket of the key, and prefetches it.
//! 2. [`Find`] compares the keys in the buckets. It copies the ids of each hit, and leaves a gap, a
//!    [`GapPlace`], for each pretoken that is not there.
//! 3. [`HotLoop::encode`] fills the gaps in order from the overflow ring, whose records were prefetched. A
//!    gap that the ring cannot fill is a miss, which is merged.
//!
//! The first two passes are kernels, compiled for each instruction set. A gap costs them nothing but the
//! note.

use super::cache::{Bucket, Buckets, Cache, Gap, Hint, IdWidth, MAX_INLINE_IDS};
use super::lookup::Lookup;
use super::output::StagedOutput;
use super::padded_ids::PaddedIds;
use crate::error::Result;
use crate::pretokenize::ENDS;
use crate::pretokenize::key::{Key, Length};
use crate::simd::{self, Isa, Kernel, Simd};

/// The maximum number of ids that the hits of a run have, and one more for the last copy of a fixed size.
const MAX_HIT_IDS: usize = MAX_INLINE_IDS * ENDS + 1;

/// Working memory: the keys of a run, the indices of their buckets, and what was found there.
pub(super) struct HotLoop {
    keys: [Key; ENDS],
    lens: [Length; ENDS],
    bucket_indices: [u32; ENDS],
    ids: [u32; MAX_HIT_IDS],
    gaps: [GapPlace; ENDS],
    hints: [Hint; ENDS],
}

/// A pretoken whose ids are not in its bucket: its number in the run (`at`), and how many ids the hits before
/// it have (`len`).
#[derive(Clone, Copy, Default)]
struct GapPlace {
    at: u16,
    len: u16,
}

impl Default for HotLoop {
    fn default() -> Self {
        HotLoop {
            keys: [Key::NONE; ENDS],
            lens: [Length::default(); ENDS],
            bucket_indices: [0; ENDS],
            ids: [0; MAX_HIT_IDS],
            gaps: [GapPlace::default(); ENDS],
            hints: [Hint::default(); ENDS],
        }
    }
}

/// Neighbouring pretokens of a text, at most [`ENDS`]: the first one starts at `start`, and each ends where
/// the next one starts.
#[derive(Clone, Copy)]
pub(super) struct PretokenRun<'a> {
    pub(super) text: &'a [u8],
    pub(super) start: usize,
    pub(super) ends: &'a [usize],
}

impl PretokenRun<'_> {
    /// Where pretoken number `at` starts.
    #[inline]
    fn start_of(&self, at: usize) -> usize {
        if at == 0 { self.start } else { self.ends[at - 1] }
    }
}

impl HotLoop {
    /// Adds the ids of all pretokens to `output`. `on_miss` adds those of a pretoken that is not in the
    /// cache.
    #[inline]
    pub(super) fn encode<'a, const READS_IDS: bool>(
        &mut self,
        lookup: &mut Lookup<'a>,
        ranges: PretokenRun<'_>,
        output: &mut StagedOutput<'_, READS_IDS>,
        mut on_miss: impl FnMut(&mut Lookup<'a>, &Gap<'_>, &mut StagedOutput<'_, READS_IDS>) -> Result<()>,
    ) -> Result<()> {
        let isa = lookup.isa;
        let cache = lookup.cache();
        isa.run(PrepareLookup { run: self, ranges, buckets: cache.buckets() });
        let (gap_count, len) = self.find::<READS_IDS>(isa, cache, ranges.ends.len());
        let HotLoop { keys, bucket_indices, ids, gaps, hints, .. } = self;
        let (gaps, hints) = (&gaps[..gap_count], &hints[..gap_count]);
        for &hint in hints {
            cache.prefetch_record(hint);
        }
        let PretokenRun { text, ends, .. } = ranges;
        let mut done = 0;
        for (number, gap) in gaps.iter().enumerate() {
            let hint = hints[number];
            let (at, len) = (usize::from(gap.at), usize::from(gap.len));
            output.add(hits(ids, done, len))?;
            done = len;
            let (start, end) = (ranges.start_of(at), ends[at]);
            let gap = Gap { text, start, end, key: keys[at], bucket_index: bucket_indices[at], hint };
            if !lookup.add_cached(&gap, output)? {
                on_miss(lookup, &gap, output)?;
            }
        }
        output.add(hits(ids, done, len))
    }

    /// The second pass. Returns the number of gaps and the number of ids of all hits.
    fn find<const READS_IDS: bool>(&mut self, isa: Isa, cache: &Cache, count: usize) -> (usize, usize) {
        let find = Find { run: self, count, cache };
        match (READS_IDS, cache.id_width()) {
            (false, _) => isa.run(FindCount(find)),
            (true, IdWidth::U16) => isa.run(FindU16(find)),
            (true, IdWidth::U32) => isa.run(FindU32(find)),
        }
    }
}

/// The ids of hits from number `from` up to number `to`.
#[inline(always)]
fn hits(ids: &[u32; MAX_HIT_IDS], from: usize, to: usize) -> PaddedIds<'_> {
    PaddedIds::new(ids, from, to - from).unwrap_or((&[][..]).into())
}

/// The first pass: keys and bucket indices.
struct PrepareLookup<'a> {
    run: &'a mut HotLoop,
    ranges: PretokenRun<'a>,
    buckets: Buckets<'a>,
}

impl Kernel for PrepareLookup<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) {
        let PrepareLookup { run, ranges: PretokenRun { text, start: first, ends }, buckets } = self;
        // Lengths have a loop of their own, which compilers vectorize.
        let mut start = first;
        for (&end, len) in ends.iter().zip(&mut run.lens) {
            *len = Length::new(start, end);
            start = end;
        }
        start = first;
        for (((&end, key), bucket_index), &len) in
            ends.iter().zip(&mut run.keys).zip(&mut run.bucket_indices).zip(&run.lens)
        {
            (*key, *bucket_index) = buckets.key_and_prefetch(simd, text, start, end, len);
            start = end;
        }
    }
}

/// The second pass: ids of hits, and gaps.
struct Find<'a> {
    run: &'a mut HotLoop,
    count: usize,
    cache: &'a Cache,
}

impl Find<'_> {
    /// `put(ids, at, bucket, slot)` copies the ids of a slot to `ids[at..]`.
    #[inline(always)]
    fn find(
        self,
        simd: impl Simd,
        put: impl Fn(&mut [u32; MAX_HIT_IDS], usize, &Bucket, usize),
    ) -> (usize, usize) {
        let Find { run: HotLoop { keys, bucket_indices, ids, gaps, hints, .. }, count, cache } = self;
        let buckets = cache.buckets();
        let (mut gap_count, mut len) = (0, 0);
        for (at, (&key, &bucket_index)) in keys[..count].iter().zip(&bucket_indices[..count]).enumerate() {
            let (bucket, slot) = buckets.find(simd, key, bucket_index);
            if let Some(slot) = slot
                && !bucket.has_many(slot)
            {
                put(ids, len, bucket, slot);
                len += bucket.count(slot);
            } else {
                gaps[gap_count % ENDS] = GapPlace { at: at as u16, len: len as u16 };
                cache.hint_and_prefetch(key, bucket_index, slot, &mut hints[gap_count % ENDS]);
                gap_count += 1;
            }
        }
        (gap_count, len)
    }
}

/// [`Find`] in buckets that hold ids of 16 bits.
struct FindU16<'a>(Find<'a>);

impl Kernel for FindU16<'_> {
    type Out = (usize, usize);

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> (usize, usize) {
        // Always copies room for all ids of a slot: a copy of fixed size is one store, and the next copy
        // overwrites the excess.
        self.0.find(simd, |ids, len, bucket, slot| simd::put(ids, len, &bucket.ids_u16(slot)))
    }
}

/// [`Find`] in buckets that hold ids of 32 bits.
struct FindU32<'a>(Find<'a>);

impl Kernel for FindU32<'_> {
    type Out = (usize, usize);

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> (usize, usize) {
        self.0.find(simd, |ids, len, bucket, slot| simd::put(ids, len, bucket.ids_u32(slot)))
    }
}

/// [`Find`] for a sink that only counts: no ids are copied.
struct FindCount<'a>(Find<'a>);

impl Kernel for FindCount<'_> {
    type Out = (usize, usize);

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> (usize, usize) {
        self.0.find(simd, |_, _, _, _| ())
    }
}
