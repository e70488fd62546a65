//! The pre-tokenizers of llama.cpp, by the names that GGUF files have for them.
//!
//! An expression is the one of the model's own `tokenizer.json` where llama.cpp quotes it, else llama.cpp's
//! (commit 00ad355, `src/llama-vocab.cpp`). Its engine keeps what an expression does not match, so that a
//! last alternative `\s+` may be missing there.

use crate::dialects::{Tables, from_oniguruma};
use crate::error::Result;
use crate::pretokenize::{Named, spellings};

pub(super) struct PreTokenizer {
    /// Its names, with a space between.
    pub(super) names: &'static str,
    /// What splits a text, and then each piece: the name of a pattern, or an expression in the dialect of
    /// Oniguruma.
    pub(super) stages: &'static [&'static str],
    /// Whether a pretoken that is a token becomes it without merging.
    pub(super) ignores_merges: bool,
    /// Whether BOS stands before a text if the file does not say so.
    pub(super) adds_bos: bool,
}

/// The usual case: neither ignores merges nor adds BOS.
const fn plain(names: &'static str, stages: &'static [&'static str]) -> PreTokenizer {
    PreTokenizer { names, stages, ignores_merges: false, adds_bos: false }
}

/// A pre-tokenizer whose pretokens that are tokens become them without merging.
const fn whole(names: &'static str, stages: &'static [&'static str]) -> PreTokenizer {
    PreTokenizer { ignores_merges: true, ..plain(names, stages) }
}

/// DeepSeek's characters of Chinese and Japanese, cut from all others.
const IDEOGRAPHS: &str = "[一-龥\u{3040}-ゟ゠-ヿ]+";
const DIGITS: &str = r"\p{N}";
const THREE_DIGITS: &str = r"\p{N}{1,3}";
const OLD_IDEOGRAPHS: &str = "[一-龥ࠀ-一가-\u{D7FF}]+";
const NEWLINES: &str = "[\r\n]";
const ASCII_TRIPLETS: &str = "[0-9][0-9][0-9]";
const SENTENCES: &str = r" ?[^(\s|[.,!?…。，、।۔،])]+";

const DEEPSEEK_LETTERS: &str = concat!(
    "\\s?[A-Za-z\u{B5}\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{1BA}\u{1BC}-\u{1BF}\u{1C4}-\u{293}\u{295}-",
    "\u{2AF}\u{370}-\u{373}\u{376}\u{377}\u{37B}-\u{37D}\u{37F}\u{386}\u{388}-\u{38A}\u{38C}\u{38E}-",
    "\u{3A1}\u{3A3}-\u{3F5}\u{3F7}-\u{481}\u{48A}-\u{52F}\u{531}-\u{556}\u{10A0}-\u{10C5}\u{13A0}-",
    "\u{13F5}\u{13F8}-\u{13FD}\u{1C90}-\u{1CBA}\u{1CBD}-\u{1CBF}\u{1D00}-\u{1D2B}\u{1D6B}-\u{1D77}",
    "\u{1D79}-\u{1D9A}\u{1E00}-\u{1F15}\u{1F18}-\u{1F1D}\u{1F20}-\u{1F45}\u{1F48}-\u{1F4D}\u{1F50}-",
    "\u{1F57}\u{1F59}\u{1F5B}\u{1F5D}\u{1F5F}-\u{1F7D}\u{1F80}-\u{1FB4}\u{1FB6}-\u{1FBC}\u{1FBE}",
    "\u{1FC2}-\u{1FC4}\u{1FC6}-\u{1FCC}\u{1FD0}-\u{1FD3}\u{1FD6}-\u{1FDB}\u{1FE0}-\u{1FEC}\u{1FF2}-",
    "\u{1FF4}\u{1FF6}-\u{1FFC}\u{2102}\u{2107}\u{210A}-\u{2113}\u{2115}\u{2119}-\u{211D}\u{2124}",
    "\u{2126}\u{2128}\u{212A}-\u{212D}\u{212F}-\u{2134}\u{2139}\u{213C}-\u{213F}\u{2145}-\u{2149}",
    "\u{214E}\u{2183}\u{2184}\u{2C00}-\u{2C7B}\u{2C7E}-\u{2CE4}\u{2CEB}-\u{2CEE}\u{2CF2}\u{2CF3}",
    "\u{A640}-\u{A66D}\u{A680}-\u{A69B}\u{A722}-\u{A76F}\u{A771}-\u{A787}\u{A78B}-\u{A78E}\u{AB70}-",
    "\u{ABBF}\u{FB00}-\u{FB06}\u{FB13}-\u{FB17}\u{FF21}-\u{FF3A}\u{FF41}-\u{FF5A}\u{10400}-\u{1044F}",
    "\u{104B0}-\u{104D3}\u{104D8}-\u{104FB}\u{10C80}-\u{10CB2}\u{10CC0}-\u{10CF2}\u{118A0}-\u{118DF}",
    "\u{1E900}-\u{1E943}]+",
);
const DEEPSEEK_PUNCTUATION: &str = "\\s?[!-/:-~！-／：-～‘-‟\u{3000}-。]+";
const DEEPSEEK_WORDS: &str = concat!(
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^"##,
    "\r\n",
    r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[",
    "\r\n",
    r"]*|\s*[",
    "\r\n",
    r"]+|\s+(?!\S)|\s+",
);
const SPARK_WORDS: &str = concat!(
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^"##,
    "\r\n",
    r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[",
    "\r\n",
    r"]|\s+(?!\S)|\s+",
);
const MINICPM_WORDS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const JAIS_WORDS: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+",
    r"|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)",
    r"|\s{1,2}(?!\S)|\s{1}",
);
const SEED_WORDS: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^",
    "\r\n",
    r"\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}",
    "\r\n",
    r"]+|\s*[",
    "\r\n",
    r"]+|\s+(?!\S)|\s+",
);
const TURKISH_WORDS: &str =
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const EXAONE_WORDS: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?",
    r"|\s*[\r\n]|\s+(?!\S)|\s+",
);
const YOUTU_SCRIPTS: &str =
    concat!(r"[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥", "\u{3040}", r"-ゟ゠-ヿ]+",);
const YOUTU_WORDS: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?",
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);
const GRANITE_WORDS: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}&&[^a-z]]*[\p{L}\p{M}&&[^A-Z]]+",
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?",
    r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}&&[^a-z]]+[\p{L}\p{M}&&[^A-Z]]*",
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

