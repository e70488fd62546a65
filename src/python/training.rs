//! The merge loop, and the tokenizer that it makes.

use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use super::call;
use super::counts::{AnyCounts, PyPretokenCounts};
use super::errors::OrRaise;
use super::formats::options_of;
use super::objects::{Any, List, Made};
use super::pretokenizer::PyPretokenizer;
use super::tokenizer::Tokenizer;
use toksmith::count::{self, PretokenCounts};
use toksmith::error::Result;
use toksmith::pretokenize::Pretokenizer;
use toksmith::tokenizer;
use toksmith::train::{self, ChoiceWindow, Layout, Measure, Merge, Options, Saver, SpecialIds, Start, Texts};

#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct Learned {
    merges: Vec<Merge>,
    /// The number of tokens before the first merge.
    first: u32,
}

#[pymethods]
impl Learned {
    fn added(&self) -> usize {
        self.merges.iter().filter(|merge| merge.token >= self.first).count()
    }

    /// The merges in internal ids, each with how often the pair occurred when it was chosen; 0 if it was not
    /// chosen by its count.
    fn merges(&self) -> Made<List<impl Iterator<Item = (u32, u32, u32, u64)>>> {
        Made(List(self.merges.iter().map(|merge| (merge.left, merge.right, merge.token, merge.count))))
    }
}

/// What merges are learned from.
#[derive(FromPyObject)]
pub(super) enum PyTexts<'py> {
    Counts(Bound<'py, PyPretokenCounts>),
    /// Languages, what tells which is compressed worst, and the size and the factor of a window.
    Languages(Vec<Bound<'py, PyPretokenCounts>>, PyMeasure<'py>, Option<(usize, f64)>),
    /// The pattern of runs, and what counts the pretokens of all texts.
    Runs(Bound<'py, PyPretokenizer>, Py<PyAny>),
}

/// The counts of a text in each language, or for each language how many bytes a token should have.
#[derive(FromPyObject)]
pub(super) enum PyMeasure<'py> {
    Ratio(Vec<f64>),
    Dev(Vec<Bound<'py, PyPretokenCounts>>),
}

/// What an interrupted training with the same arguments has saved, what is called with the merges so far, and
/// every how many seconds; it is called after Ctrl-C as well.
type Checkpoint = (PyBackedBytes, Py<PyAny>, f64);

/// Learns merges. `base` is a tokenizer to extend, and `forced` are tokens to be made first. With `consume`,
/// the counts are freed as soon as possible, and the objects are empty afterwards.
#[pyfunction]
#[pyo3(signature = (texts, options, *, base=None, forced=vec![], checkpoint=None, progress=None, consume=false))]
#[expect(clippy::too_many_arguments, reason = "keyword options, one each")]
pub(super) fn learn(
    py: Python<'_>,
    texts: PyTexts<'_>,
    options: &Bound<'_, PyDict>,
    base: Option<&Tokenizer>,
    forced: Vec<Vec<u8>>,
    checkpoint: Option<Checkpoint>,
    progress: Option<Any>,
    consume: bool,
) -> PyResult<Learned> {
    let options: Options = options_of(Some(options))?;
    let made =
        checkpoint.as_ref().map_or(Ok(Vec::new()), |(made, ..)| train::merges_from_bytes(made)).or_raise()?;
    let start = Start { base: base.map(|base| base.inner.vocab()), forced: &forced, made: &made };
    let first = base.map_or(256, |base| base.inner.vocab_size() as u32);
    let taken = |counts: Bound<'_, PyPretokenCounts>| counts.get().taken(py, consume);
    let all = |counts: Vec<_>| counts.into_iter().map(taken).collect::<Vec<_>>();
    let mut hand_out = |merges: &[Merge]| {
        let Some((_, save, _)) = &checkpoint else { return Ok(()) };
        let bytes = train::merges_to_bytes(merges)?;
        call::attached(|py| save.call1(py, (Made(bytes),)).map(drop))
    };
    let every = checkpoint.as_ref().map_or(f64::MAX, |(.., every)| every.max(0.0));
    let every = Duration::try_from_secs_f64(every).unwrap_or(Duration::MAX);
    let mut counter = None;
    let texts = match texts {
        PyTexts::Counts(counts) => Texts::Counts(taken(counts)),
        PyTexts::Languages(texts, measure, window) => {
            let measure = match measure {
                PyMeasure::Ratio(ratio) => Measure::Ratio(ratio),
                PyMeasure::Dev(dev) => Measure::Dev(all(dev)),
            };
            let window = window.map(|(size, alpha)| ChoiceWindow { size, alpha });
            Texts::Languages { texts: all(texts), measure, window }
        }
        PyTexts::Runs(pattern, count) => Texts::Runs {
            pattern: pattern.get().inner.pretokenizer.clone(),
            count: counter.insert(move |pretokenizer| counted(&count, pretokenizer)),
        },
    };
    let merges = call::long(py, progress, |control| {
        train::learn(texts, &start, &options, &mut Saver::new(every, &mut hand_out), control)
    })?;
    Ok(Learned { merges, first })
}

fn counted(count: &Py<PyAny>, pretokenizer: Pretokenizer) -> Result<Arc<PretokenCounts>> {
    let count = |py: Python<'_>| {
        let counts = count.call1(py, (PyPretokenizer::of(pretokenizer),))?;
        Ok(counts.bind(py).cast::<PyPretokenCounts>()?.get().taken(py, true))
    };
    call::attached(count)
}

