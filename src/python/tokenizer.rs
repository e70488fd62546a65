//! The class `Tokenizer`: each method makes one call of the core.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::exceptions::{PyKeyError, PyUnicodeDecodeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use serde_json::{Map, Value};

use super::dialects::PyTables;
use super::formats::{object_of, value_of};
use super::ids::{self, IdRun};
use super::output::{DecodeBuffer, Errors};
use super::pipeline::PyPipeline;
use super::pretokenizer::PyPretokenizer;
use super::special::Special;
use super::stream::EncodeStream;
use super::vocabulary::{SpecialSpecs, merges_of, tokens_of};
use super::{arrays, call, file, objects, text};
use crate::control::Control;
use crate::decode::{Part, TextDecoder, TokenRun};
use crate::encode::{EncodedBatch, Encoder, FileOptions, RandomMerges, Spans, SpecialTokens, recycle};
use crate::error::{Error, Result, show};
use crate::formats::huggingface::{self, Roles};
use crate::formats::{self, FolderOptions, LoadOptions};
use crate::room;
use crate::source::Text;
use crate::tokenizer::{self, Origin, Provenance};
use crate::vocab::{Semantics, Vocab};

/// Ids whose decoding takes about a millisecond.
const MANY_IDS: usize = 1 << 18;

#[pyclass(frozen, weakref, module = "toksmith._core")]
pub(super) struct Tokenizer {
    pub(super) inner: crate::Tokenizer,
}

impl Tokenizer {
    /// The tokenizer that `make` makes, without the GIL.
    pub(super) fn made(
        py: Python<'_>,
        make: impl FnOnce() -> Result<crate::Tokenizer> + Send,
    ) -> PyResult<Self> {
        Ok(Tokenizer { inner: call::long(py, None, |_| make())? })
    }

    /// The core of the tokenizer that an argument is, or names.
    pub(super) fn of_public(tokenizer: &Bound<'_, PyAny>, argument: &str) -> PyResult<Py<Self>> {
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
    pub(super) fn encoded_list<'py>(
        &self,
        py: Python<'py>,
        text: Text<'_>,
        special: SpecialTokens<'_>,
        workers: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = match text {
            Text::Utf8(text) if text.len() < call::GIL_RELEASE_BYTES => text,
            _ => {
                let ids = self.encoded(py, text, (special, false), workers)?;
                let list = ids::to_list(py, &ids);
                recycle(ids);
                return list;
            }
        };
        let fill = |ids: &mut Vec<u32>| {
            call::sized(py, text.len(), |control| self.encoder().encode(text, special, ids, control))
        };
        call::with_ids(fill, |ids| ids::to_list(py, ids))
    }

