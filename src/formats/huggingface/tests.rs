//! Tests of what the files beside a vocabulary say.

use serde_json::{Map, Value, json};

use super::added::FileToken;
use super::auto::with_side_files;
use super::classes::{class_of, makes_parts, no_class};
use super::file::TokenizerFile;
use super::side_files::SideFiles;
use super::vocabularies::{content_of_pair, content_of_pieces, of_rank_file};
use crate::error::Result;
use crate::special::Flags;
use crate::tokenizer::{Origin, is_known};

/// A file of the tokens `a`, `b`, `ab` and `<s>`, of which the last one is added.
fn file() -> Vec<u8> {
    let model = json!({
        "type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<s>": 3}, "merges": ["a b"], "ignore_merges": true,
    });
    let pre_tokenizer = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false});
    let token = json!({
        "id": 3, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
        "special": true,
    });
    let content = json!({"pre_tokenizer": pre_tokenizer, "added_tokens": [token], "model": model});
    content.to_string().into_bytes()
}

fn side_files(files: Value) -> SideFiles {
    SideFiles(files.as_object().cloned().unwrap_or_default())
}

struct Read {
    /// Ids, names and flags of the added tokens, the latter as the first letters of those that are set.
    added: Vec<(u32, String, String)>,
    file: TokenizerFile,
    kept: Map<String, Value>,
    warnings: Vec<String>,
}

fn read(data: &[u8], has_file: bool, files: Value) -> Result<Read> {
    let (files, mut warnings) = (side_files(files), Vec::new());
    let class =
        class_of(&files, &|model| (model == "gpt2").then(|| "GPT2Tokenizer".to_owned()), &mut warnings);
    let (file, kept) = with_side_files(data.to_vec(), has_file, files, class.as_deref(), &mut warnings)?;
    let flags = |token: &FileToken| {
        let Flags { single_word, lstrip, rstrip, special } = token.flags;
        let flags = [single_word, lstrip, rstrip, token.normalized, special];
        let set = flags.into_iter().zip("wlrns".chars()).filter(|(flag, _)| *flag);
        set.map(|(_, letter)| letter).collect()
    };
    let added = file.added.iter().map(|token| (token.id, token.content.clone(), flags(token))).collect();
    Ok(Read { added, file, kept: kept.0, warnings })
}

#[test]
fn files_add_tokens_and_set_their_flags() {
    let x = json!({"content": "<x>", "lstrip": true});
    let config = |fields: Value| json!({"tokenizer_config.json": fields});
    let cases = [
        (json!({}), vec![(3, "<s>", "s")]),
        (config(json!({"pad_token": "<x>"})), vec![(3, "<s>", "s"), (4, "<x>", "s")]),
        (config(json!({"pad_token": x})), vec![(3, "<s>", "s"), (4, "<x>", "ls")]),
        (config(json!({"image_token": "ab"})), vec![(2, "ab", "s"), (3, "<s>", "s")]),
        (config(json!({"extra_special_tokens": [x, "", null]})), vec![(3, "<s>", "s"), (4, "<x>", "ln")]),
        (
            config(json!({"added_tokens_decoder": {"9": x, "+5": x, "x": 1}})),
            vec![(3, "<s>", "s"), (4, "<x>", "ln")],
        ),
        // The flags of the last one under a name, by ascending id.
        (
            config(
                json!({"added_tokens_decoder": {"9": {"content": "<s>", "rstrip": true}, "3": x, "8": {"content": "<s>"}}}),
            ),
            vec![(3, "<s>", "rn"), (4, "<x>", "ln")],
        ),
        (json!({"added_tokens.json": {"<x>": 9, "<y>": -1}}), vec![(3, "<s>", "s"), (4, "<x>", "n")]),
        (
            json!({"added_tokens.json": {"<x>": 9}, "special_tokens_map.json": {"pad_token": "<x>"}}),
            vec![(3, "<s>", "s"), (4, "<x>", "s")],
        ),
        // A list of special tokens makes no added token special.
        (
            json!({"added_tokens.json": {"<x>": 9}, "special_tokens_map.json": {"additional_special_tokens": ["<x>"]}}),
            vec![(3, "<s>", "s"), (4, "<x>", "n")],
        ),
        (config(json!({"pad_token": "<x>", "split_special_tokens": true})), vec![]),
    ];
    for (files, expected) in cases {
        let read = read(&file(), true, files.clone()).unwrap();
        let expected: Vec<_> =
            expected.into_iter().map(|(id, name, flags)| (id, name.to_owned(), flags.to_owned())).collect();
        assert_eq!(read.added, expected, "{files}");
        // All ids that a token had still decode.
        let has_x = files["tokenizer_config.json"]["split_special_tokens"] == true;
        assert_eq!(read.file.model.ids.len(), if has_x { 5 } else { 4 }, "{files}");
    }
}

