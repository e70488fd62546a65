//! Text of ids that arrive one by one, never half a character.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::tokenizer::Tokenizer;
use crate::decode::{DecoderState, StopStrings, TextDecoder};
use crate::error::{Error, Result};
use crate::room;

/// Decodes bytes that are not all UTF-8, of which more may come unless the flag says that they are the last;
/// returns how many it has taken.
pub(crate) type OnInvalid<'a> = &'a dyn Fn(&[u8], bool, &mut Vec<u8>) -> Result<usize>;

/// The options of a [`DecodeStream`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Whether special tokens have no text.
    pub skip_special: bool,
    /// Whether ids without a token have no text, rather than being an error.
    pub skip_unknown: bool,
    /// Strings of which the first to be complete ends the text.
    pub stop: Vec<String>,
}

/// What makes the text of streams.
pub struct StreamDecoder {
    tokenizer: Tokenizer,
    /// Whether the stages of the decoder run, instead of joining bytes.
    is_staged: bool,
    skipped: FxHashSet<u32>,
    pub options: DecodeOptions,
    stops: Option<StopStrings>,
}

/// What is known of one stream.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct StreamState {
    /// Bytes of a character that has not all arrived.
    pub(crate) bytes: Vec<u8>,
    /// How many spaces may still be taken off the front.
    pub(crate) spaces: usize,
    pub(crate) stages: DecoderState,
    /// Text with which a stop string may begin.
    pub(crate) pending: Vec<u8>,
    /// The stop string that ended the text.
    pub(crate) stop: Option<usize>,
    pub(crate) is_over: bool,
}

impl StreamDecoder {
    /// `replaces_invalid` says that bytes that are not UTF-8 become U+FFFD.
    pub fn new(tokenizer: &Tokenizer, options: DecodeOptions, replaces_invalid: bool) -> Result<Self> {
        let decoder = tokenizer.decoder();
        let is_staged = decoder.is_some_and(|decoder| {
            !decoder.joins_bytes() && (replaces_invalid || decoder.stripped().is_none())
        });
        let skipped = if options.skip_special { tokenizer.skipped_ids() } else { FxHashSet::default() };
        let stops = StopStrings::new(options.stop.clone())?;
        Ok(StreamDecoder { tokenizer: tokenizer.clone(), is_staged, skipped, options, stops })
    }

    fn begun(&self) -> StreamState {
        let spaces = self.tokenizer.decoder().and_then(|decoder| decoder.stripped()).unwrap_or(0);
        StreamState { spaces, ..StreamState::default() }
    }

    /// The stop string that ended the text of a stream.
    pub fn stopped(&self, stream: &StreamState) -> Option<&str> {
        self.options.stop.get(stream.stop?).map(String::as_str)
    }

    fn stages(&self) -> Option<&Arc<TextDecoder>> {
        self.tokenizer.decoder().filter(|_| self.is_staged)
    }

    pub fn has_text(&self, id: u32, index: Option<usize>) -> Result<bool> {
        match self.tokenizer.token_bytes(id) {
            Some(_) => Ok(!self.skipped.contains(&id)),
            None if self.options.skip_unknown => Ok(false),
            None => Err(Error::UnknownId { id: i128::from(id), index }),
        }
    }

    /// The state after the ids of a prompt, whose text is not returned. Ids without a text are passed over.
    pub fn after(&self, prompt: &[u32], on_invalid: OnInvalid<'_>) -> Result<StreamState> {
        let mut state = self.begun();
        for (index, &id) in prompt.iter().enumerate() {
            if self.has_text(id, Some(index))? {
                self.decode(&mut state, id, on_invalid, &mut Vec::new())?;
            }
        }
        if let Some(decoder) = self.stages() {
            decoder.decoder.mark_shown(&mut state.stages)?;
        }
        Ok(state)
    }

    /// Adds an id that has a text; appends the text that is complete now.
    pub fn add(
        &self,
        stream: &mut StreamState,
        id: u32,
        on_invalid: OnInvalid<'_>,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        if stream.is_over {
            *stream = self.begun();
        }
        if stream.stop.is_some() {
            return Ok(());
        }
        let Some(stops) = &self.stops else { return self.decode(stream, id, on_invalid, text) };
        let mut more = Vec::new();
        self.decode(stream, id, on_invalid, &mut more)?;
        stream.stop = stops.push(&mut stream.pending, &more, false, text)?;
        Ok(())
    }

    /// Ends a text; appends what is left of it. The next id starts a new text.
    pub fn finish(
        &self,
        stream: &mut StreamState,
        on_invalid: OnInvalid<'_>,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        if stream.is_over {
            *stream = self.begun();
        }
        let mut last = std::mem::replace(stream, StreamState { is_over: true, ..StreamState::default() });
        stream.stop = last.stop;
        if last.stop.is_some() {
            return Ok(());
        }
        let mut more = Vec::new();
        match self.stages() {
            Some(decoder) => {
                let mut end = String::new();
                decoder.decoder.finish(&mut last.stages, &mut end)?;
                more = end.into_bytes();
            }
            None => complete(&mut last.bytes, &[], true, on_invalid, &mut more)?,
        }
        match &self.stops {
            Some(stops) => stream.stop = stops.push(&mut last.pending, &more, true, text)?,
            None => text.append(&mut more),
        }
        Ok(())
    }

    /// Appends the text of an id that is complete now.
    fn decode(
        &self,
        stream: &mut StreamState,
        id: u32,
        on_invalid: OnInvalid<'_>,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let vocab = self.tokenizer.vocab();
        if let Some(decoder) = self.stages() {
            let mut more = String::new();
            decoder.push(vocab, &mut stream.stages, id, None, &mut more)?;
            return room::extend(text, more.as_bytes());
        }
        let decoder = self.tokenizer.decoder();
        let replaced = decoder.and_then(|decoder| decoder.replaced().get(&id));
        let mut token = replaced.map_or_else(|| vocab.token_bytes(id), |token| Ok(token.as_slice()))?;
        if let Some(decoder) = decoder {
            token = decoder.strip(id, token, &mut stream.spaces);
        }
        complete(&mut stream.bytes, token, false, on_invalid, text)
    }
}

