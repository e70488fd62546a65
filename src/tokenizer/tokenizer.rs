//! The tokenizer of the crate.

use std::sync::{Arc, OnceLock};

use super::origin::Origin;
use super::pattern::SourcePattern;
use super::pipeline::Pipeline;
use super::record::Record;
use crate::control::Control;
use crate::decode::{TextDecoder, TokenRun, decode};
use crate::encode::{EncodeStream, Encoder, Special, SpecialTokens};
use crate::error::Result;
use crate::spelling::spelled;
use crate::vocab::Vocab;

/// A tokenizer: text to ids, and ids to text.
///
/// It is immutable, and cheap to clone: clones share the vocabulary, and the working memory of encoding. Any
/// number of threads may use it at once.
///
/// Each call says which special tokens become their ids: with [`Special::Ids`] all that the tokenizer has,
/// with [`Special::Text`] none, so that their names are ordinary text. Text that is not trusted takes
/// [`Special::Text`].
///
/// ```
/// use toksmith::{Special, Tokenizer};
///
/// # let trained = toksmith::train(["low low low lower"], &toksmith::TrainOptions::new(259))?;
/// # let path = std::env::temp_dir().join(format!("toksmith-doc-{}.tiktoken", std::process::id()));
/// # std::fs::write(&path, trained.to_bytes("tiktoken")?)?;
/// // A rank file has neither pattern nor special tokens: they are given beside it.
/// let tokenizer = Tokenizer::from_tiktoken(&path, "cl100k", &[("<|endoftext|>", 300)])?;
/// let ids = tokenizer.encode("low low<|endoftext|>", Special::Ids)?;
/// assert_eq!(ids, [257, 258, 300]);
/// assert_eq!(tokenizer.decode(&ids)?, "low low<|endoftext|>");
/// assert_eq!(tokenizer.count("low low", Special::Text)?, 2);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Tokenizer {
    pub(super) encoder: Arc<Encoder>,
    /// The decoder of a Hugging Face tokenizer; `None` where the bytes of ids are joined.
    pub(super) decoder: Option<Arc<TextDecoder>>,
    pub(super) pattern: Arc<SourcePattern>,
    pub(super) pipeline: Option<Arc<Pipeline>>,
    pub(super) record: Option<Arc<Record>>,
    pub(super) origin: Option<Arc<Origin>>,
    pub(super) warnings: Vec<String>,
    pub(super) fingerprint: Arc<OnceLock<String>>,
}

impl Tokenizer {
    /// The same tokenizer with what was noticed while loading.
    #[must_use]
    pub(crate) fn with_warnings(self, warnings: Vec<String>) -> Self {
        Tokenizer { warnings, ..self }
    }

    /// What encodes.
    #[doc(hidden)]
    pub fn encoder(&self) -> &Arc<Encoder> {
        &self.encoder
    }

    /// What decodes a tokenizer of Hugging Face; `None` where the bytes of ids are joined.
    #[doc(hidden)]
    pub fn decoder(&self) -> Option<&Arc<TextDecoder>> {
        self.decoder.as_ref()
    }

    #[doc(hidden)]
    pub fn vocab(&self) -> &Vocab {
        self.encoder.vocab()
    }

    /// The pattern that cuts text into pretokens.
    #[doc(hidden)]
    pub fn pattern(&self) -> &Arc<SourcePattern> {
        &self.pattern
    }

    /// The steps of a Hugging Face tokenizer around its model; `None` for a tokenizer without any.
    #[doc(hidden)]
    pub fn pipeline(&self) -> Option<&Arc<Pipeline>> {
        self.pipeline.as_ref()
    }

    /// The record of the training; `None` for a tokenizer that was not trained here.
    #[doc(hidden)]
    pub fn record(&self) -> Option<&Record> {
        self.record.as_deref()
    }

    /// What the folder of a Hugging Face tokenizer says besides its ids.
    #[doc(hidden)]
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// How often the pair of each merge occurred when training chose it; `None` without a record.
    pub fn merge_counts(&self) -> Option<&[Option<u64>]> {
        self.record.as_ref().map(|record| &*record.counts)
    }

