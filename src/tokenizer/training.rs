//! Training a tokenizer on texts and files.

use std::fs::File;
use std::path::Path;

use super::builder::{Preprocessing, Provenance};
use super::pattern::SourcePattern;
use super::record::Record;
use super::tokenizer::Tokenizer;
use crate::control::Control;
use crate::count::{CountOptions, Counting};
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::pipeline::AddedToken;
use crate::source::{AnyRead, DocumentFormat, Format, InputFile, format_of_file};
use crate::special::Specials;
use crate::train::{Layout, Merge, Options, Saver, SpecialIds, Start, Ties, build_vocab, learn_from};

/// The options of [`train`]. All but `workers` decide the result.
///
/// ```
/// let mut options = toksmith::TrainOptions::new(1_000);
/// options.special_tokens = vec!["<|endoftext|>".into()];
/// options.pattern = "cl100k".into();
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TrainOptions {
    /// Tokens of the result: special tokens, 256 bytes, and merges.
    pub vocab_size: u32,
    /// Tokens that separate documents, and are never counted, split or merged. Their ids come first, then
    /// those of the bytes, and those of merges.
    pub special_tokens: Vec<String>,
    /// What cuts text into pretokens: a name, as in [`Tokenizer::from_tiktoken`], or an expression in the
    /// dialect of the Python package `regex`. Default: `gpt2`.
    pub pattern: String,
    /// Which of several pairs of equal count merges first.
    pub ties: Ties,
    /// A pair that occurs less often is not merged. Default: 1.
    pub min_frequency: u64,
    /// Threads for counting. Default: all cores.
    pub workers: usize,
}

impl TrainOptions {
    /// The default options for a vocabulary of this size.
    pub fn new(vocab_size: u32) -> Self {
        TrainOptions {
            vocab_size,
            special_tokens: Vec::new(),
            pattern: "gpt2".into(),
            ties: Ties::default(),
            min_frequency: 1,
            workers: crate::workers::cores(),
        }
    }
}

/// Trains a tokenizer on texts, each a document.
///
/// The result depends on nothing but texts and options. It has fewer tokens than asked if no pair is left
/// that occurs often enough. Memory: counts of the different pretokens, 32 bytes and more for each.
///
/// # Errors
/// [`Error::Vocab`] for a `vocab_size` that is too small; errors of the pattern and of special tokens;
/// [`Error::OutOfMemory`].
///
/// ```
/// # fn main() -> Result<(), toksmith::Error> {
/// use toksmith::{Special, TrainOptions, train};
///
/// let tokenizer = train(["low low low lower lowest"], &TrainOptions::new(259))?;
/// let ids = tokenizer.encode("low lower", Special::Text)?;
/// assert_eq!(ids, [257, 258, 101, 114]);
/// assert_eq!(tokenizer.decode(&ids)?, "low lower");
/// # Ok(())
/// # }
/// ```
pub fn train(
    texts: impl IntoIterator<Item = impl Into<String>>,
    options: &TrainOptions,
) -> Result<Tokenizer> {
    let texts = texts.into_iter().map(|text| Ok(text.into()));
    trained(options, |counting, control| counting.documents::<String>(texts, control))
}

/// Trains a tokenizer on files, each a document, or each of its records: JSON lines, JSON arrays and tables
/// with the text in the field `text`, tar and WARC archives. What a file is, is found from its content;
/// compressed files need the feature `compression`. Files are read in parts. Otherwise as
/// [`train`](fn@train).
///
/// # Errors
/// Those of [`train`](fn@train); [`Error::Io`]; [`Error::Unread`] for a file whose contents cannot be read,
/// or of another kind, such as Parquet.
pub fn train_files(
    paths: impl IntoIterator<Item = impl AsRef<Path>>,
    options: &TrainOptions,
) -> Result<Tokenizer> {
    let files = paths.into_iter().map(|path| input_of(path.as_ref())).collect::<Result<Vec<_>>>()?;
    trained(options, |counting, control| counting.files(&files, control))
}

