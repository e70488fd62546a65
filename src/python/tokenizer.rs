//! The class `Tokenizer`: each method makes one call of the core.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyKeyError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use serde_json::{Map, Value};

use super::dialects::PyTables;
use super::formats::{object_of, value_of};
use super::output::Errors;
use super::pipeline::{PyAddedToken, PyPipeline};
use super::pretokenizer::PyPretokenizer;
use super::stream::EncodeStream;
use super::vocabulary::{self, special_specs};
use super::{arrays, call, file, ids, objects, text};
use crate::control::Control;
use crate::encode::{Encoder, FileOptions, RandomMerges};
use crate::error::show;
use crate::formats::{self, LoadOptions, huggingface};
use crate::room;
use crate::source::Text;
use crate::tokenizer;
use crate::vocab::Semantics;

/// A tokenizer of the crate.
#[pyclass(frozen, weakref, module = "toksmith._core")]
pub(super) struct Tokenizer {
    pub(super) inner: crate::Tokenizer,
}

impl Tokenizer {
    /// The core of the tokenizer that an argument is, or names.
    ///
    /// # Errors
    /// Same as [`public_of`].
    pub(super) fn of_public(tokenizer: &Bound<'_, PyAny>, argument: &str) -> PyResult<Py<Self>> {
        let core = public_of(tokenizer, argument)?.getattr(intern!(tokenizer.py(), "_core"))?;
        Ok(core.cast_into::<Self>()?.unbind())
    }
}

/// The `toksmith.Tokenizer` that an argument is, or names; `argument` is its name in a message.
///
/// # Errors
/// Those of `toksmith.tokenizer.tokenizer_of`: `TypeError` for what is no tokenizer, and those of reading a file.
pub(super) fn public_of<'py>(tokenizer: &Bound<'py, PyAny>, argument: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = tokenizer.py();
    py.import(intern!(py, "toksmith.tokenizer"))?
        .call_method1(intern!(py, "tokenizer_of"), (tokenizer, argument))
}

pub(super) type ArrayAndStarts<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);
type LastPairs<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);
type CharacterIds = (Vec<u32>, Option<u32>, Vec<u32>);
type RecordRow<'a> = (&'a str, u32, Vec<Option<u64>>);
type PrunedParts<'py> = (Tokenizer, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);
pub(super) type IdsWithRanges = (Vec<u32>, Vec<(usize, usize)>);
pub(super) type IdsAndSpans<'py> = (Bound<'py, PyList>, Bound<'py, PyArray2<i64>>);

#[pymethods]
impl Tokenizer {
    /// `special_tokens` are tuples of name and id; an id may be None.
    #[new]
    #[pyo3(signature = (vocab, merges, special_tokens, pattern, ignore_merges=false))]
    fn new(
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: Option<&Bound<'_, PyAny>>,
        special_tokens: Vec<(String, Option<i128>)>,
        pattern: &PyPretokenizer,
        ignore_merges: bool,
    ) -> PyResult<Self> {
        Self::merging_bytes(py, vocab, merges, &special_specs(special_tokens)?, &pattern.inner, ignore_merges)
    }

