//! Tokenizers from files and folders, and into files.

use std::path::{Path, PathBuf};

use super::folder::{Lead, pair_in};
use super::gpt2;
use super::huggingface::auto::with_side_files;
use super::huggingface::classes::{class_of, makes_parts, no_class, says_something};
use super::huggingface::side_files::SideFiles;
use super::huggingface::vocabularies::{RankFile, file_of_pair, file_of_pieces, of_rank_file};
use super::huggingface::{self, TokenizerFile, tokenizer_of};
use super::options::{Context, LoadOptions};
use super::ranks::{self, RankLines};
use super::reading;
use super::table::{NO_PATTERN, OpenFile, in_file, kind_of};
use crate::dialects::{SyntaxTables, from_fancy_regex};
use crate::error::{Error, Result};
use crate::pretokenize::{Named, Unmatched, spellings};
use crate::tokenizer::parts::PatternEngines;
use crate::tokenizer::{ADDED, CONFIG, Origin, Provenance, SPECIALS, SourcePattern, Tokenizer};
use crate::vocab::SpecialSpec;

const MAX_BYTES: u64 = 1 << 28;

/// Loads a file or a folder of any format, or of the format of a name. In a folder, the files beside the
/// vocabulary are applied as `AutoTokenizer` of transformers does it, unless the pattern is an option.
pub fn load(
    path: &Path,
    format: Option<&str>,
    options: &LoadOptions,
    engines: &dyn PatternEngines,
) -> Result<Tokenizer> {
    let context = Context { engines, options };
    let is_folder = path.is_dir();
    let file = match lead(path, format)? {
        Lead::File(file) => file,
        Lead::Pair(pair) => return of_pair(path, &pair, context),
    };
    let open = OpenFile::new(&file, format)?;
    let is_named = file.file_name().is_some_and(|name| name == "tokenizer.json");
    let made = match open.kind.name {
        "huggingface" if is_folder || is_named => of_huggingface(open.bytes()?, &file, context),
        "sentencepiece" if is_folder => of_pieces(open, &file, context),
        "tiktoken" if is_folder && options.pattern.is_none() => of_ranks(open.bytes()?, &file, context),
        _ => return open.tokenizer(context).map(|made| naming(made, &file)),
    };
    made.map(|made| naming(made, &file)).map_err(|error| in_file(&file, error))
}

/// The files that hold the tokenizer of a path.
pub fn lead(path: &Path, format: Option<&str>) -> Result<Lead> {
    match format {
        _ if !path.is_dir() => Ok(Lead::File(path.to_owned())),
        Some("huggingface") => Ok(Lead::File(path.join("tokenizer.json"))),
        Some("toksmith") => {
            Err(Error::Io { path: path.to_owned(), source: std::io::ErrorKind::IsADirectory.into() })
        }
        Some("gpt2") => pair_in(path).map(Lead::Pair).map_or_else(|| Lead::of_folder(path), Ok),
        _ => Lead::of_folder(path),
    }
}

/// The name of the format of a path. With `with_options`, that of GPT-2's two files in a folder that has a
/// `tokenizer.json` as well: these take options.
pub fn format_of(path: &Path, with_options: bool) -> Result<&'static str> {
    let file = match lead(path, None)? {
        Lead::Pair(_) => return Ok("gpt2"),
        Lead::File(file) => file,
    };
    match OpenFile::new(&file, None)?.kind.name {
        "huggingface" if with_options && path.is_dir() && pair_in(path).is_some() => Ok("gpt2"),
        name => Ok(name),
    }
}

/// The tokenizer of GPT-2's two files alone.
pub fn load_pair(
    [vocab, merges]: &[PathBuf; 2],
    specials: &[SpecialSpec],
    pattern: SourcePattern,
) -> Result<Tokenizer> {
    let data = [reading::read(vocab, MAX_BYTES)?, reading::read(merges, MAX_BYTES)?];
    let made = gpt2::read((vocab, &data[0]), (merges, &data[1]), specials);
    let both = PathBuf::from(format!("{}, {}", vocab.display(), merges.display()));
    made.and_then(|vocab| Tokenizer::new(vocab, pattern, Provenance::default()))
        .map_err(|error| in_file(&both, error))
}

