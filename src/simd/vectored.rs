//! Plain code, compiled a second time for wider vectors.

/// Runs `f`, compiled for AVX2 and BMI where the machine has them. `f` must be `#[inline(always)]`, and all that it
/// calls in its hot loops: only what is inlined here is compiled anew.
#[inline(always)]
pub(crate) fn vectored<T>(f: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
    {
        // SAFETY: the features were just detected.
        return unsafe { x86_64_v3(f) };
    }
    f()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn x86_64_v3<T>(f: impl FnOnce() -> T) -> T {
    f()
}