/// A count, the number of distinct pretokens that occur as often, and bytes of memory: what learning from
/// them takes at least, and at most without a limit, and what they take as counts.
type Need = (u64, u64, u64, u64, u64);

/// What learning takes of memory, for some counts from 1 on.
#[pyfunction]
pub(super) fn memory_to_learn(
    py: Python<'_>,
    counts: AnyCounts<'_>,
    options: &Bound<'_, PyDict>,
    has_vocab: bool,
) -> PyResult<Vec<Need>> {
    let options: Options = options_of(Some(options))?;
    let row = |of: count::Frequent| {
        let (least, most) = train::memory_to_learn(&of, has_vocab, &options);
        (of.min_count, of.pretokens, least, most, of.memory)
    };
    Ok(counts.frequencies(py).into_iter().map(row).collect())
}

#[pyfunction]
pub(super) fn fingerprint(py: Python<'_>, counts: &PyPretokenCounts) -> PyResult<String> {
    let counts = counts.inner(py);
    let halves = call::long(py, None, |_| Ok(train::fingerprint(counts.words())))?;
    Ok(format!("{:016x}{:016x}", halves[0], halves[1]))
}

/// The tokenizer of a training, with new special tokens. Without a base, `special_ids` and `byte_order` say
/// in which order special tokens, bytes and merges have their ids. `ties` is for the record of the training,
/// which there is not without it.
#[pyfunction]
#[pyo3(signature = (learned, base, names, pattern, special_ids="first", byte_order="value", ties=None))]
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
) -> PyResult<Tokenizer> {
    let order = SpecialIds::NAMES.into_iter().find(|(name, _)| *name == special_ids);
    let order = order.map_or(SpecialIds::Last, |(_, order)| order);
    let (is_gpt2, specials) = (byte_order == "gpt2", names.len() as u32);
    let (base, pattern) = (base.map(|base| &base.inner), pattern.inner.clone());
    let layout = match base {
        Some(base) => Layout::above(base.vocab(), specials),
        None => Layout::new(order, is_gpt2, specials, learned.added() as u32),
    };
    let record = ties.map(|ties| (ties, learned.first + specials));
    Tokenizer::made(py, || tokenizer::built(base, &learned.merges, &layout, &names, pattern, record))
}

#[pyfunction]
pub(super) fn words_of(py: Python<'_>, tokenizer: &Tokenizer, ids: Any) -> PyResult<PyPretokenCounts> {
    let ids = tokenizer.all_ids(ids)?;
    PyPretokenCounts::made(py, |control| {
        let (bytes, words) = tokenizer.inner.vocab().words_of(&ids)?;
        let items = words.into_iter().map(|word| (&bytes[word.clone()], 1, word.start as u64));
        PretokenCounts::from_items(items, bytes.len() as u64, control)
    })
}