/// The tokenizer of GPT-2's two files, with what the files beside them say unless there is a pattern.
fn of_pair(folder: &Path, pair: &[PathBuf; 2], context: Context<'_>) -> Result<Tokenizer> {
    let Context { engines, options } = context;
    if let Some(pattern) = &options.pattern {
        return load_pair(pair, &options.special_tokens, pattern.clone());
    }
    let (files, warnings) = SideFiles::read(folder);
    if !says_something(&files) {
        let pattern = engines.pattern(Named::Gpt2.expression(), 0, Unmatched::Keep)?;
        return load_pair(pair, &options.special_tokens, pattern).map(|made| made.with_warnings(warnings));
    }
    let data = [reading::read(&pair[0], MAX_BYTES)?, reading::read(&pair[1], MAX_BYTES)?];
    let merges = gpt2::merges_of((&pair[1], &data[1]))?;
    let names = gpt2::names_of((&pair[0], &data[0]))?;
    let made = file_of_pair(&names, &merges).and_then(|file| beside(file, false, (files, warnings), context));
    made.map_err(|error| in_file(folder, error))
}

/// The tokenizer of a `tokenizer.json`, with what the files beside it say.
fn of_huggingface(data: Vec<u8>, path: &Path, context: Context<'_>) -> Result<Tokenizer> {
    let file = TokenizerFile::read(&data, false)?;
    drop(data);
    beside(file, true, SideFiles::read(parent(path)), context)
}

/// The tokenizer of a `tokenizer.json`, which is a file or made of another vocabulary, with what the files
/// beside it say.
fn beside(
    file: TokenizerFile,
    has_file: bool,
    (files, mut warnings): (SideFiles, Vec<String>),
    context: Context<'_>,
) -> Result<Tokenizer> {
    let class = class(&files, &mut warnings, context);
    let file = with_side_files(file, has_file, files, class.as_deref(), &mut warnings)?;
    let made = tokenizer_of(file, context)?;
    let warnings = [warnings, made.warnings().to_vec()].concat();
    Ok(made.with_warnings(warnings))
}

fn class(files: &SideFiles, warnings: &mut Vec<String>, context: Context<'_>) -> Option<String> {
    match says_something(files) {
        true => class_of(files, &|model| context.engines.tokenizer_class(model), warnings),
        false => None,
    }
}

/// The tokenizer of a `.model` in a folder. What the files beside it say is left out, with a warning, where
/// it cannot be applied.
fn of_pieces(open: OpenFile, path: &Path, context: Context<'_>) -> Result<Tokenizer> {
    let plain = open.tokenizer(context)?;
    let (files, mut warnings) = SideFiles::read(parent(path));
    let class = class(&files, &mut warnings, context);
    let has_tokens = [ADDED, SPECIALS, CONFIG].iter().any(|name| files.get(name).is_some());
    if class.is_none() && !has_tokens {
        return Ok(plain.with_warnings(warnings));
    }
    warnings.extend(no_class(class.as_deref()));
    let file = match plain.pipeline().filter(|_| makes_parts(class.as_deref())) {
        Some(pipeline) => {
            let unknown = pipeline.spec()["characters"]["unk_token"].as_str();
            file_of_pieces(&huggingface::names(&plain)?, pipeline.added_tokens(), unknown)
        }
        None => huggingface::write(&plain, context.engines)
            .and_then(|content| TokenizerFile::read(content.to_string().as_bytes(), false)),
    };
    let made = file.and_then(|file| beside(file, false, (files, warnings.clone()), context));
    match made {
        Err(Error::OutOfMemory { bytes }) => Err(Error::OutOfMemory { bytes }),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.split("; save(").next().unwrap_or_default();
            warnings.push(format!("what the files beside it say is not applied: {reason}"));
            Ok(plain.with_warnings(warnings))
        }
        made => made,
    }
}

