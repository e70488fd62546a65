//! The classes `Tokenizer`, `EncodeStream` and `Continuations`: each method makes one call of the core.

use std::collections::{BTreeMap, HashSet};
use std::ffi::CStr;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::arrays::{self, Array, IdArray, Pairs};
use super::errors::OrRaise;
use super::formats::{object_of, of_json};
use super::ids::{self, IdList};
use super::objects::{Any, Dict, IntoObject, Items, List, Made};
use super::output::DecodeBuffer;
use super::pipeline::PyPipeline;
use super::pretokenizer::{PyPretokenizer, PyTables};
use super::special::{self, Special};
use super::vocabulary::{SpecialSpecs, merges_of, tokens_of};
use super::{call, errors, objects, text};
use toksmith::control::Control;
use toksmith::decode::TextDecoder;
use toksmith::encode::{
    Continuations, EncodedBatch, Encoder, FileOptions, LocatedIds, MarkedText, RandomMerges, Spans,
};
use toksmith::error::{Error, Result, show};
use toksmith::formats::huggingface::Roles;
use toksmith::formats::{self, FolderOptions, LoadOptions};
use toksmith::room;
use toksmith::shards::{self, NPY_HEADER_BYTES};
use toksmith::source::Text;
use toksmith::tokenizer::{self, Provenance};
use toksmith::vocab::{Semantics, Vocab};
use toksmith::{Boundary, EncodedPair, SpecialTokens};

#[pyclass(frozen, weakref, module = "toksmith._core")]
pub(super) struct Tokenizer {
    pub(super) inner: toksmith::Tokenizer,
}

impl Tokenizer {
    /// The tokenizer that `make` makes, without the GIL.
    pub(super) fn made(
        py: Python<'_>,
        make: impl FnOnce() -> Result<toksmith::Tokenizer> + Send,
    ) -> PyResult<Self> {
        let inner = call::long(py, None, |_| make())?;
        arrays::prepare(py)?;
        Ok(Tokenizer { inner })
    }

    /// The core of the tokenizer that an argument is, or names.
    pub(super) fn of_public(tokenizer: Any, argument: &str) -> PyResult<Py<Self>> {
        if let Ok(core) = tokenizer.cast::<Self>() {
            return Ok(core.clone().unbind());
        }
        let core = public_of(tokenizer, argument)?.getattr(intern!(tokenizer.py(), "_core"))?;
        Ok(core.cast_into::<Self>()?.unbind())
    }

    pub(super) fn encoder(&self) -> &Arc<Encoder> {
        self.inner.encoder()
    }

    /// What decodes a tokenizer of Hugging Face.
    pub(super) fn decoder(&self) -> Option<&Arc<TextDecoder>> {
        self.inner.decoder()
    }

    /// The ids of a text as a list.
    fn list_of(
        &self,
        py: Python<'_>,
        text: Text<'_>,
        special: SpecialTokens<'_>,
        workers: Option<usize>,
    ) -> PyResult<Made<IdList>> {
        let (encoder, bytes) = (self.encoder(), text.len());
        if let Text::Utf8(text) = text
            && bytes < call::GIL_RELEASE_BYTES
        {
            let mut ids = IdList::memory();
            call::sized(py, bytes, |control| encoder.encode(text, special, &mut ids, control))?;
            return Ok(Made(IdList(ids)));
        }
        let encode = |control: &Control| encoder.encode_part(text, special, true, workers, control);
        call::sized(py, bytes, encode).map(IdList).map(Made)
    }
}

/// The `toksmith.Tokenizer` that an argument is, or names; `argument` is its name in a message.
pub(super) fn public_of<'py>(tokenizer: Any<'_, 'py>, argument: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = tokenizer.py();
    py.import(intern!(py, "toksmith.tokenizer"))?
        .call_method1(intern!(py, "tokenizer_of"), (tokenizer, argument))
}

#[derive(FromPyObject)]
enum LoadSource {
    Content(PyBackedBytes),
    /// GPT-2's two files.
    Pair(PathBuf, PathBuf),
    Path(PathBuf),
}

