//! The expressions of the named patterns, and other published spellings that are proven equal to one of them.

use super::named::Named;

const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";
const CL100K_OLD: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const NANOCHAT: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+";
const O200K: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN35: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
/// As GPT-2's release has it (src/encoder.py), and Hugging Face's ByteLevel, Granite and SmolLM.
const GPT2_RELEASE: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The named patterns by their names, of which some have a second one behind the first.
pub const NAMES: [(&str, Named); 10] = [
    ("gpt2", Named::Gpt2),
    ("r50k", Named::Gpt2),
    ("cl100k", Named::Cl100k),
    ("cl100k_old", Named::Cl100kOld),
    ("llama3", Named::Cl100kOld),
    ("o200k", Named::O200k),
    ("qwen2", Named::Qwen2),
    ("nanochat", Named::Nanochat),
    ("qwen3.5", Named::Qwen35),
    ("tekken", Named::Tekken),
];

/// Published encodings, with the pattern that each has.
pub const ENCODINGS: [(&str, Named); 6] = [
    ("r50k_base", Named::Gpt2),
    ("p50k_base", Named::Gpt2),
    ("p50k_edit", Named::Gpt2),
    ("cl100k_base", Named::Cl100k),
    ("o200k_base", Named::O200k),
    ("o200k_harmony", Named::O200k),
];

/// Published spellings in the dialects of `regex` and of tiktoken, with the pattern that each is proven equal
/// to in tests/python/regex_dialects/test_patterns.py.
pub const SPELLINGS: [(&str, Named); 12] = [
    (GPT2_RELEASE, Named::Gpt2),
    // The comment beside r50k_pat_str in tiktoken_ext/openai_public.py.
    (r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", Named::Gpt2),
    // tiktoken 0.14, r50k_pat_str; before 0.9 without the possessive quantifiers.
    (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s", Named::Gpt2),
    (GPT2, Named::Gpt2),
    (CL100K, Named::Cl100k),
    (CL100K_OLD, Named::Cl100kOld),
    (O200K, Named::O200k),
    (QWEN2, Named::Qwen2),
    // nanochat/tokenizer.py, SPLIT_PATTERN.
    (NANOCHAT, Named::Nanochat),
    // llama.cpp, src/llama-vocab.cpp, which quotes the tokenizer.json of Qwen 3.5 and of Mistral's models
    // with Tekken.
    (QWEN35, Named::Qwen35),
    (TEKKEN, Named::Tekken),
    // tiktoken 0.5 to 0.8, cl100k_base; minbpe/regex.py, GPT4_SPLIT_PATTERN; the default of rustbpe 0.1.0.
    (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
        Named::Cl100kOld,
    ),
];

/// Spellings of a `tokenizer.json`, which is in the dialect of Oniguruma, with the pattern that each is
/// proven equal to in tests/python/huggingface/test_huggingface.py. The first one of a pattern is the one to
/// write. tiktoken's newer spellings are not here: `{1,3}+` is a repeated repetition in this dialect.
pub const IN_ONIGURUMA: [(&str, Named); 9] = [
    (GPT2, Named::Gpt2),
    (GPT2_RELEASE, Named::Gpt2),
    // tiktoken's own pattern without its possessive quantifiers. They change nothing, since no part of an
    // alternative matches the character that ends a run of it.
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+\z|\s*[\r\n]+|\s+(?!\S)|\s+",
        Named::Cl100k,
    ),
    (CL100K_OLD, Named::Cl100kOld), // Llama 3, Phi-4, OLMo 2
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Named::Nanochat,
    ),
    (O200K, Named::O200k),   // gpt-oss, GPT-4o
    (QWEN2, Named::Qwen2),   // Qwen 2, 2.5 and 3
    (QWEN35, Named::Qwen35), // Qwen 3.5
    (TEKKEN, Named::Tekken), // Mistral's models with the Tekken tokenizer: Nemo and later
];

impl Named {
    /// The expression that the pattern stands for, in the dialect of `regex`.
    pub const fn expression(self) -> &'static str {
        match self {
            Named::Gpt2 => GPT2,
            Named::Cl100k => CL100K,
            Named::Cl100kOld => CL100K_OLD,
            Named::O200k => O200K,
            Named::Qwen2 => QWEN2,
            Named::Nanochat => NANOCHAT,
            Named::Qwen35 => QWEN35,
            Named::Tekken => TEKKEN,
        }
    }

    /// `gpt2`, `cl100k`, `cl100k_old`, `o200k`, `qwen2`, `nanochat`, `qwen3.5` or `tekken`.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, named)| *named == self).map_or("", |(name, _)| name)
    }

    /// The pattern of a name in one of the tables of this module.
    pub fn of(text: &str, table: &[(&str, Named)]) -> Option<Named> {
        table.iter().find(|(name, _)| *name == text).map(|(_, named)| *named)
    }
}

/// The pattern of Kimi K2, from its tokenization_kimi.py, in the dialect of tiktoken. It runs compiled.
pub const KIMI: &str = r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
