//! SentencePiece's `.model` files, and the pieces of its models wherever they are stored.

use base64::Engine;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::protobuf::{Field, fields};
use crate::error::Result;
use crate::formats::huggingface::file::TokenizerFile;
use crate::formats::huggingface::shapes::{fields_of, meta_to_spaces, spaces_to_meta};
use crate::names::{Names, Texts};
use crate::pipeline::AddedToken;
use crate::room;
use crate::special::Flags;
use crate::spelling::byte_of;
use crate::tokenizer::parts::place::{quoted, refused};
use crate::vocab::{BpeModel, BpeOptions};

const MAX_PIECE: usize = 512;
/// The maximum number of bytes that looking for the parts of all pieces may read.
const MAX_WORK: usize = 1 << 32;

/// What the unknown piece is decoded to, if a model does not say.
pub(super) const UNK_SURFACE: &str = " \u{2047} ";

/// What a piece is, by the number that both SentencePiece and GGUF have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Byte = 6,
}

impl Kind {
    pub(crate) fn of(number: u64, place: &str) -> Result<Self> {
        Ok(match number {
            1 => Kind::Normal,
            2 => Kind::Unknown,
            3 => Kind::Control,
            4 => Kind::UserDefined,
            6 => Kind::Byte,
            5 => {
                let reason = "an unused piece, which SentencePiece cuts into its parts again: remove the piece from the model";
                return Err(refused(place, reason));
            }
            _ => return Err(refused(place, format!("the type {number}, not a number from 1 to 6"))),
        })
    }
}

/// A piece. Its id is its place in the list.
pub(crate) struct Piece<'a> {
    pub(crate) text: &'a str,
    pub(crate) score: f32,
    pub(crate) kind: Kind,
}

/// What a model does besides merging.
pub(crate) struct Rules<'a> {
    pub(crate) byte_fallback: bool,
    pub(crate) charsmap: &'a [u8],
    pub(crate) add_dummy_prefix: bool,
    pub(crate) remove_extra_whitespaces: bool,
    pub(crate) escape_whitespaces: bool,
    pub(crate) whitespace_as_suffix: bool,
    /// What the unknown piece is decoded to.
    pub(crate) unk_surface: &'a str,
    /// Whether user-defined pieces are found before anything is changed, as by llama.cpp.
    pub(crate) symbols_first: bool,
}

impl Default for Rules<'_> {
    fn default() -> Self {
        Rules {
            byte_fallback: false,
            charsmap: &[],
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
            escape_whitespaces: true,
            whitespace_as_suffix: false,
            unk_surface: UNK_SURFACE,
            symbols_first: false,
        }
    }
}

impl TokenizerFile {
    /// Whether a file begins as a `.model`: its first field is a piece, whose first field is a text that is
    /// not empty.
    pub(crate) fn is_sentencepiece(head: &[u8]) -> bool {
        let text = match head {
            [b'\n', 6..=255, 1, b'\n', text @ ..] | [b'\n', 6..=255, b'\n', text @ ..] => text,
            _ => return false,
        };
        text.first().is_some_and(|&len| len > 0) && head.contains(&0x15)
    }

    /// Reads a SentencePiece `.model` of type BPE.
    pub fn read_sentencepiece(data: &[u8]) -> Result<Self> {
        room::check_available(2 * data.len())?;
        let (mut pieces, mut rules, mut model_type) = (Vec::new(), Rules::default(), 1);
        for field in fields(data, "the model") {
            match field? {
                (1, Field::Bytes(piece)) => {
                    let piece = read_piece(piece, &format!("pieces[{}]", pieces.len()))?;
                    room::push(&mut pieces, piece)?;
                }
                (part @ (2 | 3 | 5), Field::Bytes(message)) => {
                    read_rules(part, message, &mut rules, &mut model_type)?;
                }
                _ => {}
            }
        }
        if model_type != 2 {
            let name = match model_type {
                1 => "unigram",
                3 => "word",
                4 => "char",
                _ => "unknown",
            };
            let reason = format!(
                "a model of type {name}: toksmith reads models of type BPE; use sentencepiece for it"
            );
            return Err(refused("trainer_spec.model_type", reason));
        }
        file_of(&pieces, &rules, |names| merges_by_score(&pieces, names))
    }
}