/// Whether a pair is encoded as one text, or each alone; or what heals the end of the prompt.
#[derive(FromPyObject)]
enum PyBoundary<'py> {
    IsJoint(bool),
    Heal(Bound<'py, PyContinuations>),
}

type WithSpans = Made<(IdList, Pairs)>;
/// The ids of many texts, and where each text starts in them.
type WithStarts = Made<(IdArray, Array<i64>)>;
type CharacterIds = (Vec<u32>, Option<u32>, Vec<u32>);
type RecordRow<'a> = (&'a str, u32, &'a [Option<u64>]);
type PrunedParts = (Tokenizer, Made<Array<i64>>, Made<Array<i64>>);
/// Ids, how many of them are before a border, and whether a token lies across it.
type PairRow = (Made<IdList>, usize, bool);
/// Chat templates by name.
type Templates = Vec<(String, String)>;

#[pymethods]
impl Tokenizer {
    /// `special_tokens` are tuples of name and id; an id may be None.
    #[new]
    #[pyo3(signature = (vocab, merges, special_tokens, pattern, ignore_merges=false))]
    fn new(
        vocab: &Bound<'_, PyDict>,
        merges: Option<Any>,
        special_tokens: SpecialSpecs,
        pattern: &PyPretokenizer,
        ignore_merges: bool,
    ) -> PyResult<Self> {
        let tokens = tokens_of(vocab)?;
        let merges = merges.map(merges_of).transpose()?;
        Self::made(vocab.py(), || {
            let vocab = Vocab::new(&tokens, merges.as_deref(), &special_tokens.0)?;
            let vocab = if ignore_merges { vocab.ignoring_merges() } else { vocab };
            toksmith::Tokenizer::new(vocab, pattern.inner.clone(), Provenance::default())
        })
    }

    /// Loads a file, its content, or two files. `format` is its name in the table of formats; that of a file
    /// is recognised by default.
    #[staticmethod]
    #[pyo3(signature = (source, *, format=None, pattern=None, special_tokens=SpecialSpecs::default(), pre_tokenizer=None, dropout_seed=None))]
    fn load(
        py: Python<'_>,
        source: LoadSource,
        format: Option<&str>,
        pattern: Option<&PyPretokenizer>,
        special_tokens: SpecialSpecs,
        pre_tokenizer: Option<String>,
        dropout_seed: Option<u64>,
    ) -> PyResult<Self> {
        let pattern = pattern.map(|pattern| pattern.inner.clone());
        let options = LoadOptions { pattern, special_tokens: special_tokens.0, pre_tokenizer, dropout_seed };
        Self::made(py, || match source {
            LoadSource::Path(path) => formats::load(&path, format, &options, &PyTables),
            LoadSource::Pair(vocab, merges) => {
                let pattern =
                    options.pattern.ok_or_else(|| Error::Pattern("two files need a pattern".into()))?;
                formats::load_pair(&[vocab, merges], &options.special_tokens, pattern)
            }
            LoadSource::Content(content) => {
                formats::kind_of(format.unwrap_or_default())?.read(&content, &options, &PyTables)
            }
        })
    }

    /// The tokenizer of the content of a `tokenizer.json`. `files` is the JSON of those beside it, by name.
    /// With `keep_ids` new added tokens have the ids that the content gives them.
    #[staticmethod]
    #[pyo3(signature = (data, files=None, *, keep_ids=false, dropout_seed=None))]
    fn of_huggingface(
        py: Python<'_>,
        data: &[u8],
        files: Option<&str>,
        keep_ids: bool,
        dropout_seed: Option<u64>,
    ) -> PyResult<Self> {
        let files = files.map(of_json).transpose()?.unwrap_or_default();
        let options = LoadOptions { dropout_seed, ..LoadOptions::default() };
        Self::made(py, || formats::read_huggingface(data, files, keep_ids, &options, &PyTables))
    }

    #[staticmethod]
    fn of_state(py: Python<'_>, fields: &str, core: &[u8], extras: &str) -> PyResult<Self> {
        Self::made(py, || formats::of_state(fields, core, extras, &PyTables))
    }

    fn state(&self, py: Python<'_>) -> PyResult<Made<(String, Vec<u8>)>> {
        call::long(py, None, |_| tokenizer::state(&self.inner)).map(Made)
    }