    /// The ids of a text, as a vector.
    pub(super) fn encoded(
        &self,
        py: Python<'_>,
        text: Text<'_>,
        (special, continues): (SpecialTokens<'_>, bool),
        workers: Option<usize>,
    ) -> PyResult<Vec<u32>> {
        call::sized(py, text.len(), |control| {
            self.encoder().encode_part(text, special, !continues, workers, control)
        })
    }

    /// Calls `work` with parts, which are tuples of a text and whether it is trusted.
    pub(super) fn with_parts<T: Send>(
        &self,
        parts: &Bound<'_, PyAny>,
        work: impl FnOnce(&Encoder, &[(&[u8], bool)], &Control) -> Result<T> + Send,
    ) -> PyResult<T> {
        let texts = objects::extracted(parts, |part| {
            let (part, trusted) = part.extract::<(Bound<'_, PyString>, bool)>()?;
            Ok((call::backed_text(&part)?, trusted))
        })?;
        let of_bytes: Vec<(&[u8], bool)> =
            room::collected(texts.iter().map(|(text, trusted)| (text.as_bytes(), *trusted)))?;
        let bytes = of_bytes.iter().map(|(part, _)| part.len()).sum();
        call::sized(parts.py(), bytes, |control| work(self.encoder(), &of_bytes, control))
    }

    /// The text of `ids`; without `errors`, their bytes.
    pub(super) fn decoded<'py>(
        &self,
        ids: &Bound<'py, PyAny>,
        errors: Option<&Errors>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(decoder) = self.decoder().filter(|decoder| !decoder.is_plain()) {
            return self.decoded_by(decoder, ids, errors);
        }
        let tokens = self.encoder().vocab().tokens();
        let mut output = DecodeBuffer::new(ids.py(), errors.is_some());
        // Many ids are first read, which needs the GIL, and then decoded without it.
        let (mut many, mut all) = (false, Vec::new());
        ids::for_runs(ids, tokens.max_id().unwrap_or(0), &mut |run| match run {
            IdRun::Length(count) => {
                many = count >= MANY_IDS;
                room::reserve(&mut all, if many { count } else { 0 })?;
                output.reserve_for(count)
            }
            IdRun::Ids(ids) if many => Ok(room::extend(&mut all, ids)?),
            IdRun::Ids(ids) => output.decode(tokens, ids),
        })?;
        output.decode(tokens, &all)?;
        output.finish(errors)
    }

    /// The text of `ids` as a decoder makes it; without `errors`, its bytes.
    fn decoded_by<'py>(
        &self,
        decoder: &TextDecoder,
        ids: &Bound<'py, PyAny>,
        errors: Option<&Errors>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = ids.py();
        let vocab = self.inner.vocab();
        let all = self.all_ids(ids)?;
        let is_replaced = errors.is_some_and(Errors::is_replace);
        let run = TokenRun::new(vocab, Some(decoder), &all);
        if let Some(mut run) = run.filter(|_| !(is_replaced && decoder.breaks_bytes(&all))) {
            let mut joined = DecodeBuffer::new(py, errors.is_some());
            joined.reserve_for(all.len())?;
            while let Some(part) = run.next_part()? {
                match part {
                    Part::Ids(ids) => joined.decode(vocab.tokens(), ids)?,
                    Part::Token(token) => joined.push(token)?,
                }
            }
            let is_last = !is_replaced || decoder.joins_bytes();
            match joined.finish(errors.filter(|_| is_last)) {
                Err(error) if !is_last && error.is_instance_of::<PyUnicodeDecodeError>(py) => {}
                done => return done,
            }
        }
        let text = call::sized(py, size_of_val(&all[..]), |_| decoder.decode(vocab, &all))?;
        match errors {
            Some(_) => Ok(objects::string(py, &text)?.into_any()),
            None => Ok(objects::bytes(py, text.as_bytes())?.into_any()),
        }
    }
}

/// The `toksmith.Tokenizer` that an argument is, or names; `argument` is its name in a message.
pub(super) fn public_of<'py>(tokenizer: &Bound<'py, PyAny>, argument: &str) -> PyResult<Bound<'py, PyAny>> {
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

type LastPairs<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);
/// The ids of many texts, and where each text starts in them.
type WithStarts<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);
type CharacterIds = (Vec<u32>, Option<u32>, Vec<u32>);
type RecordRow<'a> = (&'a str, u32, &'a [Option<u64>]);
type PrunedParts<'py> = (Tokenizer, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);
/// Chat templates by name.
type Templates = Vec<(String, String)>;
type IdsWithRanges = (Vec<u32>, Vec<(usize, usize)>);

#[pymethods]
impl Tokenizer {
    /// `special_tokens` are tuples of name and id; an id may be None.
    #[new]
    #[pyo3(signature = (vocab, merges, special_tokens, pattern, ignore_merges=false))]
    fn new(
        vocab: &Bound<'_, PyDict>,
        merges: Option<&Bound<'_, PyAny>>,
        special_tokens: SpecialSpecs,
        pattern: &PyPretokenizer,
        ignore_merges: bool,
    ) -> PyResult<Self> {
        let tokens = tokens_of(vocab)?;
        let merges = merges.map(merges_of).transpose()?;
        Self::made(vocab.py(), || {
            let vocab = Vocab::new(&tokens, merges.as_deref(), &special_tokens.0)?;
            let vocab = if ignore_merges { vocab.ignoring_merges() } else { vocab };
            crate::Tokenizer::new(vocab, pattern.inner.clone(), Provenance::default())
        })
    }

    /// Loads a file, its content, or two files. `format` is its name in the table of formats; that of a file is recognised by default.
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

