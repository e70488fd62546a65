//! The folder of a run: shards are made whole, the state of the run is saved, and whole shards get their
//! names.
//!
//! A shard, its index and the state are written in a folder of their own, the unfinished one. A shard takes
//! its final name only after a state that counts it as whole is on the disk. So at any moment a later run can
//! continue.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::files::{DocumentRange, RawShard, ShardFormat, join_pieces, synced};
use super::ledger::Snapshot;
use super::options::ShardOptions;
use super::shard::Filling;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::source::{Links, WrittenHashes, checksum, open_regular, write_whole};
use crate::workers::Lock;

const STATE: &str = "state.json";
const KIND: &str = "toksmith unfinished run";
const VERSION: u32 = 7;
const MAX_STATE_BYTES: u64 = 1 << 28;

/// Writes the Parquet file of a shard from its ids and the places of its documents.
pub type ParquetWriter = Box<dyn Fn(&RawShard, &Path) -> Result<()> + Send + Sync>;

/// A whole shard, as the manifest describes it. Checksums are BLAKE3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardEntry {
    /// The name of the file of ids.
    pub file: String,
    /// The name of the file of the places of documents.
    pub index: String,
    /// How many documents there are.
    pub documents: u64,
    /// How many ids there are.
    pub tokens: u64,
    /// The size of the file of ids.
    pub bytes: u64,
    /// Its checksum.
    pub blake3: String,
    /// The checksum of the file of places.
    pub index_blake3: String,
    /// That of Megatron's index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idx_blake3: Option<String>,
    /// The name of the file that says which ids are trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// Its checksum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_blake3: Option<String>,
}

/// What a later run needs to continue. Its file has a checksum, so a damaged state is refused. A forged state
/// decides what the run writes, but the run touches no file outside its folder.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    /// The settings that decide what the run writes; a later run must have the same.
    run: Box<RawValue>,
    snapshot: Snapshot,
    /// The whole shards, each with the number of its split and its own.
    shards: Vec<(usize, u32, ShardEntry)>,
}

#[derive(Serialize, Deserialize)]
struct StateFile {
    format: String,
    version: u32,
    blake3: String,
    state: Box<RawValue>,
}

/// The folder that a run writes: whole shards and, in the unfinished folder, all that a later run needs to
/// continue.
pub struct ShardFolder {
    folder: PathBuf,
    options: ShardOptions,
    run: Box<RawValue>,
    /// The files that a repair restores; `None` if all are kept.
    kept: Option<HashSet<String>>,
    write_parquet: ParquetWriter,
    shards: Lock<Shards>,
}

/// A shard: the number of its split, and its own.
type Key = (usize, u32);

#[derive(Default)]
struct Shards {
    whole: BTreeMap<Key, ShardEntry>,
    published: BTreeSet<Key>,
    snapshot: Option<Snapshot>,
}

impl ShardFolder {
    /// A folder with its unfinished folder, `options.folder`. `run` is the JSON of all settings that decide
    /// what is written. With `kept`, only files of these names are kept: a repair needs no others.
    pub fn new(
        folder: PathBuf,
        options: ShardOptions,
        run: Box<RawValue>,
        kept: Option<HashSet<String>>,
        write_parquet: ParquetWriter,
    ) -> Self {
        ShardFolder { folder, options, run, kept, write_parquet, shards: Lock::default() }
    }

    /// The files of a shard in the unfinished folder, and their final names: ids, places, Megatron's index,
    /// and the mask, which is a column in Parquet.
    fn files(&self, (split, number): Key) -> Vec<(PathBuf, String)> {
        let format = self.options.format;
        let name = &self.options.splits[split].name;
        let stem = if format.is_single() { name.clone() } else { format!("{name}-{number:05}") };
        let ids = if format == ShardFormat::Parquet { "parquet" } else { "ids" };
        let mut suffixes = vec![(ids, format.suffix()), ("index", ".index.npy")];
        if format == ShardFormat::Megatron {
            suffixes.push(("idx", ".idx"));
        }
        if self.has_mask_file() {
            suffixes.push(("mask", ".mask"));
        }
        let named = |(own, suffix)| (self.options.path(split, number, own), format!("{stem}{suffix}"));
        suffixes.into_iter().map(named).collect()
    }

    fn has_mask_file(&self) -> bool {
        self.options.has_mask() && self.options.format != ShardFormat::Parquet
    }

    fn raw(&self, (split, number): Key, filling: Filling) -> RawShard {
        let file = |suffix| self.options.path(split, number, suffix);
        let Filling { ids: tokens, documents } = filling;
        let mask = self.options.has_mask().then(|| file("mask"));
        RawShard { ids: file("ids"), starts: file("index"), mask, tokens, documents, wide: self.options.wide }
    }

