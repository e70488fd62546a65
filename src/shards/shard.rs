//! The files of an unfinished shard: its ids, where its documents begin, and which ids are trained on.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::files::NPY_HEADER_BYTES;
use super::options::ShardOptions;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;
use crate::source::{Links, WrittenHashes, checksum_of_start, open_regular, write_through_at};

/// How much a shard holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filling {
    /// The number of its ids.
    pub ids: u64,
    /// The number of its whole documents.
    pub documents: u64,
}

/// A file of a shard that is being written.
pub(super) struct ShardFile {
    path: PathBuf,
    file: File,
    /// Bytes before the numbers, for a header that is written last.
    head_bytes: u64,
    /// The hashes of parts of the file, of which none has bytes of the head.
    pub(super) hashes: WrittenHashes,
}

impl ShardFile {
    /// Opens a file, which is empty if the shard is new, and cuts off what is behind `size` bytes.
    fn open(path: PathBuf, head_bytes: u64, size: u64, is_new: bool) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(is_new);
        let file = open_regular(&path, &mut options, Links::Refuse).map_err(Error::io(&path))?;
        let bytes = file.metadata().map_err(Error::io(&path))?.len();
        if !is_new && bytes < size {
            let reason = format!("it holds {bytes} bytes of {size} that the run had written before");
            return Err(damaged(&path, &reason));
        }
        file.set_len(size).map_err(Error::io(&path))?;
        Ok(ShardFile { path, file, head_bytes, hashes: WrittenHashes::default() })
    }

    fn write(&self, bytes: &[u8], at: u64) -> Result<()> {
        write_through_at(&self.file, bytes, at).map_err(Error::io(&self.path))
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(Error::io(&self.path))
    }

    /// The BLAKE3 of the first bytes. The head does not count.
    fn checksum(&self, size: u64, control: &Control) -> Result<String> {
        let head = self.head_bytes as usize;
        checksum_of_start((&self.path, &self.file), (head, size), &self.hashes, control)
    }
}

/// A shard that is being written.
pub(super) struct Shard {
    pub(super) split: usize,
    pub(super) number: u32,
    pub(super) ids: ShardFile,
    index: ShardFile,
    /// A byte for each id.
    mask: Option<ShardFile>,
    is_piece: bool,
    width: u64,
    /// The number of announced writes that are not done, plus one until the shard is closed.
    pending: AtomicUsize,
    /// What the shard holds when it is closed, and the number of the job that closed it.
    closed: OnceLock<(Filling, u64)>,
}

impl Shard {
    /// Opens the files of a shard that holds `filling`, and removes what is after that.
    pub(super) fn open(options: &ShardOptions, split: usize, number: u32, filling: Filling) -> Result<Self> {
        let file = |suffix| options.path(split, number, suffix);
        let (is_new, width) = (filling == Filling::default(), options.width());
        let ids_bytes = options.head_bytes() + width * filling.ids;
        Ok(Shard {
            split,
            number,
            ids: ShardFile::open(file("ids"), options.head_bytes(), ids_bytes, is_new)?,
            index: ShardFile::open(file("index"), INDEX_HEAD, index_bytes(filling), is_new)?,
            mask: (options.has_mask().then(|| ShardFile::open(file("mask"), 0, filling.ids, is_new)))
                .transpose()?,
            is_piece: options.is_piece,
            width,
            pending: AtomicUsize::new(1),
            closed: OnceLock::new(),
        })
    }

    /// Bytes of an id as documents have it: with a byte of its mask, if there are masks.
    pub(super) fn stride(&self) -> u64 {
        self.width + u64::from(self.mask.is_some())
    }

