//! Classes of transformers: the parts that they make anew, whatever a `tokenizer.json` says, and what to warn
//! of.

use serde_json::{Map, Value, json};

use super::file::TokenizerFile;
use super::shapes::{byte_level, fields_of, meta_to_spaces, split};
use super::side_files::{ClassOfModel, SideFiles, is_true};
use crate::pretokenize::Named;
use crate::spelling::META;
use crate::tokenizer::parts::place::quoted;
use crate::tokenizer::{ADDED, CONFIG, MODEL, SPECIALS};

/// The special token of GPT-2 and Qwen.
pub(super) const END: &str = "<|endoftext|>";

/// A class that makes its parts anew.
pub(super) struct Class {
    pub(super) name: &'static str,
    parts: fn(&Map<String, Value>) -> [Value; 3],
    /// The special tokens that it has by default, by role.
    pub(super) tokens: [(&'static str, &'static str); 3],
    /// Whether its model has tokens of bytes for characters without a token.
    pub(super) falls_back: bool,
}

static CLASSES: [Class; 3] = [
    Class {
        name: "GPT2Tokenizer",
        parts: gpt2,
        tokens: [("unk_token", END), ("bos_token", END), ("eos_token", END)],
        falls_back: false,
    },
    Class {
        name: "Qwen2Tokenizer",
        parts: qwen2,
        tokens: [("unk_token", END), ("eos_token", END), ("pad_token", END)],
        falls_back: false,
    },
    Class {
        name: "LlamaTokenizer",
        parts: llama,
        tokens: [("unk_token", "<unk>"), ("bos_token", "<s>"), ("eos_token", "</s>")],
        falls_back: true,
    },
];

const PARTS: [&str; 3] = ["normalizer", "pre_tokenizer", "decoder"];

/// Classes that take a `tokenizer.json` as it is.
const AS_THE_FILE: [&str; 5] = [
    "TokenizersBackend",
    "PreTrainedTokenizer",
    "PreTrainedTokenizerBase",
    "PythonBackend",
    "BloomTokenizer",
];

/// The types of the steps of classes that make them anew, and whose `tokenizer.json` is taken as it is if it
/// has the same.
fn known_steps(class: &str) -> Option<&'static [&'static str]> {
    match class.strip_suffix("Tokenizer")? {
        "Roberta" | "Bart" | "LED" | "Mvp" | "CodeGen" | "Whisper" | "Deberta" | "Luke" | "Blenderbot" => {
            Some(&["", "ByteLevel"])
        }
        "GPTNeoX" => Some(&["NFC", "ByteLevel"]),
        "Cohere" => Some(&["NFC", "Digits", "ByteLevel"]),
        _ => None,
    }
}

impl Class {
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        CLASSES.iter().find(|class| class.name == name)
    }

    /// The parts that it makes under a `tokenizer_config.json`, by name.
    pub(super) fn parts(&self, config: &Map<String, Value>) -> impl Iterator<Item = (&'static str, Value)> {
        PARTS.into_iter().zip((self.parts)(config))
    }
}

/// The class that the files name, without the suffix `Fast`.
pub(crate) fn class_of(
    files: &SideFiles,
    of_model: ClassOfModel<'_>,
    warnings: &mut Vec<String>,
) -> Option<String> {
    let name = files.tokenizer_class(of_model, warnings)?;
    Some(name.strip_suffix("Fast").unwrap_or(&name).to_owned())
}

/// Whether a class makes its parts from the pieces of a `.model`.
pub(crate) fn makes_parts(class: Option<&str>) -> bool {
    class.and_then(Class::find).is_some()
}

/// The warning of files beside a `.model` that name no class with parts of its own.
pub(crate) fn no_class(class: Option<&str>) -> Option<String> {
    let what = match class {
        None => format!("{CONFIG} names no tokenizer_class"),
        Some(name) if AS_THE_FILE.contains(&name) => format!("{CONFIG}: tokenizer_class {}", quoted(name)),
        Some(_) => return None,
    };
    Some(format!(
        "{what}: transformers then takes the pieces of a .model without SentencePiece's steps, such as the space before \
         a text, which are applied here"
    ))
}

