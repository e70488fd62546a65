//! Ids to text: joined bytes, or what a decoder makes of the names of tokens.

use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::ids::IdRun;
use super::output::{DecodeBuffer, Errors};
use super::tokenizer::Tokenizer;
use super::{call, ids, objects};
use crate::decode::TextDecoder;
use crate::room;

/// Ids whose decoding takes about a millisecond.
const MANY_IDS: usize = 1 << 18;

impl Tokenizer {
    /// The text of each list of ids; with `starts`, of each part of one array.
    pub(super) fn decoded_batch<'py>(
        &self,
        batch: &Bound<'py, PyAny>,
        errors: &Errors,
        starts: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let texts = objects::list(batch.py())?;
        let mut yielder = call::GilYielder::new();
        let mut add = |ids: &Bound<'py, PyAny>| {
            texts.append(self.decoded(ids, Some(errors))?)?;
            yielder.tick(ids.py())
        };
        match starts {
            None => objects::iterator(batch, "a batch is a list of lists of ids")?
                .try_for_each(|ids| add(&ids?))?,
            Some(starts) => ids::stretches(batch, starts)?.try_for_each(|ids| add(&ids?))?,
        }
        Ok(texts)
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
        let vocab = self.encoder().vocab();
        let mut all = Vec::new();
        ids::for_runs(ids, vocab.tokens().max_id().unwrap_or(0), &mut |run| match run {
            IdRun::Length(ids) => Ok(room::reserve(&mut all, ids)?),
            IdRun::Ids(ids) => Ok(room::extend(&mut all, ids)?),
        })?;
        let is_replaced = errors.is_some_and(Errors::is_replace);
        let spaces = decoder.stripped().filter(|_| !(is_replaced && decoder.breaks_bytes(&all)));
        if let Some(spaces) = spaces {
            let joined = self.joined(decoder, &all, spaces, errors.is_some(), py)?;
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

    /// The joined bytes of `ids`, without up to `spaces` spaces at the front.
    fn joined<'py>(
        &self,
        decoder: &TextDecoder,
        ids: &[u32],
        mut spaces: usize,
        is_text: bool,
        py: Python<'py>,
    ) -> PyResult<DecodeBuffer<'py>> {
        let tokens = self.encoder().vocab().tokens();
        let mut output = DecodeBuffer::new(py, is_text);
        output.reserve_for(ids.len())?;
        let bytes_of = |id: u32| decoder.replaced().get(&id).map(Vec::as_slice);
        let mut at = 0;
        while at < ids.len() && spaces > 0 {
            let Some(token) = bytes_of(ids[at]).or_else(|| tokens.get(ids[at])) else { break };
            output.push(decoder.strip(ids[at], token, &mut spaces))?;
            at += 1;
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
}
