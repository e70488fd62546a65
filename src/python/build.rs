//! Tells the binding which Python it is built for (`cfg(Py_3_12)` and the like), and guards its calls of the
//! interpreter.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    wrap_calls();
}

/// Lets the linker put the functions of `guarded.rs` in the place of those of the interpreter.
fn wrap_calls() {
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if (target("OS").as_str(), target("ENV").as_str()) != ("linux", "gnu") {
        return;
    }
    let guarded = include_str!("guarded.rs");
    let listed =
        guarded.split("\nguarded! {").nth(1).and_then(|list| list.split("\n}").next()).unwrap_or_default();
    let names = listed.lines().filter_map(|line| Some(line.trim().split_once('(')?.0));
    for name in names.filter(|name| !name.starts_with('#')).chain(["PyVectorcall_Function"]) {
        println!("cargo::rustc-link-arg=-Wl,--wrap={name}");
    }
}
