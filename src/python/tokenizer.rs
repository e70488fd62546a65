//! The class `Tokenizer`: each method makes one call of the core.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyKeyError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use super::output::Errors;
use super::pipeline::PyPipeline;
use super::pretokenizer::PyPretokenizer;
use super::stream::EncodeStream;
use super::vocabulary::{self, special_specs};
use super::{arrays, call, file, ids, objects, text};
use crate::decode::TextDecoder;
use crate::encode::{Encoder, FileOptions, RandomMerges};
use crate::error::show;
use crate::room;
use crate::source::Text;
use crate::vocab::Semantics;

/// A vocabulary with a pattern.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct Tokenizer {
    pub(super) encoder: Arc<Encoder>,
    /// The decoder of a Hugging Face tokenizer; `None` where the bytes of ids are joined.
    pub(super) decoder: Option<Arc<TextDecoder>>,
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
pub(super) type IdsWithRanges = (Vec<u32>, Vec<(usize, usize)>);
pub(super) type IdsAndSpans<'py> = (Bound<'py, PyList>, Bound<'py, PyArray2<i64>>);

#[pymethods]
impl Tokenizer {
    /// `special_tokens` are tuples of name and id; an id may be None.
    #[new]
    #[pyo3(signature = (vocab, merges, special_tokens, pretokenizer, ignore_merges=false))]
    fn new(
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: Option<&Bound<'_, PyAny>>,
        special_tokens: Vec<(String, Option<i128>)>,
        pretokenizer: &PyPretokenizer,
        ignore_merges: bool,
    ) -> PyResult<Self> {
        let specials = special_specs(special_tokens)?;
        Self::merging_bytes(py, vocab, merges, &specials, &pretokenizer.inner, ignore_merges)
    }

    /// The ids of the tokens of all bytes, of the unknown token, and of those that no text becomes; None where merging begins
    /// with bytes.
    fn characters(&self) -> Option<CharacterIds> {
        let characters = self.encoder.vocab().characters()?.clone();
        Some((characters.bytes, characters.unknown, characters.outside.into_iter().collect()))
    }

    /// The places in the list of merges of those that have the rank of the merge before them.
    fn ties(&self) -> Vec<u32> {
        self.encoder.vocab().ties().to_vec()
    }

    /// Whether merging goes by the names of tokens.
    fn is_spelled(&self) -> bool {
        !self.encoder.vocab().covers_text_exactly()
    }