/// Whether there are files that may change a tokenizer.
pub(crate) fn says_something(files: &SideFiles) -> bool {
    [CONFIG, SPECIALS, ADDED, MODEL].iter().any(|name| files.get(name).is_some())
}

/// The class whose parts replace those of a file. `has_file`: whether there is a `tokenizer.json`, rather
/// than a vocabulary in another format.
pub(super) fn replacing(
    class: Option<&str>,
    file: &TokenizerFile,
    has_file: bool,
    warnings: &mut Vec<String>,
) -> Option<&'static Class> {
    let name = class.filter(|name| !AS_THE_FILE.contains(name))?;
    let is_byte_level = || file.parts.values().any(|part| part.to_string().contains("\"ByteLevel\""));
    let class = Class::find(name);
    if name == "LlamaTokenizer" && has_file && is_byte_level() {
        return None; // transformers takes the file as it is
    }
    // A tokenizer.json of another class has the steps of that class, if this class wrote it.
    let is_as_known = has_file && known_steps(name).is_none_or(|known| steps(file) == known);
    if class.is_none() && !is_as_known {
        warnings.push(format!(
            "{CONFIG}: tokenizer_class {} has a pattern or other steps of its own in transformers, which are not applied \
             here; the steps are those of the vocabulary's file",
            quoted(name)
        ));
    }
    class
}

/// The types of the normalizer, which may be missing, and of each pre-tokenizer.
fn steps(file: &TokenizerFile) -> Vec<&str> {
    let [normalizer, pre_tokenizer] = [file.part("normalizer"), file.part("pre_tokenizer")];
    let several = pre_tokenizer["pretokenizers"].as_array();
    let pre_tokenizers = several.map_or(std::slice::from_ref(pre_tokenizer), |steps| steps);
    let steps = std::iter::once(normalizer).chain(pre_tokenizers);
    steps.map(|step| step["type"].as_str().unwrap_or_default()).collect()
}

/// The parts of GPT-2 for GPT-2's two files, and the fields of a model without effect.
pub(super) fn of_pair() -> (Map<String, Value>, Map<String, Value>) {
    let parts = PARTS.into_iter().zip(gpt2(&Map::new()));
    (parts.map(|(name, part)| (name.to_owned(), part)).collect(), options(false))
}

/// The fields of a model besides vocabulary and merges.
pub(super) fn options(falls_back: bool) -> Map<String, Value> {
    fields_of(json!({
        "type": "BPE",
        "dropout": null,
        "unk_token": null,
        "continuing_subword_prefix": null,
        "end_of_word_suffix": null,
        "fuse_unk": falls_back,
        "byte_fallback": falls_back,
        "ignore_merges": false,
    }))
}

fn gpt2(config: &Map<String, Value>) -> [Value; 3] {
    [Value::Null, byte_level(is_true(config.get("add_prefix_space")), true), byte_level(true, true)]
}

fn qwen2(config: &Map<String, Value>) -> [Value; 3] {
    let steps =
        [split(Named::Qwen2.expression()), byte_level(is_true(config.get("add_prefix_space")), false)];
    [json!({"type": "NFC"}), json!({"type": "Sequence", "pretokenizers": steps}), byte_level(true, true)]
}

fn llama(config: &Map<String, Value>) -> [Value; 3] {
    let prefix = config.get("add_prefix_space").filter(|value| !value.is_null());
    let has_prefix = prefix.is_none() || is_true(prefix);
    let scheme = match (has_prefix, is_true(config.get("legacy"))) {
        (false, _) => "never",
        (true, true) => "always",
        (true, false) => "first",
    };
    [
        Value::Null,
        json!({"type": "Metaspace", "replacement": META, "prepend_scheme": scheme, "split": false}),
        meta_to_spaces(has_prefix),
    ]
}
