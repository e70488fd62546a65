//! The classes `ShardRun` and `ShardFolder`: documents become shards of ids.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::arrays::Array;
use super::byte_stream::PyInputFile;
use super::call;
use super::documents::{ColumnFeed, TextFeed};
use super::errors::OrRaise;
use super::formats::{json_of, of_json};
use super::objects::{Any, Made};
use super::tokenizer::Tokenizer;
use toksmith::encode::{Encoder, MarkedText};
use toksmith::error::Error;
use toksmith::room;
use toksmith::shards::{
    self, DocumentRange, LongDocument, RawShard, ReadByPython, Record, RecordReader, ShardFolder,
    ShardFormat, ShardOptions, ShardRun, TextJob,
};

/// The folder of a run: makes shards whole, saves the state, and gives whole shards their names.
#[pyclass(frozen, name = "ShardFolder", module = "toksmith._core")]
pub(super) struct PyShardFolder {
    folder: Arc<ShardFolder>,
    unfinished: PathBuf,
}

#[pymethods]
impl PyShardFolder {
    /// `options` are those of the core, and `run` all settings that decide what is written, both as JSON.
    /// Worker threads call `write_parquet(ids, starts, mask, tokens, documents, is_wide, path)`. With `kept`,
    /// only files of these names are kept.
    #[new]
    fn new(
        folder: PathBuf,
        unfinished: PathBuf,
        options: &str,
        run: &str,
        write_parquet: Py<PyAny>,
        kept: Option<HashSet<String>>,
    ) -> PyResult<Self> {
        let options = ShardOptions { folder: unfinished.clone(), ..of_json(options)? };
        let write = move |raw: &RawShard, path: &Path| {
            let RawShard { ids, starts, mask, tokens, documents, wide } = raw;
            let arguments = (ids, starts, mask, *tokens, *documents, *wide, path);
            call::attached(|py| write_parquet.call1(py, arguments).map(drop))
        };
        let folder = ShardFolder::new(folder, options, of_json(run)?, kept, Box::new(write));
        Ok(PyShardFolder { folder: Arc::new(folder), unfinished })
    }

    /// The settings of the run that saved the state, as JSON; None if there is no state.
    fn run_of_state(&self, py: Python<'_>) -> PyResult<Option<String>> {
        call::long(py, None, |_| self.folder.run_of_state())
    }

    /// Continues from the state: checks the shards that it counts as whole, and publishes them.
    fn resume(&self, py: Python<'_>) -> PyResult<()> {
        call::long(py, None, |control| self.folder.resume(control))
    }

    /// Joins pieces to a whole shard. A piece is the two files of a shard without headers, the first
    /// document, and the one after the last.
    fn join(
        &self,
        py: Python<'_>,
        split: usize,
        number: u32,
        pieces: Vec<(PathBuf, PathBuf, u64, u64)>,
    ) -> PyResult<()> {
        let piece = |(ids, starts, first, end)| DocumentRange { ids, starts, first, end };
        let pieces: Vec<DocumentRange> = pieces.into_iter().map(piece).collect();
        call::long(py, None, |control| self.folder.join(split, number, &pieces, control))
    }

    /// Gives all shards their names.
    fn publish(&self, py: Python<'_>) -> PyResult<()> {
        call::long(py, None, |_| self.folder.publish_all())
    }

    /// The names of all files of whole shards.
    fn names(&self) -> Vec<String> {
        self.folder.names()
    }

    /// The entries of the manifest of the shards of each split, as JSON.
    fn entries(&self) -> PyResult<String> {
        json_of(&self.folder.entries())
    }
}

/// Where a run writes: shards that become whole, or the pieces of an engine.
#[derive(FromPyObject)]
enum Target<'py> {
    Folder(PyRef<'py, PyShardFolder>),
    Pieces(PathBuf),
}

/// What Python makes of a record: the fields of [`Record`] in their order.
#[derive(FromPyObject)]
enum PyRecord {
    Pair(String, String),
    Conversation(String, PyBackedBytes, bool, bool, bool, bool),
}

fn read_by_python(read: Py<PyAny>) -> ReadByPython {
    Box::new(move |record| {
        let made = call::attached(|py| match read.call1(py, (PyBytes::new(py, record),)) {
            Ok(made) => made.extract(py).map(Ok),
            Err(error)
                if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py) =>
            {
                Ok(Err(error.value(py).to_string()))
            }
            Err(error) => Err(error),
        })?;
        match made.map_err(Error::Invalid)? {
            PyRecord::Pair(prompt, completion) => Ok(Record::Pair(prompt, completion)),
            PyRecord::Conversation(text, marks, has_generation, needs_own, has_tools, trains_end) => {
                let runs = MarkedText::new(&text, &marks)?.runs;
                let laid_out = (text, runs);
                Ok(Record::Conversation { laid_out, has_generation, needs_own, has_tools, trains_end })
            }
        }
    })
}

/// Turns sources into shards of ids.
#[pyclass(frozen, name = "ShardRun", module = "toksmith._core")]
pub(super) struct PyShardRun {
    run: ShardRun,
    encoder: Arc<Encoder>,
}

