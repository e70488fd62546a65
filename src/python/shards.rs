//! The class `ShardRun`: turns documents into shards of ids.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::documents::{ColumnFeed, Feed, PythonReader, TextFeed};
use super::errors::raised;
use super::file::PyWrittenHashes;
use super::input_file::PyInputFile;
use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::error::Result;
use crate::shards::{
    self, DocumentEncoder, Filling, Keeper, Piece, RawShard, ShardFormat, ShardOptions, ShardRun, Shuffle,
    Skipped, Snapshot, Source, Split,
};
use crate::source::WrittenHashes;

/// The state of a run between two jobs. It goes into the state file as JSON, and back.
#[pyclass(frozen, name = "ShardSnapshot", module = "toksmith._core")]
pub(super) struct PyShardSnapshot(Snapshot);

#[pymethods]
impl PyShardSnapshot {
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        serde_json::from_str(text)
            .map(PyShardSnapshot)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The index of the source that the next job begins in.
    #[getter]
    fn source(&self) -> usize {
        self.0.at.source
    }

    /// Where in that source: decompressed bytes of a file, or texts.
    #[getter]
    fn offset(&self) -> u64 {
        self.0.at.offset
    }

    /// For each split the number of its open shard. All shards with lower numbers are whole.
    #[getter]
    fn open_shards(&self) -> Vec<u32> {
        self.0.shards.iter().map(|(number, _)| *number).collect()
    }

    /// The ids of each split.
    #[getter]
    fn split_tokens(&self) -> Vec<u64> {
        self.0.totals.iter().map(|total| total.ids).collect()
    }

    /// The documents of each split.
    #[getter]
    fn split_documents(&self) -> Vec<u64> {
        self.0.totals.iter().map(|total| total.documents).collect()
    }

    /// The documents of each source up to the last that has any.
    #[getter]
    fn source_documents(&self) -> Vec<u64> {
        self.0.documents.clone()
    }

    #[getter]
    fn text_bytes(&self) -> u64 {
        self.0.text_bytes
    }

    /// Ids of special tokens that stood in the text of documents.
    #[getter]
    fn special_tokens(&self) -> u64 {
        self.0.special_tokens
    }

    /// Documents that were left out, the first 10,000.
    #[getter]
    fn skipped(&self) -> Vec<PySkippedDocument> {
        self.0.skipped.iter().cloned().map(PySkippedDocument).collect()
    }

    /// How many documents were left out.
    #[getter]
    fn skipped_count(&self) -> u64 {
        self.0.skipped_count
    }
}

/// A document that was left out.
#[pyclass(frozen, name = "SkippedDocument", module = "toksmith._core")]
pub(super) struct PySkippedDocument(Skipped);

#[pymethods]
impl PySkippedDocument {
    /// The index of its source.
    #[getter]
    fn source(&self) -> usize {
        self.0.source
    }

    /// The line of a record, from 1, or the index of a text; None for any other source.
    #[getter]
    fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The place in a container; None for any other source.
    #[getter]
    fn member(&self) -> Option<&str> {
        self.0.member.as_deref()
    }

    /// What is wrong.
    #[getter]
    fn reason(&self) -> String {
        let Skipped { reason, offset, .. } = &self.0;
        reason.clone().unwrap_or_else(|| format!("not UTF-8 at byte {offset}"))
    }

    /// The offset of the line, or of the first invalid byte.
    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }
}

/// How far a run has come.
#[pyclass(frozen, get_all, name = "ShardCounts", module = "toksmith._core")]
pub(super) struct PyShardCounts {
    documents: u64,
    tokens: u64,
    text_bytes: u64,
    /// The index of the source that was placed last.
    source: u64,
    /// Seconds spent placing ids, which one thread at a time does.
    place_seconds: f64,
    /// Seconds spent making jobs, which one thread at a time does.
    plan_seconds: f64,
}

/// The options of a run: an object of Python with these attributes.
#[derive(FromPyObject)]
pub(super) struct RunOptions {
    /// The name of each split, and the number that the hashes of its documents are below.
    splits: Vec<(String, u64)>,
    special: bool,
    replace: bool,
    skip: bool,
    wide: bool,
    separator: Option<String>,
    prepend: Vec<u32>,
    append: Vec<u32>,
    special_ids: Vec<u32>,
    seed: u64,
    shuffle: Option<u64>,
    shuffle_buffer: u64,
    shard_size: u64,
    head_bytes: u64,
    is_hashed: bool,
    workers: usize,
    chunk_bytes: u64,
    snapshot_seconds: f64,
}