/// The tokenizer of a rank file whose pattern and special tokens stand in the code of its model: Kimi's or
/// Qwen 1's.
fn of_ranks(data: Vec<u8>, path: &Path, context: Context<'_>) -> Result<Tokenizer> {
    let engines = context.engines;
    let (files, mut warnings) = SideFiles::read(parent(path));
    let count = RankLines::parse(&data)?.tokens().len() as u32;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some(known) = of_rank_file(&name, count, &files, &mut warnings) else {
        return Err(Error::Pattern(NO_PATTERN.into()));
    };
    let RankFile { pattern, special_tokens, normalizer } = known;
    let expression = match pattern {
        "kimi" => from_fancy_regex(spellings::KIMI)?,
        name => Named::of(name, &spellings::NAMES).map(Named::expression).unwrap_or_default().to_owned(),
    };
    let pattern = engines.pattern(&expression, 0, Unmatched::Keep)?;
    let specials = special_tokens.into_iter().map(|(name, id)| (name.into_bytes(), Some(id)));
    let specials: Vec<_> = specials.collect();
    if normalizer.is_null() {
        let origin = Some(Origin { files: files.0, ..Origin::default() });
        let made = ranks::read(data, pattern, &specials, Provenance { record: None, origin })?;
        return Ok(made.with_warnings(warnings));
    }
    let plain = ranks::read(data, pattern, &specials, Provenance::default())?;
    let mut content = huggingface::write(&plain, engines)?;
    content["normalizer"] = normalizer;
    let made = huggingface::read_huggingface(
        content.to_string().as_bytes(),
        files.0,
        false,
        context.options,
        engines,
    )?;
    Ok(made.with_warnings(warnings))
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The tokenizer with warnings that name its file.
fn naming(made: Tokenizer, path: &Path) -> Tokenizer {
    let warnings = made.warnings().iter().map(|warning| format!("{}: {warning}", path.display())).collect();
    made.with_warnings(warnings)
}

impl Tokenizer {
    /// Loads a file or the folder of a model: toksmith's own file, a `tokenizer.json` of Hugging Face,
    /// Mistral's `tekken.json`, a `.model` of SentencePiece or of minbpe, a GGUF file, or GPT-2's two files.
    /// The format is recognised by the content. The other files of a folder add tokens and name a class, as
    /// `AutoTokenizer` of transformers reads them.
    ///
    /// Ids are those of the library of the format; a part that cannot be reproduced exactly is refused. A
    /// template adds no tokens around a text, and texts are neither truncated nor padded.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::InFile`] for a malformed file, or a part that is not supported, with its
    /// place; for a rank file, which [`Tokenizer::from_tiktoken`] loads; and for a pattern that only the
    /// Python package runs.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        load(path.as_ref(), None, &LoadOptions::default(), &SyntaxTables)
    }

    /// Loads a rank file of tiktoken, such as `cl100k_base.tiktoken`, or the `tokenizer.model` of Llama 3.
    ///
    /// `pattern` is a name or a regular expression. The names are `gpt2`, `cl100k`, `o200k`, `llama3`,
    /// `qwen2`, `qwen3.5`, `tekken` and `nanochat`, and those of tiktoken's encodings. An expression is in
    /// the dialect of tiktoken, and text that it does not match is dropped, as tiktoken does.
    /// `special_tokens` are names with ids.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::InFile`] for a malformed file, and for special tokens that do not fit its ids;
    /// [`Error::Pattern`] for a pattern that looks like a name and is none, and for one with a construct that
    /// is not regular, such as a look behind, which it names.
    pub fn from_tiktoken(
        path: impl AsRef<Path>,
        pattern: &str,
        special_tokens: &[(&str, u32)],
    ) -> Result<Self> {
        let specials = special_tokens.iter().map(|(name, id)| (name.as_bytes().to_vec(), Some(*id)));
        let options = LoadOptions {
            pattern: Some(SourcePattern::of_tiktoken(pattern)?),
            special_tokens: specials.collect(),
            ..LoadOptions::default()
        };
        load(path.as_ref(), Some("tiktoken"), &options, &SyntaxTables)
    }

    /// The content of the file of a format: `toksmith`, `huggingface` (a `tokenizer.json`), `tiktoken`,
    /// `tekken`, `sentencepiece`, `gguf` or `minbpe`; of `gpt2`, the first of
    /// [its two files](Tokenizer::to_gpt2).
    ///
    /// # Errors
    /// [`Error::Unwritable`] if the format cannot hold the tokenizer: names the part. [`Error::NoTokenizer`]
    /// for another format.
    pub fn to_bytes(&self, format: &str) -> Result<Vec<u8>> {
        Ok(kind_of(format)?.write(self, &SyntaxTables)?.swap_remove(0))
    }

    /// The contents of GPT-2's two files, `vocab.json` and `merges.txt`.
    ///
    /// # Errors
    /// [`Error::Unwritable`] for a tokenizer that they cannot hold; [`Error::OutOfMemory`].
    pub fn to_gpt2(&self) -> Result<[Vec<u8>; 2]> {
        if let Some(pipeline) = self.pipeline() {
            pipeline.check_fits("vocab.json and merges.txt")?;
        }
        gpt2::write(self.vocab())
    }

    /// Saves the tokenizer as toksmith's own file, which holds everything and which [`Tokenizer::load`] and
    /// the Python package read. The file is the old one or all of the new one, whatever happens meanwhile.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let content = self.to_bytes("toksmith").map_err(|error| in_file(path, error))?;
        crate::source::write_whole(path, &content)
    }
}