    /// Makes a shard whole: completes its files, and syncs them to the disk. `hashes` are those of its ids,
    /// as far as they are known.
    pub fn finish(
        &self,
        (split, number): Key,
        filling: Filling,
        hashes: &WrittenHashes,
        control: &Control,
    ) -> Result<()> {
        if filling.ids > self.options.format.max_ids() {
            let reason = "a shard of the format llm.c holds at most 2,147,483,647 ids: lower shard_size";
            return Err(Error::Invalid(reason.to_owned()));
        }
        let raw = self.raw((split, number), filling);
        raw.complete(self.options.format)?;
        let files = self.files((split, number));
        if self.options.format == ShardFormat::Parquet {
            (self.write_parquet)(&raw, &files[0].0)?;
        }
        // Checksums are no stage of their own.
        let is_wanted = |_| control.check().is_ok();
        let control = Control::new(&is_wanted);
        let sums = files.iter().map(|(path, _)| match *path == raw.ids {
            true => synced(path, hashes, &control),
            // Each file has hashes of its own, to which a checksum adds those of what it reads.
            false => synced(path, &WrittenHashes::default(), &control),
        });
        let mut sums = sums.collect::<Result<Vec<_>>>()?.into_iter().peekable();
        let (bytes, blake3) = sums.next().unwrap_or_default();
        let entry = ShardEntry {
            file: files[0].1.clone(),
            index: files[1].1.clone(),
            documents: filling.documents,
            tokens: filling.ids,
            bytes,
            blake3,
            index_blake3: sums.next().unwrap_or_default().1,
            idx_blake3: sums.next_if(|_| self.options.format == ShardFormat::Megatron).map(|(_, sum)| sum),
            mask: self.has_mask_file().then(|| files[files.len() - 1].1.clone()),
            mask_blake3: sums.next().map(|(_, sum)| sum),
        };
        self.shards.lock().whole.insert((split, number), entry);
        Ok(())
    }

    /// Copies pieces to a new shard, and makes it whole.
    pub fn join(&self, split: usize, number: u32, pieces: &[DocumentRange], control: &Control) -> Result<()> {
        let documents = pieces.iter().map(|piece| piece.end - piece.first).sum();
        let raw = self.raw((split, number), Filling::default());
        for path in [&raw.ids, &raw.starts] {
            remove(path)?; // also a link: what is written then goes through none
        }
        let head_bytes = self.options.format.head_bytes();
        let ids = join_pieces((&raw.ids, &raw.starts), head_bytes, self.options.width(), pieces, control)?;
        self.finish((split, number), Filling { ids, documents }, &WrittenHashes::default(), control)
    }

    /// Saves a snapshot, all data of which is on the disk, then publishes the shards that it counts as whole.
    /// Never called twice at once.
    ///
    /// Before anything is written there is no state: it would only keep a corrected call from beginning.
    pub(super) fn save(&self, snapshot: &Snapshot) -> Result<()> {
        if snapshot.totals.iter().all(|total| *total == Filling::default()) {
            return Ok(());
        }
        let whole = self.shards.lock().whole.clone().into_iter();
        let counted = whole.filter(|((split, number), _)| *number < snapshot.shards[*split].0);
        let shards = counted.map(|((split, number), entry)| (split, number, entry)).collect();
        let json = |error: serde_json::Error| Error::Invalid(error.to_string());
        let state = State { run: self.run.clone(), snapshot: snapshot.clone(), shards };
        let state = serde_json::value::to_raw_value(&state).map_err(json)?;
        let blake3 = blake3::hash(state.get().as_bytes()).to_hex().to_string();
        let file = StateFile { format: KIND.to_owned(), version: VERSION, blake3, state };
        write_whole(&self.options.folder.join(STATE), &serde_json::to_vec(&file).map_err(json)?)?;
        self.publish(|(split, number)| number < snapshot.shards[split].0)
    }

    /// The settings of the run that saved the state, as JSON; `None` if there is no state.
    pub fn run_of_state(&self) -> Result<Option<String>> {
        Ok(self.state()?.map(|state| state.run.get().to_owned()))
    }

    /// Continues from the state: compares every byte of the shards that it counts as whole with their
    /// checksums, and publishes them.
    pub fn resume(&self, control: &Control) -> Result<()> {
        let Some(state) = self.state()? else { return Ok(()) };
        if !self.is_complete(&state) {
            return Err(Error::Snapshot);
        }
        let State { snapshot, shards, .. } = state;
        for (split, number, entry) in &shards {
            self.check((*split, *number), entry, control)?;
        }
        let whole = shards.into_iter().map(|(split, number, entry)| ((split, number), entry)).collect();
        *self.shards.lock() = Shards { whole, published: BTreeSet::new(), snapshot: Some(snapshot) };
        self.publish(|_| true).inspect_err(|_| *self.shards.lock() = Shards::default())
    }

