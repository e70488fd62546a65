//! The table of formats, and how the format of a file is recognised.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::huggingface::{self, TokenizerFile};
use super::minbpe::{self, MinbpeFile};
use super::native::{self, NativeFile};
use super::options::{Context, LoadOptions};
use super::others::other;
use super::ranks::{self, RankLines};
use super::reading::{self, HEAD_BYTES};
use super::{gguf, sentencepiece, tekken};
use crate::error::{Error, Result};
use crate::room;
use crate::tokenizer::parts::PatternEngines;
use crate::tokenizer::{Provenance, Tokenizer};

/// The maximum number of bytes of a file that holds a tokenizer: ten times the largest published one.
const MAX_BYTES: u64 = 1 << 28;

/// The maximum number of bytes of a `tokenizer.json`. The largest published ones have 35 MB.
const MAX_JSON: u64 = 100 << 20;

/// The content of a file: its bytes, or a stream where gigabytes may follow what is read.
pub(super) struct Content<'a> {
    reader: &'a mut dyn Read,
    /// The number of bytes of a regular file.
    len: usize,
    max_bytes: u64,
}

impl Content<'_> {
    /// All bytes.
    fn bytes(&mut self) -> Result<Vec<u8>> {
        let max_bytes = self.max_bytes;
        let too_large =
            Error::Invalid(format!("larger than {max_bytes} bytes, the limit for a file of this kind"));
        if self.len as u64 > max_bytes {
            return Err(too_large);
        }
        // A vocabulary takes several times as much.
        room::check_available(4 * self.len)?;
        let mut data = room::for_items(self.len + 1)?;
        self.reader.take(max_bytes + 1).read_to_end(&mut data).map_err(Error::Reading)?;
        if data.len() as u64 > max_bytes { Err(too_large) } else { Ok(data) }
    }
}

/// The content of each file of a tokenizer.
type Contents = Vec<Vec<u8>>;

/// A format of files that hold a tokenizer.
#[derive(Clone, Copy)]
pub struct FileKind {
    /// Its name.
    pub name: &'static str,
    /// What is written, for people.
    pub about: &'static str,
    /// The names of several files in a folder; none for a file of any name.
    pub files: &'static [&'static str],
    /// Whether a file is of this format, by its name and its first [`HEAD_BYTES`].
    recognises: fn(&Path, &[u8]) -> bool,
    read: fn(&mut Content<'_>, Context<'_>) -> Result<Tokenizer>,
    write: fn(&Tokenizer, &dyn PatternEngines) -> Result<Contents>,
}

/// All formats, in the order in which they are tried. What leads a folder is in [`super::folder`].
pub const FORMATS: [FileKind; 8] = [
    FileKind {
        name: "tiktoken",
        about: "a rank file",
        files: &[],
        recognises: |path, head| {
            path.extension().is_some_and(|suffix| suffix == "tiktoken") || RankLines::is_beginning(head)
        },
        read: |content, Context { options, .. }| {
            let pattern = options.pattern.clone().ok_or_else(|| Error::Pattern(NO_PATTERN.into()))?;
            ranks::read(content.bytes()?, pattern, &options.special_tokens, Provenance::default())
        },
        write: |tokenizer, _| Ok(vec![ranks::write(tokenizer)?]),
    },
    FileKind {
        name: "gpt2",
        about: "a folder with vocab.json and merges.txt",
        files: &["vocab.json", "merges.txt"],
        recognises: |_, _| false,
        read: |_, _| Err(Error::NoTokenizer("two files: name the folder that has vocab.json and merges.txt")),
        write: |tokenizer, _| tokenizer.to_gpt2().map(Vec::from),
    },
    FileKind {
        name: "gguf",
        about: "the metadata that llama.cpp reads",
        files: &[],
        recognises: |_, head| head.starts_with(b"GGUF"),
        read: |content, context| {
            let pre = context.options.pre_tokenizer.as_deref();
            huggingface::tokenizer_of(TokenizerFile::read_gguf(&mut content.reader, pre)?, context)
        },
        write: |tokenizer, engines| Ok(vec![gguf::writer::write(tokenizer, engines)?]),
    },
    FileKind {
        name: "sentencepiece",
        about: "a .model",
        files: &[],
        recognises: |_, head| TokenizerFile::is_sentencepiece(head),
        read: |content, context| {
            huggingface::tokenizer_of(TokenizerFile::read_sentencepiece(&content.bytes()?)?, context)
        },
        write: |tokenizer, _| Ok(vec![sentencepiece::writer::write(tokenizer)?]),
    },
    FileKind {
        name: "minbpe",
        about: "a .model file of minbpe",
        files: &[],
        recognises: |_, head| MinbpeFile::is_beginning(head),
        read: |content, context| minbpe::read(&content.bytes()?, context.engines),
        write: |tokenizer, _| Ok(vec![minbpe::write(tokenizer)?]),
    },
    FileKind {
        name: "toksmith",
        about: "a file that holds everything",
        files: &[],
        recognises: |_, head| NativeFile::is_beginning(head),
        read: |content, context| native::read(&content.bytes()?, context.engines),
        write: |tokenizer, _| Ok(vec![native::write(tokenizer)?]),
    },
    FileKind {
        name: "tekken",
        about: "Mistral's tekken.json",
        files: &[],
        recognises: |_, head| tekken::is_beginning(head),
        read: |content, context| tekken::read(&content.bytes()?, context.engines),
        write: |tokenizer, engines| Ok(vec![tekken::write(tokenizer, engines)?]),
    },
    FileKind {
        name: "huggingface",
        about: "a folder with tokenizer.json",
        files: &["tokenizer.json"],
        recognises: |_, head| head.trim_ascii_start().starts_with(b"{"),
        read: |content, context| {
            huggingface::tokenizer_of(TokenizerFile::read(&content.bytes()?, false)?, context)
        },
        write: |tokenizer, engines| Ok(vec![huggingface::pretty(&huggingface::write(tokenizer, engines)?)]),
    },
];
/// The message of a rank file without a pattern.
pub const NO_PATTERN: &str = "a rank file holds no pattern: Tokenizer::from_tiktoken takes one beside it";

