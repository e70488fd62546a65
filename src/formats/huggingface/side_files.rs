//! The files beside a `tokenizer.json`, or another vocabulary, in the folder of a model.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::Result;
use crate::formats::reading;
use crate::tokenizer::parts::place::shown;
use crate::tokenizer::{CONFIG, MODEL, OBJECTS, TEMPLATE, TEMPLATES, is_known};

const CLASS_OF_MODEL: [&str; 3] = ["model_type", "tokenizer_class", "transformers_version"];

const MAX_BYTES: u64 = 16 << 20;
const MAX_TEMPLATES: usize = 100;

/// The class of transformers for a type of models; `None` if it is not known.
pub(crate) type ClassOfModel<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Files by name: JSON objects, and the texts of chat templates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideFiles(pub Map<String, Value>);

impl SideFiles {
    /// Reads the files of a folder. One that cannot be read is left out, with a warning.
    pub fn read(folder: &Path) -> (Self, Vec<String>) {
        let (mut files, mut warnings) = (Map::new(), Vec::new());
        for (name, path) in paths_in(folder).into_iter().filter(|(_, path)| path.is_file()) {
            match read_file(&name, &path) {
                Ok(value) => drop(files.insert(name, value)),
                Err(error) => {
                    warnings.push(format!("{error}; what {name} says of the tokenizer is not kept"));
                }
            }
        }
        if let Some(model) = files.shift_remove(MODEL) {
            let fields = CLASS_OF_MODEL.map(|name| (name.to_owned(), model[name].clone()));
            let model: Map<_, _> = fields.into_iter().filter(|(_, value)| value.is_string()).collect();
            if !model.is_empty() {
                files.insert(MODEL.to_owned(), model.into());
            }
        }
        (SideFiles(files), warnings)
    }

    /// A file that is an object; `None` if it is not there.
    pub fn get(&self, name: &str) -> Option<&Map<String, Value>> {
        self.0.get(name).and_then(Value::as_object)
    }

    pub(super) fn field(&self, file: &str, name: &str) -> Option<&Value> {
        self.get(file)?.get(name)
    }

    /// The class of transformers that `AutoTokenizer` takes; `None` if the files do not say, with a warning
    /// if they name a type of models that is not known.
    pub fn tokenizer_class(
        &self,
        of_model: &dyn Fn(&str) -> Option<String>,
        warnings: &mut Vec<String>,
    ) -> Option<String> {
        let named = [CONFIG, MODEL].map(|file| self.field(file, "tokenizer_class"));
        if let Some(Value::String(name)) = named.into_iter().flatten().find(|name| is_true(Some(name))) {
            return Some(name.clone());
        }
        let model = self.field(MODEL, "model_type")?;
        let class = model.as_str().and_then(of_model);
        if class.is_none() {
            warnings.push(format!(
                "config.json says that the model is of type {}; which class of tokenizer that means is not known here, \
                 and is not kept: write tokenizer_class into tokenizer_config.json",
                shown(model)
            ));
        }
        class
    }
}

/// Names and paths of files that may be in a folder; not all need exist.
pub(crate) fn paths_in(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder.join(TEMPLATES)).into_iter().flatten().flatten();
    let mut templates: Vec<String> =
        entries.filter_map(|entry| Some(format!("{TEMPLATES}{}", entry.file_name().to_str()?))).collect();
    templates.retain(|name| is_known(name));
    templates.sort_unstable();
    templates.truncate(MAX_TEMPLATES);
    let fixed = OBJECTS.into_iter().chain([TEMPLATE]).map(str::to_owned);
    fixed.chain(templates).map(|name| (name.clone(), folder.join(name))).collect()
}

fn read_file(name: &str, path: &Path) -> Result<Value> {
    let data = reading::read(path, MAX_BYTES)?;
    let text = reading::text_of(&data, path)?;
    if OBJECTS.contains(&name) {
        return reading::object_of(text, path, name).map(Value::Object);
    }
    Ok(text.into())
}

/// Whether Python takes a value for true.
pub(super) fn is_true(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(value)) => *value,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(fields)) => !fields.is_empty(),
    }
}
