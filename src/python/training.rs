//! The merge loop, and the tokenizer that it makes.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::counts::PyPretokenCounts;
use super::errors::raised;
use super::pretokenizer::PyPretokenizer;
use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::count::PretokenCounts;
use crate::encode::Encoder;
use crate::tokenizer::Record;
use crate::train::{
    self, Layout, Measure, Merge, Options, Runs, Saver, SpecialIds, Start, Superwords, Ties, Window,
};

#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct Learned {
    merges: Vec<Merge>,
    /// The number of tokens before the first merge.
    first: u32,
}

impl Learned {
    fn new(merges: Vec<Merge>, base: Option<&Tokenizer>) -> Self {
        let first = base.map_or(256, |base| base.encoder().vocab().tokens().len() as u32);
        Learned { merges, first }
    }
}

#[pymethods]
impl Learned {
    fn added(&self) -> usize {
        self.merges.iter().filter(|merge| merge.token >= self.first).count()
    }

    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let merge = |&Merge { left, right, token, count }| LearnedMerge { left, right, token, count };
        objects::list_of(py, self.merges.iter().map(|of| Bound::new(py, merge(of))))
    }

    fn __len__(&self) -> usize {
        self.merges.len()
    }
}

/// A merge of a training, in internal ids. `count` is how often the pair occurred when it was chosen; 0 if it was not
/// chosen by its count.
#[pyclass(frozen, get_all, module = "toksmith._core")]
pub(super) struct LearnedMerge {
    left: u32,
    right: u32,
    token: u32,
    count: u64,
}

/// Learns merges.
///
/// `base` is a tokenizer to extend, `forced` are tokens to be made first, and `made` is what an interrupted
/// training with the same arguments gave to `save`. With `forget`, the counts are freed as soon as possible,
/// and the object is empty afterwards. `memory_limit` bounds what learning takes, in bytes. With `max_words`, the counts are
/// of the pieces of `Runs`, and no token is made of more words. `save(bytes)` is called every `every` seconds, and after Ctrl-C.
#[pyfunction]
#[pyo3(signature = (counts, max_merges, *, ties="bytes", min_frequency=1, max_token_length=None, base=None, forced=vec![], made=None, save=None, every=30.0, progress=None, forget=false, memory_limit=None, max_words=None))]
#[expect(clippy::too_many_arguments, reason = "keyword options, one each")]
pub(super) fn learn_merges(
    py: Python<'_>,
    counts: &PyPretokenCounts,
    max_merges: usize,
    ties: &str,
    min_frequency: u64,
    max_token_length: Option<u32>,
    base: Option<&Tokenizer>,
    forced: Vec<Vec<u8>>,
    made: Option<&[u8]>,
    save: Option<Py<PyAny>>,
    every: f64,
    progress: Option<Bound<'_, PyAny>>,
    forget: bool,
    memory_limit: Option<u64>,
    max_words: Option<u32>,
) -> PyResult<Learned> {
    let max_token_length = max_token_length.unwrap_or(u32::MAX);
    let superwords = max_words.map(|max_words| Superwords { max_words });
    let ties = ties_of(ties)?;
    let options = Options { ties, max_merges, min_frequency, max_token_length, memory_limit, superwords };
    let made = train::merges_from_bytes(made.unwrap_or_default())?;
    let start = Start { base: base.map(|base| base.encoder().vocab()), forced: &forced, made: &made };
    let counts = if forget { counts.take(py) } else { counts.inner(py) };
    let merges = call::long(py, progress.as_ref(), |control| {
        let mut hand_out = |merges: &[Merge]| {
            let Some(save) = &save else { return Ok(()) };
            let bytes = train::merges_to_bytes(merges)?;
            let called = call::attached(|py| save.call1(py, (objects::bytes(py, &bytes)?,)).map(drop));
            called.map_err(raised)
        };
        let every = Duration::try_from_secs_f64(every.max(0.0)).unwrap_or(Duration::MAX);
        let mut saver = if save.is_some() { Saver::new(every, &mut hand_out) } else { Saver::none() };
        match Arc::try_unwrap(counts) {
            Ok(counts) => train::learn_from(counts, &start, &options, &mut saver, control),
            Err(counts) => train::resume(counts.words(), &start, &options, &mut saver, control),
        }
    })?;
    Ok(Learned::new(merges, base))
}