    /// Loads a file. `format` is its name in the table of formats; by default it is recognised.
    #[staticmethod]
    #[pyo3(signature = (path, *, format=None, pattern=None, special_tokens=vec![], pre_tokenizer=None, dropout_seed=None))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        pattern: Option<&PyPretokenizer>,
        special_tokens: Vec<(String, Option<i128>)>,
        pre_tokenizer: Option<String>,
        dropout_seed: Option<u64>,
    ) -> PyResult<Self> {
        let pattern = pattern.map(|pattern| pattern.inner.clone());
        let special_tokens = special_specs(special_tokens)?;
        let options = LoadOptions { pattern, special_tokens, pre_tokenizer, dropout_seed };
        let inner = call::long(py, None, |_| formats::load(&path, format, &options, &PyTables))?;
        Ok(Tokenizer { inner })
    }

    /// Loads GPT-2's two files.
    #[staticmethod]
    fn load_pair(
        py: Python<'_>,
        vocab: PathBuf,
        merges: PathBuf,
        special_tokens: Vec<(String, Option<i128>)>,
        pattern: &PyPretokenizer,
    ) -> PyResult<Self> {
        let (specials, pattern) = (special_specs(special_tokens)?, pattern.inner.clone());
        let load = |_: &Control<'_>| formats::load_pair(&[vocab, merges], &specials, pattern);
        Ok(Tokenizer { inner: call::long(py, None, load)? })
    }

    /// The tokenizer of the content of a rank file.
    #[staticmethod]
    fn from_ranks(
        py: Python<'_>,
        data: &[u8],
        special_tokens: Vec<(String, Option<i128>)>,
        pattern: &PyPretokenizer,
    ) -> PyResult<Self> {
        let special_tokens = special_specs(special_tokens)?;
        let options =
            LoadOptions { pattern: Some(pattern.inner.clone()), special_tokens, ..LoadOptions::default() };
        let format = formats::kind_of("tiktoken")?;
        Ok(Tokenizer { inner: call::long(py, None, |_| format.read(data, &options, &PyTables))? })
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
        let read = |_: &Control<'_>| formats::read_huggingface(data, files, keep_ids, &options, &PyTables);
        Ok(Tokenizer { inner: call::long(py, None, read)? })
    }

    /// The tokenizer of a `state`.
    #[staticmethod]
    fn of_state(py: Python<'_>, fields: &str, core: &[u8], extras: &str) -> PyResult<Self> {
        Ok(Tokenizer { inner: call::long(py, None, |_| formats::of_state(fields, core, extras, &PyTables))? })
    }

    /// The parts of the identity, as JSON and as bytes.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyString>, Bound<'py, PyBytes>)> {
        let (fields, core) = call::long(py, None, |_| tokenizer::state(&self.inner))?;
        Ok((objects::string(py, &fields)?, objects::bytes(py, &core)?))
    }

    /// The JSON of what is known besides the identity.
    fn extras<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        objects::string(py, &formats::extras(&self.inner))
    }

    /// The content of the file of a format, by its name in the table.
    fn written<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        let kind = formats::kind_of(format)?;
        objects::bytes(py, &call::long(py, None, |_| kind.write(&self.inner, &PyTables))?)
    }

    /// The contents of GPT-2's two files.
    fn written_pair<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let [vocab, merges] = call::long(py, None, |_| self.inner.to_gpt2())?;
        Ok((objects::bytes(py, &vocab)?, objects::bytes(py, &merges)?))
    }

    /// The pre-tokenizer of a `tokenizer.json` that cuts text at the places of the pattern, as JSON has it.
    fn pre_tokenizer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_of(py, &huggingface::pre_tokenizer(self.inner.pattern(), &PyTables)?)
    }

    /// What was noticed while loading.
    #[getter]
    fn warnings(&self) -> &[String] {
        self.inner.warnings()
    }

    /// SHA-256, in hexadecimal, of the parts of the identity.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        call::long(py, None, |_| self.inner.fingerprint().map(str::to_owned))
    }

    /// The steps of a Hugging Face tokenizer around its model; None for a tokenizer without any.
    #[getter]
    fn pipeline(&self) -> Option<PyPipeline> {
        self.inner.pipeline().map(|pipeline| PyPipeline { inner: Arc::clone(pipeline) })
    }

    /// The pattern. See `Pipeline.pattern`.
    fn pattern<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let has_stages = self.inner.pipeline().is_some_and(|pipeline| pipeline.has_stages());
        PyPretokenizer::row(py, self.inner.pattern(), has_stages)
    }

    /// The rule of ties of the training, the number of tokens before its first merge, and the count of each merge; None
    /// without a record.
    fn record(&self) -> Option<RecordRow<'_>> {
        let record = self.inner.record()?;
        Some((&record.ties, record.initial_tokens, self.inner.merge_counts().unwrap_or_default()))
    }

    /// The files beside the `tokenizer.json` that the tokenizer came with, by name.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let files = self.inner.origin().map(|origin| origin.files.clone()).unwrap_or_default();
        object_of(py, &Value::Object(files))
    }

    /// The parts of the `tokenizer.json` as they were spelled; None if they are not known.
    fn content<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let content = self.inner.origin().and_then(|origin| origin.content.clone());
        content.map(|content| object_of(py, &Value::Object(content))).transpose()
    }

    /// The added tokens that are not in the vocabulary of the model.
    fn beside(&self) -> HashSet<String> {
        self.inner.origin().map(|origin| origin.beside.iter().cloned().collect()).unwrap_or_default()
    }

    /// The special tokens that the files give names, such as `bos_token`; and the chat templates by name.
    fn chat(&self) -> (BTreeMap<String, String>, Vec<(String, String)>) {
        let origin = self.inner.origin();
        origin.map(|origin| (origin.special_tokens(), origin.chat_templates())).unwrap_or_default()
    }

    /// The ids of special and other added tokens.
    fn added_ids(&self) -> HashSet<u32> {
        self.inner.added_ids()
    }

    /// The tokenizer with more special tokens. See `crate::Tokenizer::with_special_tokens`.
    fn with_special_tokens(&self, py: Python<'_>, more: Vec<(String, u32)>) -> PyResult<Self> {
        let more: Vec<_> = more.iter().map(|(name, id)| (&**name, *id)).collect();
        Ok(Tokenizer { inner: call::long(py, None, |_| self.inner.with_special_tokens(&more))? })
    }

    /// The tokenizer with more added tokens; None if their ids do not ascend above all others. `steps` are those of a
    /// tokenizer without a pipeline, if a token is found otherwise than a special token is.
    #[pyo3(signature = (tokens, steps=None))]
    fn with_added_tokens(
        &self,
        py: Python<'_>,
        tokens: Vec<PyRef<'_, PyAddedToken>>,
        steps: Option<&PyPipeline>,
    ) -> PyResult<Option<Self>> {
        let tokens: Vec<_> = tokens.iter().map(|token| token.token.clone()).collect();
        let steps = steps.map(|steps| &*steps.inner);
        let made = call::long(py, None, |_| self.inner.with_added_tokens(tokens, steps))?;
        Ok(made.map(|inner| Tokenizer { inner }))
    }

    /// The tokenizer in which the added tokens of these contents are special as well, for the texts of a chat template.
    fn with_special(&self, py: Python<'_>, contents: HashSet<String>) -> PyResult<Self> {
        let is_special = |content: &str| contents.contains(content);
        Ok(Tokenizer { inner: call::long(py, None, |_| self.inner.with_special(&is_special))? })
    }

    /// The tokenizer of some tokens, the old id of each new one, and the old ids that were needed. See `Vocab::pruned`.
    fn pruned<'py>(&self, py: Python<'py>, keep: Vec<u32>, fixed: Vec<u32>) -> PyResult<PrunedParts<'py>> {
        let (inner, old_ids, needed) = call::long(py, None, |_| {
            let (inner, old_ids, needed) = self.inner.pruned(&keep, &fixed)?;
            let old_ids = room::collected(old_ids.into_iter().map(i64::from))?;
            Ok((inner, old_ids, room::collected(needed.into_iter().map(i64::from))?))
        })?;
        Ok((Tokenizer { inner }, arrays::array(py, old_ids)?, arrays::array(py, needed)?))
    }

    /// The tokenizer without its last merges or ranks.
    fn shrunk(&self, py: Python<'_>, size: usize) -> PyResult<Self> {
        Ok(Tokenizer { inner: call::long(py, None, |_| self.inner.shrunk(size))? })
    }

    /// The tokenizer of some tokens under other ids: pairs of old and new ids.
    fn relabeled(&self, py: Python<'_>, ids: Vec<(u32, u32)>) -> PyResult<Self> {
        Ok(Tokenizer { inner: call::long(py, None, |_| self.inner.relabeled(&ids))? })
    }

    /// The tokenizer with the tokens of another one, which has these ids as well: what is around its model stays.
    fn with_tokens_of(&self, py: Python<'_>, other: &Tokenizer, keeps_record: bool) -> PyResult<Self> {
        let made = call::long(py, None, |_| self.inner.with_tokens_of(&other.inner, keeps_record))?;
        Ok(Tokenizer { inner: made })
    }

    /// The ids of the tokens of all bytes, of the unknown token, and of those that no text becomes; None where merging begins
    /// with bytes.
    fn characters(&self) -> Option<CharacterIds> {
        let characters = self.encoder().vocab().characters()?.clone();
        Some((characters.bytes, characters.unknown, characters.outside.into_iter().collect()))
    }

    /// Whether merging goes by the names of tokens.
    fn is_spelled(&self) -> bool {
        !self.encoder().vocab().covers_text_exactly()
    }

    /// A token as a `tokenizer.json` spells it; `KeyError` if there is none.
    fn spelled<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyString>> {
        objects::string(py, &self.inner.spelled(id)?)
    }

    /// The id that the model has for a spelling; None if it has none.
    fn id_of_spelling(&self, text: &str) -> PyResult<Option<u32>> {
        match self.decoder() {
            Some(decoder) => Ok(decoder.id_of(self.encoder().vocab(), text)?),
            None => Ok(None),
        }
    }

    /// Whether the pipeline, if there is one, does nothing to a text.
    fn leaves(&self, text: &Bound<'_, PyAny>, special: bool) -> PyResult<bool> {
        text::with_utf8(text, 0, |text, _| self.encoder().leaves(text.as_bytes(), special))
    }

    /// The lowest id of an ordinary token that merging the token's own bytes does not produce.
    fn first_unmergeable(&self, py: Python<'_>) -> Option<u32> {
        py.detach(|| self.encoder().vocab().first_unmergeable())
    }

    /// By id, the ordinary tokens that merging their own bytes does not produce, each with the ids that it produces.
    fn unmade(&self, py: Python<'_>) -> PyResult<Vec<(u32, Vec<u32>)>> {
        call::long(py, None, |_| self.encoder().vocab().unmade())
    }

    /// The last merge of each token, by ascending id: the indexes of its two parts in the list of all ids, in two
    /// arrays. Both are -1 for a token that no merge makes.
    fn last_pairs<'py>(&self, py: Python<'py>) -> PyResult<LastPairs<'py>> {
        let (left, right) = self.parts_of_last_merges(py)?;
        Ok((arrays::array(py, left)?, arrays::array(py, right)?))
    }

    #[pyo3(signature = (text, special, workers=None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: bool,
        workers: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.encoded_list(py, text::of(text)?, special, workers)
    }

    #[pyo3(signature = (data, special, workers=None))]
    fn encode_bytes<'py>(
        &self,
        py: Python<'py>,
        data: PyBackedBytes,
        special: bool,
        workers: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.encoded_list(py, Text::Utf8(&data), special, workers)
    }

    /// `continues` says that the text follows another one, up to a place that `late_cut` returned.
    #[pyo3(signature = (text, special, workers=None, continues=false))]
    fn encode_to_numpy<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: bool,
        workers: Option<usize>,
        continues: bool,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        arrays::ids(py, self.encoded(py, text::of(text)?, (special, continues), workers)?)
    }

    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        special: bool,
        workers: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let batches = self.with_texts(py, texts, |texts, control| {
            self.encoder().encode_batch(texts, special, workers, control)
        })?;
        ids::to_lists(py, &batches)
    }

    fn encode_batch_to_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        special: bool,
        workers: usize,
    ) -> PyResult<ArrayAndStarts<'py>> {
        self.encoded_batch(py, texts, special, workers)
    }

    /// The ids of all texts, with merges left out at random; and where each text starts.
    fn encode_batch_randomly<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        special: bool,
        workers: usize,
        rate: f64,
        seed: u64,
    ) -> PyResult<ArrayAndStarts<'py>> {
        self.encoded_randomly(py, texts, special, workers, RandomMerges { rate, seed })
    }

    /// The ids and their spans, in characters or in bytes.
    fn encode_with_offsets<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        special: bool,
        characters: bool,
    ) -> PyResult<IdsAndSpans<'py>> {
        self.offsets_of(text, special, characters)
    }

    /// The ids that the model makes of the bytes of one pretoken, and their spans in these.
    fn encode_pretoken(&self, py: Python<'_>, pretoken: &[u8]) -> PyResult<IdsWithRanges> {
        self.spans_of_pretoken(py, pretoken)
    }

    fn encode_parts<'py>(&self, parts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.encoded_parts(parts)
    }

    fn count_parts(&self, parts: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.with_parts(parts, Encoder::count_parts)
    }

    /// The ids and their spans in characters of the joined parts.
    fn encode_parts_with_offsets<'py>(&self, parts: &Bound<'py, PyAny>) -> PyResult<IdsAndSpans<'py>> {
        self.offsets_of_parts(parts)
    }

    fn stream(&self, special: bool) -> EncodeStream {
        EncodeStream::new(Arc::clone(self.encoder()), special)
    }

    /// `continues` is that of `encode_to_numpy`.
    #[pyo3(signature = (text, special, workers=None, continues=false))]
    fn count(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        special: bool,
        workers: Option<usize>,
        continues: bool,
    ) -> PyResult<usize> {
        let text = text::of(text)?;
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
        self.truncated(text, max_tokens, special)
    }

    fn split<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        max_tokens: usize,
        overlap: usize,
        special: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        self.pieces_of(text, (max_tokens, overlap), special)
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
        let request = file::FileRequest { encoder: self.encoder(), path, options, out };
        if wide {
            file::encode::<u32>(py, request, progress)
        } else {
            file::encode::<u16>(py, request, progress)
        }
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

    /// A list of the text of each list of ids. With `starts`, `batch` is one array of ids, and each of its parts
    /// becomes a text.
    fn decode_batch<'py>(
        &self,
        batch: &Bound<'py, PyAny>,
        errors: &Bound<'py, PyString>,
        starts: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.decoded_batch(batch, &Errors::new(errors)?, starts)
    }

    fn token_bytes<'py>(&self, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let number = ids::extract_id(id, None)?;
        let token = self.encoder().vocab().token_bytes(number)?;
        let decoder = self.decoder().filter(|decoder| decoder.pieces().is_none());
        let replaced = decoder.and_then(|decoder| decoder.replaced().get(&number));
        objects::bytes(id.py(), replaced.map_or(token, Vec::as_slice))
    }

    fn token_id(&self, token: &[u8]) -> PyResult<u32> {
        let vocab = self.encoder().vocab();
        let id = vocab.ordinary_id(token).or_else(|| vocab.special_id(token));
        id.ok_or_else(|| PyKeyError::new_err(format!("there is no token {}", show(token))))
    }

    fn vocab<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        vocabulary::dict_of(py, self.encoder().vocab())
    }

    /// The merges as pairs of ids.
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        vocabulary::merge_ids_of(py, self.encoder().vocab())
    }

    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        vocabulary::specials_of(py, self.encoder().vocab())
    }

    fn vocab_size(&self) -> usize {
        self.encoder().vocab().tokens().len()
    }

    fn max_id(&self) -> u32 {
        self.encoder().vocab().tokens().max_id().unwrap_or(0)
    }

    fn has_merges(&self) -> bool {
        self.encoder().vocab().semantics() == Semantics::Merges
    }

    fn ignores_merges(&self) -> bool {
        self.encoder().vocab().ignores_merges()
    }
}
