//! Tells the binding which Python it is built for (`cfg(Py_3_12)` and the like).

fn main() {
    #[cfg(feature = "python")]
    pyo3_build_config::use_pyo3_cfgs();
}