/// Learns merges from the counts of several languages, each next one for the language that is compressed worst: by the
/// tokens of `dev`, the counts of one text in each language, or by the bytes of a token, of which each language should
/// have a multiple in `ratio`. With `window`, a language that has more than `alpha` times its share of the last `size`
/// choices is passed over. The other arguments are those of `learn_merges`; with `forget`, all counts are empty
/// afterwards.
#[pyfunction]
#[pyo3(signature = (counts, max_merges, *, dev=None, ratio=vec![], window=None, ties="bytes", min_frequency=1, max_token_length=None, base=None, forced=vec![], progress=None, forget=false))]
#[expect(clippy::too_many_arguments, reason = "keyword options, one each")]
pub(super) fn learn_balanced(
    py: Python<'_>,
    counts: Vec<Bound<'_, PyPretokenCounts>>,
    max_merges: usize,
    dev: Option<Vec<Bound<'_, PyPretokenCounts>>>,
    ratio: Vec<f64>,
    window: Option<(usize, f64)>,
    ties: &str,
    min_frequency: u64,
    max_token_length: Option<u32>,
    base: Option<&Tokenizer>,
    forced: Vec<Vec<u8>>,
    progress: Option<Bound<'_, PyAny>>,
    forget: bool,
) -> PyResult<Learned> {
    let measures = dev.as_ref().map_or(ratio.len(), Vec::len);
    if measures != counts.len() {
        return Err(PyValueError::new_err(format!("{measures} measures for {} languages", counts.len())));
    }
    let max_token_length = max_token_length.unwrap_or(u32::MAX);
    let ties = ties_of(ties)?;
    let options = Options { ties, max_merges, min_frequency, max_token_length, ..Options::default() };
    let window = window.map(|(size, alpha)| Window { size, alpha });
    let start = Start { base: base.map(|base| base.encoder().vocab()), forced: &forced, made: &[] };
    let taken = |counts: Vec<Bound<'_, PyPretokenCounts>>| {
        let taken = |counts: &PyPretokenCounts| if forget { counts.take(py) } else { counts.inner(py) };
        counts.iter().map(|counts| taken(counts.get())).collect()
    };
    let measure = dev.map_or(Measure::Ratio(ratio), |dev| Measure::Dev(taken(dev)));
    let texts = taken(counts);
    let merges = call::long(py, progress.as_ref(), |control| {
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
    /// `pretokenizer` finds the runs.
    #[new]
    fn new(py: Python<'_>, tokenizer: &Tokenizer, pretokenizer: &PyPretokenizer) -> PyResult<Self> {
        let (vocab, pattern) = (tokenizer.encoder().vocab(), pretokenizer.inner.pretokenizer.clone());
        let runs = call::long(py, None, |_| Runs::new(vocab.clone(), pattern))?;
        let runs = runs.ok_or_else(|| {
            PyValueError::new_err(
                "tokens of several words need a list of merges that makes all tokens, and this tokenizer has none",
            )
        })?;
        Ok(PyRuns { runs: Arc::new(runs) })
    }

    /// A pretokenizer that finds nothing, but adds up the neighbours in a text.
    fn sums(&self) -> PyPretokenizer {
        PyPretokenizer::of(self.runs.sums())
    }

    /// A pretokenizer that finds the pieces of runs in which the sums of all neighbours are at least `least`.
    fn pieces(&self, least: u64) -> PyPretokenizer {
        PyPretokenizer::of(self.runs.pieces(least))
    }

    /// A number that at most `count` sums exceed.
    fn sum_of(&self, py: Python<'_>, count: usize) -> u64 {
        py.detach(|| self.runs.sum_of(count))
    }
}

/// The memory in bytes that learning takes at least, from so many distinct pretokens with so many bytes of text.
/// `has_vocab` is for a base or forced tokens.
#[pyfunction]
pub(super) fn memory_to_learn(
    pretokens: u64,
    pretoken_bytes: u64,
    max_merges: usize,
    ties: &str,
    has_vocab: bool,
) -> PyResult<u64> {
    let options = Options { ties: ties_of(ties)?, max_merges, ..Options::default() };
    Ok(train::least_memory(pretokens, pretoken_bytes, has_vocab, &options))
}

fn ties_of(name: &str) -> PyResult<Ties> {
    Ties::from_name(name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "ties is \"bytes\", \"ids\", \"smallest_ids\", \"first\" or \"huggingface\", not {name:?}"
        ))
    })
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
    let order = match special_ids {
        "first" => SpecialIds::First,
        "after_bytes" => SpecialIds::AfterBytes,
        _ => SpecialIds::Last,
    };
    let (is_gpt2, specials) = (byte_order == "gpt2", names.len() as u32);
    let (pattern, base) = (pattern.inner.clone(), base.map(|base| &base.inner));
    let inner = call::long(py, None, move |_| {
        let vocab = base.map(|base| base.vocab());
        let layout = match vocab {
            Some(base) => Layout::above(base, specials),
            None => Layout::new(order, is_gpt2, specials, learned.added() as u32),
        };
        let id_of = |token| layout.id_of(token);
        let vocab = train::build_vocab(vocab, &learned.merges, id_of, &layout.specials(&names))?;
        let encoder = Encoder::of_training(vocab, pattern.pretokenizer.clone());
        let old = base.map(|base| {
            let none = || vec![None; base.vocab().merges_by_index().len()];
            base.merge_counts().unwrap_or_else(none)
        });
        let counts = learned.merges.iter().map(|merge| Some(merge.count).filter(|&count| count > 0));
        let counts = old.unwrap_or_default().into_iter().chain(counts).collect();
        let record = ties.map(|ties| Record { ties, initial_tokens, counts });
        Ok(crate::Tokenizer::of_encoder(encoder.into(), pattern).with_record(record))
    })?;
    Ok(Tokenizer { inner })
}

/// The words of ids of a tokenizer that merges characters, with how often each occurs. See `Vocab::words_of`.
#[pyfunction]
pub(super) fn words_of(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    ids: &Bound<'_, PyAny>,
) -> PyResult<PyPretokenCounts> {
    let ids = tokenizer.all_ids(ids)?;
    let counts = call::long(py, None, |control| {
        let (bytes, words) = tokenizer.encoder().vocab().words_of(&ids)?;
        let items = words.into_iter().map(|word| (&bytes[word.clone()], 1, word.start as u64));
        PretokenCounts::from_items(items, bytes.len() as u64, control)
    })?;
    Ok(PyPretokenCounts::new_of(counts))
}
