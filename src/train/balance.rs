//! Merges that serve several languages alike: each next merge is the most frequent pair of the language that
//! is compressed worst.
//!
//! The algorithm is that of "Parity-Aware Byte-Pair Encoding: Improving Cross-lingual Fairness in
//! Tokenization" (Foroutan et al., 2025). Each language has a trainer of its own, with a corpus, an index of
//! all pairs and a queue; a merge is made in all of them. How well a language is compressed is measured on
//! its training text, or on a text that is there for this alone, which also has a trainer.

use std::collections::VecDeque;
use std::sync::Arc;

use super::corpus::{self, Corpus, WORDS_PER_CHECK};
use super::corpus32::{Corpus32, Layout};
use super::forced::check_mergeable;
use super::limit::MaxBytes;
use super::options::{Merge, Options};
use super::start::Start;
use super::trainer::{Shared, Trainer};
use crate::control::{Control, Stage};
use crate::count::PretokenCounts;
use crate::error::Result;
use crate::room;
use crate::vocab::Vocab;

/// Pretokens with their counts.
type Counts = Arc<PretokenCounts>;

/// What tells which language is compressed worst.
#[derive(Clone, Debug)]
pub enum Measure {
    /// For each language the same text: the one that has most tokens.
    Dev(Vec<Counts>),
    /// For each language the bytes that a token should have, where only proportions matter: the one that
    /// falls shortest of it in its training text.
    Ratio(Vec<f64>),
}

/// Passes over languages that were chosen often of late.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceWindow {
    /// The number of choices that are remembered.
    pub size: usize,
    /// A language with more than `alpha` times its equal share of these choices is passed over.
    pub alpha: f64,
}

/// Learns merges from the texts of several languages. In each [`Merge`], `count` is that of the language for
/// which it was chosen.
///
/// Of languages that are compressed equally, the first is served. One without a pair that is frequent enough
/// is not chosen again.
pub(super) fn learn(
    texts: Vec<Counts>,
    measure: Measure,
    window: Option<ChoiceWindow>,
    start: &Start<'_>,
    options: &Options,
    control: &Control,
) -> Result<Vec<Merge>> {
    let mut options = start.adapted(options);
    options.max_merges = options.max_merges.min(1 << 30);
    let mut merges = start.first_merges(&options)?;
    let vocab = start.vocab(&merges)?;
    let vocab = vocab.as_deref();
    // A merge may complete a token that merging did not make before, with all its effects, which no trainer
    // here knows.
    check_mergeable(vocab, |token| {
        format!(
            "languages cannot be balanced with a base that has tokens that merging does not make, such as {token}"
        )
    })?;
    control.begin(Stage::Merge, options.max_merges as u64);
    control.advance(merges.len() as u64);
    let mut balance = Balance::new(texts, measure, window, vocab, &options, control)?;
    while merges.len() < options.max_merges {
        control.check()?;
        let Some(chosen) = balance.choose() else { break };
        let Some((left, right, count)) = balance.most_frequent(chosen, options.min_frequency)? else {
            continue;
        };
        let token = balance.shared.tokens.push(left, right)?;
        room::push(&mut merges, Merge { left, right, token, count })?;
        balance.merge(left, right, token)?;
        control.advance(1);
    }
    Ok(merges)
}

/// A language.
struct Language<'c> {
    trainer: Trainer<'c, Corpus32>,
    /// The trainer of the text on which compression is measured, if it is not the training text.
    dev: Option<Trainer<'c, Corpus32>>,
    /// The bytes that a token should have; 1 with a text to measure.
    ratio: f64,
    /// Bytes of the text on which compression is measured; 1 with a text that all languages have.
    bytes: f64,
    /// Tokens of that text.
    tokens: u128,
    /// Whether no pair is frequent enough any more.
    has_ended: bool,
}

impl Language<'_> {
    /// How well the language is compressed; lower is worse.
    fn compression(&self) -> f64 {
        self.bytes / self.tokens as f64 / self.ratio
    }
}

/// The state of a training.
struct Balance<'c> {
    languages: Vec<Language<'c>>,
    shared: Shared,
    recent: Option<Recent>,
}

