//! The buckets of a cache, as the hot loop sees them.

use super::bucket::Bucket;
use super::long_key::long_key;
use crate::pretokenize::key::{Key, Length};
use crate::simd::{self, Simd};

/// A view of the buckets that the hot loop keeps in registers.
#[derive(Clone, Copy)]
pub(in crate::encode) struct Buckets<'a> {
    pub(super) buckets: &'a [Bucket],
    /// A hash shifted right by this many bits is the index of its bucket.
    pub(super) shift: u32,
}

impl<'a> Buckets<'a> {
    /// The key of `text[start..end]` and the index of its bucket, which is prefetched for [`Buckets::find`].
    #[inline(always)]
    pub(in crate::encode) fn key_and_prefetch(
        self,
        simd: impl Simd,
        text: &[u8],
        start: usize,
        end: usize,
        len: Length,
    ) -> (Key, u32) {
        let (mut key, mut hash) = Key::hashed(simd, text, start, len);
        if len.is_long() {
            key = long_key(&text[start..end]);
            hash = key.hash_by(simd);
        }
        let bucket = (hash >> self.shift) as usize;
        simd::prefetch(self.buckets, bucket);
        (key, bucket as u32)
    }

    /// A bucket, and which of its slots has the key.
    #[inline(always)]
    pub(in crate::encode) fn find(
        self,
        simd: impl Simd,
        key: Key,
        bucket: u32,
    ) -> (&'a Bucket, Option<usize>) {
        let bucket = &self.buckets[bucket as usize];
        // A branch, because a selection without a branch took half as long again: nine of ten pretokens are
        // in the first slot.
        let slot = if bucket.holds(simd, 0, key) {
            Some(0)
        } else if bucket.holds(simd, 1, key) {
            Some(1)
        } else {
            None
        };
        (bucket, slot)
    }
}
