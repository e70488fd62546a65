//! Functions that several methods of the tokenizer share: encoding to a list or to memory, and decoding.

use std::sync::Arc;

use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyList, PyString};

use super::ids::IdRun;
use super::output::{DecodeBuffer, Errors};
use super::tokenizer::Tokenizer;
use super::vocabulary::{merges_of, tokens_of};
use super::{call, ids, objects};
use crate::control::Control;
use crate::decode::TextDecoder;
use crate::encode::{Encoder, recycle};
use crate::error::Result;
use crate::pretokenize::Pretokenizer;
use crate::room;
use crate::source::Text;
use crate::vocab::{CharacterTokens, RankLines, SpecialSpec, Vocab};

impl Tokenizer {
    /// The tokenizer of an encoder.
    pub(super) fn of(encoder: Arc<Encoder>) -> Self {
        Tokenizer { encoder, decoder: None }
    }

    /// The encoder of the core.
    pub(super) fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The tokenizer of a vocabulary of bytes. Without `merges` the ids are ranks.
    pub(super) fn merging_bytes(
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: Option<&Bound<'_, PyAny>>,
        specials: &[SpecialSpec],
        pretokenizer: &Pretokenizer,
        ignore_merges: bool,
    ) -> PyResult<Self> {
        let tokens = tokens_of(vocab)?;
        let merges = merges.map(merges_of).transpose()?;
        let encoder = call::long(py, None, move |_| {
            let tokens = room::collected(tokens.iter().map(|(id, bytes)| (*id, &**bytes)))?;
            let merges = match &merges {
                Some(list) => Some(room::collected(list.iter().map(|(left, right)| (&**left, &**right)))?),
                None => None,
            };
            let vocab = Vocab::of_views(tokens, merges, specials)?;
            Encoder::try_new(
                if ignore_merges { vocab.ignoring_merges() } else { vocab },
                pretokenizer.clone(),
            )
        })?;
        Ok(Tokenizer::of(Arc::new(encoder)))
    }

    /// For each token by ascending id, the indexes of both parts of its last merge; -1 if no merge makes the token.
    pub(super) fn parts_of_last_merges(&self, py: Python<'_>) -> PyResult<(Vec<i64>, Vec<i64>)> {
        let pairs = call::long(py, None, |_| self.encoder.vocab().last_pairs())?;
        let part = |take: fn((u32, u32)) -> u32| {
            room::collected(pairs.iter().map(move |pair| pair.map_or(-1, |pair| i64::from(take(pair)))))
        };
        Ok((part(|(left, _)| left)?, part(|(_, right)| right)?))
    }

    /// The tokenizer of a vocabulary of characters.
    pub(super) fn merging_characters(
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: &[(u32, u32)],
        characters: CharacterTokens,
        specials: &[SpecialSpec],
        pretokenizer: &Pretokenizer,
    ) -> PyResult<Self> {
        let tokens = tokens_of(vocab)?;
        let encoder = call::long(py, None, move |_| {
            let tokens = room::collected(tokens.iter().map(|(id, bytes)| (*id, &**bytes)))?;
            Encoder::try_new(
                Vocab::of_characters(tokens, merges, characters, specials)?,
                pretokenizer.clone(),
            )
        })?;
        Ok(Tokenizer::of(Arc::new(encoder)))
    }

    /// The tokenizer of a rank file; `None` if a line is not in the form that tiktoken writes.
    pub(super) fn of_ranks(
        py: Python<'_>,
        file: &[u8],
        specials: &[SpecialSpec],
        pretokenizer: &Pretokenizer,
    ) -> PyResult<Option<Self>> {
        let encoder = call::long(py, None, move |_| {
            room::check_available(4 * file.len())?;
            let Some(lines) = RankLines::parse(file) else { return Ok(None) };
            let vocab = Vocab::of_views(lines.tokens(), None, specials)?;
            Encoder::try_new(vocab, pretokenizer.clone()).map(Some)
        })?;
        Ok(encoder.map(|encoder| Tokenizer::of(Arc::new(encoder))))
    }

