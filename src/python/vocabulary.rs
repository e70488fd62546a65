//! Vocabularies, merges and special tokens: extracted from Python objects, and made into Python objects.

use std::cell::Cell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use super::{call, objects};
use crate::error::{show, show_text};
use crate::formats::RankLines;
use crate::room;
use crate::spelling::spell;
use crate::vocab::{SpecialSpec, Vocab};

/// A merge as the bytes of its two parts.
type MergePair = (PyBackedBytes, PyBackedBytes);

/// The ids and bytes of a `dict[int, bytes]`.
pub(super) fn tokens_of(vocab: &Bound<'_, PyDict>) -> PyResult<Vec<(u32, PyBackedBytes)>> {
    let mut tokens = room::for_items(vocab.len())?;
    for (id, token) in vocab.iter() {
        let id = vocab_id(&id, &token)?;
        let bytes = token.extract().map_err(|_| {
            PyValueError::new_err(format!("the token of id {id} is not bytes: {}", shown(&token)))
        })?;
        tokens.push((id, bytes));
    }
    Ok(tokens)
}

/// The merges of an iterable of pairs of `bytes`.
pub(super) fn merges_of(merges: &Bound<'_, PyAny>) -> PyResult<Vec<MergePair>> {
    let index = Cell::new(0);
    objects::extracted(merges, |merge| {
        let number = index.replace(index.get() + 1);
        pair_of(&merge).ok_or_else(|| {
            let shown = shown(&merge);
            PyValueError::new_err(format!("merge number {number} is {shown}, not a pair of bytes"))
        })
    })
}

/// The two parts of a tuple or a list.
fn pair_of(merge: &Bound<'_, PyAny>) -> Option<MergePair> {
    let is_pair = merge.is_instance_of::<PyTuple>() || merge.is_instance_of::<PyList>();
    let part = |at: usize| Some(PyBackedBytes::from(merge.get_item(at).ok()?.cast_into::<PyBytes>().ok()?));
    if is_pair && merge.len().ok()? == 2 { part(0).zip(part(1)) } else { None }
}

/// The ids and bytes of all tokens.
pub(super) fn dict_of<'py>(py: Python<'py>, vocab: &Vocab) -> PyResult<Bound<'py, PyDict>> {
    let dict = objects::dict(py)?;
    for (id, token) in vocab.tokens().iter() {
        dict.set_item(objects::int(py, u64::from(id))?, objects::bytes(py, token)?)?;
    }
    Ok(dict)
}

/// The tokens of a rank file, by id.
#[pyfunction]
pub(super) fn tokens_of_ranks<'py>(py: Python<'py>, file: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let lines = py.detach(|| RankLines::parse(file))?;
    let tokens = objects::dict(py)?;
    for (id, token) in lines.tokens() {
        tokens.set_item(objects::int(py, id.into())?, objects::bytes(py, token)?)?;
    }
    Ok(tokens)
}

/// The ids of the special tokens by name.
pub(super) fn specials_of<'py>(py: Python<'py>, vocab: &Vocab) -> PyResult<Bound<'py, PyDict>> {
    let dict = objects::dict(py)?;
    for (token, id) in vocab.specials().tokens().iter().zip(vocab.special_ids()) {
        let name = objects::string(py, &String::from_utf8_lossy(token))?;
        dict.set_item(name, objects::int(py, u64::from(*id))?)?;
    }
    Ok(dict)
}

/// The merges as pairs of ids.
pub(super) fn merge_ids_of<'py>(py: Python<'py>, vocab: &Vocab) -> PyResult<Bound<'py, PyList>> {
    room::check_available(size_of_val(vocab.merges_by_index()))?;
    let merges = py.detach(|| vocab.merges());
    let int = |id| objects::int(py, u64::from(id));
    objects::list_of(
        py,
        merges.into_iter().map(|(left, right)| objects::tuple(py, [int(left)?, int(right)?])),
    )
}

/// A list of merges as a `tokenizer.json` spells them, and whether a pretoken that is a token skips it. See
/// `Vocab::listed_merges`.
pub(super) fn listed_merges_of<'py>(py: Python<'py>, vocab: &Vocab) -> PyResult<(Bound<'py, PyList>, bool)> {
    let (merges, is_skipped) = call::long(py, None, |_| vocab.listed_merges())?;
    let spelled =
        |index: u32| vocab.tokens().bytes_at(index).iter().map(|&byte| spell(byte)).collect::<String>();
    let merge = |(left, right)| objects::string(py, &format!("{} {}", spelled(left), spelled(right)));
    Ok((objects::list_of(py, merges.into_iter().map(merge))?, is_skipped))
}