impl<'c> Balance<'c> {
    fn new(
        texts: Vec<Counts>,
        measure: Measure,
        window: Option<ChoiceWindow>,
        vocab: Option<&Vocab>,
        options: &Options,
        control: &'c Control<'c>,
    ) -> Result<Self> {
        let measured = |text: &Counts| corpus::measure(text.words(), control, |_, _| ());
        let sizes = texts.iter().map(measured).collect::<Result<Vec<_>>>()?;
        // Each merge removes at least one token from one of the texts.
        let merges = sizes.iter().map(|&size| u64::from(size)).sum::<u64>().min(options.max_merges as u64);
        let recent = window.map(|window| Recent::new(window, texts.len()));
        let mut shared = Shared::new(vocab, options.ties);
        let mut languages = room::for_items(texts.len())?;
        let (mut devs, ratios) = match measure {
            Measure::Dev(devs) => (devs.into_iter(), vec![1.0; texts.len()]),
            Measure::Ratio(ratios) => (Vec::new().into_iter(), ratios),
        };
        // The trainer of a text, the bytes of the text, and its tokens.
        let mut prepare = |text: Counts, size: u32| -> Result<_> {
            let mut layout = Layout::new(size, vocab, merges)?;
            let mut bytes = 0;
            for (number, (word, weight)) in text.words().enumerate() {
                if number.is_multiple_of(WORDS_PER_CHECK) {
                    control.check()?;
                }
                bytes += word.len() as u128 * u128::from(weight);
                layout.write(word, weight, control)?;
            }
            let (corpus, total) = (layout.corpus, text.total());
            drop(text);
            // The corpus does not have the words of one token.
            let tokens = if vocab.is_some() { u128::from(corpus.pairs()) + u128::from(total) } else { bytes };
            let limit = MaxBytes(options.max_token_length);
            Ok((Trainer::of_several(corpus, vocab, limit, &mut shared, control)?, bytes, tokens))
        };
        for ((text, size), ratio) in texts.into_iter().zip(sizes).zip(ratios) {
            let (trainer, bytes, tokens) = prepare(text, size)?;
            let mut language =
                Language { trainer, dev: None, ratio, bytes: bytes as f64, tokens, has_ended: false };
            if let Some(dev) = devs.next() {
                let size = measured(&dev)?;
                let (dev, _, tokens) = prepare(dev, size)?;
                language = Language { dev: Some(dev), bytes: 1.0, tokens, ..language };
            }
            languages.push(language);
        }
        Ok(Balance { languages, shared, recent })
    }

    /// The language that is served next; `None` if all have ended.
    fn choose(&mut self) -> Option<usize> {
        let Some(recent) = &mut self.recent else { return worst(&self.languages, |_| true) };
        let chosen = worst(&self.languages, |number| recent.allows(number))
            .or_else(|| worst(&self.languages, |_| true))?;
        recent.note(chosen);
        Some(chosen)
    }

    /// The most frequent pair of a language, and its count. If it is not frequent enough, the language has
    /// ended.
    fn most_frequent(&mut self, number: usize, min_frequency: u64) -> Result<Option<(u32, u32, u64)>> {
        let language = &mut self.languages[number];
        let pair = language.trainer.most_frequent(&self.shared.tokens)?;
        let pair = pair.filter(|&(_, _, count)| count >= min_frequency);
        language.has_ended = pair.is_none();
        Ok(pair)
    }

    /// Merges two tokens in all texts.
    fn merge(&mut self, left: u32, right: u32, token: u32) -> Result<()> {
        for language in &mut self.languages {
            let merges = language.trainer.merge_tokens(left, right, token, &mut self.shared)?;
            let merges = match &mut language.dev {
                Some(dev) => dev.merge_tokens(left, right, token, &mut self.shared)?,
                None => merges,
            };
            language.tokens = language.tokens.saturating_sub(merges.into());
        }
        Ok(())
    }
}

/// The language that is compressed worst of those that have not ended and are allowed; of several, the first.
fn worst(languages: &[Language<'_>], is_allowed: impl Fn(usize) -> bool) -> Option<usize> {
    let all = languages.iter().enumerate();
    let choices = all.filter(|(number, language)| !language.has_ended && is_allowed(*number));
    let worst = choices.map(|(number, language)| (number, language.compression()));
    worst.min_by(|left, right| left.1.total_cmp(&right.1)).map(|(number, _)| number)
}

/// The last choices.
struct Recent {
    window: ChoiceWindow,
    choices: VecDeque<usize>,
    /// How many of these choices are of each language.
    counts: Vec<usize>,
}

impl Recent {
    fn new(window: ChoiceWindow, languages: usize) -> Self {
        Recent { window, choices: VecDeque::new(), counts: vec![0; languages] }
    }

    fn allows(&self, language: usize) -> bool {
        let share = self.counts[language] as f64 / self.window.size as f64;
        share <= self.window.alpha / self.counts.len() as f64
    }

    fn note(&mut self, language: usize) {
        self.choices.push_back(language);
        self.counts[language] += 1;
        if self.choices.len() > self.window.size
            && let Some(oldest) = self.choices.pop_front()
        {
            self.counts[oldest] -= 1;
        }
    }
}
