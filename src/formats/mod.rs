//! Files of tokenizers: one file or folder for each format, with its reader and its writer.
//!
//! [`FORMATS`] has a row for each format: its name, how it is recognised, its reader and its writer. To add a
//! format, add a file here and a row there. [`mod@load`] loads files and [folders](folder).

mod exchange;
mod folder;
mod gguf;
mod gpt2;
pub mod huggingface;
mod load;
mod minbpe;
mod native;
mod options;
mod others;
mod ranks;
mod reading;
mod sentencepiece;
mod state;
mod table;
mod tekken;

pub use folder::{Lead, files_of};
pub use huggingface::side_files::SideFiles;
pub use huggingface::{FolderOptions, end_of_text, folder_files, read_huggingface, roles_of};
pub use load::{format_of, lead, load, load_pair};
pub use minbpe::MinbpeFile;
pub use native::{extras, of_state};
pub use options::LoadOptions;
pub use ranks::RankLines;
pub(crate) use reading::Entries;
pub use reading::HEAD_BYTES;
pub use table::{FORMATS, FileKind, NO_PATTERN, kind_of};