fn vocab_id(id: &Bound<'_, PyAny>, token: &Bound<'_, PyAny>) -> PyResult<u32> {
    id.extract::<u32>().map_err(|_| {
        let (id, token) = (shown(id), shown(token));
        PyValueError::new_err(format!(
            "the id of token {token} is {id}: ids are whole numbers from 0 to 2^32 - 1"
        ))
    })
}

/// Special tokens in the form of the core, from names with an id or None.
pub(super) fn special_specs(tokens: Vec<(String, Option<i128>)>) -> PyResult<Vec<SpecialSpec>> {
    tokens.into_iter().map(special_spec).collect()
}

fn special_spec((name, id): (String, Option<i128>)) -> PyResult<SpecialSpec> {
    let narrow = |id: i128| {
        u32::try_from(id).map_err(|_| {
            PyValueError::new_err(format!(
                "the id of special token {} is {id}: ids are whole numbers from 0 to 2^32 - 1",
                show_text(&name)
            ))
        })
    };
    let id = id.map(narrow).transpose()?;
    Ok((name.into_bytes(), id))
}

/// The `repr` of a value for a message; a long one is cut.
pub(super) fn shown(value: &Bound<'_, PyAny>) -> String {
    if let Ok(bytes) = value.cast::<PyBytes>()
        && bytes.as_bytes().len() > 60
    {
        return show(bytes.as_bytes());
    }
    let repr = value.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string());
    if repr.len() <= 80 { repr } else { show_text(&repr) }
}

/// The model of a vocabulary that merges by names, as a `tokenizer.json` has it; `None` for any other vocabulary.
pub(super) fn model_of<'py>(py: Python<'py>, vocab: &Vocab) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(bpe) = vocab.spelled() else { return Ok(None) };
    let names = objects::dict(py)?;
    for (name, token) in bpe.names() {
        let id = objects::int(py, u64::from(vocab.tokens().id_at(token)))?;
        names.set_item(objects::string(py, name)?, id)?;
    }
    let listed = bpe.merges();
    let parts = |&((left, right), _): &((u32, u32), u32)| {
        [left, right].map(|token| bpe.name(token).unwrap_or_default())
    };
    // A merge as one text is read by every version of the original, but cannot hold a space.
    let have_spaces = listed.iter().flat_map(parts).any(|part| part.contains(' '));
    let merge = |merge: &((u32, u32), u32)| {
        let [left, right] = parts(merge);
        if !have_spaces {
            return Ok(objects::string(py, &format!("{left} {right}"))?.into_any());
        }
        let pair = objects::list(py)?;
        pair.append(objects::string(py, left)?)?;
        pair.append(objects::string(py, right)?)?;
        Ok(pair.into_any())
    };
    let merges = objects::list_of(py, listed.iter().map(merge))?;
    let options = &bpe.options;
    let model = objects::dict(py)?;
    model.set_item("type", "BPE")?;
    model.set_item("dropout", Some(options.dropout.rate).filter(|&rate| rate > 0.0))?;
    model.set_item("unk_token", &options.unknown)?;
    model.set_item("continuing_subword_prefix", Some(&options.prefix).filter(|prefix| !prefix.is_empty()))?;
    model.set_item("end_of_word_suffix", Some(&options.suffix).filter(|suffix| !suffix.is_empty()))?;
    model.set_item("fuse_unk", options.fuse_unknown)?;
    model.set_item("byte_fallback", options.byte_fallback)?;
    model.set_item("ignore_merges", options.ignore_merges)?;
    model.set_item("vocab", names)?;
    model.set_item("merges", merges)?;
    Ok(Some(model))
}

/// A token as a `tokenizer.json` spells it: by its name, where merging goes by names, else with a character for each byte.
pub(super) fn spelled(vocab: &Vocab, id: u32) -> crate::error::Result<String> {
    let bytes = vocab.token_bytes(id)?;
    if !vocab.covers_text_exactly() {
        return Ok(vocab.name(id).map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), str::to_owned));
    }
    Ok(bytes.iter().map(|&byte| spell(byte)).collect())
}
