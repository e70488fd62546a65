//! One program for all targets: the variable `TARGET` names the one that runs.
#![no_main]

#[path = "../../tests/rust/oracle.rs"]
#[allow(dead_code)] // the tests of the package use the rest
mod oracle;
#[path = "../../tests/rust/random.rs"]
#[allow(dead_code)]
mod random;
mod targets;

use std::sync::LazyLock;

static TARGET: LazyLock<targets::Target> = LazyLock::new(|| {
    let name = std::env::var("TARGET").unwrap_or_default();
    match targets::ALL.iter().find(|(known, _)| *known == name) {
        Some(&(_, target)) => target,
        None => panic!("TARGET={name:?} is not one of {:?}", targets::ALL.map(|(name, _)| name)),
    }
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
