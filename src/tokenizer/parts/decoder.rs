//! The decoder of a file.

use std::collections::HashMap;

use serde_json::Value;

use super::metaspace;
use super::part::Part;
use super::patterns::FilePatterns;
use crate::decode::{DecodeStage, Decoder, PieceRule};
use crate::error::Result;
use crate::pipeline::Prefix;

const MAX_STAGES: usize = 256;

/// Reads the decoder that stands at a place; without one, tokens are joined by spaces.
pub(super) fn read(value: &Value, place: &str, patterns: &mut FilePatterns<'_>) -> Result<Decoder> {
    if value.is_null() {
        return Ok(Decoder { stages: vec![DecodeStage::Spaced] });
    }
    let parts = Part::flat(value, place, "decoders", MAX_STAGES)?;
    Ok(Decoder { stages: parts.iter().map(|part| stage(part, patterns)).collect::<Result<_>>()? })
}

fn stage(part: &Part<'_>, patterns: &mut FilePatterns<'_>) -> Result<DecodeStage> {
    let text = |name: &str| part.text(name).map(str::to_owned);
    Ok(match part.kind()? {
        "ByteLevel" => DecodeStage::ByteLevel,
        "ByteFallback" => DecodeStage::ByteFallback,
        "Fuse" => DecodeStage::Fuse,
        "Replace" => DecodeStage::Replace(part.matcher(patterns, false)?.0, text("content")?),
        "Strip" => DecodeStage::Strip {
            character: part.character("content")?,
            start: part.count("start", None)?,
            stop: part.count("stop", None)?,
        },
        "Metaspace" => DecodeStage::Metaspace {
            replacement: part.character("replacement")?,
            is_prefixed: metaspace::prefix(part)? != Prefix::None,
        },
        "BPEDecoder" => DecodeStage::Suffix(text("suffix")?),
        "WordPiece" => DecodeStage::WordPiece { prefix: text("prefix")?, cleanup: part.flag("cleanup")? },
        "CTC" => DecodeStage::Ctc {
            pad: text("pad_token")?,
            delimiter: text("word_delimiter_token")?,
            cleanup: part.flag("cleanup")?,
        },
        "SentencePiece" => DecodeStage::Pieces(PieceRule {
            surfaces: surfaces(part)?,
            has_bytes: part.flag("byte_pieces")?,
            add_dummy_prefix: part.flag("add_dummy_prefix")?,
            remove_extra_whitespaces: part.flag("remove_extra_whitespaces")?,
        }),
        kind => {
            return Err(part.refused(format!("the decoder {kind} is not one that toksmith has")));
        }
    })
}

/// The texts of the control pieces, which are empty, and of the unknown piece.
fn surfaces(part: &Part<'_>) -> Result<HashMap<String, String>> {
    let control = part.list("control")?.iter().map(|name| {
        let name = name.as_str().ok_or_else(|| part.refused("control has an item that is no text"))?;
        Ok((name.to_owned(), String::new()))
    });
    let mut surfaces: HashMap<String, String> = control.collect::<Result<_>>()?;
    if part.get("unknown").is_some_and(|unknown| !unknown.is_null()) {
        surfaces.insert(part.text("unknown")?.to_owned(), part.text("unk_surface")?.to_owned());
    }
    Ok(surfaces)
}
