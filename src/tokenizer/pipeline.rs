//! The steps of a Hugging Face tokenizer around its model: what its file says, and what that compiled to.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::parts::part::Part;
use super::parts::place::{quoted, refused, wrong};
use super::parts::steps::FilePipeline;
use super::parts::{PatternEngines, read_post_processor, renumber};
use super::pattern::SourcePattern;
use crate::error::{Error, Result};
use crate::pipeline::{AddedToken, Prefix};
use crate::postprocess::PostProcessor;
use crate::pretokenize::{Pattern, SplitStage, UNICODE_VERSION};
use crate::special::Flags;
use crate::spelling::unspelled;
use crate::vocab::TextSpelling;

/// The parts that compile to steps, in the order of toksmith's own file.
pub(crate) const PARTS: [&str; 4] = ["normalizer", "pre_tokenizer", "post_processor", "decoder"];
/// The settings of a `tokenizer.json` that are kept, and not applied.
pub(crate) const SETTINGS: [&str; 2] = ["truncation", "padding"];
const MAX_NAMES: usize = 3;

/// The steps of a Hugging Face tokenizer around its model. Immutable.
///
/// What they say is JSON: the parts of a `tokenizer.json` without its model, and `kept`, the ids of added
/// tokens that ordinary text can be encoded to as well, if the model is byte-level.
#[derive(Clone)]
pub struct Pipeline {
    spec: Value,
    steps: FilePipeline,
    template: Option<Arc<PostProcessor>>,
    pattern: SourcePattern,
}

impl Pipeline {
    /// Compiles the parts of a `tokenizer.json`, its added tokens and its settings. `kept` are the ids of
    /// added tokens that ordinary text can become.
    pub fn new(
        mut spec: Map<String, Value>,
        kept: impl IntoIterator<Item = u32>,
        engines: &dyn PatternEngines,
    ) -> Result<Self> {
        let [normalizer, pre_tokenizer, post_processor, decoder] =
            PARTS.map(|name| spec.get(name).cloned().unwrap_or_default());
        let mut tokens = tokens_of(spec.get("added_tokens"))?;
        tokens.sort_by(|a, b| (a.id, &a.content).cmp(&(b.id, &b.content)));
        let steps = FilePipeline::read(&[normalizer, pre_tokenizer, decoder], engines)?;
        let mut kept: BTreeSet<u32> = kept.into_iter().collect();
        match steps.spelling() {
            TextSpelling::Bytes => spec.shift_remove("characters"),
            _ => {
                kept.clear();
                None
            }
        };
        let template = match post_processor {
            Value::Null => None,
            part => Some(Arc::new(read_post_processor(&part)?)),
        };
        let steps = steps.with_tokens(tokens, kept.iter().copied())?;
        spec.insert("kept".into(), kept.into_iter().collect());
        Ok(Pipeline { pattern: pattern_of(&steps, engines)?, spec: spec.into(), steps, template })
    }

    /// The pipeline of the field `pipeline` of toksmith's own file.
    pub fn read(value: &Value, engines: &dyn PatternEngines) -> Result<Self> {
        let field = Part::new(value, "$.pipeline".into())?;
        let kept = field.list("kept")?.iter();
        let kept = kept.map(|id| number(id, "$.pipeline.kept")).collect::<Result<Vec<_>>>()?;
        let mut spec = Map::new();
        spec.insert("added_tokens".into(), field.list("added_tokens")?.clone().into());
        for name in PARTS {
            spec.insert(name.into(), field.get(name).cloned().unwrap_or_default());
        }
        for name in SETTINGS.iter().chain(&["characters"]) {
            if let Some(value) = field.get(name) {
                spec.insert((*name).into(), value.clone());
            }
        }
        if let Some(characters) = spec.get("characters").filter(|value| !value.is_null()) {
            let characters = Part::new(characters, "$.pipeline.characters".into())?;
            characters.flag("byte_fallback")?;
            characters.flag("fuse_unk")?;
            if characters.get("unk_token").is_some_and(|token| !token.is_null()) {
                characters.text("unk_token")?;
            }
        }
        let has_characters = spec.get("characters").is_some_and(|value| !value.is_null());
        let made = Self::new(spec, kept, engines)?;
        match made.merges_characters() == has_characters {
            true => Ok(made),
            false => Err(refused("$.pipeline.characters", "it does not belong to the pre-tokenizer")),
        }
    }

    /// What the steps say: the parts of a `tokenizer.json` without its model.
    pub fn spec(&self) -> &Value {
        &self.spec
    }

    /// What the steps compiled to.
    pub fn steps(&self) -> &FilePipeline {
        &self.steps
    }

