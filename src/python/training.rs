//! The merge loop, and the tokenizer that it makes.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyList};

use super::counts::PyPretokenCounts;
use super::errors::raised;
use super::formats::options_of;
use super::pretokenizer::PyPretokenizer;
use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::count::PretokenCounts;
use crate::error::Result;
use crate::tokenizer;
use crate::train::{self, Layout, Measure, Merge, Options, Runs, Saver, SpecialIds, Start, Ties, Window};

#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct Learned {
    merges: Vec<Merge>,
    /// The number of tokens before the first merge.
    first: u32,
}

impl Learned {
    fn new(merges: Vec<Merge>, base: Option<&Tokenizer>) -> Self {
        let first = base.map_or(256, |base| base.inner.vocab_size() as u32);
        Learned { merges, first }
    }
}

#[pymethods]
impl Learned {
    fn added(&self) -> usize {
        self.merges.iter().filter(|merge| merge.token >= self.first).count()
    }

    /// The merges in internal ids, each with how often the pair occurred when it was chosen; 0 if it was not chosen by its
    /// count.
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let row = |&Merge { left, right, token, count }: &Merge| {
            let id = |id: u32| objects::int(py, id.into());
            objects::tuple(py, [id(left)?, id(right)?, id(token)?, objects::int(py, count)?])
        };
        objects::list_of(py, self.merges.iter().map(row))
    }

    fn __len__(&self) -> usize {
        self.merges.len()
    }
}

/// What an interrupted training with the same arguments has saved, what is called with the merges so far, and every how
/// many seconds; it is called after Ctrl-C as well.
type Checkpoint = (PyBackedBytes, Py<PyAny>, f64);

