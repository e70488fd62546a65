//! A tokenizer from a file, and what it is asked for.

use std::fs::File;
use std::io::Read;
#[cfg(feature = "train")]
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::patterns::{self, SourcePattern};
use super::stream::EncodeStream;
use crate::control::Control;
use crate::decode::{TextDecoder, decode};
use crate::dialects::SyntaxTables;
use crate::encode::{Encoder, SpecialTokens};
use crate::error::{Error, Result};
use crate::formats::NativeFile;
use crate::huggingface::{TokenizerFile, read_post_processor};
use crate::room;
use crate::vocab::{RankLines, Vocab};

/// The maximum number of bytes of a file that holds a tokenizer: ten times the largest published one.
const MAX_BYTES: u64 = 1 << 28;

/// A tokenizer: text to ids, and ids to text.
///
/// It is immutable, and cheap to clone: clones share the vocabulary, and the working memory of encoding. Any number of
/// threads may use it at once.
///
/// Which special tokens become their ids is asked for at each call: `true` stands for all special tokens of the tokenizer,
/// `false` for none, so that their names in a text are ordinary text. Give `false` for text that is not trusted.
///
/// ```
/// use toksmith::Tokenizer;
///
/// # let lines: String = (0..=255u32).map(|byte| {
/// #     let bits = byte << 16;
/// #     let letter = |at: u32| {
/// #         char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[(bits >> (18 - 6 * at) & 63) as usize])
/// #     };
/// #     format!("{}{}== {byte}\n", letter(0), letter(1))
/// # }).collect();
/// # let folder = std::env::temp_dir().join(format!("toksmith-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("bytes.tiktoken");
/// # std::fs::write(&path, lines + "bG93 256\nIGxvdw== 257\n")?;
/// // A rank file has neither pattern nor special tokens: they are given beside it.
/// let tokenizer = Tokenizer::from_tiktoken(&path, "cl100k", &[("<|endoftext|>", 300)])?;
/// let ids = tokenizer.encode("low low<|endoftext|>", true)?;
/// assert_eq!(ids, [256, 257, 300]);
/// assert_eq!(tokenizer.decode(&ids)?, "low low<|endoftext|>");
/// assert_eq!(tokenizer.count("low low", false)?, 2);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Tokenizer {
    encoder: Arc<Encoder>,
    /// The decoder of a Hugging Face tokenizer; `None` where the bytes of ids are joined.
    decoder: Option<Arc<TextDecoder>>,
    /// The pattern of a tokenizer without the steps of Hugging Face.
    pattern: Option<SourcePattern>,
    warnings: Vec<String>,
}

impl Tokenizer {
    pub(super) fn of(encoder: Encoder, pattern: SourcePattern) -> Self {
        Tokenizer { encoder: Arc::new(encoder), decoder: None, pattern: Some(pattern), warnings: Vec::new() }
    }

    /// Loads a rank file of tiktoken, such as `cl100k_base.tiktoken`, or the `tokenizer.model` of Llama 3.
    ///
    /// `pattern` is a name or a regular expression. The names are `gpt2`, `cl100k`, `o200k`, `llama3`, `qwen2`, `qwen3.5`,
    /// `tekken` and `nanochat`, and those of tiktoken's encodings. An expression is in the dialect of tiktoken, and text
    /// that it does not match is dropped, as tiktoken does. `special_tokens` are names with ids.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::InFile`] for a malformed file, and for special tokens that do not fit its ids;
    /// [`Error::Pattern`] for a pattern that looks like a name and is none, and for one with a construct that is not
    /// regular, such as a look behind, which it names.
    pub fn from_tiktoken(
        path: impl AsRef<Path>,
        pattern: &str,
        special_tokens: &[(&str, u32)],
    ) -> Result<Self> {
        let pattern = patterns::of_tiktoken(pattern)?;
        let specials: Vec<_> =
            special_tokens.iter().map(|(name, id)| (name.as_bytes().to_vec(), Some(*id))).collect();
        of_file(path.as_ref(), |data| {
            let vocab = Vocab::of_views(RankLines::parse(data)?.tokens(), None, &specials)?;
            Ok(Self::of(Encoder::try_new(vocab, pattern.pretokenizer.clone())?, pattern))
        })
    }

    /// Loads a `tokenizer.json` of Hugging Face, or the one in a folder. Its model is a BPE of bytes or of characters.
    ///
    /// Encoding gives the ids of `tokenizers`; a part of the file that cannot be reproduced exactly is refused. A template
    /// adds no tokens around a text, and texts are neither truncated nor padded.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::InFile`] for a malformed file, or a part that is not supported; it names the place.
    pub fn from_huggingface(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let inside = path.join("tokenizer.json");
        of_file(if path.is_dir() { &inside } else { path }, |data| {
            let file = TokenizerFile::read(data, false)?;
            let steps = file.steps(&SyntaxTables)?;
            let post_processor = file.part("post_processor")?;
            if !post_processor.is_null() {
                read_post_processor(&post_processor)?;
            }
            let (encoder, decoder) = steps.around(&Arc::new(file.encoder(&steps, None)?))?;
            Ok(Tokenizer {
                encoder,
                decoder: Some(Arc::new(decoder)),
                pattern: None,
                warnings: file.warnings,
            })
        })
    }