    /// The snapshot to continue from.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        self.shards.lock().snapshot.clone()
    }

    fn state(&self) -> Result<Option<State>> {
        let path = self.options.folder.join(STATE);
        let mut data = Vec::new();
        let read = open_regular(&path, OpenOptions::new().read(true), Links::Follow)
            .and_then(|file| file.take(MAX_STATE_BYTES).read_to_end(&mut data));
        match read {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(Error::io(&path))?,
        };
        // One error whatever is wrong: nobody writes such a file by hand.
        let file = serde_json::from_slice::<StateFile>(&data).ok().filter(|file| {
            let sum = blake3::hash(file.state.get().as_bytes()).to_hex();
            file.format == KIND && file.version == VERSION && file.blake3 == *sum
        });
        let state = file.and_then(|file| serde_json::from_str::<State>(file.state.get()).ok());
        state.map(Some).ok_or_else(|| {
            let reason = "not a valid state of a run of this version of toksmith";
            Error::Unread { reason: self.start_again(reason), path }
        })
    }

    /// Whether a state has all shards that its snapshot counts as whole.
    fn is_complete(&self, state: &State) -> bool {
        let ends: Vec<u32> = state.snapshot.shards.iter().map(|(end, _)| *end).collect();
        let keys: BTreeSet<Key> = state.shards.iter().map(|(split, number, _)| (*split, *number)).collect();
        ends.len() == self.options.splits.len()
            && keys.len() as u64 == ends.iter().map(|&end| u64::from(end)).sum::<u64>()
            && keys.iter().all(|(split, number)| ends.get(*split).is_some_and(|end| number < end))
    }

    /// Checks that the files of a whole shard are those that were written.
    fn check(&self, key: Key, entry: &ShardEntry, control: &Control) -> Result<()> {
        let sums = [&entry.blake3, &entry.index_blake3].into_iter();
        let sums = sums.chain(&entry.idx_blake3).chain(&entry.mask_blake3);
        for ((path, name), sum) in self.files(key).into_iter().zip(sums) {
            if !self.keeps(&name) {
                continue;
            }
            let path = if path.symlink_metadata().is_ok() { path } else { self.folder.join(name) };
            match checksum(&path, &WrittenHashes::default(), control) {
                Ok((_, actual)) if actual == *sum => {}
                // A fault of the system says nothing of the file.
                Err(Error::Io { source, .. }) if !is_of_file(&source) => {
                    return Err(Error::io(&path)(source));
                }
                Err(error) if !matches!(error, Error::Io { .. }) => return Err(error),
                _ => {
                    let reason = "not the file that the unfinished run had written";
                    return Err(Error::Unread { path, reason: self.start_again(reason) });
                }
            }
        }
        Ok(())
    }

    fn start_again(&self, reason: &str) -> String {
        format!("{reason}: remove the folder {} to start again", self.folder.display())
    }

    fn keeps(&self, name: &str) -> bool {
        self.kept.as_ref().is_none_or(|kept| kept.contains(name))
    }

    /// Publishes all shards.
    pub fn publish_all(&self) -> Result<()> {
        self.publish(|_| true)
    }

    /// Gives whole shards their names. A file that has its name already is left alone.
    fn publish(&self, is_due: impl Fn(Key) -> bool) -> Result<()> {
        let keys: Vec<Key> = {
            let shards = self.shards.lock();
            let due = shards.whole.keys().filter(|key| !shards.published.contains(key) && is_due(**key));
            due.copied().collect()
        };
        for key in keys {
            for (path, name) in self.files(key) {
                if !self.keeps(&name) {
                    remove(&path)?;
                    continue;
                }
                let target = self.folder.join(name);
                match fs::rename(&path, &target) {
                    Err(error) if error.kind() == ErrorKind::NotFound && target.exists() => {}
                    renamed => renamed.map_err(Error::io(&path))?,
                }
            }
            let RawShard { ids, mask, .. } = self.raw(key, Filling::default());
            std::iter::once(&ids).chain(&mask).try_for_each(|path| remove(path))?; // that Parquet was made of
            self.shards.lock().published.insert(key);
        }
        Ok(())
    }

    /// The whole shards of each split, in order.
    pub fn entries(&self) -> Vec<Vec<ShardEntry>> {
        let mut entries = vec![Vec::new(); self.options.splits.len()];
        for ((split, _), entry) in &self.shards.lock().whole {
            entries[*split].push(entry.clone());
        }
        entries
    }

    /// The final names of all files of whole shards.
    pub fn names(&self) -> Vec<String> {
        let keys: Vec<Key> = self.shards.lock().whole.keys().copied().collect();
        keys.into_iter().flat_map(|key| self.files(key)).map(|(_, name)| name).collect()
    }
}

/// Whether an error tells that there is no regular file.
fn is_of_file(error: &std::io::Error) -> bool {
    // A device, a pipe or a link has an error without a code.
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) || error.raw_os_error().is_none()
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(Error::io(path)),
    }
}