    fn extras(&self) -> Made<String> {
        Made(formats::extras(&self.inner))
    }

    /// The content of the files of a format.
    fn written(&self, py: Python<'_>, format: &str) -> PyResult<Items<Vec<u8>>> {
        let files = call::long(py, None, |_| formats::kind_of(format)?.write(&self.inner, &PyTables))?;
        Ok(Made(List(files)))
    }

    /// The files of the folder that `transformers` reads, by name, and warnings. `roles` are special tokens
    /// by role.
    #[pyo3(signature = (roles, chat_template=None, model_max_length=None))]
    fn folder<'py>(
        &self,
        py: Python<'py>,
        roles: Roles,
        chat_template: Option<String>,
        model_max_length: Option<i128>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<String>)> {
        let options = FolderOptions { roles, chat_template, model_max_length };
        let mut warnings = Vec::new();
        let files =
            call::long(py, None, |_| formats::folder_files(&self.inner, &options, &PyTables, &mut warnings))?;
        Ok((Dict(files).object(py)?, warnings))
    }

    /// The special tokens with usual names, by role.
    fn roles(&self) -> PyResult<BTreeMap<String, String>> {
        let roles = formats::roles_of(&self.inner, &Roles::new()).or_raise()?.into_iter();
        Ok(roles.map(|(role, name)| (role.to_owned(), name)).collect())
    }

    fn end_of_text(&self) -> Option<String> {
        formats::end_of_text(&self.inner)
    }

    #[getter]
    fn warnings(&self) -> &[String] {
        self.inner.warnings()
    }

    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        call::long(py, None, |_| self.inner.fingerprint().map(str::to_owned))
    }

    #[getter]
    fn pipeline(&self) -> Option<PyPipeline> {
        self.inner.pipeline().map(|pipeline| PyPipeline { inner: Arc::clone(pipeline) })
    }

    fn pattern<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let has_stages = self.inner.pipeline().is_some_and(|pipeline| pipeline.has_stages());
        PyPretokenizer::row(py, self.inner.pattern(), has_stages)
    }

    /// The rule of ties of the training, the number of tokens before its first merge, and the count of each
    /// merge; None without a record.
    fn record(&self) -> Option<RecordRow<'_>> {
        let record = self.inner.record()?;
        Some((&record.ties, record.initial_tokens, &record.counts))
    }

    /// The other files of the Hugging Face folder that the tokenizer came with, by name.
    fn folder_files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let files = self.inner.origin().map(|origin| origin.files.clone()).unwrap_or_default();
        object_of(py, &files.into())
    }

    /// The special tokens by role, and the chat templates by name.
    fn chat(&self) -> PyResult<(BTreeMap<String, String>, Templates)> {
        match self.inner.origin().filter(|origin| !origin.files.is_empty()) {
            Some(origin) => Ok((origin.special_tokens(), origin.chat_templates())),
            None => Ok((self.roles()?, Vec::new())),
        }
    }

    fn added_ids(&self) -> HashSet<u32> {
        self.inner.added_ids()
    }

    fn with_special_tokens(&self, py: Python<'_>, more: Vec<(String, u32)>) -> PyResult<Self> {
        let more: Vec<_> = more.iter().map(|(name, id)| (&**name, *id)).collect();
        Self::made(py, || self.inner.with_special_tokens(&more))
    }

    fn with_special(&self, py: Python<'_>, contents: HashSet<String>) -> PyResult<Self> {
        Self::made(py, || self.inner.with_special(&|content| contents.contains(content)))
    }

    fn pruned(&self, py: Python<'_>, keep: Vec<u32>, fixed: Vec<u32>) -> PyResult<PrunedParts> {
        let (inner, old_ids, needed) = call::long(py, None, |_| self.inner.pruned(&keep, &fixed))?;
        let array = |ids: Vec<u32>| room::collected(ids.into_iter().map(i64::from)).map(Array).map(Made);
        Ok((Tokenizer { inner }, array(old_ids).or_raise()?, array(needed).or_raise()?))
    }

    fn shrunk(&self, py: Python<'_>, size: usize) -> PyResult<Self> {
        Self::made(py, || self.inner.shrunk(size))
    }

    fn relabeled(&self, py: Python<'_>, ids: Vec<(u32, u32)>) -> PyResult<Self> {
        Self::made(py, || self.inner.relabeled(&ids))
    }

    /// The ids of the tokens of all bytes, of the unknown token, and of those that no text becomes; None
    /// where merging begins with bytes.
    fn characters(&self) -> Option<CharacterIds> {
        let characters = self.inner.vocab().characters()?.clone();
        Some((characters.bytes, characters.unknown, characters.outside.into_iter().collect()))
    }

    fn is_spelled(&self) -> bool {
        !self.inner.vocab().covers_text_exactly()
    }

    fn leaves(&self, text: Any, special: bool) -> PyResult<bool> {
        text::with_utf8(text, 0, |text, _| self.encoder().leaves(text.as_bytes(), special))
    }

    fn unmade(&self, py: Python<'_>) -> PyResult<Vec<(u32, Vec<u32>)>> {
        call::long(py, None, |_| self.inner.vocab().unmade())
    }

    fn last_pairs(&self, py: Python<'_>) -> PyResult<Made<Pairs>> {
        let pairs = call::long(py, None, |_| self.inner.vocab().last_pairs())?;
        let indices =
            pairs.iter().map(|pair| pair.map_or([-1; 2], |(left, right)| [left.into(), right.into()]));
        Ok(Made(Pairs(room::collected(indices).or_raise()?.into_flattened())))
    }

    /// `special` says which special tokens become their ids: all, none, or those of a `SpecialSet`.
    #[pyo3(signature = (text, special, workers=None))]
    fn encode(&self, text: Any, special: Special<'_>, workers: Option<usize>) -> PyResult<Made<IdList>> {
        special.check(text::checked(text)?)?;
        self.list_of(text.py(), text::of(text, false)?, special.tokens(), workers)
    }

    #[pyo3(signature = (data, special, workers=None))]
    fn encode_bytes(
        &self,
        data: &Bound<'_, PyBytes>,
        special: bool,
        workers: Option<usize>,
    ) -> PyResult<Made<IdList>> {
        self.list_of(data.py(), Text::Utf8(data.as_bytes()), special.into(), workers)
    }

    /// Encodes bytes that need not be UTF-8 by the rules of tiktoken.
    fn encode_broken(&self, py: Python<'_>, data: &[u8]) -> PyResult<Made<IdList>> {
        let ids = call::sized(py, data.len(), |control| self.encoder().encode_broken(data, control))?;
        Ok(Made(IdList(ids)))
    }

    /// `continues` says that the text follows another one, up to a place that `late_cut` returned.
    #[pyo3(signature = (text, special, workers=None, continues=false))]
    fn encode_to_numpy(
        &self,
        text: Any,
        special: Special<'_>,
        workers: Option<usize>,
        continues: bool,
    ) -> PyResult<Made<IdArray>> {
        special.check(text::checked(text)?)?;
        let (py, text, special) = (text.py(), text::of(text, false)?, special.tokens());
        let ids = call::sized(py, text.len(), |control| {
            self.encoder().encode_part(text, special, !continues, workers, control)
        })?;
        Ok(Made(IdArray(ids)))
    }

    fn encode_batch(&self, texts: Any, special: Special<'_>, workers: usize) -> PyResult<Made<EncodedBatch>> {
        let (special, refused) = (special.tokens(), special.refused());
        let encode = |texts: &[&[u8]], control: &Control| {
            texts.iter().try_for_each(|text| special::check(refused, text, control))?;
            self.encoder().encode_batch(texts, special, workers, control)
        };
        text::with_many(texts, encode).map(Made)
    }

    /// The ids of all texts, and where each text starts. `random` is the share of merges to leave out, and a
    /// seed.
    #[pyo3(signature = (texts, special, workers, random=None))]
    fn encode_batch_to_numpy(
        &self,
        texts: Any,
        special: bool,
        workers: usize,
        random: Option<(f64, u64)>,
    ) -> PyResult<WithStarts> {
        let random = random.map(|(rate, seed)| RandomMerges { rate, seed });
        let EncodedBatch { ids, starts } = text::with_many(texts, |texts, control| match random {
            None => self.encoder().encode_batch(texts, special, workers, control),
            Some(merges) => self.encoder().encode_batch_randomly(texts, special, merges, workers, control),
        })?;
        let starts = room::collected(starts.into_iter().map(|start| start as i64)).or_raise()?;
        Ok(Made((IdArray(ids), Array(starts))))
    }

    fn encode_with_offsets(&self, text: Any, special: bool, characters: bool) -> PyResult<WithSpans> {
        text::with_utf8(text, 0, |text, control| {
            let (mut tokens, text) = (Spans::default(), text.as_bytes());
            self.encoder().encode(text, special, &mut tokens, control)?;
            let spans = if characters { tokens.in_characters(text)? } else { tokens.in_bytes()? };
            Ok(Made((IdList(tokens.ids), Pairs(spans))))
        })
    }

    fn encode_pretoken(&self, py: Python<'_>, pretoken: &[u8]) -> PyResult<Made<IdList>> {
        let encode = |control: &Control| self.encoder().encode_as_pretoken(pretoken, control);
        call::sized(py, pretoken.len(), encode).map(IdList).map(Made)
    }

    /// The ids of a text, given the mark of each character (`MARKS`), and for each id a byte that is 1 if one
    /// of its characters has one of `bits`; no bytes if there are no bits.
    fn encode_marked<'py>(
        &self,
        text: &Bound<'py, PyString>,
        marks: &[u8],
        bits: u8,
    ) -> PyResult<(Made<IdList>, Bound<'py, PyBytes>)> {
        let (backed, encoder) = (call::backed_text(text)?, self.encoder());
        let (ids, mask) = call::sized(text.py(), backed.len(), |control| {
            let (marked, mut ids, mut tokens) =
                (MarkedText::new(&backed, marks)?, Vec::new(), LocatedIds::default());
            if bits == 0 {
                encoder.encode_marked(&marked, &mut ids, control)?;
                return Ok((ids, Vec::new()));
            }
            encoder.encode_marked(&marked, &mut tokens, control)?;
            let mask = tokens.touching(marked.ranges(bits), backed.len(), encoder.vocab())?;
            Ok((tokens.ids, room::collected(mask.into_iter().map(u8::from))?))
        })?;
        Ok((Made(IdList(ids)), PyBytes::new(text.py(), &mask)))
    }

    fn stream(&self, special: bool) -> EncodeStream {
        EncodeStream(self.inner.stream(special_of(special)).into())
    }

    /// `continues` is that of `encode_to_numpy`.
    #[pyo3(signature = (text, special, workers=None, continues=false))]
    fn count(&self, text: Any, special: bool, workers: Option<usize>, continues: bool) -> PyResult<usize> {
        let (py, text) = (text.py(), text::of(text, false)?);
        call::sized(py, text.len(), |control| {
            self.encoder().count_part(text, special, !continues, workers, control)
        })
    }

    /// A place late in a text, in characters, where the text can be cut without changing its ids even if more
    /// text follows; 0 if there is no such place.
    fn late_cut(&self, text: Any, special: bool) -> PyResult<usize> {
        text::with_utf8(text, 0, |text, _| {
            let cut = self.encoder().late_cut(text.as_bytes(), special).unwrap_or(0);
            Ok(text[..cut].chars().count())
        })
    }

    fn truncate(&self, text: Any, max_tokens: usize, special: bool, left: bool) -> PyResult<Made<String>> {
        let truncate = if left { Encoder::truncate_left } else { Encoder::truncate };
        text::with_utf8(text, 0, |text, control| {
            room::text(&text[truncate(self.encoder(), text, max_tokens, special, control)?]).map(Made)
        })
    }

    fn truncate_batch(
        &self,
        texts: Any,
        max_tokens: usize,
        special: bool,
        left: bool,
        workers: usize,
    ) -> PyResult<Items<String>> {
        text::with_many(texts, |texts, control| {
            let texts: Vec<&str> =
                texts.iter().map(|text| str::from_utf8(text).unwrap_or_default()).collect();
            let ranges =
                self.encoder().truncate_batch(&texts, (max_tokens, left), special, workers, control)?;
            let pieces = texts.iter().zip(ranges).map(|(text, range)| room::text(&text[range]));
            pieces.collect::<Result<_>>().map(List).map(Made)
        })
    }

    /// The ids of a prompt and a completion, how many of them belong to the prompt, and whether a token lies
    /// across.
    fn encode_pair(
        &self,
        py: Python<'_>,
        prompt: &Bound<'_, PyString>,
        completion: &Bound<'_, PyString>,
        special: bool,
        boundary: PyBoundary<'_>,
    ) -> PyResult<PairRow> {
        let (prompt, completion) = (call::text(prompt)?, call::text(completion)?);
        let boundary = match &boundary {
            PyBoundary::IsJoint(true) => Boundary::Joint,
            PyBoundary::IsJoint(false) => Boundary::Split,
            PyBoundary::Heal(continuations) => Boundary::Heal(&continuations.get().inner),
        };
        let special = special_of(special);
        let encode = |control: &Control| self.inner.pair(prompt, completion, boundary, special, control);
        call::long(py, None, encode).map(pair_row)
    }

    /// `ids`, and behind them those of a text; how many were there, and whether a token lies across.
    fn append(&self, ids: Any, text: &Bound<'_, PyString>, special: bool) -> PyResult<PairRow> {
        let (text, mut all) = (call::text(text)?, Vec::new());
        ids::read(ids, u32::MAX, &mut all)?;
        let append = |control: &Control| self.inner.appended(&all, text, special_of(special), control);
        call::long(ids.py(), None, append).map(pair_row)
    }

    fn split(&self, text: Any, max_tokens: usize, overlap: usize, special: bool) -> PyResult<Items<String>> {
        text::with_utf8(text, 0, |text, control| {
            let ranges = self.encoder().split(text, max_tokens, overlap, special, control)?;
            let pieces = ranges.into_iter().map(|range| room::text(&text[range]));
            pieces.collect::<Result<_>>().map(List).map(Made)
        })
    }

    /// The ids of a file as an array. `out`, if given, is an empty file for the ids, and its name in the end,
    /// whose suffix decides the format; then their number is returned.
    #[pyo3(signature = (path, *, out, wide, workers, special, replace, progress=None, window_bytes=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword options, one each")]
    fn encode_file<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        out: Option<(PathBuf, PathBuf)>,
        wide: bool,
        workers: usize,
        special: bool,
        replace: bool,
        progress: Option<Any<'_, 'py>>,
        window_bytes: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let window_bytes = window_bytes.unwrap_or(FileOptions::default().window_bytes);
        let (encoder, options) = (self.encoder(), FileOptions { special, replace, workers, window_bytes });
        let Some((out, name)) = out else {
            if wide {
                let encode = |control: &Control| encoder.encode_file::<u32>(&path, &options, control);
                return Array(call::long(py, progress, encode)?).object(py);
            }
            let encode = |control: &Control| encoder.encode_file::<u16>(&path, &options, control);
            return Array(call::long(py, progress, encode)?).object(py);
        };
        let open = || OpenOptions::new().write(true).open(&out);
        let failed = |source| Error::Io { path: name.clone(), source };
        let is_npy = name.extension().is_some_and(|suffix| suffix == "npy");
        let start = if is_npy { NPY_HEADER_BYTES as u64 } else { 0 };
        let count = call::long(py, progress, |control| {
            let file = open().map_err(failed)?;
            let count = encoder.encode_file_to(&path, &options, (&file, &name), (start, wide), control)?;
            if is_npy {
                let header = shards::npy_header(count, if wide { "<u4" } else { "<u2" });
                open().and_then(|mut file| file.write_all(&header)).map_err(failed)?;
            }
            Ok(count)
        })?;
        count.object(py)
    }

    #[pyo3(signature = (ids, errors, skip_special=false))]
    fn decode<'py>(
        &self,
        ids: Any<'_, 'py>,
        errors: Option<&CStr>,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = ids.py();
        if skip_special || self.decoder().is_some_and(|decoder| !decoder.is_plain()) {
            let (mut all, replaces) = (self.all_ids(ids)?, errors == Some(c"replace"));
            if skip_special {
                all = self.inner.without_special(&all).or_raise()?;
            }
            let bytes = call::sized(py, size_of_val(&all[..]), |_| match replaces {
                true => self.inner.decode(&all).map(String::into_bytes),
                false => self.inner.decode_bytes(&all),
            })?;
            return match errors {
                Some(errors) => text::decoded(py, &bytes, errors),
                None => bytes.object(py),
            };
        }
        let tokens = self.encoder().vocab().tokens();
        let (mut all, mut output) = (IdList::memory(), DecodeBuffer::new(py, errors.is_some()));
        let read = ids::read(ids, tokens.max_id().unwrap_or(0), &mut all);
        // An id without a token that comes before what is no id is the first error.
        output.decode(tokens, &all).and(read)?;
        IdList::keep(all);
        output.finish(errors)
    }

    #[pyo3(signature = (batch, errors, skip_special=false))]
    fn decode_batch<'py>(
        &self,
        batch: Any<'_, 'py>,
        errors: &CStr,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut yielder = call::GilYielder::default();
        let texts = objects::iterator(batch, "a batch is a list of lists of ids")?.map(|ids| {
            yielder.tick(batch.py())?;
            self.decode(&ids?, Some(errors), skip_special)
        });
        List(texts).object(batch.py())
    }

    fn token_bytes(&self, id: Any) -> PyResult<Made<&[u8]>> {
        let number = ids::extract_id(id, None)?;
        let token = self.inner.vocab().token_bytes(number).or_raise()?;
        let decoder = self.decoder().filter(|decoder| decoder.pieces().is_none());
        let replaced = decoder.and_then(|decoder| decoder.replaced().get(&number));
        Ok(Made(replaced.map_or(token, Vec::as_slice)))
    }

    fn token_id(&self, token: &[u8]) -> PyResult<u32> {
        let id = self.inner.token_id(token);
        id.ok_or_else(|| PyKeyError::new_err(format!("there is no token {}", show(token))))
    }

    fn vocab(&self) -> Made<Dict<impl Iterator<Item = (u32, &[u8])>>> {
        Made(Dict(self.inner.tokens()))
    }

    fn merges(&self, py: Python<'_>) -> PyResult<Items<(u32, u32)>> {
        let vocab = self.inner.vocab();
        room::check_available(size_of_val(vocab.merges_by_index())).or_raise()?;
        Ok(Made(List(py.detach(|| vocab.merges()))))
    }

    fn special_tokens(&self) -> Made<Dict<impl Iterator<Item = (&str, u32)>>> {
        Made(Dict(self.inner.special_tokens()))
    }

    fn vocab_size(&self) -> usize {
        self.inner.vocab().tokens().len()
    }

    fn max_id(&self) -> u32 {
        self.inner.vocab().tokens().max_id().unwrap_or(0)
    }

    fn has_merges(&self) -> bool {
        self.inner.vocab().semantics() == Semantics::Merges
    }

    fn ignores_merges(&self) -> bool {
        self.inner.vocab().ignores_merges()
    }
}

