//! What lies in a folder: the files that hold the tokenizer.

use std::path::{Path, PathBuf};

use super::huggingface::side_files::paths_in;
use super::reading::unread;
use crate::error::Result;

/// Names of GPT-2's two files: the usual ones, and those of its release.
const PAIRS: [[&str; 2]; 2] = [["vocab.json", "merges.txt"], ["encoder.json", "vocab.bpe"]];
/// Names of a file that is a whole tokenizer, or what they end in: Mistral's, SentencePiece's, Qwen's ranks,
/// and any of SentencePiece or llama.cpp.
const WHOLE: [&str; 5] = ["tekken.json", "tokenizer.model", "*.model", "qwen.tiktoken", "*.gguf"];
const MAX_NAMES: usize = 3;

/// The files of a folder that hold its tokenizer.
#[derive(Debug, PartialEq, Eq)]
pub enum Lead {
    /// One file, a `tokenizer.json` if there is one: other files are for older readers.
    File(PathBuf),
    /// GPT-2's vocabulary and merges.
    Pair([PathBuf; 2]),
}

impl Lead {
    /// Finds the files that hold the tokenizer of a folder.
    pub fn of_folder(folder: &Path) -> Result<Self> {
        let path = folder.join("tokenizer.json");
        if path.is_file() {
            return Ok(Lead::File(path));
        }
        if let Some(pair) = pair_in(folder) {
            return Ok(Lead::Pair(pair));
        }
        for pattern in WHOLE {
            let mut paths = files_like(folder, pattern);
            if paths.len() > 1 {
                let names = paths.iter().filter_map(|path| path.file_name());
                let names: Vec<_> = names.take(MAX_NAMES).map(|name| name.to_string_lossy()).collect();
                let (names, more) = (names.join(", "), if paths.len() > MAX_NAMES { ", …" } else { "" });
                let reason = format!("{} files are {pattern} ({names}{more})", paths.len());
                return Err(unread(folder, format!("{reason}: name the file of the tokenizer")));
            }
            if let Some(path) = paths.pop() {
                return Ok(Lead::File(path));
            }
        }
        let reason = format!(
            "this folder holds neither tokenizer.json nor vocab.json with merges.txt, {}: name the file of the tokenizer",
            WHOLE.join(" or ")
        );
        Err(unread(folder, reason))
    }
}

/// GPT-2's vocabulary and merges in a folder; `None` if it does not have both.
pub(super) fn pair_in(folder: &Path) -> Option<[PathBuf; 2]> {
    let mut pairs = PAIRS.iter().map(|pair| pair.map(|name| folder.join(name)));
    pairs.find(|pair| pair.iter().all(|path| path.is_file()))
}

/// The paths of the files that a tokenizer may be read from; not all need exist.
pub fn files_of(source: &Path) -> Vec<PathBuf> {
    let folder = match source.file_name() {
        _ if source.is_dir() => source,
        Some(name) if name == "tokenizer.json" => source.parent().unwrap_or(Path::new("")),
        _ => return vec![source.to_owned()],
    };
    let named = ["tokenizer.json"].into_iter().chain(PAIRS.into_iter().flatten());
    let whole = WHOLE.into_iter().flat_map(|pattern| files_like(folder, pattern));
    let beside = paths_in(folder).into_iter().map(|(_, path)| path);
    named.map(|name| folder.join(name)).chain(whole).chain(beside).collect()
}

/// The files of a folder with a name, or with one that ends in what follows the star, in order.
fn files_like(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let Some(end) = pattern.strip_prefix('*') else {
        return Some(folder.join(pattern)).filter(|path| path.is_file()).into_iter().collect();
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let alike = entries.filter(|entry| entry.file_name().as_encoded_bytes().ends_with(end.as_bytes()));
    let mut paths: Vec<PathBuf> = alike.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort_unstable();
    paths
}
