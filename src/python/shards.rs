//! The class `ShardRun`: turns documents into shards of ids.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::call;
use super::counts::PyInputFile;
use super::documents::{PythonReader, TextFeed};
use super::errors::raised;
use super::file::PyWrittenHashes;
use super::tokenizer::Tokenizer;
use crate::error::Result;
use crate::shards::{
    Cursor, DocumentEncoder, Filling, Keeper, ShardOptions, ShardRun, Shuffle, Skipped, Snapshot, Source,
    Split,
};
use crate::source::WrittenHashes;

/// A snapshot as a tuple:
/// - the place (source, offset, digest, whether it is inside a document)
/// - the number of lines before the place, and of documents behind it that are already in the shards
/// - for each split the number of its open shard, and the ids and documents in that shard
/// - the split of the document that continues behind the place
/// - for each split the ids and documents in all its shards
/// - the documents of each source
/// - the bytes of text
/// - the skipped documents (source, line, offset, reason)
/// - the number of skipped documents
type GivenSnapshot = (
    (usize, u64, u64, bool),
    (u64, u64),
    Vec<(u32, u64, u64)>,
    Option<usize>,
    Vec<(u64, u64)>,
    Vec<u64>,
    u64,
    Vec<(usize, Option<u64>, u64, Option<String>)>,
    u64,
);

fn snapshot_of(given: GivenSnapshot) -> Snapshot {
    let (at, (lines, passed), shards, open, totals, documents, text_bytes, skipped, skipped_count) = given;
    let (source, offset, digest, is_inside) = at;
    let filling = |(ids, documents)| Filling { ids, documents };
    Snapshot {
        at: Cursor { source, offset, digest, is_inside },
        lines,
        passed,
        shards: shards
            .into_iter()
            .map(|(number, ids, documents)| (number, filling((ids, documents))))
            .collect(),
        open,
        totals: totals.into_iter().map(filling).collect(),
        documents,
        text_bytes,
        skipped: skipped
            .into_iter()
            .map(|(source, line, offset, reason)| Skipped { source, line, offset, reason })
            .collect(),
        skipped_count,
    }
}

fn given_of(snapshot: &Snapshot) -> GivenSnapshot {
    let Snapshot { at, lines, passed, shards, open, totals, documents, text_bytes, skipped, skipped_count } =
        snapshot.clone();
    (
        (at.source, at.offset, at.digest, at.is_inside),
        (lines, passed),
        shards.into_iter().map(|(number, filling)| (number, filling.ids, filling.documents)).collect(),
        open,
        totals.into_iter().map(|filling| (filling.ids, filling.documents)).collect(),
        documents,
        text_bytes,
        skipped.into_iter().map(|one| (one.source, one.line, one.offset, one.reason)).collect(),
        skipped_count,
    )
}

/// An object of Python that receives shards and snapshots; worker threads call its methods. `finish(split, number,
/// ids, documents, hashes)` completes a shard, and `save(snapshot)` stores the snapshot from which the run can continue. With
/// None, neither is called.
struct PythonKeeper(Option<Py<PyAny>>);

impl Keeper for PythonKeeper {
    fn finish(&self, split: usize, number: u32, filling: Filling, hashes: Arc<WrittenHashes>) -> Result<()> {
        let arguments = (split, number, filling.ids, filling.documents, PyWrittenHashes(hashes));
        let Some(keeper) = &self.0 else { return Ok(()) };
        Python::attach(|py| keeper.call_method1(py, "finish", arguments).map(drop)).map_err(raised)
    }

    fn save(&self, snapshot: &Snapshot) -> Result<()> {
        let Some(keeper) = &self.0 else { return Ok(()) };
        Python::attach(|py| keeper.call_method1(py, "save", (given_of(snapshot),)).map(drop)).map_err(raised)
    }
}

/// Turns sources into shards of ids.
///
/// `sources` are tuples as `Counting.files` takes them, each with a function that opens the source, or None. `splits`
/// are tuples of a name and a number; a split takes documents with hashes below its number.
///
/// The object that completes shards is an argument of each call and is not kept. It usually has a reference to this
/// object, and Python's collector of cycles does not see references that an object of Rust has.
#[pyclass(frozen, name = "ShardRun", module = "toksmith._core")]
pub(super) struct PyShardRun {
    run: ShardRun,
    encoder: DocumentEncoder,
}

type GivenSource = (PyInputFile, Option<Py<PyAny>>);

