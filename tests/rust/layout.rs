//! The layout of the core: no cycles of imports between files.
//!
//! An import is an edge from the file that has it to the file that it names: `use` of `crate::…`, `super::…`
//! or a child module, and such paths in code. `mod.rs` is a file like all others: it may re-export its
//! children, but then they must import from each other, not through it. There are no exceptions today. What
//! tests import does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module by the names that lead to it; none for the root of the crate.
type Module = Vec<String>;
type Graph = BTreeMap<Module, BTreeSet<Module>>;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All files of the product, by their modules, without comments and tests.
fn files() -> BTreeMap<Module, (PathBuf, String)> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![source()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
                let text = fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(source()).unwrap().to_owned();
                files.insert(module(&path), (path, product(&text)));
            }
        }
    }
    files
}

fn module(path: &Path) -> Module {
    let mut names: Module =
        path.with_extension("").iter().map(|name| name.to_str().unwrap().into()).collect();
    if names.last().is_some_and(|name| name == "mod" || name == "lib") {
        names.pop();
    }
    names
}

/// The lines of a file before its tests.
fn product(text: &str) -> String {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned()
}

fn without_comments(text: &str) -> String {
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    // A visibility is no import.
    code.collect::<Vec<_>>().join("\n").replace("pub(in crate", "pub(in ").replace("pub(crate)", "pub")
}

/// The paths of a `use` tree: `a::{b, c::{d, e}}` has three.
fn expanded(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        return vec![tree.split(" as ").next().unwrap().trim().to_owned()];
    };
    let inner = &tree[open + 1..tree.rfind('}').unwrap()];
    let (mut paths, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, byte) in inner.bytes().chain([b',']).enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                let part = inner[start..at].trim();
                if !part.is_empty() {
                    paths.extend(expanded(&format!("{}{part}", &tree[..open])));
                }
                start = at + 1;
            }
            _ => (),
        }
    }
    paths
}

/// All paths that a file imports or names.
fn paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    // A statement begins its line, unlike the word in a text.
    let before = |at: usize| code[..at].rsplit('\n').next().unwrap_or_default().trim();
    let is_statement = |at: &usize| before(*at).is_empty() || before(*at).starts_with("pub");
    for at in code.match_indices("use ").map(|(at, _)| at).filter(is_statement) {
        if let Some((tree, _)) = code[at + "use ".len()..].split_once(';') {
            paths.extend(expanded(tree));
        }
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    // A word that ends in `::` is the beginning of a tree in braces, which is among the statements.
    let words = code.split(|c: char| !is_part(c)).filter(|word| !word.ends_with(':'));
    let roots = ["crate::", "super::", "toksmith::"];
    let inner = words.filter(|word| roots.iter().any(|root| word.starts_with(root)));
    paths.extend(inner.map(str::to_owned));
    paths
}

/// The module that a path in `here` leads to: the longest beginning of it that is a file.
fn target(path: &str, here: &Module, all: &BTreeMap<Module, (PathBuf, String)>) -> Option<Module> {
    let mut names = path.split("::").map(str::trim).peekable();
    let mut found = match names.peek().copied()? {
        "crate" => {
            names.next();
            Module::new()
        }
        "super" | "self" => here.clone(),
        child => {
            // A child of this module; any other name is a crate's, or of this file.
            let mut found = here.clone();
            found.push(child.into());
            return all.contains_key(&found).then_some(found);
        }
    };
    while let Some("super" | "self") = names.peek().copied() {
        if names.next() == Some("super") {
            found.pop();
        }
    }
    for name in names {
        found.push(name.into());
        if !all.contains_key(&found) {
            found.pop();
            break;
        }
    }
    Some(found)
}

fn graph() -> Graph {
    let all = files();
    let edges = all.iter().map(|(here, (_, text))| {
        let paths = paths(&without_comments(text));
        let targets = paths.iter().filter_map(|path| target(path, here, &all));
        (here.clone(), targets.filter(|found| found != here).collect())
    });
    edges.collect()
}