fn read_piece<'a>(message: &'a [u8], place: &str) -> Result<Piece<'a>> {
    let (mut text, mut score, mut kind) = (None, 0.0, 1);
    for field in fields(message, place) {
        match field? {
            (1, field) => text = field.text(),
            (2, Field::Fixed(bits)) => score = f32::from_bits(bits),
            (2, _) => score = f32::NAN,
            (3, Field::Number(number)) => kind = number,
            (3, _) => kind = 0,
            _ => {}
        }
    }
    let text = text.ok_or_else(|| refused(place, "no text in UTF-8"))?;
    Ok(Piece { text, score, kind: Kind::of(kind, place)? })
}

/// Reads the specification of the trainer (2), of the normalizer (3) or of the denormalizer (5).
fn read_rules<'a>(part: u64, message: &'a [u8], rules: &mut Rules<'a>, model_type: &mut u64) -> Result<()> {
    let place = ["trainer_spec", "normalizer_spec", "", "denormalizer_spec"][part as usize - 2];
    for field in fields(message, place) {
        match (part, field?) {
            (2, (3, Field::Number(number))) => *model_type = number,
            (2, (24, Field::Number(flag))) => rules.whitespace_as_suffix = flag != 0,
            (2, (35, Field::Number(flag))) => rules.byte_fallback = flag != 0,
            (2, (44, field)) => {
                let text = field
                    .text()
                    .ok_or_else(|| refused(format!("{place}.unk_surface"), "no text in UTF-8"))?;
                // SentencePiece takes it as a text that a zero ends.
                rules.unk_surface = text.split('\0').next().unwrap_or_default();
            }
            (3, (2, Field::Bytes(charsmap))) => rules.charsmap = charsmap,
            (3, (3, Field::Number(flag))) => rules.add_dummy_prefix = flag != 0,
            (3, (4, Field::Number(flag))) => rules.remove_extra_whitespaces = flag != 0,
            (3, (5, Field::Number(flag))) => rules.escape_whitespaces = flag != 0,
            (5, (2, Field::Bytes(charsmap))) if !charsmap.is_empty() => {
                let reason =
                    "replacements in decoded text, which toksmith does not do: use sentencepiece for it";
                return Err(refused(format!("{place}.precompiled_charsmap"), reason));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Merges, and the places of those that have the rank of the merge before.
pub(crate) type Merges = (Vec<[u32; 3]>, Vec<u32>);

/// The tokenizer of a model, with the merges of its pieces.
pub(crate) fn file_of(
    pieces: &[Piece<'_>],
    rules: &Rules<'_>,
    merges_of: impl FnOnce(&Names) -> Result<Merges>,
) -> Result<TokenizerFile> {
    check_pieces(pieces)?;
    let mut texts = Texts::default();
    pieces.iter().try_for_each(|piece| texts.push(piece.text))?;
    let (names, repeated) = Names::new(texts)?;
    if let Some(at) = repeated {
        return Err(refused(format!("pieces[{at}]"), format!("{} is there twice", quoted(pieces[at].text))));
    }
    let unknown = pieces.iter().find(|piece| piece.kind == Kind::Unknown).map(|piece| piece.text);
    if unknown.is_none() && !rules.byte_fallback {
        return Err(refused("pieces", "no unknown piece"));
    }
    let bytes = pieces.iter().filter(|piece| piece.kind == Kind::Byte).count();
    if bytes != 256 && (rules.byte_fallback || bytes != 0) {
        return Err(refused("pieces", format!("{bytes} pieces for bytes, not 256")));
    }
    let (merges, ties) = merges_of(&names)?;
    let options = BpeOptions {
        unknown: unknown.map(str::to_owned),
        fuse_unknown: true,
        byte_fallback: rules.byte_fallback,
        ..BpeOptions::default()
    };
    let model_options = json!({"unk_token": unknown, "fuse_unk": true, "byte_fallback": rules.byte_fallback});
    Ok(TokenizerFile {
        model: BpeModel { names, ids: (0..pieces.len() as u32).collect(), merges, ties, options },
        parts: fields_of(parts_of(pieces, rules)),
        options: fields_of(model_options),
        added: added_of(pieces, rules.symbols_first),
        warnings: Vec::new(),
        files: None,
    })
}

fn check_pieces(pieces: &[Piece<'_>]) -> Result<()> {
    if u32::try_from(pieces.len()).is_err() {
        return Err(refused("pieces", format!("there are {}", pieces.len())));
    }
    let mut work = 0_usize;
    for (at, piece) in pieces.iter().enumerate() {
        work = work.saturating_add(piece.text.len().saturating_mul(piece.text.len()));
        let is_character = piece.text.chars().nth(1).is_none();
        let reason = match piece.kind {
            _ if piece.text.is_empty() => "an empty piece".to_owned(),
            _ if piece.text.len() > MAX_PIECE => format!("a piece of more than {MAX_PIECE} bytes"),
            _ if work > MAX_WORK => {
                "the pieces up to this one are too long: their parts take too long to find".to_owned()
            }
            Kind::Control | Kind::Unknown | Kind::Byte if is_character => {
                format!("{} is a character, and its piece is not of type normal", quoted(piece.text))
            }
            Kind::Byte if byte_of(piece.text).is_none() => {
                format!("{} is not the name of a byte, such as <0x0A>", quoted(piece.text))
            }
            Kind::Normal if !piece.score.is_finite() => {
                format!("the score of {} is no number", quoted(piece.text))
            }
            _ => continue,
        };
        return Err(refused(format!("pieces[{at}]"), reason));
    }
    Ok(())
}

/// The merges: for each piece all pairs of pieces that it consists of, the piece of the highest score first;
/// and the places of those that have the rank of the merge before, since their pieces have one score and
/// their order matters.
///
/// SentencePiece gives all pairs of one piece the same rank. Their order does not matter, since only one of
/// them ever meets: until something merges across an end of a stretch of text, the merges inside of it are
/// those of the stretch alone, and these make the piece in one way. The order of pieces of one score does
/// matter: the leftmost merges first.
pub(crate) fn merges_by_score(pieces: &[Piece<'_>], names: &Names) -> Result<Merges> {
    let mut order: Vec<u32> = room::collected(0..pieces.len() as u32)?;
    order.retain(|&at| {
        pieces[at as usize].kind == Kind::Normal && pieces[at as usize].text.chars().nth(1).is_some()
    });
    // Both zeros are equal.
    let score = |at: u32| pieces[at as usize].score + 0.0;
    order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
    let (mut merges, mut ties) = (Vec::new(), Vec::new());
    let mut are_parts = room::filled(false, pieces.len())?;
    for equal in order.chunk_by(|&a, &b| score(a) == score(b)) {
        let first = merges.len();
        for &at in equal {
            push_merges(at, pieces, names, &mut merges)?;
        }
        for &[left, right, _] in &merges[first..] {
            (are_parts[left as usize], are_parts[right as usize]) = (true, true);
        }
        if order_matters(&merges[first..], &are_parts)? {
            room::extend(&mut ties, &room::collected(first as u32 + 1..merges.len() as u32)?)?;
        }
    }
    Ok((merges, ties))
}

fn push_merges(at: u32, pieces: &[Piece<'_>], names: &Names, merges: &mut Vec<[u32; 3]>) -> Result<()> {
    let normal = |text: &str| names.find(text).filter(|&at| pieces[at as usize].kind == Kind::Normal);
    let text = pieces[at as usize].text;
    for (end, _) in text.char_indices().skip(1) {
        let (left, right) = text.split_at(end);
        if let (Some(left), Some(right)) = (normal(left), normal(right)) {
            room::push(merges, [left, right, at])?;
        }
    }
    // SentencePiece also merges characters that are no pieces themselves.
    let mut characters = text.char_indices().map(|(start, c)| &text[start..start + c.len_utf8()]);
    if let Some(character) = characters.find(|character| names.find(character).is_none()) {
        let reason = format!("{} has the character {}, which is no piece", quoted(text), quoted(character));
        return Err(refused(format!("pieces[{at}]"), reason));
    }
    Ok(())
}

/// Whether the order in which merges of one score are done may matter. `are_parts` are the pieces that these
/// and the merges before them join.
///
/// It does not if no two of different pieces ever share a token, and none makes a token that a merge of the
/// same or a lower rank joins: then none prevents or enables another before all of them are done.
fn order_matters(merges: &[[u32; 3]], are_parts: &[bool]) -> Result<bool> {
    if merges.first().map(|merge| merge[2]) == merges.last().map(|merge| merge[2]) {
        return Ok(false);
    }
    let mut made_with: FxHashMap<u32, u32> = FxHashMap::default();
    made_with.try_reserve(merges.len()).map_err(|_| room::out_of_memory(merges.len()))?;
    for &[left, _, piece] in merges {
        let other = made_with.insert(left, piece);
        if other.is_some_and(|other| other != piece) {
            made_with.insert(left, u32::MAX);
        }
    }
    Ok(merges.iter().any(|[_, right, piece]| {
        are_parts[*piece as usize] || made_with.get(right).is_some_and(|other| other != piece)
    }))
}

/// The steps around the model, as a `tokenizer.json` has them.
fn parts_of(pieces: &[Piece<'_>], rules: &Rules<'_>) -> Value {
    let of_kind = |kind: Kind| pieces.iter().filter(move |piece| piece.kind == kind).map(|piece| piece.text);
    let symbols: Vec<&str> = of_kind(Kind::UserDefined).collect();
    let is_usual = rules.charsmap.is_empty()
        && !rules.remove_extra_whitespaces
        && rules.escape_whitespaces
        && !rules.whitespace_as_suffix
        && (symbols.is_empty() || rules.symbols_first);
    let normalizer = match is_usual {
        true => spaces_to_meta(rules.add_dummy_prefix),
        false => json!({
            "type": "SentencePiece",
            "precompiled_charsmap": base64::engine::general_purpose::STANDARD.encode(rules.charsmap),
            "symbols": symbols,
            "add_dummy_prefix": rules.add_dummy_prefix,
            "remove_extra_whitespaces": rules.remove_extra_whitespaces,
            "escape_whitespaces": rules.escape_whitespaces,
            "treat_whitespace_as_suffix": rules.whitespace_as_suffix,
        }),
    };
    // That of SentencePiece; or of a file of llama.cpp, as conversions to `tokenizer.json` have it.
    let decoder = match rules.symbols_first {
        true => meta_to_spaces(rules.add_dummy_prefix),
        false => json!({
            "type": "SentencePiece",
            "control": of_kind(Kind::Control).collect::<Vec<_>>(),
            "unknown": of_kind(Kind::Unknown).next(),
            "unk_surface": rules.unk_surface,
            "byte_pieces": of_kind(Kind::Byte).next().is_some(),
            "add_dummy_prefix": rules.add_dummy_prefix,
            "remove_extra_whitespaces": rules.remove_extra_whitespaces,
        }),
    };
    json!({"normalizer": normalizer, "decoder": decoder})
}

/// Control pieces, which text never becomes by merging, and user-defined ones, which are found first.
pub(crate) fn added_of(pieces: &[Piece<'_>], symbols_first: bool) -> Vec<AddedToken> {
    let token = |(id, piece): (u32, &Piece<'_>)| {
        let is_symbol = piece.kind == Kind::UserDefined;
        let is_added = is_symbol || matches!(piece.kind, Kind::Control | Kind::Unknown);
        is_added.then(|| AddedToken {
            id,
            content: piece.text.to_owned(),
            flags: Flags { special: !is_symbol, ..Flags::default() },
            normalized: is_symbol && !symbols_first,
        })
    };
    (0..).zip(pieces).filter_map(token).collect()
}
