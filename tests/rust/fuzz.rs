//! Every input of the corpus once through its fuzz target.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use lzma_rust2::XzReader;

#[path = "../../fuzz/src/targets/mod.rs"]
mod targets;

#[test]
fn the_corpus_holds() {
    // A package of the sources alone has no corpus.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus.tar.xz");
    let Ok(file) = File::open(path) else { return };
    let mut archive = Vec::new();
    XzReader::new(file, false).read_to_end(&mut archive).unwrap();
    let inputs = files(&archive);
    for (name, target) in targets::ALL {
        let prefix = format!("{name}/");
        let mut inputs = inputs.iter().filter(|(path, _)| path.starts_with(&prefix)).peekable();
        assert!(inputs.peek().is_some(), "{name}");
        for (path, data) in inputs {
            assert!(std::panic::catch_unwind(|| target(data)).is_ok(), "{path}");
        }
    }
}

/// The names and contents of the files of a tar archive of short names: blocks of 512 bytes, a header before
/// each file.
fn files(mut archive: &[u8]) -> Vec<(&str, &[u8])> {
    let mut files = Vec::new();
    while archive[0] != 0 {
        let text = |from, to| std::str::from_utf8(&archive[from..to]).unwrap().trim_end_matches('\0');
        let (name, size) = (text(0, 100), usize::from_str_radix(text(124, 136), 8).unwrap());
        files.push((name, &archive[512..512 + size]));
        archive = &archive[512 + size.next_multiple_of(512)..];
    }
    files
}