/// A circle of a graph, if it has one.
fn circle(graph: &Graph) -> Option<Vec<Module>> {
    fn visit(node: &Module, graph: &Graph, way: &mut Vec<Module>, done: &mut BTreeSet<Module>) -> bool {
        if let Some(at) = way.iter().position(|other| other == node) {
            way.drain(..at);
            return true;
        }
        if !done.insert(node.clone()) {
            return false;
        }
        way.push(node.clone());
        let found = graph.get(node).into_iter().flatten().any(|next| visit(next, graph, way, done));
        if !found {
            way.pop();
        }
        found
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|node| {
        let mut way = Vec::new();
        visit(node, graph, &mut way, &mut done).then_some(way)
    })
}

fn shown(circle: &[Module]) -> String {
    circle.iter().map(|names| format!("crate::{}", names.join("::"))).collect::<Vec<_>>().join(" → ")
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let graph = graph();
    assert!(graph.len() > 100, "all files are looked at");
    if let Some(circle) = circle(&graph) {
        panic!("these files import each other in a circle: {}", shown(&circle));
    }
}

#[test]
fn no_modules_of_the_crate_import_each_other_in_a_circle() {
    let mut modules = Graph::new();
    for (here, targets) in graph() {
        let top = |names: &Module| names.iter().take(1).cloned().collect::<Module>();
        let (here, targets) = (top(&here), targets.iter().map(top).collect::<Vec<_>>());
        let others = targets.into_iter().filter(|other| *other != here);
        modules.entry(here.clone()).or_default().extend(others);
    }
    if let Some(circle) = circle(&modules) {
        panic!("these modules import each other in a circle: {}", shown(&circle));
    }
}

/// What the binding takes from modules behind the public interface, and why.
const INSIDE: [(&str, &str); 9] = [
    ("encode::{EncodedBatch IdView Spans recycle}", "buffers whose memory becomes arrays"),
    ("encode::{FileOptions}", "sizes of buffers"),
    ("encode::{Encoder RandomMerges}", "methods of the encoder for texts of Python"),
    ("encode::{Continuations PrefixCache}", "classes of Python that Rust users have not asked for"),
    ("encode::{LocatedIds MarkedText marks}", "conversations, which Python lays out with Jinja"),
    ("decode::{Stop TokenRun TextDecoder self}", "decoding in place, and alignments"),
    (
        "formats::{FORMATS Lead LoadOptions self}",
        "choices of formats, which Python lists, and options as keywords",
    ),
    (
        "formats::{FolderOptions MinbpeFile NO_PATTERN RankLines SideFiles huggingface}",
        "files as the stand-ins of other libraries take and give them",
    ),
    (
        "vocab::{Semantics SpecialSpec TokenBytes Vocab}",
        "vocabularies that stand-ins of other libraries are made of, without a pattern",
    ),
];

/// Every import of the binding from these modules is in the list, and everything in the list is imported.
#[test]
fn the_binding_uses_the_public_interface() {
    let split =
        |path: &str| path.split("::").skip(1).take(2).map(str::to_owned).collect::<Vec<_>>().join("::");
    let is_inside = |path: &str| {
        let modules = ["vocab", "formats", "encode", "decode", "pipeline", "merge"];
        path.starts_with("toksmith::") && modules.contains(&path.split("::").nth(1).unwrap_or_default())
    };
    let binding = files().into_values().filter(|(path, _)| path.starts_with("python"));
    let imports = binding.flat_map(|(_, text)| paths(&without_comments(&text)));
    let used: BTreeSet<String> = imports
        .filter(|path| is_inside(path))
        .map(|path| split(&path))
        .filter(|path| path.contains("::"))
        .collect();
    let mut allowed = BTreeSet::new();
    for group in INSIDE.iter().flat_map(|(group, _)| group.split_terminator('}')) {
        let (module, names) = group.trim().split_once("::{").unwrap();
        allowed.extend(names.split(' ').map(|name| format!("{module}::{name}")));
    }
    assert_eq!(used, allowed);
}

