//! The checksum of a file: BLAKE3, which a core computes several times as fast as SHA-256.
//!
//! BLAKE3 is a tree of hashes: that of a file follows from the hashes of its subtrees. So whoever writes a
//! file in parts, in any order, can hash these parts while they are in memory (section 2.1 of the paper,
//! <https://github.com/BLAKE3-team/BLAKE3-specs>).

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::Path;

use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};
use blake3::{Hash, Hasher};

use super::file::read_at;
use super::regular::{Links, open_regular};
use crate::control::{Control, Stage};
use crate::error::{Error, Result};
use crate::room;
use crate::workers::Lock;

/// Bytes of a file whose hash is a subtree; a power of two. Few enough to stay in the cache until they are
/// hashed. What a write covers of such a part but not entirely is read again, so a part is also small beside
/// a write.
const SUBTREE_BYTES: usize = 64 << 10;

/// The hashes of those parts of a file that were in memory as a whole when they were written. They take about
/// a thousandth of the size of the file.
#[derive(Debug, Default)]
pub struct WrittenHashes(Lock<BTreeMap<u64, ChainingValue>>);

impl WrittenHashes {
    /// Hashes what is written at `at`. It must not be overwritten with anything else.
    pub(crate) fn add(&self, at: u64, bytes: &[u8]) {
        let first = at.next_multiple_of(SUBTREE_BYTES as u64);
        let parts = bytes.get((first - at) as usize..).unwrap_or(&[]).chunks_exact(SUBTREE_BYTES);
        for (number, part) in (first / SUBTREE_BYTES as u64..).zip(parts) {
            let hash = subtree_hash(number, part);
            self.0.lock().insert(number, hash);
        }
    }
}

/// The number of bytes of a file, and their BLAKE3 in hex, as `b3sum` prints it. Parts whose hashes are in
/// `written` are not read.
pub fn checksum(path: &Path, written: &WrittenHashes, control: &Control) -> Result<(u64, String)> {
    let failed = Error::io(path);
    let file = open_regular(path, OpenOptions::new().read(true), Links::Follow).map_err(&failed)?;
    let size = file.metadata().map_err(&failed)?.len();
    control.begin(Stage::Check, size);
    Ok((size, checksum_of_start((path, &file), (0, size), written, control)?))
}

/// The BLAKE3 in hex of the first `size` bytes of a file, of which the first `head_bytes` count as zeros: a
/// header may be there already. The hashes of whole parts that are read join those in `written`.
pub(crate) fn checksum_of_start(
    (path, file): (&Path, &File),
    (head_bytes, size): (usize, u64),
    written: &WrittenHashes,
    control: &Control,
) -> Result<String> {
    let mut window = Vec::new();
    room::resize(&mut window, SUBTREE_BYTES)?;
    let failed = Error::io(path);
    if size <= SUBTREE_BYTES as u64 {
        let hash = blake3::hash(part_of(file, head_bytes, 0, &mut window[..size as usize]).map_err(&failed)?);
        control.advance(size);
        return Ok(hash.to_hex().to_string());
    }
    let mut tree = Tree::default();
    let mut at = 0;
    loop {
        control.check()?;
        let len = (size - at).min(SUBTREE_BYTES as u64);
        let number = at / SUBTREE_BYTES as u64;
        let is_whole = len == SUBTREE_BYTES as u64;
        let hash = match written.0.lock().get(&number).copied().filter(|_| is_whole) {
            Some(hash) => hash,
            None => {
                let part = part_of(file, head_bytes, at, &mut window[..len as usize]).map_err(&failed)?;
                subtree_hash(number, part)
            }
        };
        if is_whole && (number > 0 || head_bytes == 0) {
            written.0.lock().insert(number, hash);
        }
        control.advance(len);
        at += len;
        if at == size {
            return Ok(tree.root(hash).to_hex().to_string());
        }
        tree.add(hash);
    }
}

/// Fills the window with the part of the file that begins at `at`; with zeros for the head.
fn part_of<'w>(file: &File, head_bytes: usize, at: u64, window: &'w mut [u8]) -> std::io::Result<&'w [u8]> {
    if read_at(file, at, window)? < window.len() {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    if at == 0 {
        let head = head_bytes.min(window.len());
        window[..head].fill(0);
    }
    Ok(window)
}

/// The hash of the part of a file with this number, which is not the whole file.
fn subtree_hash(number: u64, part: &[u8]) -> ChainingValue {
    Hasher::new().set_input_offset(number * SUBTREE_BYTES as u64).update(part).finalize_non_root()
}

/// The subtrees so far, each of them larger than those after it and of 2ⁿ parts.
#[derive(Default)]
struct Tree {
    subtrees: Vec<ChainingValue>,
    parts: u64,
}

impl Tree {
    /// Adds a part that is not the last.
    fn add(&mut self, part: ChainingValue) {
        self.parts += 1;
        let mut right = part;
        for _ in 0..self.parts.trailing_zeros() {
            if let Some(left) = self.subtrees.pop() {
                right = merge_subtrees_non_root(&left, &right, Mode::Hash);
            }
        }
        self.subtrees.push(right);
    }

    /// The hash of the file that ends with this part, which is not its only one.
    fn root(mut self, last: ChainingValue) -> Hash {
        let first = if self.subtrees.is_empty() { last } else { self.subtrees.remove(0) };
        let merged = |right, left: &ChainingValue| merge_subtrees_non_root(left, &right, Mode::Hash);
        let right = self.subtrees.iter().rev().fold(last, merged);
        merge_subtrees_root(&first, &right, Mode::Hash)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::random::Random;

    #[test]
    fn parts_hashed_while_they_are_written_are_not_read() {
        let mut random = Random::new(1);
        for len in [1, SUBTREE_BYTES, 2 * SUBTREE_BYTES, 700_000, 1_234_567] {
            let bytes: Vec<u8> = (0..len).map(|at| (at * at % 253) as u8).collect();
            let (mut writes, mut at) = (Vec::new(), 0);
            while at < len {
                let end = len.min(at + 1 + random.below(300_000));
                writes.push(at..end);
                at = end;
            }
            let written = WrittenHashes::default();
            for write in writes.iter().rev() {
                written.add(write.start as u64, &bytes[write.clone()]);
            }
            let whole = writes
                .iter()
                .map(|write| (write.end / SUBTREE_BYTES).saturating_sub(write.start.div_ceil(SUBTREE_BYTES)));
            assert_eq!(written.0.lock().len(), whole.sum::<usize>());
            // The parts that are known may hold anything by now.
            let mut changed = bytes.clone();
            if len > SUBTREE_BYTES {
                for number in written.0.lock().keys() {
                    changed[*number as usize * SUBTREE_BYTES] ^= 1;
                }
            }
            let expected = (len as u64, blake3::hash(&bytes).to_hex().to_string());
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&changed).unwrap();
            let actual = checksum(file.path(), &written, &Control::none()).unwrap();
            assert_eq!(actual, expected, "{len} bytes in {writes:?}");
        }
    }
}