fn special_of(special: bool) -> toksmith::Special {
    if special { toksmith::Special::Ids } else { toksmith::Special::Text }
}

fn pair_row(pair: EncodedPair) -> PairRow {
    (Made(IdList(pair.ids)), pair.border, pair.crosses)
}

/// Encodes parts of a text to the ids of the whole text.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct EncodeStream(Mutex<toksmith::EncodeStream>);

#[pymethods]
impl EncodeStream {
    /// Adds text; returns the ids that no later text can change.
    fn push(&self, text: &Bound<'_, PyString>) -> PyResult<Made<IdList>> {
        self.step(text.py(), Some(call::text(text)?))
    }

    /// Ends the text; returns the remaining ids.
    fn finish(&self, py: Python<'_>) -> PyResult<Made<IdList>> {
        self.step(py, None)
    }
}

impl EncodeStream {
    fn step(&self, py: Python<'_>, text: Option<&str>) -> PyResult<Made<IdList>> {
        let stream = &mut *call::alone(&self.0, "an encoding stream")?;
        let (pending, mut ids) = (stream.pending_bytes() + text.map_or(0, str::len), IdList::memory());
        call::sized(py, pending, |control| stream.step(text.map(str::as_bytes), &mut ids, control))?;
        Ok(Made(IdList(ids)))
    }
}