#[test]
fn imports_are_read_as_the_compiler_reads_them() {
    let code = "use a::b;\npub(super) use super::{c, d::{self, E as F}};\nuse crate::{\n    g::H,\n    i,\n};\nlet x = super::j::k();";
    let found = paths(&without_comments(code));
    let expected =
        ["a::b", "super::c", "super::d::self", "super::d::E", "crate::g::H", "crate::i", "super::j::k"];
    assert!(expected.iter().all(|path| found.contains(&path.to_string())), "{found:?}");
    assert!(without_comments("pub(in crate::a) fn b() {} // crate::c").trim_end().ends_with("{}"));
    let module = |name: &str| vec![name.to_owned()];
    let edge = |from: &str, to: &[&str]| (module(from), to.iter().map(|name| module(name)).collect());
    assert_eq!(circle(&Graph::from([edge("a", &["b", "c"]), edge("b", &["c"]), edge("c", &[])])), None);
    let found = circle(&Graph::from([edge("a", &["b"]), edge("b", &["c"]), edge("c", &["b"])]));
    assert_eq!(found, Some(vec![module("b"), module("c")]));
}

/// Words with one meaning each, which the glossary of docs/architecture.md gives: no two types have one as
/// their name.
const WORDS: [&str; 15] = [
    "part", "piece", "section", "segment", "window", "stretch", "place", "row", "entry", "run", "stage",
    "step", "source", "room", "span",
];

#[test]
fn words_of_the_glossary_have_one_meaning() {
    let glossary = fs::read_to_string(source().parent().unwrap().join("docs/architecture.md")).unwrap();
    let missing = WORDS.iter().filter(|word| !glossary.contains(&format!("\n| {word} | ")));
    assert_eq!(missing.collect::<Vec<_>>(), [&""; 0], "the glossary does not have them");
    let mut types = BTreeMap::<String, Vec<PathBuf>>::new();
    for (path, text) in files().into_values() {
        for line in text.lines() {
            let declared = ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| {
                let (before, name) = line.split_once(kind)?;
                let is_item = before.is_empty() || before.starts_with("pub");
                is_item.then(|| name.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_lowercase())
            });
            if let Some(word) = declared.filter(|name| WORDS.contains(&name.as_str())) {
                types.entry(word).or_default().push(path.clone());
            }
        }
    }
    types.retain(|_, paths| paths.len() > 1);
    assert!(types.is_empty(), "several types have one name: {types:#?}");
}

#[test]
fn functions_fit_in_60_lines() {
    let mut long = Vec::new();
    for (path, text) in files().into_values() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some((before, name)) = line.split_once("fn ") else { continue };
            let indent = before.len() - before.trim_start().len();
            let is_item = before.trim().split(' ').all(|word| {
                word.is_empty()
                    || word.starts_with("pub")
                    || ["const", "unsafe", "extern", "\"C\""].contains(&word)
            });
            // A body ends at the first brace in the column of its function; a declaration or a body of one
            // line before.
            let end = lines[at..].iter().position(|line| {
                line.strip_prefix(&before[..indent]).is_some_and(|line| line.starts_with('}'))
                    || line.ends_with(';')
                        && !line.contains("let ")
                        && line.starts_with(&before[..indent])
                        && !line[indent..].starts_with(' ')
            });
            let length = end.map_or(0, |end| end + 1);
            if is_item && length > 60 && !line.ends_with('}') {
                long.push(format!(
                    "{}: {} has {length} lines",
                    path.display(),
                    name.split('(').next().unwrap()
                ));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn comments_fit_in_110_columns() {
    let is_long = |line: &&str| {
        let text = line.trim_start();
        // Tables, code and addresses cannot be broken.
        text.starts_with("//")
            && line.chars().count() > 110
            && !text.contains("| ")
            && !text.contains("# ")
            && !text.contains("://")
            && text.trim_start_matches('/').trim().contains(' ')
    };
    let long = files().into_values().flat_map(|(path, text)| {
        text.lines().filter(is_long).map(|line| format!("{}: {line}", path.display())).collect::<Vec<_>>()
    });
    assert_eq!(long.collect::<Vec<_>>(), [""; 0]);
}