/// Learns merges. The keywords are the [`Options`].
///
/// `base` is a tokenizer to extend, and `forced` are tokens to be made first. With `forget`, the counts are freed as soon as
/// possible, and the object is empty afterwards.
#[pyfunction]
#[pyo3(signature = (counts, max_merges, *, base=None, forced=vec![], checkpoint=None, progress=None, forget=false, **options))]
#[expect(clippy::too_many_arguments, reason = "keyword options, one each")]
pub(super) fn learn_merges(
    py: Python<'_>,
    counts: &PyPretokenCounts,
    max_merges: usize,
    base: Option<&Tokenizer>,
    forced: Vec<Vec<u8>>,
    checkpoint: Option<Checkpoint>,
    progress: Option<&Bound<'_, PyAny>>,
    forget: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Learned> {
    let options = Options { max_merges, ..options_of(options)? };
    let made = checkpoint.as_ref().map_or(Ok(Vec::new()), |(made, ..)| train::merges_from_bytes(made))?;
    let start = Start { base: base.map(|base| base.inner.vocab()), forced: &forced, made: &made };
    let counts = counts.given(py, forget);
    let merges = call::long(py, progress, |control| {
        let mut hand_out = |merges: &[Merge]| match &checkpoint {
            Some((_, save, _)) => hand_out(save, merges),
            None => Ok(()),
        };
        let every = checkpoint.as_ref().map_or(f64::MAX, |(.., every)| every.max(0.0));
        let every = Duration::try_from_secs_f64(every).unwrap_or(Duration::MAX);
        let mut saver = Saver::new(every, &mut hand_out);
        match Arc::try_unwrap(counts) {
            Ok(counts) => train::learn_from(counts, &start, &options, &mut saver, control),
            Err(counts) => train::resume(counts.words(), &start, &options, &mut saver, control),
        }
    })?;
    Ok(Learned::new(merges, base))
}

fn hand_out(save: &Py<PyAny>, merges: &[Merge]) -> Result<()> {
    let bytes = train::merges_to_bytes(merges)?;
    call::attached(|py| save.call1(py, (objects::bytes(py, &bytes)?,)).map(drop)).map_err(raised)
}

/// The counts of a text in each language, or for each language how many bytes a token should have.
#[derive(FromPyObject)]
pub(super) enum PyMeasure<'py> {
    Ratio(Vec<f64>),
    Dev(Vec<Bound<'py, PyPretokenCounts>>),
}

/// Learns merges from the counts of several languages, each next one for the language that is compressed worst. With
/// `window`, a language that has more than `window[1]` times its share of the last `window[0]` choices is passed over.
/// The other arguments are those of `learn_merges`; with `forget`, all counts are empty afterwards.
#[pyfunction]
#[pyo3(signature = (counts, max_merges, measure, *, window=None, base=None, forced=vec![], progress=None, forget=false, **options))]
#[expect(clippy::too_many_arguments, reason = "keyword options, one each")]
pub(super) fn learn_balanced(
    py: Python<'_>,
    counts: Vec<Bound<'_, PyPretokenCounts>>,
    max_merges: usize,
    measure: PyMeasure<'_>,
    window: Option<(usize, f64)>,
    base: Option<&Tokenizer>,
    forced: Vec<Vec<u8>>,
    progress: Option<&Bound<'_, PyAny>>,
    forget: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Learned> {
    let options = Options { max_merges, ..options_of(options)? };
    let start = Start { base: base.map(|base| base.inner.vocab()), forced: &forced, made: &[] };
    let window = window.map(|(size, alpha)| Window { size, alpha });
    let given = |counts: Vec<Bound<'_, PyPretokenCounts>>| -> Vec<_> {
        counts.iter().map(|counts| counts.get().given(py, forget)).collect()
    };
    let measure = match measure {
        PyMeasure::Ratio(ratio) => Measure::Ratio(ratio),
        PyMeasure::Dev(dev) => Measure::Dev(given(dev)),
    };
    let texts = given(counts);
    let merges = call::long(py, progress, |control| {
        train::learn_balanced(texts, measure, window, &start, &options, control)
    })?;
    Ok(Learned::new(merges, base))
}

/// Runs of words in the tokens of a tokenizer with a list of merges, and how often these are neighbours.
#[pyclass(frozen, name = "Runs", module = "toksmith._core")]
pub(super) struct PyRuns {
    runs: Arc<Runs>,
}

#[pymethods]
impl PyRuns {
    #[new]
    fn new(py: Python<'_>, tokenizer: &Tokenizer, pretokenizer: &PyPretokenizer) -> PyResult<Self> {
        let (vocab, pattern) = (tokenizer.inner.vocab(), pretokenizer.inner.pretokenizer.clone());
        let runs = call::long(py, None, |_| Runs::new(vocab.clone(), pattern))?;
        let runs = runs.ok_or_else(|| {
            PyValueError::new_err(
                "tokens of several words need a list of merges that makes all tokens, and this tokenizer has none",
            )
        })?;
        Ok(PyRuns { runs: Arc::new(runs) })
    }

    fn sums(&self) -> PyPretokenizer {
        PyPretokenizer::of(self.runs.sums())
    }

    fn pieces(&self, least: u64) -> PyPretokenizer {
        PyPretokenizer::of(self.runs.pieces(least))
    }

    fn sum_of(&self, py: Python<'_>, count: usize) -> u64 {
        py.detach(|| self.runs.sum_of(count))
    }
}

#[pyfunction]
pub(super) fn memory_to_learn(
    pretokens: u64,
    pretoken_bytes: u64,
    max_merges: usize,
    ties: String,
    has_vocab: bool,
) -> PyResult<u64> {
    let ties = Ties::try_from(ties).map_err(PyValueError::new_err)?;
    let options = Options { ties, max_merges, ..Options::default() };
    Ok(train::least_memory(pretokens, pretoken_bytes, has_vocab, &options))
}

#[pyfunction]
pub(super) fn fingerprint(py: Python<'_>, counts: &PyPretokenCounts) -> PyResult<String> {
    let counts = counts.inner(py);
    let halves = call::long(py, None, |_| Ok(train::fingerprint(counts.words())))?;
    Ok(format!("{:016x}{:016x}", halves[0], halves[1]))
}

/// The tokenizer of a training, with new special tokens. Without a base, `special_ids` and `byte_order` say in which order
/// special tokens, bytes and merges have their ids. `ties` and `initial_tokens` are for the record of the training; without
/// `ties` there is none.
#[pyfunction]
#[pyo3(signature = (learned, base, names, pattern, special_ids="first", byte_order="value", ties=None, initial_tokens=256))]
#[expect(clippy::too_many_arguments, reason = "keyword options, one each")]
pub(super) fn build_tokenizer(
    py: Python<'_>,
    learned: &Learned,
    base: Option<&Tokenizer>,
    names: Vec<String>,
    pattern: &PyPretokenizer,
    special_ids: &str,
    byte_order: &str,
    ties: Option<String>,
    initial_tokens: u32,
) -> PyResult<Tokenizer> {
    let order = SpecialIds::NAMES.into_iter().find(|(name, _)| *name == special_ids);
    let order = order.map_or(SpecialIds::Last, |(_, order)| order);
    let (is_gpt2, specials) = (byte_order == "gpt2", names.len() as u32);
    let (base, pattern) = (base.map(|base| &base.inner), pattern.inner.clone());
    let layout = match base {
        Some(base) => Layout::above(base.vocab(), specials),
        None => Layout::new(order, is_gpt2, specials, learned.added() as u32),
    };
    let record = ties.map(|ties| (ties, initial_tokens));
    Tokenizer::made(py, || tokenizer::built(base, &learned.merges, &layout, &names, pattern, record))
}

#[pyfunction]
pub(super) fn words_of(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    ids: &Bound<'_, PyAny>,
) -> PyResult<PyPretokenCounts> {
    let ids = tokenizer.all_ids(ids)?;
    let counts = call::long(py, None, |control| {
        let (bytes, words) = tokenizer.inner.vocab().words_of(&ids)?;
        let items = words.into_iter().map(|word| (&bytes[word.clone()], 1, word.start as u64));
        PretokenCounts::from_items(items, bytes.len() as u64, control)
    })?;
    Ok(PyPretokenCounts::new_of(counts))
}