    pub fn template(&self) -> Option<&PostProcessor> {
        self.template.as_deref()
    }

    /// The pattern that cuts pretokens; for several stages, their names.
    pub fn pattern(&self) -> &SourcePattern {
        &self.pattern
    }

    /// The added tokens by id.
    pub fn added_tokens(&self) -> &[AddedToken] {
        &self.steps.parts.added_tokens
    }

    /// Whether the model merges characters instead of bytes.
    pub fn merges_characters(&self) -> bool {
        self.steps.spelling() != TextSpelling::Bytes
    }

    /// Whether no single expression cuts the pretokens: stages do, or spaces.
    pub fn has_stages(&self) -> bool {
        let cuts = self.steps.splits_at_spaces().is_some() || !self.steps.splits.after.is_empty();
        self.steps.splits.pattern.is_none() && cuts
    }

    /// Whether no single pattern splits like the pipeline.
    pub fn is_staged(&self) -> bool {
        self.steps.splits.prefix().is_none() || (self.has_stages() && self.steps.splits_at_spaces().is_none())
    }

    /// Whether a tokenizer without these steps has all that they do.
    pub fn is_trivial(&self) -> Result<bool> {
        let post = &self.spec["post_processor"];
        let trims = self.template.as_ref().is_some_and(|template| template.trims());
        let adds_nothing = post.is_null() || (post["type"] == "ByteLevel" && !trims);
        let spells_bytes = |token: &AddedToken| {
            let content = &token.content;
            !content.is_ascii() && unspelled(content).is_some_and(|bytes| bytes != content.as_bytes())
        };
        let has_settings = SETTINGS.iter().any(|name| self.spec.get(name).is_some());
        Ok(self.steps.is_plain()?
            && adds_nothing
            && !has_settings
            && !self.is_staged()
            && !self.added_tokens().iter().any(spells_bytes))
    }

    /// The pipeline with more added tokens, which no vocabulary has.
    pub fn with_tokens(&self, tokens: Vec<AddedToken>) -> Result<Self> {
        let mut made = self.clone();
        if let Some(rows) = made.spec["added_tokens"].as_array_mut() {
            rows.extend(tokens.iter().map(token_value));
        }
        made.steps = made.steps.with_tokens(tokens, [])?;
        Ok(made)
    }

    /// The pipeline for other ids; added tokens without a new one are left out.
    pub fn renumbered(&self, new_ids: &HashMap<u32, u32>) -> Result<Self> {
        let mut made = self.with_rows(|row| {
            row.id = *new_ids.get(&row.id)?;
            Some(())
        })?;
        let kept = self.steps.parts.mergeable.iter().filter_map(|id| new_ids.get(id).copied());
        let kept: BTreeSet<u32> = kept.collect();
        let tokens = made.steps.parts.added_tokens.clone();
        made.steps = made.steps.with_other_tokens(tokens, kept.iter().copied());
        made.spec["kept"] = kept.into_iter().collect();
        let ids: HashMap<u64, u32> = new_ids.iter().map(|(&old, &new)| (old.into(), new)).collect();
        for name in ["post_processor", "padding"] {
            if let Some(part) = made.spec.get_mut(name) {
                renumber(part, &ids)?;
            }
        }
        made.template = match &made.spec["post_processor"] {
            Value::Null => None,
            part => Some(Arc::new(read_post_processor(part)?)),
        };
        Ok(made)
    }

    /// The pipeline in which more added tokens are special.
    pub(crate) fn with_special(&self, is_special: &dyn Fn(&str) -> bool) -> Result<Self> {
        self.with_rows(|row| {
            row.flags.special |= is_special(&row.content);
            Some(())
        })
    }

    /// The pipeline with changed added tokens; those for which `change` returns `None` are left out.
    fn with_rows(&self, change: impl Fn(&mut AddedToken) -> Option<()>) -> Result<Self> {
        let mut made = self.clone();
        let changed = |mut token: AddedToken| change(&mut token).map(|()| token);
        let rows: Vec<AddedToken> =
            tokens_of(self.spec.get("added_tokens"))?.into_iter().filter_map(&changed).collect();
        let mut tokens: Vec<AddedToken> = self.added_tokens().iter().cloned().filter_map(&changed).collect();
        tokens.sort_by(|a, b| (a.id, &a.content).cmp(&(b.id, &b.content)));
        made.spec["added_tokens"] = rows.iter().map(token_value).collect();
        let mergeable = self.steps.parts.mergeable.clone();
        made.steps = made.steps.with_other_tokens(tokens, mergeable);
        Ok(made)
    }

