//! The instruction sets that this machine has, and the choice of one.

use super::kernel::Kernel;
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::portable::Portable;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// An instruction set that this machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(IsaKind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IsaKind {
    #[cfg(target_arch = "x86_64")]
    Avx512Vbmi2(avx512::Avx512<true>),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512<false>),
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
    Portable(Portable),
}

impl Isa {
    /// The instruction sets of this machine, the best first.
    pub fn available() -> impl Iterator<Item = Isa> {
        let available = [
            #[cfg(target_arch = "x86_64")]
            avx512::Avx512::<true>::detect().map(IsaKind::Avx512Vbmi2),
            #[cfg(target_arch = "x86_64")]
            avx512::Avx512::<false>::detect().map(IsaKind::Avx512),
            #[cfg(target_arch = "x86_64")]
            avx2::Avx2::detect().map(IsaKind::Avx2),
            #[cfg(target_arch = "aarch64")]
            neon::Neon::detect().map(IsaKind::Neon),
            Some(IsaKind::Portable(Portable)),
        ];
        available.into_iter().flatten().map(Isa)
    }

    /// The best instruction set of this machine.
    pub fn best() -> Isa {
        Self::available().next().unwrap_or(Isa(IsaKind::Portable(Portable)))
    }

    /// The instruction set of a name, if this machine has it.
    pub fn from_name(name: &str) -> Option<Isa> {
        Self::available().find(|isa| isa.name() == name)
    }

    /// `avx512vbmi2`, `avx512`, `avx2`, `neon` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx512Vbmi2(_) => "avx512vbmi2",
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            IsaKind::Neon(_) => "neon",
            IsaKind::Portable(_) => "portable",
        }
    }

    /// Runs `kernel`, compiled for this instruction set.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Out {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx512Vbmi2(simd) => simd.run(kernel),
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx512(simd) => simd.run(kernel),
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx2(simd) => simd.run(kernel),
            #[cfg(target_arch = "aarch64")]
            IsaKind::Neon(simd) => kernel.run(simd),
            IsaKind::Portable(simd) => kernel.run(simd),
        }
    }
}
