//! A `tokenizer.json` that was read, and the vocabulary of its model and its added tokens.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::added::{self, FileToken};
use super::{model, reader};
use crate::error::{Error, Result};
use crate::tokenizer::CONFIG;
use crate::tokenizer::parts::place::{refused, shown};
use crate::vocab::{Additions, BpeModel, TextSpelling, Vocab};

/// The maximum number of bytes of the parts besides vocabulary, merges and added tokens.
const MAX_PARTS: usize = 16 << 20;
/// The maximum number of lists and objects in these parts.
const MAX_CONTAINERS: usize = 1_000_000;

/// Checks the size of parts of a file from a stranger, before they become objects in memory.
fn check_size(place: &str, fields: &[(String, String)]) -> Result<()> {
    let jsons = || fields.iter().map(|(_, json)| json.as_bytes());
    if jsons().map(<[u8]>::len).sum::<usize>() > MAX_PARTS {
        let reason = format!("more than {MAX_PARTS} bytes besides vocabulary, merges and added tokens");
        return Err(refused(place, reason));
    }
    if jsons().flatten().filter(|byte| matches!(byte, b'[' | b'{')).count() > MAX_CONTAINERS {
        let reason = format!("more than {MAX_CONTAINERS} lists and objects besides vocabulary and merges");
        return Err(refused(place, reason));
    }
    Ok(())
}

/// A file that was read.
pub struct TokenizerFile {
    pub(in crate::formats) model: BpeModel,
    /// The JSON of all fields besides the model and the added tokens, by name.
    pub parts: Vec<(String, String)>,
    /// The JSON of the fields of the model besides its vocabulary and merges, by name.
    pub options: Vec<(String, String)>,
    /// The added tokens, with the ids that the original gives them.
    pub added: Vec<FileToken>,
    /// A warning for each id that differs from the one in the file.
    pub warnings: Vec<String>,
    /// The JSON of the fields that a `tokenizer_config.json` has beside a `tokenizer.json`, by name, if the file has them.
    pub config: Vec<(String, String)>,
}

impl TokenizerFile {
    /// Reads the content of a file. `keep_ids` says that new added tokens have the ids that the file gives them.
    ///
    /// # Errors
    /// [`Error::BrokenPart`] with the place; [`Error::OutOfMemory`].
    pub fn read(data: &[u8], keep_ids: bool) -> Result<Self> {
        let mut raw = reader::read(data)?;
        check_size("$", &raw.parts)?;
        check_size("$.model", &raw.options)?;
        let model = model::model_of(&mut raw)?;
        let (added, warnings) = added::read(&raw.added, &model, keep_ids)?;
        let (parts, options, config) = (raw.parts, raw.options, Vec::new());
        let file = TokenizerFile { model, parts, options, added, warnings, config };
        match file.part("version")? {
            Value::Null => Ok(file),
            Value::String(version) if version == "1.0" => Ok(file),
            other => Err(refused("$.version", format!("{}: toksmith reads \"1.0\"", shown(&other)))),
        }
    }

    /// The JSON of a field; null if it is missing.
    ///
    /// # Errors
    /// [`Error::BrokenPart`] with the place, for what is nested too deep.
    pub fn part(&self, name: &str) -> Result<Value> {
        let json = self.parts.iter().find(|(other, _)| other == name).map_or("null", |(_, json)| json);
        serde_json::from_str(json).map_err(|_| refused(format!("$.{name}"), "nested too deep"))
    }

    /// A field of the model besides its vocabulary and merges, by its name.
    pub(in crate::formats) fn option(&self, name: &str) -> Option<Value> {
        let (_, json) = self.options.iter().find(|(other, _)| other == name)?;
        serde_json::from_str(json).ok()
    }

    /// The files that a folder would have beside the file, which has their fields itself.
    pub(in crate::formats) fn config_files(&self) -> Option<Map<String, Value>> {
        let field = |(name, json): &(String, String)| Some((name.clone(), serde_json::from_str(json).ok()?));
        let config: Map<String, Value> = self.config.iter().filter_map(field).collect();
        (!config.is_empty()).then(|| Map::from_iter([(CONFIG.to_owned(), config.into())]))
    }

    /// The added tokens that the vocabulary of the model does not have.
    pub fn beside(&self) -> impl Iterator<Item = &FileToken> {
        self.added.iter().filter(|token| token.place.is_none())
    }

    /// In a byte-level file, the added tokens that ordinary text can become as well.
    pub fn kept(&self) -> impl Iterator<Item = &FileToken> {
        let needed = self.model.needed();
        let ignores_merges = self.model.options.ignore_merges;
        self.added.iter().filter(move |token| {
            token.place.is_some_and(|place| needed[place as usize] || !token.can_be_special(ignores_merges))
        })
    }

    /// The vocabulary. `texts` are the texts that the added tokens stand for, in their order; `seed` is that of the dropout.
    ///
    /// # Errors
    /// The variants of [`Error`] for vocabularies.
    pub fn vocab(&self, spelling: TextSpelling, texts: &[String], seed: Option<u64>) -> Result<Vocab> {
        if texts.len() != self.added.len() {
            return Err(Error::BrokenState);
        }
        let (additions, left_out) = match spelling {
            TextSpelling::Bytes => self.byte_additions(),
            TextSpelling::Characters | TextSpelling::Spaces => {
                (self.character_additions(spelling, texts), Vec::new())
            }
        };
        let made = match spelling {
            TextSpelling::Bytes => self.model.bytes_vocab(&left_out, &additions.specials)?,
            TextSpelling::Characters | TextSpelling::Spaces => {
                self.model.characters_vocab(spelling, &additions)?
            }
        };
        match made {
            Some(vocab) => Ok(vocab),
            None => {
                let mut model = self.model.clone();
                model.options.dropout.seed = seed;
                model.spelled_vocab(spelling, &additions)
            }
        }
    }