/// How many ids to keep, and the ids that may come after them; None for any.
type Healed = (usize, Option<Made<Array<u32>>>);

/// The tokens of a tokenizer as what may come next: for text that is cut off, and for generation under
/// constraints.
///
/// Args: tokenizer: A `toksmith.Tokenizer`, or what names one. Its tokens are sorted once, which takes some
/// ten milliseconds for 100,000.
#[pyclass(frozen, module = "toksmith", name = "Continuations")]
pub(super) struct PyContinuations {
    tokenizer: Py<Tokenizer>,
    inner: Continuations,
}

#[pymethods]
impl PyContinuations {
    #[new]
    fn new(py: Python<'_>, tokenizer: Any) -> PyResult<Self> {
        let tokenizer = Tokenizer::of_public(tokenizer, "tokenizer")?;
        let encoder = &tokenizer.get().encoder();
        let inner = call::long(py, None, |_| Ok(Continuations::new(encoder)))?;
        Ok(PyContinuations { tokenizer, inner })
    }

    fn _of_text<'py>(
        &self,
        text: &Bound<'py, PyString>,
        special: Special<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, text) = (text.py(), call::text(text)?);
        let special = special.tokens();
        let encoded = call::long(py, None, |control| self.inner.of_text(text, special, control))?;
        (&*encoded.stable, List(encoded.completions.iter().map(|ids| &**ids))).object(py)
    }

    /// Return the ordinary tokens whose bytes begin with `prefix`, bytes or a str, as ascending ids:
    /// `uint32`, shape (n,).
    fn prefix_ids(&self, prefix: Any) -> PyResult<Made<Array<u32>>> {
        let ids = match prefix.cast::<PyString>() {
            Ok(text) => self.inner.prefix_ids(call::text(text)?.as_bytes()).or_raise()?,
            Err(_) => match prefix.extract::<PyBackedBytes>() {
                Ok(bytes) => self.inner.prefix_ids(&bytes).or_raise()?,
                Err(_) => return Err(errors::wrong_type("a prefix is bytes or a str", prefix, "")),
            },
        };
        Ok(Made(Array(ids)))
    }

    /// Return how many of `ids` to keep, and which ids may come next instead of the others.
    ///
    /// A prompt that ends inside a word ends with other tokens than the word has. As many ids are given up as
    /// can begin a longer token; what comes next is one of the tokens that begin with their bytes. A special
    /// token stays, with all before it.
    ///
    /// Returns: How many ids stay, and the tokens that may follow, as `uint32` of shape (n,); None if all ids
    /// stay, and any token may follow.
    ///
    /// Raises:
    ///     KeyError: An id has no token; names the id and its index.
    fn heal(&self, ids: Any) -> PyResult<Healed> {
        let (keep, allowed) = self.inner.heal(&self.tokenizer.get().all_ids(ids)?).or_raise()?;
        Ok((keep, allowed.map(Array).map(Made)))
    }

    /// Return which ids keep a sequence an encoding.
    ///
    /// Cost: one encoding of the end of the text for each token: 10 to 100 ms.
    ///
    /// Returns: `bool` of shape (max_id + 1,): whether `ids` and this id are what encoding their bytes gives.
    /// Bytes that end inside a character are encoded as `Tokenizer.encode` encodes bytes that are not UTF-8.
    ///
    /// Raises: KeyError: An id has no token; names the id and its index. ValueError: Decoding does more than
    /// to join bytes, or nothing is known of where the last 4,096 bytes can be cut.
    fn next_mask(&self, ids: Any) -> PyResult<Made<Array<bool>>> {
        let tokenizer = self.tokenizer.get();
        if tokenizer.decoder().is_some_and(|decoder| decoder.stripped() != Some(0)) {
            return Err(PyValueError::new_err("the decoder of the tokenizer does more than to join bytes"));
        }
        let all = tokenizer.all_ids(ids)?;
        let run = tokenizer.token_run(&all)?;
        let mask =
            call::long(ids.py(), None, |control| self.inner.next_mask(&all, &run.joined(control)?, control))?;
        Ok(Made(Array(mask)))
    }
}