impl RunOptions {
    fn in_folder(self, folder: PathBuf) -> PyResult<ShardOptions> {
        if self.splits.is_empty() || self.separator.as_ref().is_some_and(String::is_empty) {
            return Err(PyValueError::new_err("no split, or an empty separator"));
        }
        Ok(ShardOptions {
            replace: self.replace,
            skip: self.skip,
            separator: self.separator.map(String::into_bytes),
            prepend: self.prepend,
            append: self.append,
            special_ids: self.special_ids,
            wide: self.wide,
            splits: self.splits.into_iter().map(|(name, below)| Split { name, below }).collect(),
            seed: self.seed,
            shuffle: self.shuffle.map(|seed| Shuffle { seed, buffer_ids: self.shuffle_buffer }),
            shard_ids: self.shard_size,
            head_bytes: self.head_bytes,
            is_hashed: self.is_hashed,
            workers: self.workers.max(1),
            chunk_bytes: self.chunk_bytes,
            snapshot_every: Duration::try_from_secs_f64(self.snapshot_seconds).unwrap_or(Duration::MAX),
            folder,
        })
    }
}

/// An object of Python that receives shards and snapshots; worker threads call its methods. `finish(split, number,
/// ids, documents, hashes)` completes a shard, and `save(snapshot)` stores the snapshot from which the run can
/// continue. With None, neither is called.
struct PythonKeeper(Option<Py<PyAny>>);

impl Keeper for PythonKeeper {
    fn finish(&self, split: usize, number: u32, filling: Filling, hashes: Arc<WrittenHashes>) -> Result<()> {
        let arguments = (split, number, filling.ids, filling.documents, PyWrittenHashes(hashes));
        let Some(keeper) = &self.0 else { return Ok(()) };
        call::attached(|py| keeper.call_method1(py, "finish", arguments).map(drop)).map_err(raised)
    }

    fn save(&self, snapshot: &Snapshot) -> Result<()> {
        let Some(keeper) = &self.0 else { return Ok(()) };
        let snapshot = PyShardSnapshot(snapshot.clone());
        call::attached(|py| keeper.call_method1(py, "save", (snapshot,)).map(drop)).map_err(raised)
    }
}

/// Turns sources into shards of ids.
///
/// The object that completes shards is an argument of each call and is not kept. It usually has a reference to this
/// object, and Python's collector of cycles does not see references that an object of Rust has.
#[pyclass(frozen, name = "ShardRun", module = "toksmith._core")]
pub(super) struct PyShardRun {
    run: ShardRun,
    encoder: DocumentEncoder,
}

/// A source: an object of Python with the attributes of `PyInputFile` and `open`, a `toksmith.files.inputs.Source`.
struct SourceRecord {
    file: PyInputFile,
    /// Opens the source in place of the path.
    open: Option<Py<PyAny>>,
}

impl<'py> FromPyObject<'_, 'py> for SourceRecord {
    type Error = PyErr;

    fn extract(source: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(SourceRecord { file: source.extract()?, open: source.getattr("open")?.extract()? })
    }
}

