//! Training a tokenizer on texts in memory.

use super::patterns;
use super::tokenizer::Tokenizer;
use crate::control::Control;
use crate::count::{CountOptions, Counting};
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::special::Specials;
use crate::train::{Options, Saver, Start, Ties, build_vocab, learn_from};

/// About how many bytes of text a thread takes at a time.
const BATCH_BYTES: usize = 1 << 18;

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
    /// Tokens that separate documents, and are never counted, split or merged. Their ids come first, then those of the
    /// bytes, and those of merges.
    pub special_tokens: Vec<String>,
    /// What cuts text into pretokens: a name, as in [`Tokenizer::from_tiktoken`], or an expression in the dialect of the
    /// Python package `regex`. Default: `gpt2`.
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
/// The result depends on nothing but texts and options. It has fewer tokens than asked if no pair is left that occurs often
/// enough. Memory: counts of the different pretokens, 32 bytes and more for each.
///
/// # Errors
/// [`Error::VocabTooSmall`]; errors of the pattern and of special tokens; [`Error::OutOfMemory`].
///
/// ```
/// # fn main() -> Result<(), toksmith::Error> {
/// use toksmith::{TrainOptions, train};
///
/// let tokenizer = train(["low low low lower lowest"], &TrainOptions::new(259))?;
/// let ids = tokenizer.encode("low lower", true)?;
/// assert_eq!(ids, [257, 258, 101, 114]);
/// assert_eq!(tokenizer.decode(&ids)?, "low lower");
/// # Ok(())
/// # }
/// ```
pub fn train(
    texts: impl IntoIterator<Item = impl Into<String>>,
    options: &TrainOptions,
) -> Result<Tokenizer> {
    let special = options.special_tokens.len() as u32;
    let merges = options.vocab_size.checked_sub(256).and_then(|size| size.checked_sub(special)).ok_or(
        Error::VocabTooSmall { vocab_size: options.vocab_size, special_tokens: options.special_tokens.len() },
    )?;
    let control = Control::none();
    let pretokenizer = patterns::of_regex(&options.pattern)?;
    let names: Vec<Vec<u8>> = options.special_tokens.iter().map(|name| name.clone().into_bytes()).collect();
    let counting = CountOptions { workers: options.workers.max(1), ..CountOptions::default() };
    let mut counting = Counting::new(Specials::new(names.clone())?, pretokenizer.clone(), counting);
    counting.batches(batches(texts), &control)?;
    let rules = Options {
        ties: options.ties,
        max_merges: merges as usize,
        min_frequency: options.min_frequency,
        ..Options::default()
    };
    let counts = counting.finish(&control)?;
    let merges = learn_from(counts, &Start::default(), &rules, &mut Saver::none(), &control)?;
    let specials: Vec<_> = names.into_iter().zip(0..).map(|(name, id)| (name, Some(id))).collect();
    let vocab = build_vocab(None, &merges, |token| special + token, &specials)?;
    Ok(Tokenizer::of(Encoder::of_training(vocab, pretokenizer)))
}

/// Takes texts until they have enough bytes together; `None` at the end.
fn batches(
    texts: impl IntoIterator<Item = impl Into<String>>,
) -> impl FnMut() -> Result<Option<Vec<String>>> {
    let mut texts = texts.into_iter().map(Into::into);
    move || {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES
            && let Some(text) = texts.next()
        {
            // A text without bytes takes memory, too.
            bytes += text.len() + size_of::<String>();
            batch.push(text);
        }
        Ok((!batch.is_empty()).then_some(batch))
    }
}