    /// The names of the parts that change the ids, besides one pattern and special tokens.
    pub fn reasons(&self) -> Result<Vec<String>> {
        let mut reasons = Vec::new();
        if self.merges_characters() {
            reasons.push("merging of characters instead of bytes".to_owned());
        }
        let mut names: Vec<&str> = Vec::new();
        for step in &self.steps.parts.normalizer.0 {
            if !names.contains(&step.name()) {
                names.push(step.name());
            }
        }
        if !names.is_empty() {
            reasons.push(format!("the normalizer ({})", names.join(", ")));
        }
        match self.steps.splits.prefix() {
            None => reasons.push("a change of its parts before they are split".to_owned()),
            Some(Prefix::None) => (),
            Some(_) => reasons.push("a space before the text (add_prefix_space)".to_owned()),
        }
        let irregular: BTreeSet<u32> = self.steps.parts.irregular()?.iter().map(|token| token.id).collect();
        let flagged = self.added_tokens().iter();
        let flagged = flagged.filter(|token| irregular.contains(&token.id) || !token.flags.special);
        let flagged: BTreeSet<&str> = flagged.map(|token| &*token.content).collect();
        if !flagged.is_empty() {
            let names: Vec<String> = flagged.into_iter().take(MAX_NAMES).map(quoted).collect();
            reasons.push(format!("added tokens with conditions ({})", names.join(", ")));
        }
        Ok(reasons)
    }

    /// Checks that a format without a pipeline can hold the tokenizer.
    pub fn check_fits(&self, format: &str) -> Result<()> {
        let mut reasons = self.reasons()?;
        if self.is_staged() {
            reasons.push("splitting in stages".into());
        }
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(cannot_hold(format, &reasons)),
        }
    }
}

/// The error of a format that cannot hold these parts of a tokenizer.
pub(crate) fn cannot_hold(format: &str, reasons: &[String]) -> Error {
    Error::Unwritable(format!("{format} cannot hold {}", reasons.join(" and ")))
}

/// An added token as a `tokenizer.json` has it.
pub fn token_value(AddedToken { id, content, flags, normalized }: &AddedToken) -> Value {
    json!({
        "id": id,
        "content": content,
        "single_word": flags.single_word,
        "lstrip": flags.lstrip,
        "rstrip": flags.rstrip,
        "normalized": normalized,
        "special": flags.special,
    })
}

/// The added tokens of rows of a `tokenizer.json`, in their order.
///
/// # Errors
/// Those of [`added_token`].
pub(crate) fn tokens_of(rows: Option<&Value>) -> Result<Vec<AddedToken>> {
    let rows = rows.and_then(Value::as_array);
    let rows = rows.map(Vec::as_slice).unwrap_or_default().iter().enumerate();
    rows.map(|(at, row)| added_token(row, format!("$.added_tokens[{at}]"))).collect()
}

/// Reads an added token with all its flags.
pub(crate) fn added_token(row: &Value, place: String) -> Result<AddedToken> {
    let row = Part::new(row, place)?;
    let content = row.text("content")?.to_owned();
    let id = number(row.get("id").unwrap_or(&Value::Null), &format!("{}.id", row.place))?;
    let flags = Flags {
        single_word: row.flag("single_word")?,
        lstrip: row.flag("lstrip")?,
        rstrip: row.flag("rstrip")?,
        special: row.flag("special")?,
    };
    Ok(AddedToken { id, content, flags, normalized: row.flag("normalized")? })
}

fn number(value: &Value, place: &str) -> Result<u32> {
    let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
    id.ok_or_else(|| wrong(place, "a whole number below 2^32", value))
}

/// The pattern that files have for the pretokenizer of some steps.
fn pattern_of(steps: &FilePipeline, engines: &dyn PatternEngines) -> Result<SourcePattern> {
    let pretokenizer = steps.pretokenizer();
    let (source, unicode) = match (&steps.splits.pattern, steps.splits_at_spaces()) {
        (Some((source, _)), _) => {
            let is_named = matches!(pretokenizer.pattern, Pattern::Named(..));
            let unicode = if is_named { UNICODE_VERSION.to_owned() } else { engines.unicode()? };
            (Some(source.clone()), Some(unicode))
        }
        (None, Some(splits)) => (splits.then(|| "before each space".to_owned()), None),
        (None, None) if steps.splits.after.is_empty() => (None, None),
        (None, None) => {
            let name = |stage: &SplitStage| format!("{} {:?}", stage.matcher.kind(), stage.behavior);
            let names: Vec<String> = steps.splits.after.iter().map(name).collect();
            (Some(names.join(", ")), Some(engines.unicode()?))
        }
    };
    Ok(SourcePattern { source, flags: 0, unicode, pretokenizer })
}