    /// The model as a `tokenizer.json` has it, where merging goes by the names of tokens; else None.
    fn spelled_model<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        vocabulary::model_of(py, self.encoder.vocab())
    }

    /// A token as a `tokenizer.json` spells it; `KeyError` if there is none.
    fn spelled<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyString>> {
        match &self.decoder {
            Some(decoder) => objects::string(py, &decoder.spelled_by_model(self.encoder.vocab(), id)?),
            None => objects::string(py, &vocabulary::spelled(self.encoder.vocab(), id)?),
        }
    }

    /// The id that the model has for a spelling; None if it has none.
    fn id_of_spelling(&self, text: &str) -> PyResult<Option<u32>> {
        match &self.decoder {
            Some(decoder) => Ok(decoder.id_of(self.encoder.vocab(), text)?),
            None => Ok(None),
        }
    }

    /// The tokenizer of a `state`. Special tokens must have their ids.
    #[staticmethod]
    fn from_state(
        py: Python<'_>,
        state: &[u8],
        special_tokens: Vec<(String, Option<i128>)>,
        pretokenizer: &PyPretokenizer,
    ) -> PyResult<Self> {
        Self::of_state(py, state, &special_specs(special_tokens)?, &pretokenizer.inner)
    }

    /// The tokenizer of a rank file.
    #[staticmethod]
    fn from_ranks(
        py: Python<'_>,
        file: &[u8],
        special_tokens: Vec<(String, Option<i128>)>,
        pretokenizer: &PyPretokenizer,
    ) -> PyResult<Self> {
        Self::of_ranks(py, file, &special_specs(special_tokens)?, &pretokenizer.inner)
    }

    /// The same tokenizer between the steps of a `tokenizer.json`, sharing all its tables.
    fn with_pipeline(&self, py: Python<'_>, pipeline: &PyPipeline) -> PyResult<Self> {
        let (encoder, decoder) = call::long(py, None, |_| pipeline.steps.around(&self.encoder))?;
        Ok(Tokenizer { encoder, decoder: Some(Arc::new(decoder)) })
    }

    /// Whether the pipeline, if there is one, does nothing to a text.
    fn leaves(&self, text: &Bound<'_, PyAny>, special: bool) -> PyResult<bool> {
        text::with_utf8(text, 0, |text, _| self.encoder.leaves(text.as_bytes(), special))
    }

    /// The tokenizer with more special tokens, tuples of name and id; None if their ids do not ascend above all others.
    fn with_special_tokens(&self, py: Python<'_>, more: Vec<(String, u32)>) -> PyResult<Option<Self>> {
        let more: Vec<_> = more.into_iter().map(|(name, id)| (name.into_bytes(), id)).collect();
        let encoder = call::long(py, None, |_| self.encoder.with_specials(&more))?;
        Ok(encoder.map(|encoder| Tokenizer::of(Arc::new(encoder))))
    }

    /// The tokens and merges, serialized as bytes.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        room::check_available(self.encoder.vocab().state_bytes())?;
        objects::bytes(py, &py.detach(|| self.encoder.vocab().state()))
    }

    /// The lowest id of an ordinary token that merging the token's own bytes does not produce.
    fn first_unmergeable(&self, py: Python<'_>) -> Option<u32> {
        py.detach(|| self.encoder.vocab().first_unmergeable())
    }

    /// Checks that a list of the merges alone gives the same ids for every text. See `Vocab::check_as_list`.
    fn check_as_list(&self, py: Python<'_>) -> PyResult<()> {
        call::long(py, None, |_| self.encoder.vocab().check_as_list())
    }

    /// Checks that the ids as ranks give the same ids for every text. See `Vocab::check_as_ranks`.
    fn check_as_ranks(&self, py: Python<'_>) -> PyResult<()> {
        call::long(py, None, |_| self.encoder.vocab().check_as_ranks())
    }

    /// By id, the ordinary tokens that merging their own bytes does not produce, each with the ids that it produces.
    fn unmade(&self, py: Python<'_>) -> PyResult<Vec<(u32, Vec<u32>)>> {
        call::long(py, None, |_| self.encoder.vocab().unmade())
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
            self.encoder.encode_batch(texts, special, workers, control)
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
        EncodeStream::new(self.encoder.clone(), special)
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
            self.encoder.count_part(text, special, !continues, workers, control)
        })
    }

    /// A place late in a text, in characters, where the text can be cut without changing its ids even if more text
    /// follows; 0 if there is no such place.
    fn late_cut(&self, text: &Bound<'_, PyAny>, special: bool) -> PyResult<usize> {
        text::with_utf8(text, 0, |text, _| {
            let cut = self.encoder.late_cut(text.as_bytes(), special).unwrap_or(0);
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
        let request = file::FileRequest { encoder: &self.encoder, path, options, out };
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
        let token = self.encoder.vocab().token_bytes(number)?;
        let decoder = self.decoder.as_ref().filter(|decoder| decoder.pieces().is_none());
        let replaced = decoder.and_then(|decoder| decoder.replaced().get(&number));
        objects::bytes(id.py(), replaced.map_or(token, Vec::as_slice))
    }

    fn token_id(&self, token: &[u8]) -> PyResult<u32> {
        let vocab = self.encoder.vocab();
        let id = vocab.ordinary_id(token).or_else(|| vocab.special_id(token));
        id.ok_or_else(|| PyKeyError::new_err(format!("there is no token {}", show(token))))
    }

    fn vocab<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        vocabulary::dict_of(py, self.encoder.vocab())
    }

    /// The merges as pairs of ids.
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        vocabulary::merge_ids_of(py, self.encoder.vocab())
    }

    /// A list of merges as a `tokenizer.json` spells them, and whether a pretoken that is a token skips it.
    fn listed_merges<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, bool)> {
        vocabulary::listed_merges_of(py, self.encoder.vocab())
    }

    /// The ids of ordinary tokens by their spellings in a `tokenizer.json`, and of special tokens by their `names`.
    fn spelled_vocab<'py>(&self, py: Python<'py>, names: Vec<(String, u32)>) -> PyResult<Bound<'py, PyDict>> {
        let spelled = call::long(py, None, |_| self.encoder.vocab().spelled_with(names))?;
        let dict = objects::dict(py)?;
        for (token, id) in spelled {
            dict.set_item(objects::string(py, &token)?, objects::int(py, id.into())?)?;
        }
        Ok(dict)
    }

    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        vocabulary::specials_of(py, self.encoder.vocab())
    }

    fn vocab_size(&self) -> usize {
        self.encoder.vocab().tokens().len()
    }

    fn max_id(&self) -> u32 {
        self.encoder.vocab().tokens().max_id().unwrap_or(0)
    }

    fn has_merges(&self) -> bool {
        self.encoder.vocab().semantics() == Semantics::Merges
    }

    fn ignores_merges(&self) -> bool {
        self.encoder.vocab().ignores_merges()
    }
}