    /// Announces a write. Must be called before the shard is closed.
    pub(super) fn expect(&self) {
        self.pending.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that an announced write is done. Returns whether the shard is closed and no other write is
    /// pending.
    pub(super) fn done(&self) -> bool {
        self.pending.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Closes the shard. Returns whether all its writes are done.
    pub(super) fn close(&self, filling: Filling, job: u64) -> bool {
        let _ = self.closed.set((filling, job));
        self.done()
    }

    /// What the closed shard holds, and the number of the job that closed it.
    pub(super) fn closed(&self) -> (Filling, u64) {
        self.closed.get().copied().unwrap_or_default()
    }

    /// Writes ids and the ends of their documents after what the shard holds at `at`.
    pub(super) fn write(&self, at: Filling, bytes: &[u8], ends: &[u8]) -> Result<()> {
        let Some(mask) = &self.mask else { return self.write_ids(at, bytes, ends) };
        let (ids, flags) = match self.width {
            2 => divided::<3>(bytes)?,
            _ => divided::<5>(bytes)?,
        };
        mask.write(&flags, at.ids)?;
        self.write_ids(at, &ids, ends)
    }

    fn write_ids(&self, at: Filling, bytes: &[u8], ends: &[u8]) -> Result<()> {
        let ids_at = self.ids_bytes(at);
        self.ids.write(bytes, ids_at)?;
        self.index.write(ends, index_bytes(at))?;
        if !self.is_piece {
            self.ids.hashes.add(ids_at, bytes);
        }
        Ok(())
    }

    /// Bytes of the file of ids when it holds so much.
    fn ids_bytes(&self, filling: Filling) -> u64 {
        self.ids.head_bytes + self.width * filling.ids
    }

    /// The BLAKE3 of each file, up to what the shard holds at `filling`: all of that must be written. Headers
    /// do not count.
    pub(super) fn checksums(&self, filling: Filling, control: &Control) -> Result<Vec<String>> {
        let sizes = [self.ids_bytes(filling), index_bytes(filling), filling.ids];
        self.files().zip(sizes).map(|(file, size)| file.checksum(size, control)).collect()
    }

    fn files(&self) -> impl Iterator<Item = &ShardFile> {
        [&self.ids, &self.index].into_iter().chain(&self.mask)
    }

    /// Compares the files with the checksums of an earlier run.
    pub(super) fn check(&self, filling: Filling, expected: &[String], control: &Control) -> Result<()> {
        let actual = self.checksums(filling, control)?;
        for (number, file) in self.files().enumerate() {
            if actual.get(number) != expected.get(number) {
                let reason = "it is not what the run had written before (its checksum differs)";
                return Err(damaged(&file.path, reason));
            }
        }
        Ok(())
    }

    /// Waits until what was written is on the disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.files().try_for_each(ShardFile::sync)
    }
}

/// Divides rows of `STRIDE` bytes, ids with a byte of their mask behind each, into ids and masks.
fn divided<const STRIDE: usize>(bytes: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
    let (rows, width) = (bytes.as_chunks::<STRIDE>().0, STRIDE - 1);
    let (mut ids, mut flags) = (room::filled(0, width * rows.len())?, room::filled(0, rows.len())?);
    for ((row, id), flag) in rows.iter().zip(ids.chunks_exact_mut(width)).zip(&mut flags) {
        id.copy_from_slice(&row[..width]);
        *flag = row[width];
    }
    Ok((ids, flags))
}

/// Bytes before the numbers of the index.
const INDEX_HEAD: u64 = NPY_HEADER_BYTES as u64;

/// Bytes of the index of a shard that holds so much. Its first number is where the first document begins, so
/// the ends stand one place later.
fn index_bytes(filling: Filling) -> u64 {
    INDEX_HEAD + 8 * (filling.documents + 1)
}

/// The error of a file that an earlier run left otherwise.
fn damaged(path: &Path, reason: &str) -> Error {
    let folder = path.parent().and_then(Path::parent).unwrap_or(path).display();
    let reason = format!("{reason}: remove the folder {folder} to start again");
    Error::Io { path: path.to_owned(), source: std::io::Error::other(reason) }
}
