//! The processors that a release is built for.
//!
//! Every binary is linked statically with musl, so that no board's C library is too old for it.

use anyhow::{Result, bail};

/// One processor of a release.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The name in file names.
    pub(crate) name: &'static str,
    /// Rust's name.
    pub(crate) triple: &'static str,
    /// Debian's architecture; `None` where no package is made.
    pub(crate) deb: Option<&'static str>,
    /// The processor which `readelf` must name in the binary's header.
    pub(crate) machine: &'static str,
    /// How xz compresses the package's data.
    pub(crate) xz: &'static [&'static str],
    /// Whether code that occurs twice may be moved into functions of its own.
    pub(crate) is_outlined: bool,
    /// Build attributes which `readelf -A` must show, and which limit the boards that can run it.
    pub(crate) attributes: &'static [&'static str],
}

/// The most that xz does, for instructions of any length.
const PRESET: &str = "--lzma2=preset=9e,lc=4,pb=1";

/// The same for instructions of four bytes each.
const PRESET_OF_WORDS: &str = "--lzma2=preset=9e,lc=2,lp=2,pb=2";

/// All processors of a release.
///
/// Raspberry Pi OS (32 bit) calls ARMv6 `armhf` and runs it on the Pi Zero and the Pi 1; Debian's
/// `armhf` is ARMv7. apt installs the package on both, so `armhf` is the ARMv6 build.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "x86_64",
        triple: "x86_64-unknown-linux-musl",
        deb: Some("amd64"),
        machine: "X86-64",
        xz: &["--x86", PRESET],
        is_outlined: true,
        attributes: &[],
    },
    Target {
        name: "aarch64",
        triple: "aarch64-unknown-linux-musl",
        deb: Some("arm64"),
        machine: "AArch64",
        xz: &[PRESET_OF_WORDS],
        is_outlined: true,
        attributes: &[],
    },
    Target {
        name: "armv6",
        triple: "arm-unknown-linux-musleabihf",
        deb: Some("armhf"),
        machine: "ARM",
        xz: &["--arm", PRESET_OF_WORDS],
        is_outlined: true,
        attributes: &["Tag_CPU_arch: v6", "Tag_FP_arch: VFPv2", "Tag_ABI_VFP_args: VFP registers"],
    },
    Target {
        name: "armv7",
        triple: "armv7-unknown-linux-musleabihf",
        deb: None,
        machine: "ARM",
        xz: &["--arm", PRESET_OF_WORDS],
        is_outlined: true,
        attributes: &["Tag_CPU_arch: v7", "Tag_ABI_VFP_args: VFP registers"],
    },
    Target {
        name: "i686",
        triple: "i686-unknown-linux-musl",
        deb: None,
        machine: "Intel 80386",
        xz: &["--x86", PRESET],
        is_outlined: true,
        attributes: &[],
    },
    Target {
        name: "riscv64",
        triple: "riscv64gc-unknown-linux-musl",
        deb: Some("riscv64"),
        machine: "RISC-V",
        xz: &[PRESET],
        // LLVM does that for this processor in code built for size, and most likely broke the program: with
        // it `cardproof run` on a simulated card copies from a wrong address.
        is_outlined: false,
        attributes: &[],
    },
];

/// The targets with these names, all of them without a name.
///
/// # Errors
/// A name that is none of them.
pub(crate) fn named(names: &[String]) -> Result<Vec<&'static Target>> {
    if names.is_empty() {
        return Ok(TARGETS.iter().collect());
    }
    names.iter().map(|name| find(name)).collect()
}

fn find(name: &str) -> Result<&'static Target> {
    match TARGETS.iter().find(|target| target.name == name) {
        Some(target) => Ok(target),
        None => {
            let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            bail!("no target '{name}'; there are {}", known.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_for_32_bit_arm_runs_on_armv6() {
        let armhf = TARGETS.iter().find(|target| target.deb == Some("armhf")).unwrap();
        assert!(armhf.attributes.contains(&"Tag_CPU_arch: v6"), "{armhf:?}");
    }

    #[test]
    fn an_unknown_target_is_named_with_the_known_ones() {
        let error = named(&["sparc".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("'sparc'") && error.contains("riscv64"), "{error}");
    }
}