const PRE_TOKENIZERS: [PreTokenizer; 26] = [
    plain(
        "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert \
        jina-v1-en jina-v2-code roberta-bpe exaone4 mpt olmo jais trillion granite-docling",
        &["gpt2"],
    ),
    plain("starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", &[DIGITS, "gpt2"]),
    PreTokenizer {
        names: "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
        stages: &["cl100k_old"],
        ignores_merges: true,
        adds_bos: true,
    },
    plain("dbrx smaug-bpe glm4 chatglm-bpe", &["cl100k_old"]),
    plain(
        "qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 megrez hunyuan grok-2 solar-open bailingmoe \
        bailingmoe2 llada-moe",
        &["qwen2"],
    ),
    plain("qwen35", &["qwen3.5"]),
    plain("gpt-4o llama4 kanana2 talkie minimax-m2", &["o200k"]),
    PreTokenizer { names: "tekken", stages: &["tekken"], ignores_merges: true, adds_bos: true },
    plain("default", &[r"[\p{P}\$\+<=>\^~\|]+", "gpt2", r"\p{N}+", ASCII_TRIPLETS]),
    plain("falcon", &[r"[\p{P}\$\+<=>\^~\|`]+", "gpt2", ASCII_TRIPLETS]),
    plain(
        "deepseek-llm",
        &[NEWLINES, DEEPSEEK_LETTERS, DEEPSEEK_PUNCTUATION, r"\s+$", OLD_IDEOGRAPHS, r"\p{N}+"],
    ),
    plain("deepseek-coder", &[NEWLINES, r"\s?\p{L}+", r"\s?\p{P}+", OLD_IDEOGRAPHS, DIGITS]),
    plain("deepseek-v3 hunyuan-dense joyai-llm hy_v4", &[THREE_DIGITS, IDEOGRAPHS, DEEPSEEK_WORDS]),
    plain("spark2_5", &[THREE_DIGITS, IDEOGRAPHS, SPARK_WORDS, DIGITS]),
    whole("youtu", &[YOUTU_SCRIPTS, YOUTU_WORDS]),
    whole("minicpm5", &[THREE_DIGITS, MINICPM_WORDS]),
    plain("jais-2", &[JAIS_WORDS]),
    plain("bloom poro-chat gpt3-finnish", &[SENTENCES]),
    plain("viking", &[SENTENCES, DIGITS]),
    PreTokenizer {
        names: "chameleon",
        stages: &[
            "<sentinel:[0-9]+>",
            "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
            r"([\t\n]|    |  )",
            DIGITS,
            r"[\p{P}!-/:-@\[-`{-~]",
            "gpt2",
        ],
        ignores_merges: false,
        adds_bos: true,
    },
    plain("seed-coder", &[SEED_WORDS]),
    plain("ufakzeka", &[TURKISH_WORDS]),
    plain("laguna", &["[^\\n]+|[\\n]+", "qwen2"]),
    plain("exaone-moe", &[EXAONE_WORDS]),
    whole("granite-embed-multi-97m", &[GRANITE_WORDS]),
    plain("kimi-k2", &[spellings::KIMI]),
];

impl PreTokenizer {
    pub(super) fn of_name(name: &str) -> Option<&'static Self> {
        PRE_TOKENIZERS.iter().find(|pre| pre.names.split(' ').any(|known| known == name))
    }
}

/// The expression of a stage.
pub(super) fn expression_of(stage: &'static str) -> &'static str {
    Named::of(stage, &spellings::NAMES).map_or(stage, Named::expression)
}

/// Llama.cpp's name of the pre-tokenizer of these stages, each the name of a pattern or an expression: in the
/// dialect of Oniguruma, or in that of `regex` as [`from_oniguruma`] writes it.
pub(super) fn pre_tokenizer_name(
    stages: &[String],
    ignores_merges: bool,
    tables: &dyn Tables,
) -> Result<Option<&'static str>> {
    for pre in &PRE_TOKENIZERS {
        if pre.ignores_merges == ignores_merges && pre.stages.len() == stages.len() {
            let mut is_same = true;
            for (known, text) in pre.stages.iter().zip(stages) {
                is_same &= known == text
                    || expression_of(known) == *known && from_oniguruma(known, tables)?.pattern == *text;
            }
            if is_same {
                return Ok(pre.names.split(' ').next());
            }
        }
    }
    Ok(None)
}