#[test]
fn a_class_makes_its_parts() {
    let types = |read: &Read| {
        let pre_tokenizer = read.file.part("pre_tokenizer").unwrap();
        let steps = pre_tokenizer["pretokenizers"].as_array().cloned().unwrap_or(vec![pre_tokenizer]);
        steps.iter().map(|step| step["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let class =
        |name: &str| json!({"tokenizer_config.json": {"tokenizer_class": name, "add_prefix_space": 1}});
    let gpt2 = read(&file(), true, class("GPT2TokenizerFast")).unwrap();
    assert_eq!(gpt2.file.part("pre_tokenizer").unwrap()["add_prefix_space"], true);
    let special = |id, name: &str| (id, name.to_owned(), "s".to_owned());
    assert_eq!(gpt2.added, [special(3, "<s>"), special(4, "<|endoftext|>")]);
    assert!(!gpt2.file.model.options.ignore_merges);
    let qwen2 = read(&file(), true, class("Qwen2Tokenizer")).unwrap();
    assert_eq!(types(&qwen2), ["Split", "ByteLevel"]);
    let llama = read(&file(), true, class("LlamaTokenizer")).unwrap();
    assert_eq!(types(&llama), ["ByteLevel"], "the file as it is");
    let llama = read(&file(), false, class("LlamaTokenizer")).unwrap();
    assert_eq!(types(&llama), ["Metaspace"]);
    assert!(llama.file.model.options.byte_fallback && llama.file.model.options.fuse_unknown);
    for (name, warned) in [("RobertaTokenizer", 0), ("GPTNeoXTokenizer", 1), ("NoSuchTokenizer", 0)] {
        assert_eq!(read(&file(), true, class(name)).unwrap().warnings.len(), warned, "{name}");
        assert_eq!(read(&file(), false, class(name)).unwrap().warnings.len(), 1, "{name}");
    }
}

#[test]
fn the_class_is_that_of_the_model_where_the_files_name_none() {
    let class = |files: Value| {
        let mut warnings = Vec::new();
        let class =
            class_of(&side_files(files), &|model| (model == "a").then(|| "AFast".to_owned()), &mut warnings);
        (class, warnings.len())
    };
    let files = |named: Value, model: Value| json!({"tokenizer_config.json": {"tokenizer_class": named}, "config.json": model});
    assert_eq!(class(files(json!("BFast"), json!({"model_type": "a"}))), (Some("B".to_owned()), 0));
    assert_eq!(
        class(files(json!(""), json!({"model_type": "a", "tokenizer_class": "C"}))),
        (Some("C".to_owned()), 0)
    );
    assert_eq!(class(files(json!(5), json!({"model_type": "a"}))), (Some("A".to_owned()), 0));
    assert_eq!(class(files(json!(null), json!({"model_type": "x"}))), (None, 1));
    assert_eq!(class(json!({})), (None, 0));
    assert!(
        makes_parts(Some("LlamaTokenizer")) && !makes_parts(Some("BloomTokenizer")) && !makes_parts(None)
    );
    let warns = |class| no_class(class).is_some();
    assert!(warns(None) && warns(Some("BloomTokenizer")) && !warns(Some("LlamaTokenizer")));
}

#[test]
fn special_tokens_that_are_split_overlap_others() {
    let overlaps = |content: &str, special: &str| {
        let added = json!({"8": {"content": special, "special": true}, "9": {"content": content}});
        let config = json!({"added_tokens_decoder": added, "split_special_tokens": true});
        read(&file(), true, json!({"tokenizer_config.json": config})).unwrap().warnings.len()
    };
    assert_eq!(["at", "cat!", "!c", "tx"].map(|content| overlaps(content, "cat")), [1; 4]);
    assert_eq!(["x", "ac", "ta"].map(|content| overlaps(content, "cat")), [0, 1, 1]);
    assert_eq!(overlaps("é", "日本"), 0);
    assert_eq!(overlaps("本é", "日本"), 1);
}

#[test]
fn files_that_were_applied_are_not_kept() {
    let config = json!({"added_tokens_decoder": {"9": {"content": "<x>"}}, "split_special_tokens": true});
    let files = json!({"tokenizer_config.json": config, "added_tokens.json": {}});
    let kept = read(&file(), true, files).unwrap().kept;
    assert_eq!(kept.len(), 1);
    let rows = &kept["tokenizer_config.json"]["added_tokens_decoder"];
    assert_eq!(rows["4"]["content"], "<x>");
    assert_eq!(rows.as_object().unwrap().len(), 1, "the special token is no added token any more");
}

#[test]
fn names_of_files_beside_a_vocabulary() {
    let known = ["config.json", "chat_template.jinja", "additional_chat_templates/a.jinja"];
    assert!(known.into_iter().all(is_known));
    let others =
        ["tokenizer.json", "a.jinja", "x/a.jinja", "additional_chat_templates/x/a.jinja", "../config.json"];
    assert!(!others.into_iter().any(is_known));
    for files in [json!({"config.json": "x"}), json!({"chat_template.jinja": {}}), json!({"x": {}})] {
        assert!(Origin::read(&json!({"content": null, "beside": [], "files": files})).is_err());
    }
}

#[test]
fn rank_files_of_models() {
    let ranks = |name: &str, files: Value| of_rank_file(name, 10, &side_files(files), &mut Vec::new());
    let qwen = ranks("qwen.tiktoken", json!({})).unwrap();
    assert_eq!((qwen.pattern, qwen.special_tokens.len()), ("qwen2", 208));
    assert_eq!(qwen.special_tokens[207], ("<|extra_204|>".to_owned(), 217));
    let added = json!({"11": {"content": "[EOS]"}});
    let config =
        json!({"auto_map": {"AutoTokenizer": ["tokenization_kimi.X"]}, "added_tokens_decoder": added});
    let kimi = ranks("tiktoken.model", json!({"tokenizer_config.json": config})).unwrap();
    assert_eq!(
        kimi.special_tokens[..2],
        [("<|reserved_token_10|>".to_owned(), 10), ("[EOS]".to_owned(), 11)]
    );
    assert_eq!(ranks("tiktoken.model", json!({})), None);
}

#[test]
fn other_vocabularies_become_files() {
    let merges = [(b"a".to_vec(), b"b".to_vec())];
    let pair = content_of_pair("{\"a\": 0, \"b\": 1, \"ab\": 2}\n", &merges).unwrap();
    let pair = TokenizerFile::read(&pair, false).unwrap();
    assert_eq!((pair.model.ids.len(), pair.model.merges.len()), (3, 1));
    let names =
        [(0, "<unk>"), (1, "a"), (2, "b"), (3, "ab"), (4, "aba")].map(|(id, name)| (id, name.to_owned()));
    let rows = TokenizerFile::read(&file(), false).unwrap().added;
    let rows: Vec<_> = rows.into_iter().map(|token| token.token).collect();
    let pieces: Value = serde_json::from_slice(&content_of_pieces(&names, &rows, Some("<unk>"))).unwrap();
    assert_eq!(pieces["model"]["merges"], json!(["a b", "ab a"]));
    assert_eq!(pieces["added_tokens"][0]["content"], "<s>");
}