    /// A token as a `tokenizer.json` spells it.
    pub(crate) fn spelled(&self, id: u32) -> Result<String> {
        let vocab = self.vocab();
        if let Some(decoder) = &self.decoder {
            return decoder.spelled_by_model(vocab, id);
        }
        let bytes = vocab.token_bytes(id)?;
        if vocab.covers_text_exactly() {
            return Ok(spelled(bytes));
        }
        Ok(vocab.name(id).map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), str::to_owned))
    }

    /// What was noticed while loading: an id that differs from the one in the file, or a pattern that was
    /// made under another version of Unicode.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The ids of a text.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`]; the errors of a Hugging Face file whose steps make a text too long, or
    /// whose unknown token is missing. A pretoken has less than 4 GiB.
    pub fn encode<'a>(&'a self, text: &str, special: impl Into<SpecialTokens<'a>>) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        self.encode_into(text, special, &mut ids)?;
        Ok(ids)
    }

    /// Appends the ids of a text to a vector, whose memory can serve many texts.
    ///
    /// # Errors
    /// Same as [`Tokenizer::encode`]; `ids` may then have some of the ids.
    pub fn encode_into<'a>(
        &'a self,
        text: &str,
        special: impl Into<SpecialTokens<'a>>,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        self.encoder.encode(text.as_bytes(), special, ids, &Control::none())
    }

    /// How many ids a text has. Makes no list of them.
    pub fn count<'a>(&'a self, text: &str, special: impl Into<SpecialTokens<'a>>) -> Result<usize> {
        self.encoder.count(text.as_bytes(), special, &Control::none())
    }

    /// The text of ids. Bytes that are not UTF-8, as ids from the middle of a character have, become U+FFFD.
    ///
    /// # Errors
    /// [`crate::Error::UnknownId`] with the place of an id that is not there.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        let decoder = self.decoder.as_deref().filter(|decoder| !decoder.is_plain());
        let is_joined =
            decoder.is_none_or(|decoder| decoder.stripped().is_some() && !decoder.breaks_bytes(ids));
        let text = match is_joined {
            true => String::from_utf8(self.decode_bytes(ids)?).map_err(|error| error.into_bytes()),
            false => Err(Vec::new()),
        };
        match (text, decoder) {
            (Ok(text), _) => Ok(text),
            (Err(_), Some(decoder)) if !decoder.joins_bytes() => decoder.decode(self.encoder.vocab(), ids),
            (Err(bytes), _) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// The bytes of ids.
    pub fn decode_bytes(&self, ids: &[u32]) -> Result<Vec<u8>> {
        let vocab = self.encoder.vocab();
        match self.decoder.as_deref().filter(|decoder| !decoder.is_plain()) {
            None => decode(vocab, ids, &Control::none()),
            Some(decoder) => match TokenRun::new(vocab, Some(decoder), ids) {
                Some(run) => run.joined(&Control::none()),
                None => decoder.decode(vocab, ids).map(String::into_bytes),
            },
        }
    }

    /// Encodes a text that arrives in parts.
    ///
    /// ```
    /// # fn main() -> Result<(), toksmith::Error> {
    /// use toksmith::Special;
    ///
    /// let tokenizer = toksmith::train(["low low low lower"], &toksmith::TrainOptions::new(260))?;
    /// let (mut stream, mut ids) = (tokenizer.stream(Special::Text), Vec::new());
    /// for part in ["lo", "w low", "er"] {
    ///     stream.push(part, &mut ids)?;
    /// }
    /// stream.finish(&mut ids)?;
    /// assert_eq!(ids, tokenizer.encode("low lower", Special::Text)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(&self, special: Special) -> EncodeStream {
        EncodeStream::new(Arc::clone(&self.encoder), special.into())
    }

    /// The number of tokens, special tokens included.
    pub fn vocab_size(&self) -> usize {
        self.encoder.vocab().tokens().len()
    }

    /// Ids and bytes of all tokens, by ascending id.
    pub fn tokens(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.encoder.vocab().tokens().iter()
    }

    /// The bytes of a token; `None` for an id that is not there.
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.encoder.vocab().tokens().get(id)
    }

    /// The id of a token, ordinary or special.
    pub fn token_id(&self, token: &[u8]) -> Option<u32> {
        let vocab = self.encoder.vocab();
        vocab.ordinary_id(token).or_else(|| vocab.special_id(token))
    }

    /// Names and ids of the special tokens.
    pub fn special_tokens(&self) -> impl Iterator<Item = (&str, u32)> {
        let vocab = self.encoder.vocab();
        let names = vocab.specials().tokens().iter().map(|name| str::from_utf8(name).unwrap_or_default());
        names.zip(vocab.special_ids().iter().copied())
    }
}