#[pymethods]
impl PyShardRun {
    #[new]
    #[pyo3(signature = (tokenizer, sources, folder, *, splits, special, replace, skip, wide, separator, prepend, append, seed, shuffle, shard_ids, head_bytes, is_hashed, workers, chunk_bytes, snapshot_seconds, snapshot))]
    #[expect(clippy::too_many_arguments, reason = "keyword options, one each")]
    fn new(
        py: Python<'_>,
        tokenizer: &Tokenizer,
        sources: Vec<GivenSource>,
        folder: PathBuf,
        splits: Vec<(String, u64)>,
        special: bool,
        replace: bool,
        skip: bool,
        wide: bool,
        separator: Option<String>,
        prepend: Vec<u32>,
        append: Vec<u32>,
        seed: u64,
        shuffle: Option<(u64, u64)>,
        shard_ids: u64,
        head_bytes: u64,
        is_hashed: bool,
        workers: usize,
        chunk_bytes: u64,
        snapshot_seconds: f64,
        snapshot: Option<GivenSnapshot>,
    ) -> PyResult<Self> {
        if splits.is_empty() || separator.as_ref().is_some_and(String::is_empty) {
            return Err(PyValueError::new_err("no split, or an empty separator"));
        }
        let encoder = DocumentEncoder { encoder: tokenizer.encoder.clone(), special, workers };
        let sources = sources.into_iter().map(source_of).collect::<PyResult<Vec<_>>>()?;
        let options = ShardOptions {
            replace,
            skip,
            separator: separator.map(String::into_bytes),
            prepend,
            append,
            wide,
            splits: splits.into_iter().map(|(name, below)| Split { name, below }).collect(),
            seed,
            shuffle: shuffle.map(|(seed, buffer_ids)| Shuffle { seed, buffer_ids }),
            shard_ids,
            head_bytes,
            is_hashed,
            workers: workers.max(1),
            chunk_bytes,
            snapshot_every: Duration::try_from_secs_f64(snapshot_seconds).unwrap_or(Duration::MAX),
            folder,
        };
        let snapshot = snapshot.map(snapshot_of);
        let run = call::long(py, None, move |_| ShardRun::open(options, sources, snapshot))?;
        Ok(PyShardRun { run, encoder })
    }

    /// Processes the remaining files before the source `end`.
    #[pyo3(signature = (end, keeper, *, progress=None))]
    fn files(
        &self,
        py: Python<'_>,
        end: usize,
        keeper: Option<Py<PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let keeper = PythonKeeper(keeper);
        call::long(py, progress, |control| self.run.files(&self.encoder, end, &keeper, control))
    }

    /// Processes texts in place of the remaining sources before `end`. An item of the iterable is a str or bytes for
    /// one text; a tuple of an `ArrowColumn` without nulls and the progress for several texts; or the number of the source
    /// that the next texts belong to. If `is_checked`, the iterable begins with the texts of the earlier run,
    /// which must be the same and are passed over. Otherwise it begins behind them.
    #[pyo3(signature = (end, texts, keeper, *, is_checked, progress=None))]
    fn texts(
        &self,
        py: Python<'_>,
        end: usize,
        texts: &Bound<'_, PyAny>,
        keeper: Option<Py<PyAny>>,
        is_checked: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut feed = TextFeed::new(texts, self.run.at(), is_checked)?;
        let dropped = feed.dropped();
        let keeper = PythonKeeper(keeper);
        let done = call::long(py, progress, |control| {
            let next = || Python::attach(|py| feed.next(py)).map_err(raised);
            self.run.texts(&self.encoder, end, next, &keeper, control)
        });
        dropped.clear(py);
        done
    }

    /// Closes all shards, saves a last snapshot, and returns it.
    fn finish(&self, py: Python<'_>, keeper: Option<Py<PyAny>>) -> PyResult<GivenSnapshot> {
        let keeper = PythonKeeper(keeper);
        let snapshot = call::long(py, None, |control| self.run.finish(&keeper, control))?;
        Ok(given_of(&snapshot))
    }

    /// How far the run has come: documents, ids, bytes of text, and the index of the source; then the seconds spent
    /// placing ids and making jobs, which one thread at a time does.
    fn counts(&self) -> (u64, u64, u64, u64, f64, f64) {
        let counts = self.run.counts();
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let (place, plan) = (seconds(counts.place_nanos), seconds(counts.plan_nanos));
        (counts.documents, counts.ids, counts.text_bytes, counts.source, place, plan)
    }
}

fn source_of((file, open): GivenSource) -> PyResult<Source> {
    let file = file.into_input()?;
    let open = open.map(|open| {
        let opener: crate::shards::Opener = Arc::new(move || {
            Python::attach(|py| PythonReader::open(py, &open)).map_err(PythonReader::failed)
        });
        opener
    });
    Ok(Source { file, open })
}