/// Adds bytes to those of an unfinished character; appends the characters that are complete now.
fn complete(
    bytes: &mut Vec<u8>,
    more: &[u8],
    is_last: bool,
    on_invalid: OnInvalid<'_>,
    text: &mut Vec<u8>,
) -> Result<()> {
    if bytes.is_empty() && simdutf8::basic::from_utf8(more).is_ok() {
        return room::extend(text, more);
    }
    let before = bytes.len();
    room::extend(bytes, more)?;
    let taken = match str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) if error.error_len().is_none() && !is_last => error.valid_up_to(),
        Err(_) => match on_invalid(bytes, is_last, text) {
            Ok(taken) => {
                bytes.drain(..taken);
                return Ok(());
            }
            Err(error) => {
                bytes.truncate(before);
                return Err(error);
            }
        },
    };
    room::extend(text, &bytes[..taken])?;
    bytes.drain(..taken);
    Ok(())
}

/// Replaces what is not UTF-8 by U+FFFD.
fn replacing(bytes: &[u8], is_last: bool, text: &mut Vec<u8>) -> Result<usize> {
    let mut taken = 0;
    for chunk in bytes.utf8_chunks() {
        room::extend(text, chunk.valid().as_bytes())?;
        taken += chunk.valid().len();
        let rest = &bytes[taken..];
        let is_open = !is_last && str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
        if chunk.invalid().is_empty() || is_open {
            break;
        }
        room::extend(text, "\u{fffd}".as_bytes())?;
        taken += chunk.invalid().len();
    }
    Ok(taken)
}

/// Decodes ids that arrive one by one: [`Tokenizer::decode_stream`].
pub struct DecodeStream {
    decoder: StreamDecoder,
    state: StreamState,
}

impl DecodeStream {
    /// Adds an id; returns the text that is complete now. After a stop string there is none.
    ///
    /// # Errors
    /// [`Error::UnknownId`]; [`Error::OutOfMemory`].
    pub fn push(&mut self, id: u32) -> Result<String> {
        let mut text = Vec::new();
        if self.decoder.has_text(id, None)? {
            self.decoder.add(&mut self.state, id, &replacing, &mut text)?;
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Ends the text; returns what is left of it. The next id starts a new text.
    pub fn finish(&mut self) -> Result<String> {
        let mut text = Vec::new();
        self.decoder.finish(&mut self.state, &replacing, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The stop string that ended the text; `None` if none did.
    pub fn stopped(&self) -> Option<&str> {
        self.decoder.stopped(&self.state)
    }
}

impl Tokenizer {
    /// The ids of special tokens, which decoding can leave out; not those of ordinary added tokens.
    pub(crate) fn skipped_ids(&self) -> FxHashSet<u32> {
        let mut ids: FxHashSet<u32> = self.vocab().special_ids().iter().copied().collect();
        for token in self.pipeline().into_iter().flat_map(|pipeline| pipeline.added_tokens()) {
            let _ = if token.flags.special { ids.insert(token.id) } else { ids.remove(&token.id) };
        }
        ids
    }

    /// The ids without those of special tokens, as they are decoded to a text for readers.
    ///
    /// # Errors
    /// [`Error::UnknownId`] for an id without a token.
    pub fn without_special(&self, ids: &[u32]) -> Result<Vec<u32>> {
        let skipped = self.skipped_ids();
        let unknown = ids.iter().position(|&id| self.token_bytes(id).is_none());
        if let Some(index) = unknown {
            return Err(Error::UnknownId { id: i128::from(ids[index]), index: Some(index) });
        }
        room::collected(ids.iter().copied().filter(|id| !skipped.contains(id)))
    }

    /// Decodes ids that arrive one by one. `prompt` are those that came before, whose text is not returned
    /// again.
    ///
    /// ```
    /// # fn main() -> Result<(), toksmith::Error> {
    /// use toksmith::{DecodeOptions, Special, TrainOptions, train};
    ///
    /// let tokenizer = train(["low low low lower"], &TrainOptions::new(260))?;
    /// let mut options = DecodeOptions::default();
    /// options.stop = vec!["we".into()];
    /// let mut stream = tokenizer.decode_stream(&[], options)?;
    /// let mut text = String::new();
    /// for id in tokenizer.encode("é lower", Special::Text)? {
    ///     text += &stream.push(id)?;
    ///     if stream.stopped().is_some() {
    ///         break;
    ///     }
    /// }
    /// text += &stream.finish()?;
    /// assert_eq!((&*text, stream.stopped()), ("é lo", Some("we")));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] for an empty or too long one; [`Error::UnknownId`] for an id of the prompt.
    pub fn decode_stream(&self, prompt: &[u32], options: DecodeOptions) -> Result<DecodeStream> {
        let decoder = StreamDecoder::new(self, options, true)?;
        let state = decoder.after(prompt, &replacing)?;
        Ok(DecodeStream { decoder, state })
    }
}