/// Recognises the format of a file by its suffix or its first bytes; `None` if no format matches.
///
/// # Errors
/// [`Error::NoTokenizer`] for a file of another kind that is known: says what it is, and what to do.
fn recognise(path: &Path, head: &[u8]) -> Result<Option<&'static FileKind>> {
    let kind = FORMATS.iter().find(|kind| (kind.recognises)(path, head));
    match other(head) {
        // Whatever else is JSON begins as a `tokenizer.json` does.
        Some(reason) if kind.is_none_or(|kind| kind.name == "huggingface") => Err(Error::NoTokenizer(reason)),
        _ => Ok(kind),
    }
}

/// The format of a name.
pub fn kind_of(name: &str) -> Result<&'static FileKind> {
    FORMATS.iter().find(|kind| kind.name == name).ok_or(Error::NoTokenizer("no format has this name"))
}

impl FileKind {
    fn max_bytes(&self) -> u64 {
        if self.name == "huggingface" { MAX_JSON } else { MAX_BYTES }
    }

    /// The tokenizer of a file's content.
    pub fn read(
        &self,
        data: &[u8],
        options: &LoadOptions,
        engines: &dyn PatternEngines,
    ) -> Result<Tokenizer> {
        let mut content = Content { reader: &mut &*data, len: data.len(), max_bytes: self.max_bytes() };
        (self.read)(&mut content, Context { engines, options })
    }

    /// The contents of the files of a tokenizer.
    pub fn write(&self, tokenizer: &Tokenizer, engines: &dyn PatternEngines) -> Result<Contents> {
        (self.write)(tokenizer, engines)
    }
}

/// A file that is open, with its format.
pub(super) struct OpenFile {
    path: PathBuf,
    head: Vec<u8>,
    rest: BufReader<File>,
    len: u64,
    pub(super) kind: &'static FileKind,
}

impl OpenFile {
    /// Opens a file of any format, or of the format of a name.
    pub(super) fn new(path: &Path, format: Option<&str>) -> Result<Self> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let file = reading::open(path).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        let (mut head, mut rest) = (Vec::new(), BufReader::new(file));
        (&mut rest).take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(failed)?;
        reading::check_whole(path, &head)?;
        let kind = match format {
            Some(format) => kind_of(format),
            // Of an unknown one toksmith's own reader raises the error.
            None => recognise(path, &head).and_then(|kind| kind.map_or_else(|| kind_of("toksmith"), Ok)),
        };
        let kind = kind.map_err(|error| in_file(path, error))?;
        Ok(OpenFile { path: path.to_owned(), head, rest, len, kind })
    }

    /// Calls `read` with the content; an error in it names the file.
    fn with_content<T>(self, read: impl FnOnce(&mut Content<'_>) -> Result<T>) -> Result<T> {
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        let max_bytes = self.kind.max_bytes();
        match read(&mut Content { reader: &mut self.head.chain(self.rest), len, max_bytes }) {
            Err(Error::Reading(source)) => Err(Error::Io { path: self.path, source }),
            result => result.map_err(|error| in_file(&self.path, error)),
        }
    }

    pub(super) fn bytes(self) -> Result<Vec<u8>> {
        self.with_content(|content| content.bytes())
    }

    /// The tokenizer of the file alone.
    pub(super) fn tokenizer(self, context: Context<'_>) -> Result<Tokenizer> {
        let kind = self.kind;
        self.with_content(|content| (kind.read)(content, context))
    }
}

/// An error with the file that it is of; memory that is not there is of no file.
pub(super) fn in_file(path: &Path, error: Error) -> Error {
    match error {
        Error::InFile { .. } | Error::Io { .. } | Error::Unread { .. } | Error::OutOfMemory { .. } => error,
        error => Error::InFile { path: path.to_owned(), source: Box::new(error) },
    }
}
