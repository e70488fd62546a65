//! The class `ShardRun`: turns documents into shards of ids.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::byte_stream::PyInputFile;
use super::documents::{ColumnFeed, Dropped, Feed, PythonReader, TextFeed};
use super::errors::raised;
use super::file::PyWrittenHashes;
use super::formats::{json_of, of_json};
use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::encode::Encoder;
use crate::error::Result;
use crate::shards::{self, Filling, Keeper, Piece, RawShard, ShardFormat, ShardOptions, ShardRun, Snapshot};
use crate::source::{Opener, Source, WrittenHashes};

/// How far a run has come.
#[pyclass(frozen, get_all, name = "ShardCounts", module = "toksmith._core")]
pub(super) struct PyShardCounts {
    documents: u64,
    tokens: u64,
    text_bytes: u64,
    /// The index of the source that was placed last.
    source: u64,
}

/// Refuses a JSON that is no snapshot of a run.
#[pyfunction]
pub(super) fn check_snapshot(json: &str) -> PyResult<()> {
    of_json::<Snapshot>(json).map(drop)
}

/// An object of Python that receives shards and snapshots; worker threads call its methods. `finish(split, number,
/// ids, documents, hashes)` completes a shard, and `save(snapshot)` stores the snapshot, as JSON, from which the run can
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
        call::attached(|py| keeper.call_method1(py, "save", (json_of(snapshot)?,)).map(drop)).map_err(raised)
    }
}

/// Turns sources into shards of ids.
///
/// The object that completes shards is an argument of each call and is not kept. It usually has a reference to this
/// object, and Python's collector of cycles does not see references that an object of Rust has.
#[pyclass(frozen, name = "ShardRun", module = "toksmith._core")]
pub(super) struct PyShardRun {
    run: ShardRun,
    encoder: Arc<Encoder>,
}

#[pymethods]
impl PyShardRun {
    /// `options` are those of the core, and `snapshot` is what `save` was called with, both as JSON.
    #[new]
    #[pyo3(signature = (tokenizer, sources, folder, options, snapshot=None))]
    fn new(
        py: Python<'_>,
        tokenizer: &Tokenizer,
        sources: Vec<PyInputFile>,
        folder: PathBuf,
        options: &str,
        snapshot: Option<&str>,
    ) -> PyResult<Self> {
        let options = ShardOptions { folder, ..of_json(options)? };
        let encoder = tokenizer.encoder().clone();
        let sources = sources.into_iter().map(source_of).collect::<PyResult<Vec<_>>>()?;
        let snapshot = snapshot.map(of_json).transpose()?;
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
    fn finish(&self, py: Python<'_>, keeper: Option<Py<PyAny>>) -> PyResult<String> {
        let keeper = PythonKeeper(keeper);
        json_of(&call::long(py, None, |control| self.run.finish(&keeper, control))?)
    }

    fn counts(&self) -> PyShardCounts {
        let counts = self.run.counts();
        PyShardCounts {
            documents: counts.documents,
            tokens: counts.ids,
            text_bytes: counts.text_bytes,
            source: counts.source,
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
        let (keeper, dropped) = (PythonKeeper(keeper), Dropped::default());
        let result = call::long(py, progress, |control| {
            let next = || call::attached(|py| feed.job(py, &dropped)).map_err(raised);
            self.run.texts(&self.encoder, end, next, &keeper, control)
        });
        dropped.clear(py);
        result
    }
}

fn source_of(mut file: PyInputFile) -> PyResult<Source> {
    let open = file.open.take().map(|open| {
        let opener: Opener = Arc::new(move || {
            call::attached(|py| PythonReader::open(py, &open)).map_err(PythonReader::failed)
        });
        opener
    });
    Ok(Source { file: file.into_input()?, open })
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
