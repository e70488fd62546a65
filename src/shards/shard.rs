//! The two files of an unfinished shard: its ids, and where its documents begin.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::files::NPY_HEADER_BYTES;
use crate::control::Control;
use crate::error::{Error, Result};
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

/// A shard that is being written.
pub(super) struct Shard {
    pub(super) split: usize,
    pub(super) number: u32,
    ids: File,
    index: File,
    /// The hashes of the ids that this run has written.
    hashes: Arc<WrittenHashes>,
    index_hashes: WrittenHashes,
    is_hashed: bool,
    path: PathBuf,
    index_path: PathBuf,
    head_bytes: u64,
    width: u64,
    /// The number of announced writes that are not done, plus one until the shard is closed.
    pending: AtomicUsize,
    /// What the shard holds when it is closed, and the number of the job that closed it.
    closed: OnceLock<(Filling, u64)>,
}

/// The folder and the layout of the shards of a run.
pub(super) struct ShardPlace<'a> {
    pub(super) folder: &'a Path,
    pub(super) head_bytes: u64,
    pub(super) width: u64,
    pub(super) is_hashed: bool,
}

impl Shard {
    /// Opens the files of a shard that holds `filling`, and removes what is after that.
    pub(super) fn open(
        place: &ShardPlace<'_>,
        split: (usize, &str),
        number: u32,
        filling: Filling,
    ) -> Result<Self> {
        let name = format!("{}-{number:05}", split.1);
        let path = place.folder.join(format!("{name}.ids"));
        let failed = |source| Error::Io { path: path.clone(), source };
        let index_path = place.folder.join(format!("{name}.index"));
        let open = |path: &Path| {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(filling == Filling::default());
            open_regular(path, &mut options, Links::Refuse)
        };
        let (ids, index) = (
            open(&path).map_err(failed)?,
            open(&index_path).map_err(|source| Error::Io { path: index_path.clone(), source })?,
        );
        let wanted = [
            place.head_bytes + place.width * filling.ids,
            NPY_HEADER_BYTES as u64 + 8 * (filling.documents + 1),
        ];
        for (path, file, wanted) in [(&path, &ids, wanted[0]), (&index_path, &index, wanted[1])] {
            let failed = |source| Error::Io { path: path.clone(), source };
            let size = file.metadata().map_err(failed)?.len();
            if filling != Filling::default() && size < wanted {
                let reason = format!("it holds {size} bytes of {wanted} that the run had written before");
                return Err(damaged(path, &reason));
            }
            file.set_len(wanted).map_err(failed)?;
        }
        let ShardPlace { head_bytes, width, is_hashed, .. } = *place;
        let (pending, closed) = (AtomicUsize::new(1), OnceLock::new());
        let (hashes, index_hashes) = (Arc::default(), WrittenHashes::default());
        Ok(Shard {
            split: split.0,
            number,
            ids,
            index,
            hashes,
            index_hashes,
            is_hashed,
            path,
            index_path,
            head_bytes,
            width,
            pending,
            closed,
        })
    }

    /// Bytes of an id.
    pub(super) fn width(&self) -> u64 {
        self.width
    }

    /// Announces a write. Must be called before the shard is closed.
    pub(super) fn expect(&self) {
        self.pending.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that an announced write is done. Returns whether the shard is closed and no other write is pending.
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

    /// The hashes of parts of the file of ids. The head, which is written last, is in none of these parts.
    pub(super) fn hashes(&self) -> Arc<WrittenHashes> {
        self.hashes.clone()
    }

    /// Writes ids and the ends of their documents after what the shard holds at `at`.
    pub(super) fn write(&self, at: Filling, bytes: &[u8], ends: &[u8]) -> Result<()> {
        let ids_at = self.head_bytes + self.width * at.ids;
        // The first number of the index is where the first document begins, so the ends stand one place later.
        let ends_at = NPY_HEADER_BYTES as u64 + 8 * (at.documents + 1);
        let written = write_through_at(&self.ids, bytes, ids_at)
            .and_then(|()| write_through_at(&self.index, ends, ends_at));
        written.map_err(|source| Error::Io { path: self.path.clone(), source })?;
        if self.is_hashed {
            self.hashes.add(ids_at, bytes);
        }
        Ok(())
    }

    /// The BLAKE3 of the ids and of the index, up to what the shard holds at `filling`: all of that must be written.
    /// Headers do not count.
    pub(super) fn checksums(&self, filling: Filling, control: &Control) -> Result<[String; 2]> {
        let ids = self.head_bytes + self.width * filling.ids;
        let index = NPY_HEADER_BYTES as u64 + 8 * (filling.documents + 1);
        let head = [self.head_bytes as usize, NPY_HEADER_BYTES];
        Ok([
            checksum_of_start((&self.path, &self.ids), (head[0], ids), &self.hashes, control)?,
            checksum_of_start(
                (&self.index_path, &self.index),
                (head[1], index),
                &self.index_hashes,
                control,
            )?,
        ])
    }

    /// Compares the files with the checksums of an earlier run.
    pub(super) fn check(&self, filling: Filling, expected: &[String; 2], control: &Control) -> Result<()> {
        let actual = self.checksums(filling, control)?;
        for (number, path) in [&self.path, &self.index_path].into_iter().enumerate() {
            if actual[number] != expected[number] {
                return Err(damaged(
                    path,
                    "it is not what the run had written before (its checksum differs)",
                ));
            }
        }
        Ok(())
    }

    /// Waits until what was written is on the disk.
    pub(super) fn sync(&self) -> Result<()> {
        let synced = self.ids.sync_data().and_then(|()| self.index.sync_data());
        synced.map_err(|source| Error::Io { path: self.path.clone(), source })
    }
}

/// The error of a file that an earlier run left otherwise.
fn damaged(path: &Path, reason: &str) -> Error {
    let folder = path.parent().and_then(Path::parent).unwrap_or(path).display();
    let reason = format!("{reason}: remove the folder {folder} to start again");
    Error::Io { path: path.to_owned(), source: std::io::Error::other(reason) }
}