/// The tokenizer of the texts that `count` counts.
fn trained(
    options: &TrainOptions,
    count: impl FnOnce(&mut Counting, &Control<'_>) -> Result<()>,
) -> Result<Tokenizer> {
    let special = options.special_tokens.len() as u32;
    let merges = options.vocab_size.checked_sub(256).and_then(|size| size.checked_sub(special));
    let merges = merges.ok_or_else(|| {
        let size = options.vocab_size;
        Error::Vocab(format!("vocab_size is {size}, less than 256 bytes and {special} special tokens"))
    })?;
    let control = Control::none();
    let pattern = SourcePattern::of_regex(&options.pattern)?;
    let names = options.special_tokens.iter().map(|name| name.clone().into_bytes()).collect();
    let counting = CountOptions { workers: options.workers.max(1), ..CountOptions::default() };
    let mut counting = Counting::new(Specials::new(names)?, pattern.pretokenizer.clone(), counting);
    count(&mut counting, &control)?;
    let rules = Options {
        ties: options.ties,
        max_merges: merges as usize,
        min_frequency: options.min_frequency,
        ..Options::default()
    };
    let counts = counting.finish(&control)?;
    let merges = learn_from(counts, &Start::default(), &rules, &mut Saver::none(), &control)?;
    let layout = Layout::new(SpecialIds::First, false, special, merges.len() as u32);
    let record = Some((options.ties.record_name().to_owned(), 256 + special));
    built(None, &merges, &layout, &options.special_tokens, pattern, record)
}

/// The tokenizer of merges, whose ids a layout gives, with new special tokens. It has the steps of its base,
/// whose pattern they decide, and all else that is known of it. `record` has the rule of ties and the number
/// of tokens before the first merge; without it, the record is that of the base.
///
/// # Errors
/// Those of [`build_vocab`]; [`Error::Invalid`] for another pattern than that of the steps.
pub fn built(
    base: Option<&Tokenizer>,
    merges: &[Merge],
    layout: &Layout<'_>,
    names: &[String],
    pattern: SourcePattern,
    record: Option<(String, u32)>,
) -> Result<Tokenizer> {
    let vocab = base.map(Tokenizer::vocab);
    let specials = layout.specials(names);
    let vocab = build_vocab(vocab, merges, |place| layout.id_of(place), &specials)?;
    let encoder = Encoder::of_training(vocab, pattern.pretokenizer.clone());
    let record = record.map(|(ties, initial_tokens)| {
        let none = |base: &Tokenizer| vec![None; base.vocab().merges_by_index().len()];
        let old = base.map(|base| base.merge_counts().map_or_else(|| none(base), <[_]>::to_vec));
        let counts = merges.iter().map(|merge| Some(merge.count).filter(|&count| count > 0));
        Record { ties, initial_tokens, counts: old.into_iter().flatten().chain(counts).collect() }
    });
    let Some(base) = base else {
        return Tokenizer::of_encoder(encoder.into(), pattern, Provenance { record, origin: None });
    };
    let preprocessing: Preprocessing = match base.pipeline() {
        None => pattern.into(),
        Some(pipeline) if *pipeline.pattern() == pattern => {
            let new = specials[specials.len() - names.len()..].iter().zip(names);
            let new = new.filter_map(|((_, id), name)| Some(AddedToken::special((*id)?, name)));
            pipeline.with_tokens(new.collect())?.into()
        }
        Some(_) => {
            let reason = "the base has steps of a Hugging Face file, which hold its pattern alone";
            return Err(Error::Invalid(reason.to_owned()));
        }
    };
    let record = record.or_else(|| base.record().cloned());
    Tokenizer::of_encoder(encoder.into(), preprocessing, base.moved(record, None))
}

fn input_of(path: &Path) -> Result<InputFile> {
    let unread = |reason| Error::Unread { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    let is_regular = file.metadata().is_ok_and(|meta| meta.is_file());
    let read: Option<AnyRead> = if is_regular { Some(Box::new(file)) } else { None };
    let (compression, format) = format_of_file(path, read, None).map_err(unread)?;
    if let Some(format @ (Format::Parquet | Format::Arrow)) = format {
        return Err(unread(format!("toksmith for Python alone reads {}", format.name())));
    }
    let records = DocumentFormat::of(format, "text".into());
    Ok(InputFile { compression, records, is_certain: format.is_some(), ..InputFile::text(path.to_owned()) })
}
