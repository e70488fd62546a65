//! The two files of an unfinished shard: its ids, and where its documents begin.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::source::{WrittenHashes, write_through_at};

/// Bytes before the numbers in the index, for the header of a NumPy file.
pub(super) const INDEX_HEAD_BYTES: u64 = 128;

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
    is_hashed: bool,
    /// The path that errors name.
    path: PathBuf,
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
        let open =
            |path: &Path| OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let (ids, index) = (open(&path).map_err(failed)?, open(&index_path).map_err(failed)?);
        let wanted =
            [place.head_bytes + place.width * filling.ids, INDEX_HEAD_BYTES + 8 * (filling.documents + 1)];
        for (file, wanted) in [(&ids, wanted[0]), (&index, wanted[1])] {
            let size = file.metadata().map_err(failed)?.len();
            if filling != Filling::default() && size < wanted {
                let reason = format!("it holds {size} bytes of {wanted} that the run had written before");
                return Err(failed(std::io::Error::other(reason)));
            }
            file.set_len(wanted).map_err(failed)?;
        }
        let ShardPlace { head_bytes, width, is_hashed, .. } = *place;
        let (pending, closed) = (AtomicUsize::new(1), OnceLock::new());
        let hashes = Arc::default();
        Ok(Shard {
            split: split.0,
            number,
            ids,
            index,
            hashes,
            is_hashed,
            path,
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
        let ends_at = INDEX_HEAD_BYTES + 8 * (at.documents + 1);
        let written = write_through_at(&self.ids, bytes, ids_at)
            .and_then(|()| write_through_at(&self.index, ends, ends_at));
        written.map_err(|source| Error::Io { path: self.path.clone(), source })?;
        if self.is_hashed {
            self.hashes.add(ids_at, bytes);
        }
        Ok(())
    }

    /// Waits until what was written is on the disk.
    pub(super) fn sync(&self) -> Result<()> {
        let synced = self.ids.sync_data().and_then(|()| self.index.sync_data());
        synced.map_err(|source| Error::Io { path: self.path.clone(), source })
    }
}
