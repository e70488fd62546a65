//! Parts of a `tokenizer.json` that several formats and classes have.

use serde_json::{Map, Value, json};

use crate::spelling::META;

/// The fields of an object, whose names are sorted at any depth.
pub(crate) fn fields_of(mut object: Value) -> Map<String, Value> {
    object.sort_all_objects();
    object.as_object_mut().map(std::mem::take).unwrap_or_default()
}

/// The field `added_tokens_decoder`: the rows of added tokens by their ids.
pub(super) fn by_id(rows: impl Iterator<Item = Value>) -> Value {
    let by_id = rows.map(|mut row| {
        let id = row.as_object_mut().and_then(|row| row.shift_remove("id")).unwrap_or_default();
        (id.to_string(), row)
    });
    by_id.collect()
}

/// The pre-tokenizer or decoder of a byte-level model.
pub(crate) fn byte_level(has_prefix: bool, uses_regex: bool) -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": has_prefix, "trim_offsets": true, "use_regex": uses_regex})
}

/// The pre-tokenizer that cuts before and behind each match of an expression.
pub(crate) fn split(expression: &str) -> Value {
    json!({"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": false})
}

/// The normalizer that puts U+2581 in the place of spaces, and one before a text that `has_prefix`.
pub(crate) fn spaces_to_meta(has_prefix: bool) -> Value {
    let escape = json!({"type": "Replace", "pattern": {"String": " "}, "content": META});
    match has_prefix {
        true => {
            json!({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": META}, escape]})
        }
        false => escape,
    }
}

/// The decoder that undoes [`spaces_to_meta`], and joins bytes.
pub(crate) fn meta_to_spaces(has_prefix: bool) -> Value {
    let mut steps = vec![
        json!({"type": "Replace", "pattern": {"String": META}, "content": " "}),
        json!({"type": "ByteFallback"}),
        json!({"type": "Fuse"}),
    ];
    if has_prefix {
        steps.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    json!({"type": "Sequence", "decoders": steps})
}

/// The post-processor that puts a BOS before each text, and an EOS behind it, where there are such tokens.
pub(crate) fn template_of(around: [Option<(&str, u32)>; 2]) -> Value {
    let text = |name: &str, type_id: u32| {
        let special = |(token, _)| json!({"SpecialToken": {"id": token, "type_id": type_id}});
        let sequence = json!({"Sequence": {"id": name, "type_id": type_id}});
        let [bos, eos] = around.map(|token| token.map(special));
        [bos, Some(sequence), eos].into_iter().flatten().collect::<Vec<_>>()
    };
    let token =
        |(name, id): (&str, u32)| (name.to_owned(), json!({"id": name, "ids": [id], "tokens": [name]}));
    let special_tokens: Map<_, _> = around.into_iter().flatten().map(token).collect();
    let pair = [text("A", 0), text("B", 1)].concat();
    json!({
        "type": "TemplateProcessing",
        "single": text("A", 0),
        "pair": pair,
        "special_tokens": special_tokens,
    })
}
