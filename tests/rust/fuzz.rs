//! Every input of the corpus once through its fuzz target.

use std::path::Path;

#[path = "../../fuzz/src/targets/mod.rs"]
mod targets;

#[test]
fn the_corpus_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in targets::ALL {
        // A package of the sources alone has no corpus.
        let Ok(inputs) = std::fs::read_dir(corpus.join(name)) else { continue };
        for input in inputs {
            let path = input.unwrap().path();
            let data = std::fs::read(&path).unwrap();
            let held = std::panic::catch_unwind(|| target(&data));
            assert!(held.is_ok(), "{}", path.display());
        }
    }
}
