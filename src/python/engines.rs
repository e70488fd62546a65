//! What runs the patterns of files: the core, or the package `regex`, which `toksmith.patterns` knows.

use std::sync::Arc;

use pyo3::prelude::*;

use super::compiled::PyCompiledPattern;
use super::dialects::{PyTables, asked};
use super::pretokenizer::PyPretokenizer;
use super::regex::Regex;
use crate::dialects::Translation;
use crate::error::Result;
use crate::pretokenize::{Matcher, Unmatched};
use crate::tokenizer::SourcePattern;
use crate::tokenizer::parts::PatternEngines;

impl PatternEngines for PyTables {
    fn engine(&self, Translation { pattern, nullable }: &Translation) -> Result<Matcher> {
        asked("toksmith.patterns", "engine_of", |engine_of| {
            let engine = engine_of.call1((pattern, nullable))?;
            Ok(match engine.cast::<PyCompiledPattern>() {
                Ok(compiled) => Matcher::Compiled(Arc::clone(&compiled.get().automaton)),
                Err(_) => Matcher::Outside(Arc::new(Regex::new(&engine, *nullable))),
            })
        })
    }

    fn pattern(&self, source: &str, flags: u32, unmatched: Unmatched) -> Result<SourcePattern> {
        asked("toksmith.patterns", "of_source", |of_source| {
            let core = of_source.call1((source, flags, unmatched.name()))?.call_method0("core")?;
            Ok(core.cast::<PyPretokenizer>()?.get().inner.clone())
        })
    }

    fn unicode(&self) -> Result<String> {
        asked("toksmith.patterns", "installed_unicode", |installed| installed.call0()?.extract())
    }

    fn tokenizer_class(&self, model_type: &str) -> Option<String> {
        let class = asked("toksmith._internal.characters", "tokenizer_class", |class| {
            class.call1((model_type,))?.extract()
        });
        class.unwrap_or_default()
    }
}