    /// The additions to a byte-level model, and the places of the names that are special tokens alone.
    fn byte_additions(&self) -> (Additions, Vec<u32>) {
        let mut additions = Additions::default();
        let kept: FxHashSet<u32> = self.kept().map(|token| token.id).collect();
        let mut left_out = Vec::new();
        for token in self.added.iter().filter(|token| !kept.contains(&token.id)) {
            additions.specials.push((token.content.clone().into_bytes(), Some(token.id)));
            match token.place {
                Some(place) => {
                    left_out.push(place);
                    additions.texts.push((place, token.content.clone()));
                }
                None => additions.beside.push((token.id, token.content.clone())),
            }
        }
        additions.never_whole = self.special_places();
        (additions, left_out)
    }

    /// The additions to a model that merges characters.
    fn character_additions(&self, spelling: TextSpelling, texts: &[String]) -> Additions {
        let needed = self.model.needed();
        let unknown = self.model.options.unknown.as_ref().and_then(|name| self.model.names.find(name));
        let mut additions = Additions::default();
        for (token, text) in self.added.iter().zip(texts) {
            let text = match spelling {
                TextSpelling::Spaces => text.replace('\u{2581}', " "),
                _ => text.clone(),
            };
            additions.specials.push((token.content.clone().into_bytes(), Some(token.id)));
            match token.place {
                None => additions.beside.push((token.id, text)),
                Some(place) => {
                    let is_symbol = token.content.chars().nth(1).is_none() || Some(place) == unknown;
                    if token.normalized && !needed[place as usize] && !is_symbol {
                        additions.texts.push((place, text));
                    }
                }
            }
        }
        additions.never_whole = self.special_places();
        additions
    }

    fn special_places(&self) -> Vec<u32> {
        self.added.iter().filter(|token| token.flags.special).filter_map(|token| token.place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;

    fn read(model: &str, tail: &str) -> Result<TokenizerFile> {
        TokenizerFile::read(format!(r#"{{"version": "1.0", "model": {model}{tail}}}"#).as_bytes(), false)
    }

    fn ids_and_spans(vocab: &Vocab, text: &str) -> Vec<(u32, std::ops::Range<usize>)> {
        let (mut ids, mut spans) = (Vec::new(), Vec::new());
        vocab.pretoken_spans(text.as_bytes(), &mut ids, &mut spans, &Control::none()).unwrap();
        ids.into_iter().zip(spans).collect()
    }

    #[test]
    fn names_merge_with_a_prefix_a_suffix_and_an_unknown_token() {
        let model = r##"{"merges": [["a", "#b</w>"], ["#", "#x"]], "unk_token": "?", "fuse_unk": true,
            "continuing_subword_prefix": "#", "end_of_word_suffix": "</w>", "type": "BPE",
            "vocab": {"a": 3, "#b</w>": 5, "ab</w>": 1, "?": 9, "#": 2, "#a b": 4, "#a b2": 6}}"##;
        let error = read(model, "").err().map(|error| error.to_string());
        assert_eq!(
            error.as_deref(),
            Some("$.model.merges[1]: the merge of '#' and '#x' needs '#x', which is not in the vocabulary")
        );
        let file = read(&model.replace(r##", ["#", "#x"]"##, ""), "").unwrap();
        let vocab = file.vocab(TextSpelling::Characters, &[], None).unwrap();
        assert_eq!(ids_and_spans(&vocab, "ab"), [(1, 0..2)]);
        assert_eq!(ids_and_spans(&vocab, "aéx"), [(3, 0..1), (9, 1..4)]);
        let again = Vocab::from_state(&vocab.state(), &[]).unwrap();
        assert_eq!(ids_and_spans(&again, "xb"), [(9, 0..1), (5, 1..2)]);
        assert_eq!(again.state(), vocab.state());
    }

    #[test]
    fn errors_name_their_place() {
        let error =
            |model: &str, tail: &str| read(model, tail).err().map_or_else(String::new, |e| e.to_string());
        assert_eq!(
            error(r#"{"vocab": {"a": 0, "b": 0}, "merges": []}"#, ""),
            "$.model.vocab: the id 0 is given to both 'a' and 'b'"
        );
        assert_eq!(
            error(r#"{"vocab": {"a": -1}, "merges": []}"#, ""),
            "$.model.vocab['a']: the id is -1, not a whole number below 2^32"
        );
        assert_eq!(
            error(r#"{"vocab": [], "merges": []}"#, ""),
            "$.model.vocab: expected an object, got sequence"
        );
        assert_eq!(
            error(r#"{"vocab": {}, "merges": ["a b", ["a", 1]]}"#, ""),
            "$.model.merges[1]: expected a text, got integer `1`"
        );
        assert_eq!(error(r#"{"vocab": {}}"#, ""), "$.model: the field 'merges' is missing");
        assert!(
            error(r#"{"type": "Unigram", "vocab": []}"#, "")
                .starts_with("$.model: a model of type Unigram: ")
        );
        let row = r#", "added_tokens": [{"id": 5, "content": "x"}]"#;
        assert_eq!(
            error(r#"{"vocab": {}, "merges": []}"#, row),
            "$.added_tokens[0]: the field 'single_word' is missing"
        );
        assert_eq!(error("{", ""), "line 1: not JSON: EOF while parsing an object");
    }
}