    /// Loads toksmith's own file, which `save` of the Python package writes.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::InFile`] for a malformed file, one of a later version of the format, or a pattern that only
    /// the Python package runs.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        of_file(path.as_ref(), |data| {
            let file = NativeFile::read(data)?;
            let Some(steps) = file.steps()? else {
                let (source, flags, unmatched) = file.pattern()?;
                let pattern = patterns::of_source(source.as_deref(), flags, unmatched)?;
                let warnings =
                    patterns::warning(&pattern.pretokenizer, file.unicode()?).into_iter().collect();
                let encoder = Encoder::try_new(file.vocab()?, pattern.pretokenizer.clone())?;
                return Ok(Tokenizer { warnings, ..Self::of(encoder, pattern) });
            };
            let pretokenizer = steps.pretokenizer();
            let warnings = patterns::warning(&pretokenizer, file.unicode()?).into_iter().collect();
            let (encoder, decoder) =
                steps.around(&Arc::new(Encoder::try_new(file.vocab()?, pretokenizer)?))?;
            Ok(Tokenizer { encoder, decoder: Some(Arc::new(decoder)), pattern: None, warnings })
        })
    }

    /// Saves the tokenizer as toksmith's own file, which [`Tokenizer::load`] and the Python package read. The file is the old
    /// one or all of the new one, whatever happens meanwhile.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::InFile`] for a tokenizer of Hugging Face, whose `tokenizer.json` is its file.
    #[cfg(feature = "train")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let content = match &self.pattern {
            Some(pattern) => NativeFile::write(self.encoder.vocab(), &pattern.fields()),
            None => Err(Error::Pattern("a tokenizer of Hugging Face is kept as its tokenizer.json".into())),
        };
        let content = content.map_err(|error| in_file(path, error))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut file = new_file(folder.unwrap_or(Path::new("."))).map_err(failed)?;
        file.write_all(&content).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        file.persist(path).map(drop).map_err(|error| failed(error.error))
    }

    /// What was noticed while loading: an id that differs from the one in the file, or a pattern that was made under
    /// another version of Unicode.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The ids of a text.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; the errors of a Hugging Face file whose steps make a text too long, or whose unknown token is
    /// missing. A pretoken has less than 4 GiB.
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
    ///
    /// # Errors
    /// Same as [`Tokenizer::encode`].
    pub fn count<'a>(&'a self, text: &str, special: impl Into<SpecialTokens<'a>>) -> Result<usize> {
        self.encoder.count(text.as_bytes(), special, &Control::none())
    }

    /// The text of ids. Bytes that are not UTF-8, as ids from the middle of a character have, become U+FFFD.
    ///
    /// # Errors
    /// [`Error::UnknownId`] with the place of an id that is not there.
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
    ///
    /// # Errors
    /// Same as [`Tokenizer::decode`].
    pub fn decode_bytes(&self, ids: &[u32]) -> Result<Vec<u8>> {
        let vocab = self.encoder.vocab();
        match self.decoder.as_deref().filter(|decoder| !decoder.is_plain()) {
            None => decode(vocab, ids, &Control::none()),
            Some(decoder) => match decoder.joined(vocab, ids)? {
                Some(bytes) => Ok(bytes),
                None => decoder.decode(vocab, ids).map(String::into_bytes),
            },
        }
    }

    /// Encodes a text that arrives in parts.
    ///
    /// ```
    /// # fn main() -> Result<(), toksmith::Error> {
    /// let tokenizer = toksmith::train(["low low low lower"], &toksmith::TrainOptions::new(260))?;
    /// let (mut stream, mut ids) = (tokenizer.stream(true), Vec::new());
    /// for part in ["lo", "w low", "er"] {
    ///     stream.push(part, &mut ids)?;
    /// }
    /// stream.finish(&mut ids)?;
    /// assert_eq!(ids, tokenizer.encode("low lower", true)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(&self, special: bool) -> EncodeStream {
        EncodeStream::new(Arc::clone(&self.encoder), special)
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

/// Reads a file and makes a tokenizer of its content; an error in it names the file.
fn of_file(path: &Path, make: impl FnOnce(&[u8]) -> Result<Tokenizer>) -> Result<Tokenizer> {
    let data = read(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    let made = room::check_available(4 * data.len()).and_then(|()| match data.len() as u64 > MAX_BYTES {
        true => {
            Err(Error::BrokenPart("too large".into(), format!("a tokenizer has at most {MAX_BYTES} bytes")))
        }
        false => make(&data),
    });
    made.map_err(|error| in_file(path, error))
}

fn in_file(path: &Path, error: Error) -> Error {
    Error::InFile { path: path.to_owned(), source: Box::new(error) }
}

/// A file that has no name yet, with the permissions of any new file.
#[cfg(feature = "train")]
fn new_file(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let builder = &mut tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// The content of a file, or the first bytes of one that is too large.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut data = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut data)?;
    Ok(data)
}