    /// The tokenizer of the content of a `tokenizer.json`. `files` is the JSON of those beside it, by name. With `keep_ids` new
    /// added tokens have the ids that the content gives them.
    #[staticmethod]
    #[pyo3(signature = (data, files=None, *, keep_ids=false, dropout_seed=None))]
    fn of_huggingface(
        py: Python<'_>,
        data: &[u8],
        files: Option<&str>,
        keep_ids: bool,
        dropout_seed: Option<u64>,
    ) -> PyResult<Self> {
        let files = match files.map(|files| value_of(files, "files")).transpose()? {
            Some(Value::Object(files)) => files,
            _ => Map::new(),
        };
        let options = LoadOptions { dropout_seed, ..LoadOptions::default() };
        Self::made(py, || formats::read_huggingface(data, files, keep_ids, &options, &PyTables))
    }

    #[staticmethod]
    fn of_state(py: Python<'_>, fields: &str, core: &[u8], extras: &str) -> PyResult<Self> {
        Self::made(py, || formats::of_state(fields, core, extras, &PyTables))
    }

    fn state<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyString>, Bound<'py, PyBytes>)> {
        let (fields, core) = call::long(py, None, |_| tokenizer::state(&self.inner))?;
        Ok((objects::string(py, &fields)?, objects::bytes(py, &core)?))
    }

    fn extras<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        objects::string(py, &formats::extras(&self.inner))
    }

    /// The content of the files of a format.
    fn written<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyList>> {
        let files = call::long(py, None, |_| formats::kind_of(format)?.write(&self.inner, &PyTables))?;
        objects::list_of(py, files.iter().map(|file| objects::bytes(py, file)))
    }

    /// The files of the folder that `transformers` reads, by name, and warnings. `roles` are special tokens by role.
    #[pyo3(signature = (roles, chat_template=None, model_max_length=None))]
    fn folder<'py>(
        &self,
        py: Python<'py>,
        roles: Roles,
        chat_template: Option<String>,
        model_max_length: Option<i128>,
    ) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
        let options = FolderOptions { roles, chat_template, model_max_length };
        let (made, mut warnings) = (objects::dict(py)?, Vec::new());
        let files =
            call::long(py, None, |_| formats::folder_files(&self.inner, &options, &PyTables, &mut warnings))?;
        for (name, content) in files {
            made.set_item(name, objects::bytes(py, &content)?)?;
        }
        Ok((made, warnings))
    }

    fn roles(&self, chosen: Roles) -> PyResult<BTreeMap<&'static str, String>> {
        Ok(formats::roles_of(&self.inner, &chosen)?.into_iter().collect())
    }

    fn end_of_text(&self) -> Option<String> {
        formats::end_of_text(&self.inner)
    }

    fn pre_tokenizer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_of(py, &huggingface::pre_tokenizer(self.inner.pattern(), &PyTables)?)
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

    /// The rule of ties of the training, the number of tokens before its first merge, and the count of each merge; None
    /// without a record.
    fn record(&self) -> Option<RecordRow<'_>> {
        let record = self.inner.record()?;
        Some((&record.ties, record.initial_tokens, &record.counts))
    }

    /// `content`, `beside` and `files` of the Hugging Face folder that the tokenizer came with: see the fields of `Origin`.
    fn origin<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_of(py, &self.inner.origin().unwrap_or(&Origin::default()).to_value())
    }

    /// The special tokens by role, and the chat templates by name.
    fn chat(&self) -> PyResult<(BTreeMap<String, String>, Templates)> {
        match self.inner.origin().filter(|origin| !origin.files.is_empty()) {
            Some(origin) => Ok((origin.special_tokens(), origin.chat_templates())),
            None => {
                let roles = formats::roles_of(&self.inner, &Roles::new())?.into_iter();
                Ok((roles.map(|(role, name)| (role.to_owned(), name)).collect(), Vec::new()))
            }
        }
    }

    fn added_ids(&self) -> HashSet<u32> {
        self.inner.added_ids()
    }

    fn with_special_tokens(&self, py: Python<'_>, more: Vec<(String, u32)>) -> PyResult<Self> {
        let more: Vec<_> = more.iter().map(|(name, id)| (&**name, *id)).collect();
        Self::made(py, || self.inner.with_special_tokens(&more))
    }

    /// The tokenizer with more added tokens; None if their ids do not ascend above all others. `steps` are those of a
    /// tokenizer without a pipeline, if a token is found otherwise than a special token is. `tokens` is a JSON of the tokens.
    #[pyo3(signature = (tokens, steps=None))]
    fn with_added_tokens(
        &self,
        py: Python<'_>,
        tokens: &str,
        steps: Option<&PyPipeline>,
    ) -> PyResult<Option<Self>> {
        let tokens = tokenizer::tokens_of(Some(&value_of(tokens, "added_tokens")?))?;
        let steps = steps.map(|steps| &*steps.inner);
        let made = call::long(py, None, |_| self.inner.with_added_tokens(tokens, steps))?;
        Ok(made.map(|inner| Tokenizer { inner }))
    }

    fn with_special(&self, py: Python<'_>, contents: HashSet<String>) -> PyResult<Self> {
        Self::made(py, || self.inner.with_special(&|content| contents.contains(content)))
    }

    fn pruned<'py>(&self, py: Python<'py>, keep: Vec<u32>, fixed: Vec<u32>) -> PyResult<PrunedParts<'py>> {
        let (inner, old_ids, needed) = call::long(py, None, |_| self.inner.pruned(&keep, &fixed))?;
        let numbers = |ids: Vec<u32>| arrays::array(py, room::collected(ids.into_iter().map(i64::from))?);
        Ok((Tokenizer { inner }, numbers(old_ids)?, numbers(needed)?))
    }

    fn shrunk(&self, py: Python<'_>, size: usize) -> PyResult<Self> {
        Self::made(py, || self.inner.shrunk(size))
    }

    fn relabeled(&self, py: Python<'_>, ids: Vec<(u32, u32)>) -> PyResult<Self> {
        Self::made(py, || self.inner.relabeled(&ids))
    }

    fn with_tokens_of(&self, py: Python<'_>, other: &Tokenizer, keeps_record: bool) -> PyResult<Self> {
        Self::made(py, || self.inner.with_tokens_of(&other.inner, keeps_record))
    }

    /// The ids of the tokens of all bytes, of the unknown token, and of those that no text becomes; None where merging begins
    /// with bytes.
    fn characters(&self) -> Option<CharacterIds> {
        let characters = self.inner.vocab().characters()?.clone();
        Some((characters.bytes, characters.unknown, characters.outside.into_iter().collect()))
    }

    fn is_spelled(&self) -> bool {
        !self.inner.vocab().covers_text_exactly()
    }

    fn spelled<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyString>> {
        objects::string(py, &self.inner.spelled(id)?)
    }

    fn id_of_spelling(&self, text: &str) -> PyResult<Option<u32>> {
        match self.decoder() {
            Some(decoder) => Ok(decoder.id_of(self.inner.vocab(), text)?),
            None => Ok(None),
        }
    }

    fn leaves(&self, text: &Bound<'_, PyAny>, special: bool) -> PyResult<bool> {
        text::with_utf8(text, 0, |text, _| self.encoder().leaves(text.as_bytes(), special))
    }

    fn unmade(&self, py: Python<'_>) -> PyResult<Vec<(u32, Vec<u32>)>> {
        call::long(py, None, |_| self.inner.vocab().unmade())
    }

    fn last_pairs<'py>(&self, py: Python<'py>) -> PyResult<LastPairs<'py>> {
        let pairs = call::long(py, None, |_| self.inner.vocab().last_pairs())?;
        let part = |take: fn((u32, u32)) -> u32| {
            let index = |pair: &Option<_>| pair.map_or(-1, |pair| i64::from(take(pair)));
            arrays::array(py, room::collected(pairs.iter().map(index))?)
        };
        Ok((part(|(left, _)| left)?, part(|(_, right)| right)?))
    }

    /// `special` says which special tokens become their ids: all, none, or those of a `SpecialSet`.
    #[pyo3(signature = (text, special, workers=None))]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        special: Special<'py>,
        workers: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        special.check(text::checked(text)?)?;
        self.encoded_list(text.py(), text::of(text)?, special.tokens(), workers)
    }

    #[pyo3(signature = (data, special, workers=None))]
    fn encode_bytes<'py>(
        &self,
        py: Python<'py>,
        data: PyBackedBytes,
        special: bool,
        workers: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.encoded_list(py, Text::Utf8(&data), special.into(), workers)
    }

    /// Encodes bytes that need not be UTF-8 by the rules of tiktoken.
    fn encode_broken<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let ids = call::sized(py, data.len(), |control| self.encoder().encode_broken(data, control))?;
        ids::to_list(py, &ids)
    }

    /// `continues` says that the text follows another one, up to a place that `late_cut` returned.
    #[pyo3(signature = (text, special, workers=None, continues=false))]
    fn encode_to_numpy<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        special: Special<'py>,
        workers: Option<usize>,
        continues: bool,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        special.check(text::checked(text)?)?;
        let ids = self.encoded(text.py(), text::of(text)?, (special.tokens(), continues), workers)?;
        arrays::ids(text.py(), ids)
    }

    fn encode_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        special: Special<'py>,
        workers: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        if special.refused().is_some() {
            for (index, text) in texts.try_iter()?.enumerate() {
                special.check(text::at(index, &text?)?)?;
            }
        }
        let special = special.tokens();
        let batch = text::with_many(texts, |texts, control| {
            self.encoder().encode_batch(texts, special, workers, control)
        })?;
        ids::to_lists(texts.py(), batch)
    }

    /// The ids of all texts, and where each text starts. `random` is the share of merges to leave out, and a seed.
    #[pyo3(signature = (texts, special, workers, random=None))]
    fn encode_batch_to_numpy<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        special: bool,
        workers: usize,
        random: Option<(f64, u64)>,
    ) -> PyResult<WithStarts<'py>> {
        let random = random.map(|(rate, seed)| RandomMerges { rate, seed });
        let EncodedBatch { ids, starts } = text::with_many(texts, |texts, control| match random {
            None => self.encoder().encode_batch(texts, special, workers, control),
            Some(merges) => self.encoder().encode_batch_randomly(texts, special, merges, workers, control),
        })?;
        let starts = room::collected(starts.into_iter().map(|start| start as i64))?;
        Ok((arrays::ids(texts.py(), ids)?, arrays::array(texts.py(), starts)?))
    }

    fn encode_with_offsets<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        special: bool,
        characters: bool,
    ) -> PyResult<arrays::WithSpans<'py>> {
        let encoded = text::with_utf8(text, 0, |text, control| {
            let (mut tokens, text) = (Spans::default(), text.as_bytes());
            self.encoder().encode(text, special, &mut tokens, control)?;
            let spans = if characters { tokens.in_characters(text)? } else { tokens.in_bytes()? };
            Ok((tokens.ids, spans))
        })?;
        arrays::with_spans(text.py(), encoded)
    }

    fn encode_pretoken(&self, py: Python<'_>, pretoken: &[u8]) -> PyResult<IdsWithRanges> {
        let Spans { ids, spans, .. } = call::sized(py, pretoken.len(), |control| {
            self.encoder().encode_pretoken_with_spans(pretoken, control)
        })?;
        Ok((ids, spans.into_iter().map(|span| (span.start, span.end)).collect()))
    }

    /// The ids of the joined parts: tuples of a text and whether it is trusted.
    fn encode_parts<'py>(&self, parts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.with_parts(parts, |encoder, parts, control| {
            let mut ids = Vec::new();
            encoder.encode_parts(parts, &mut ids, control).map(|()| ids)
        })?;
        ids::to_list(parts.py(), &ids)
    }

    fn count_parts(&self, parts: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.with_parts(parts, Encoder::count_parts)
    }

    fn encode_parts_with_offsets<'py>(&self, parts: &Bound<'py, PyAny>) -> PyResult<arrays::WithSpans<'py>> {
        let encoded = self.with_parts(parts, |encoder, parts, control| {
            let mut tokens = Spans::default();
            encoder.encode_parts(parts, &mut tokens, control)?;
            let text: Vec<u8> = room::collected(parts.iter().flat_map(|(part, _)| part.iter().copied()))?;
            let spans = tokens.in_characters(&text)?;
            Ok((tokens.ids, spans))
        })?;
        arrays::with_spans(parts.py(), encoded)
    }

    fn stream(&self, special: bool) -> EncodeStream {
        EncodeStream(
            self.inner.stream(if special { crate::Special::Ids } else { crate::Special::Text }).into(),
        )
    }

    /// `continues` is that of `encode_to_numpy`.
    #[pyo3(signature = (text, special, workers=None, continues=false))]
    fn count(
        &self,
        text: &Bound<'_, PyAny>,
        special: bool,
        workers: Option<usize>,
        continues: bool,
    ) -> PyResult<usize> {
        let (py, text) = (text.py(), text::of(text)?);
        call::sized(py, text.len(), |control| {
            self.encoder().count_part(text, special, !continues, workers, control)
        })
    }

    /// A place late in a text, in characters, where the text can be cut without changing its ids even if more text
    /// follows; 0 if there is no such place.
    fn late_cut(&self, text: &Bound<'_, PyAny>, special: bool) -> PyResult<usize> {
        text::with_utf8(text, 0, |text, _| {
            let cut = self.encoder().late_cut(text.as_bytes(), special).unwrap_or(0);
            Ok(text[..cut].chars().count())
        })
    }

    fn truncate<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        max_tokens: usize,
        special: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let piece = text::with_utf8(text, 0, |text, control| {
            room::text(&text[self.encoder().truncate(text, max_tokens, special, control)?])
        })?;
        objects::string(text.py(), &piece)
    }

    fn split<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        max_tokens: usize,
        overlap: usize,
        special: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let pieces = text::with_utf8(text, 0, |text, control| {
            let ranges = self.encoder().split(text, max_tokens, overlap, special, control)?;
            ranges.into_iter().map(|range| room::text(&text[range])).collect::<Result<Vec<_>>>()
        })?;
        objects::list_of(text.py(), pieces.into_iter().map(|piece| objects::string(text.py(), &piece)))
    }

    /// The ids of a file as an array. `out`, if given, is a file and its name for errors: the ids are
    /// appended to it, and their number is returned.
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
        progress: Option<&Bound<'py, PyAny>>,
        window_bytes: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let window_bytes = window_bytes.unwrap_or(FileOptions::default().window_bytes);
        let options = FileOptions { special, replace, workers, window_bytes };
        let encode = if wide { file::encode::<u32> } else { file::encode::<u16> };
        encode(py, self.encoder(), &path, &options, out, progress)
    }

    fn decode<'py>(
        &self,
        ids: &Bound<'py, PyAny>,
        errors: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.decoded(ids, Some(&Errors::new(errors)?))
    }

    fn decode_bytes<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.decoded(ids, None)
    }

    fn decode_batch<'py>(
        &self,
        batch: &Bound<'py, PyAny>,
        errors: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (errors, mut yielder) = (Errors::new(errors)?, call::GilYielder::new());
        let texts = objects::iterator(batch, "a batch is a list of lists of ids")?.map(|ids| {
            yielder.tick(batch.py())?;
            self.decoded(&ids?, Some(&errors))
        });
        objects::list_of(batch.py(), texts)
    }

    fn token_bytes<'py>(&self, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let number = ids::extract_id(id, None)?;
        let token = self.inner.vocab().token_bytes(number)?;
        let decoder = self.decoder().filter(|decoder| decoder.pieces().is_none());
        let replaced = decoder.and_then(|decoder| decoder.replaced().get(&number));
        objects::bytes(id.py(), replaced.map_or(token, Vec::as_slice))
    }

    fn token_id(&self, token: &[u8]) -> PyResult<u32> {
        let id = self.inner.token_id(token);
        id.ok_or_else(|| PyKeyError::new_err(format!("there is no token {}", show(token))))
    }

    fn vocab<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = objects::dict(py)?;
        for (id, token) in self.inner.tokens() {
            dict.set_item(objects::int(py, u64::from(id))?, objects::bytes(py, token)?)?;
        }
        Ok(dict)
    }

    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let vocab = self.inner.vocab();
        room::check_available(size_of_val(vocab.merges_by_index()))?;
        let int = |id| objects::int(py, u64::from(id));
        let pair = |(left, right)| objects::tuple(py, [int(left)?, int(right)?]);
        objects::list_of(py, py.detach(|| vocab.merges()).into_iter().map(pair))
    }

    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = objects::dict(py)?;
        for (name, id) in self.inner.special_tokens() {
            dict.set_item(objects::string(py, name)?, objects::int(py, u64::from(id))?)?;
        }
        Ok(dict)
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