#[pymethods]
impl PyShardRun {
    #[new]
    #[pyo3(signature = (tokenizer, sources, folder, options, snapshot=None))]
    fn new(
        py: Python<'_>,
        tokenizer: &Tokenizer,
        sources: Vec<SourceRecord>,
        folder: PathBuf,
        options: RunOptions,
        snapshot: Option<&PyShardSnapshot>,
    ) -> PyResult<Self> {
        let (special, workers) = (options.special, options.workers);
        let encoder = DocumentEncoder { encoder: tokenizer.encoder().clone(), special, workers };
        let sources = sources.into_iter().map(source_of).collect::<PyResult<Vec<_>>>()?;
        let options = options.in_folder(folder)?;
        let snapshot = snapshot.map(|snapshot| snapshot.0.clone());
        let run = call::long(py, None, move |control| ShardRun::open(options, sources, snapshot, control))?;
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

    /// Processes str and bytes in place of the next source. They begin with the texts that the run that is continued
    /// has encoded, which must be the same and are passed over.
    #[pyo3(signature = (texts, keeper, *, progress=None))]
    fn texts(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        keeper: Option<Py<PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let at = self.run.at();
        self.feed(py, at.source + 1, TextFeed::new(texts, at)?, keeper, progress)
    }

    /// Processes columns of texts in place of the remaining sources before `end`: objects with the attributes `source`
    /// (its index), `texts` (an `ArrowColumn` without nulls) and `progress`. They begin at the place of the run.
    #[pyo3(signature = (end, columns, keeper, *, progress=None))]
    fn columns(
        &self,
        py: Python<'_>,
        end: usize,
        columns: &Bound<'_, PyAny>,
        keeper: Option<Py<PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.feed(py, end, ColumnFeed::new(columns, self.run.at())?, keeper, progress)
    }

    /// Closes all shards, saves a last snapshot, and returns it.
    fn finish(&self, py: Python<'_>, keeper: Option<Py<PyAny>>) -> PyResult<PyShardSnapshot> {
        let keeper = PythonKeeper(keeper);
        call::long(py, None, |control| self.run.finish(&keeper, control)).map(PyShardSnapshot)
    }

    /// How far the run has come.
    fn counts(&self) -> PyShardCounts {
        let counts = self.run.counts();
        PyShardCounts {
            documents: counts.documents,
            tokens: counts.ids,
            text_bytes: counts.text_bytes,
            source: counts.source,
            place_seconds: counts.place_nanos as f64 / 1e9,
            plan_seconds: counts.plan_nanos as f64 / 1e9,
        }
    }
}

impl PyShardRun {
    fn feed(
        &self,
        py: Python<'_>,
        end: usize,
        mut feed: impl Feed + Send,
        keeper: Option<Py<PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let unneeded = feed.unneeded();
        let keeper = PythonKeeper(keeper);
        let result = call::long(py, progress, |control| {
            let next = || call::attached(|py| feed.next(py)).map_err(raised);
            self.run.texts(&self.encoder, end, next, &keeper, control)
        });
        unneeded.clear(py);
        result
    }
}

fn source_of(SourceRecord { file, open }: SourceRecord) -> PyResult<Source> {
    let file = file.into_input()?;
    let open = open.map(|open| {
        let opener: crate::shards::Opener = Arc::new(move || {
            call::attached(|py| PythonReader::open(py, &open)).map_err(PythonReader::failed)
        });
        opener
    });
    Ok(Source { file, open })
}

/// Writes the headers of a shard and, for "megatron", its index. `ids` and `starts` are the files that the core has written.
#[pyfunction]
pub(super) fn complete_shard(
    py: Python<'_>,
    format: &str,
    ids: PathBuf,
    starts: PathBuf,
    tokens: u64,
    documents: u64,
    dtype: &str,
) -> PyResult<()> {
    let format = match format {
        "llm.c" => ShardFormat::LlmC,
        "megatron" => ShardFormat::Megatron,
        "npy" => ShardFormat::Npy,
        _ => ShardFormat::Bare,
    };
    let shard = RawShard { ids, starts, tokens, documents, wide: dtype == "uint32" };
    call::long(py, None, |_| shard.complete(format))
}

/// Writes the two files of a shard, ids of `width` bytes behind room for a header; returns how many ids it has. A piece is the
/// same two files without headers, the first document and the one after the last.
#[pyfunction]
pub(super) fn join_pieces(
    py: Python<'_>,
    ids: PathBuf,
    starts: PathBuf,
    header_bytes: usize,
    width: u64,
    pieces: Vec<(PathBuf, PathBuf, u64, u64)>,
) -> PyResult<u64> {
    let piece = |(ids, starts, first, end)| Piece { ids, starts, first, end };
    let pieces: Vec<Piece> = pieces.into_iter().map(piece).collect();
    call::long(py, None, |control| {
        shards::join_pieces((&ids, &starts), header_bytes, width, &pieces, control)
    })
}

/// The header of a `.npy` file of `count` numbers of a type such as "<u2"; 128 bytes.
#[pyfunction]
pub(super) fn npy_header<'py>(py: Python<'py>, count: u64, dtype: &str) -> PyResult<Bound<'py, PyBytes>> {
    objects::bytes(py, &shards::npy_header(count, dtype))
}

/// The header of a shard of llm.c.
#[pyfunction]
pub(super) fn llm_c_header(py: Python<'_>, tokens: u64, is_wide: bool) -> PyResult<Bound<'_, PyBytes>> {
    objects::bytes(py, &shards::llm_c_header(tokens, is_wide))
}
