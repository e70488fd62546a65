//! Tokenizers from files of any format.

use std::fs::File;
use std::io::Read;
#[cfg(feature = "train")]
use std::io::Write;
use std::path::Path;

use super::huggingface::TokenizerFile;
use super::native::NativeFile;
use super::others::other;
use super::ranks::RankLines;
use super::tekken::TekkenFile;
use crate::dialects::SyntaxTables;
use crate::error::{Error, Result};
use crate::room;
use crate::tokenizer::parts::read_post_processor;
use crate::tokenizer::{SourcePattern, Tokenizer};
use crate::vocab::Vocab;

/// The maximum number of bytes of a file that holds a tokenizer: ten times the largest published one.
const MAX_BYTES: u64 = 1 << 28;
/// The number of bytes at the beginning of a file by which it is recognised.
pub const HEAD_BYTES: usize = 1 << 12;

/// A format of files that hold a tokenizer.
pub struct FileKind {
    /// Its name.
    pub name: &'static str,
    /// Whether a file is of this format, by its first [`HEAD_BYTES`].
    is_beginning: fn(&[u8]) -> bool,
    read: fn(&[u8]) -> Result<Tokenizer>,
}

/// All formats, in the order in which they are tried.
pub const FORMATS: [FileKind; 6] = [
    FileKind { name: "ranks", is_beginning: RankLines::is_beginning, read: refuse_ranks },
    FileKind {
        name: "gguf",
        is_beginning: |head| head.starts_with(b"GGUF"),
        read: |data| of_huggingface(TokenizerFile::read_gguf(data, None)?),
    },
    FileKind {
        name: "sentencepiece",
        is_beginning: TokenizerFile::is_sentencepiece,
        read: |data| of_huggingface(TokenizerFile::read_sentencepiece(data)?),
    },
    FileKind { name: "native", is_beginning: NativeFile::is_beginning, read: of_native },
    FileKind { name: "tekken", is_beginning: TekkenFile::is_beginning, read: of_tekken },
    FileKind {
        name: "huggingface",
        is_beginning: |head| head.trim_ascii_start().starts_with(b"{"),
        read: |data| of_huggingface(TokenizerFile::read(data, false)?),
    },
];

/// Recognises the format of a file by its first bytes; `None` if no format matches.
///
/// # Errors
/// [`Error::NoTokenizer`] for a file of another kind that is known: says what it is, and what to do.
pub fn recognise(head: &[u8]) -> Result<Option<&'static FileKind>> {
    match other(head) {
        Some(kind) if !RankLines::is_beginning(head) => Err(Error::NoTokenizer(kind)),
        _ => Ok(FORMATS.iter().find(|format| (format.is_beginning)(head))),
    }
}

impl Tokenizer {
    /// Loads a file, or the `tokenizer.json` in a folder: toksmith's own file, a `tokenizer.json` of Hugging Face, Mistral's
    /// `tekken.json`, a `.model` of SentencePiece or a GGUF file. The format is recognised by the content, not by the name.
    ///
    /// Ids are those of the library of the format; a part that cannot be reproduced exactly is refused. A template adds no
    /// tokens around a text, and texts are neither truncated nor padded.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::InFile`] for a malformed file, or a part that is not supported, with its place; for a rank
    /// file, which [`Tokenizer::from_tiktoken`] loads; and for a pattern that only the Python package runs.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let inside = path.join("tokenizer.json");
        of_file(if path.is_dir() { &inside } else { path }, |data| {
            match recognise(&data[..data.len().min(HEAD_BYTES)])? {
                Some(format) => (format.read)(data),
                None => of_native(data),
            }
        })
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
        let pattern = SourcePattern::of_tiktoken(pattern)?;
        of_file(path.as_ref(), |data| {
            let vocab = Vocab::new(&RankLines::parse(data)?.tokens(), None, &specs(special_tokens))?;
            Tokenizer::new(vocab, pattern)
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
        let content = match self.pattern() {
            Some(pattern) => NativeFile::write(self.vocab(), &pattern.fields()),
            None => Err(Error::Pattern("a tokenizer of Hugging Face is kept as its tokenizer.json".into())),
        };
        let content = content.map_err(|error| in_file(path, error))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut file = new_file(folder.unwrap_or(Path::new("."))).map_err(failed)?;
        file.write_all(&content).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        file.persist(path).map(drop).map_err(|error| failed(error.error))
    }
}

fn of_native(data: &[u8]) -> Result<Tokenizer> {
    let file = NativeFile::read(data)?;
    let tokenizer = if let Some(steps) = file.steps()? {
        Tokenizer::with_steps(file.vocab()?, &steps)?
    } else {
        let (source, flags, unmatched) = file.pattern()?;
        Tokenizer::new(file.vocab()?, SourcePattern::of_source(source.as_deref(), flags, unmatched)?)?
    };
    let warnings = tokenizer.unicode_warning(file.unicode()?).into_iter().collect();
    Ok(tokenizer.with_warnings(warnings))
}

fn of_huggingface(file: TokenizerFile) -> Result<Tokenizer> {
    let steps = file.steps(&SyntaxTables)?;
    let post_processor = file.part("post_processor")?;
    if !post_processor.is_null() {
        read_post_processor(&post_processor)?;
    }
    let vocab = file.vocab(steps.spelling(), &steps.token_texts()?, None)?;
    Ok(Tokenizer::with_steps(vocab, &steps)?.with_warnings(file.warnings))
}

fn of_tekken(data: &[u8]) -> Result<Tokenizer> {
    let file = TekkenFile::parse(data)?;
    Tokenizer::new(file.vocab()?, SourcePattern::of_tiktoken_source(&file.pattern)?)
}

fn refuse_ranks(_: &[u8]) -> Result<Tokenizer> {
    let reason = "a rank file holds no pattern: Tokenizer::from_tiktoken takes one beside it";
    Err(Error::Pattern(reason.into()))
}

/// Special tokens with their ids, as a vocabulary takes them.
fn specs(special_tokens: &[(&str, u32)]) -> Vec<(Vec<u8>, Option<u32>)> {
    special_tokens.iter().map(|(name, id)| (name.as_bytes().to_vec(), Some(*id))).collect()
}

/// Reads a file and makes a tokenizer of its content; an error in it names the file.
fn of_file(path: &Path, make: impl FnOnce(&[u8]) -> Result<Tokenizer>) -> Result<Tokenizer> {
    let data = read(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    // Behind the tokenizer of a GGUF file there may be gigabytes of weights.
    let is_too_large = data.len() as u64 > MAX_BYTES && !data.starts_with(b"GGUF");
    let made = room::check_available(4 * data.len()).and_then(|()| match is_too_large {
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
