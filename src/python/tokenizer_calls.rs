//! Encoding and decoding, as several methods of the tokenizer need it.

use std::sync::Arc;

use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::ids::{self, IdRun};
use super::output::{DecodeBuffer, Errors};
use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::control::Control;
use crate::decode::{Part, TextDecoder, TokenRun};
use crate::encode::{Encoder, SpecialTokens, recycle};
use crate::error::Result;
use crate::room;
use crate::source::Text;

/// Ids whose decoding takes about a millisecond.
const MANY_IDS: usize = 1 << 18;

impl Tokenizer {
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
            if !is_replaced || decoder.joins_bytes() {
                return joined.finish(errors);
            }
            match joined.finish(Some(&Errors::strict())) {
                Err(error) if error.is_instance_of::<PyUnicodeDecodeError>(py) => {}
                done => return done,
            }
        }
        let text = call::sized(py, size_of_val(&all[..]), |_| decoder.decode(vocab, &all))?;
        if errors.is_some() {
            return Ok(objects::string(py, &text)?.into_any());
        }
        Ok(objects::bytes(py, text.as_bytes())?.into_any())
    }
}