    /// The text of `ids`; without `errors`, their bytes.
    pub(super) fn decoded<'py>(
        &self,
        ids: &Bound<'py, PyAny>,
        errors: Option<&Errors>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(decoder) = self.decoder.as_ref().filter(|decoder| !decoder.is_plain()) {
            return self.decoded_by(decoder, ids, errors);
        }
        let tokens = self.encoder.vocab().tokens();
        let mut output = DecodeBuffer::new(ids.py(), errors.is_some());
        ids::for_runs(ids, tokens.max_id().unwrap_or(0), &mut |run| match run {
            IdRun::Length(ids) => output.reserve_for(ids),
            IdRun::Ids(ids) => output.decode(tokens, ids),
        })?;
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
        let vocab = self.encoder.vocab();
        let mut all = Vec::new();
        ids::for_runs(ids, vocab.tokens().max_id().unwrap_or(0), &mut |run| match run {
            IdRun::Length(ids) => Ok(room::reserve(&mut all, ids)?),
            IdRun::Ids(ids) => Ok(room::extend(&mut all, ids)?),
        })?;
        if let Some(spaces) = decoder.stripped() {
            let joined = self.joined(decoder, &all, spaces, errors.is_some(), py)?;
            let is_replaced = errors.is_some_and(Errors::is_replace);
            if !is_replaced || decoder.joins_bytes() {
                return joined.finish(errors);
            }
            match joined.finish(Some(&Errors::strict())) {
                Err(error) if error.is_instance_of::<PyUnicodeDecodeError>(py) => {}
                done => return done,
            }
        }
        let text = decoder.decode(vocab, &all)?;
        if errors.is_some() {
            return Ok(objects::string(py, &text)?.into_any());
        }
        Ok(objects::bytes(py, text.as_bytes())?.into_any())
    }

    /// The joined bytes of `ids`, without up to `spaces` spaces at the front.
    fn joined<'py>(
        &self,
        decoder: &TextDecoder,
        ids: &[u32],
        spaces: usize,
        is_text: bool,
        py: Python<'py>,
    ) -> PyResult<DecodeBuffer<'py>> {
        let tokens = self.encoder.vocab().tokens();
        let mut output = DecodeBuffer::new(py, is_text);
        output.reserve_for(ids.len())?;
        let bytes_of = |id: u32| decoder.replaced().get(&id).map(Vec::as_slice);
        let (mut at, mut stripped) = (0, 0);
        while at < ids.len() && stripped < spaces {
            let Some(token) = bytes_of(ids[at]).or_else(|| tokens.get(ids[at])) else { break };
            let count = token.iter().take(spaces - stripped).take_while(|&&byte| byte == b' ').count();
            output.push(&token[count..])?;
            (at, stripped) = (at + 1, if count == token.len() { stripped + count } else { spaces });
        }
        output.skip_ids(at);
        while at < ids.len() {
            let end = match decoder.replaced().is_empty() {
                true => ids.len(),
                false => at + ids[at..].iter().take_while(|&&id| bytes_of(id).is_none()).count(),
            };
            output.decode(tokens, &ids[at..end])?;
            if let Some(token) = ids.get(end).and_then(|&id| bytes_of(id)) {
                output.push(token)?;
                output.skip_ids(1);
            }
            at = end + 1;
        }
        Ok(output)
    }

    /// The ids of a text as a list.
    pub(super) fn encoded_list<'py>(
        &self,
        py: Python<'py>,
        text: Text<'_>,
        special: bool,
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
            call::sized(py, text.len(), |control| self.encoder.encode(text, special, ids, control))
        };
        call::with_ids(fill, |ids| ids::to_list(py, ids))
    }

    /// The ids of a text, as a vector.
    pub(super) fn encoded(
        &self,
        py: Python<'_>,
        text: Text<'_>,
        (special, continues): (bool, bool),
        workers: Option<usize>,
    ) -> PyResult<Vec<u32>> {
        call::sized(py, text.len(), |control| {
            self.encoder.encode_part(text, special, !continues, workers, control)
        })
    }

    /// Calls `work` with the bytes of many texts.
    pub(super) fn with_texts<T: Send>(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        work: impl FnOnce(&[&[u8]], &Control) -> Result<T> + Send,
    ) -> PyResult<T> {
        let mut held: Vec<PyBackedStr> = room::for_items(objects::size_hint(texts))?;
        for text in texts.try_iter()? {
            room::push(&mut held, call::backed_text(text?.cast::<PyString>()?)?)?;
        }
        let texts: Vec<&[u8]> = room::collected(held.iter().map(|text| text.as_bytes()))?;
        let bytes = texts.iter().map(|text| text.len()).sum();
        call::sized(py, bytes, |control| work(&texts, control))
    }
}