#[pymethods]
impl PyShardRun {
    /// `options` are those of the core, as JSON. Worker threads call `read`, which makes a conversation of
    /// each document; see [`PyRecord`].
    #[new]
    #[pyo3(signature = (tokenizer, sources, target, options, read=None))]
    fn new(
        py: Python<'_>,
        tokenizer: &Tokenizer,
        sources: Vec<PyInputFile>,
        target: Target<'_>,
        options: &str,
        read: Option<(String, Py<PyAny>)>,
    ) -> PyResult<Self> {
        let (path, folder) = match target {
            Target::Folder(folder) => (folder.unfinished.clone(), Some(folder.folder.clone())),
            Target::Pieces(path) => (path, None),
        };
        let options = ShardOptions { folder: path, ..of_json(options)? };
        let encoder = tokenizer.encoder().clone();
        let reader = read.map(|(options, read)| -> PyResult<RecordReader> {
            Ok(RecordReader { options: of_json(&options)?, python: read_by_python(read) })
        });
        let reader = reader.transpose()?;
        let sources = sources.into_iter().map(PyInputFile::into_input).collect::<PyResult<Vec<_>>>()?;
        let run =
            call::long(py, None, move |control| ShardRun::open(options, sources, folder, reader, control))?;
        Ok(PyShardRun { run, encoder })
    }

    /// The place that the run has come to: the index of a source, and bytes, texts or rows before the place.
    fn at(&self) -> (usize, u64) {
        let at = self.run.at();
        (at.source, at.offset)
    }

    /// Processes the remaining files before the source `end`.
    #[pyo3(signature = (end, *, progress=None))]
    fn files(&self, py: Python<'_>, end: usize, progress: Option<Any>) -> PyResult<()> {
        call::long(py, progress, |control| self.run.files(&self.encoder, end, control))
    }

    /// Processes str and bytes in place of the next source. They begin with the texts that the run that is
    /// continued has encoded, which must be the same and are passed over.
    #[pyo3(signature = (texts, *, progress=None))]
    fn texts(&self, py: Python<'_>, texts: Any, progress: Option<Any>) -> PyResult<()> {
        let at = self.run.at();
        let mut feed = TextFeed::new(texts, at)?;
        self.feed(py, (at.source + 1, true), |py| feed.next(py), progress)
    }

    /// Processes columns of texts in place of the remaining sources before `end`: objects with the attributes
    /// `source` (its index), `texts` (an `ArrowColumn`), `progress`, and `null_reason` (what is wrong with a
    /// null). They begin at the place of the run.
    #[pyo3(signature = (end, columns, *, progress=None))]
    fn columns(&self, py: Python<'_>, end: usize, columns: Any, progress: Option<Any>) -> PyResult<()> {
        let mut feed = ColumnFeed::new(columns, self.run.at())?;
        self.feed(py, (end, false), |py| feed.next(py), progress)
    }

    /// Closes all shards, saves a last snapshot, and returns it.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        json_of(&call::long(py, None, |control| self.run.finish(control))?)
    }

    /// Documents and ids that were placed, and the index of the source that was placed last.
    fn counts(&self) -> (u64, u64, u64) {
        self.run.counts()
    }
}

impl PyShardRun {
    fn feed(
        &self,
        py: Python<'_>,
        until: (usize, bool),
        mut next: impl FnMut(Python<'_>) -> PyResult<Option<TextJob>> + Send,
        progress: Option<Any>,
    ) -> PyResult<()> {
        call::long(py, progress, |control| {
            self.run.texts(&self.encoder, until, || call::attached(&mut next), control)
        })
    }
}

/// The formats of shards: name, suffix of the file of ids, bytes before the ids, the maximum number of ids in
/// a shard, and whether a split is one shard.
pub(super) fn formats() -> Vec<(&'static str, &'static str, usize, u64, bool)> {
    let row = |(name, format): (_, ShardFormat)| {
        (name, format.suffix(), format.head_bytes(), format.max_ids(), format.is_single())
    };
    ShardFormat::ALL.into_iter().map(row).collect()
}

/// The header of a `.npy` file of `count` numbers of a type such as "<u2"; 128 bytes.
#[pyfunction]
pub(super) fn npy_header(count: u64, dtype: &str) -> Made<Vec<u8>> {
    Made(shards::npy_header(count, dtype))
}

/// The header of a shard of llm.c.
#[pyfunction]
pub(super) fn llm_c_header(tokens: u64, is_wide: bool) -> Made<Vec<u8>> {
    Made(shards::llm_c_header(tokens, is_wide))
}

type PartsAndStarts = (Made<Array<i64>>, Made<Array<i64>>);

/// The rows of `toksmith.data.pack`: the document, start and end of each part, and where each row starts.
#[pyfunction]
pub(super) fn pack(py: Python<'_>, lengths: Vec<i64>, length: usize, long: &str) -> PyResult<PartsAndStarts> {
    let known = LongDocument::NAMES.into_iter().find(|(name, _)| *name == long);
    let Some((_, long)) = known else { return Err(PyValueError::new_err(format!("long={long:?}"))) };
    let checked = lengths.iter().enumerate().map(|(at, &len)| {
        let negative = |_| PyValueError::new_err(format!("lengths[{at}] is {len}, which is negative"));
        usize::try_from(len).map_err(negative)
    });
    let lengths = checked.collect::<PyResult<Vec<usize>>>()?;
    let (parts, starts) = call::long(py, None, |control| shards::pack(&lengths, length, long, control))?;
    let numbers = parts.iter().flat_map(|(document, range)| [*document, range.start, range.end]);
    let numbers = room::collected(numbers.map(|number| number as i64)).or_raise()?;
    let starts = room::collected(starts.into_iter().map(|at| at as i64)).or_raise()?;
    Ok((Made(Array(numbers)), Made(Array(starts))))
}
