//! The boards: for each its emulator, its kernel, its system and its package.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::debian::Debian;
use crate::virtual_machine::Kernel;

/// An emulated single-board computer.
#[derive(Debug)]
pub(crate) struct Board {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// The board in words, as tables show it.
    pub(crate) what: &'static str,
    /// The system on its card or disk.
    pub(crate) system: Debian,
    /// The kernel's package and the Debian that it is from.
    pub(super) kernel: (Debian, &'static str),
    /// The architecture of the package of ours that it takes.
    pub(crate) package: &'static str,
    /// QEMU's program and machine.
    pub(super) emulator: &'static [&'static str],
    /// The device tree in the kernel's package; QEMU makes one for its own machines.
    pub(super) device_tree: Option<&'static str>,
    /// Further words for the kernel.
    pub(super) kernel_words: &'static str,
    /// The serial port that is the console, by its place among QEMU's.
    pub(super) serial_port: usize,
    /// Drivers that are modules.
    pub(super) modules: &'static [&'static str],
    /// Where its system is.
    pub(super) storage: Storage,
    /// What `identify --json` must say: a place and its value.
    pub(super) identity: &'static [(&'static str, &'static str)],
}

/// What the system is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// An SD card in the board's own slot.
    Card,
    /// A virtio disk.
    Virtio,
}

impl Storage {
    /// The kernel's name for it.
    pub(super) fn device(self) -> &'static str {
        match self {
            Self::Card => "mmcblk0",
            Self::Virtio => "vda",
        }
    }

    /// The kernel's name for its first partition.
    pub(super) fn partition(self) -> &'static str {
        match self {
            Self::Card => "mmcblk0p1",
            Self::Virtio => "vda1",
        }
    }
}

const fn bookworm(architecture: &'static str) -> Debian {
    Debian { suite: "bookworm", architecture }
}

const fn trixie(architecture: &'static str) -> Debian {
    Debian { suite: "trixie", architecture }
}

/// The release after Debian 13.
const fn forky(architecture: &'static str) -> Debian {
    Debian { suite: "forky", architecture }
}

const VIRTIO: &[&str] = &["virtio_pci", "virtio_blk", "ext4"];

const VIRTIO_DISK: &[(&str, &str)] =
    &[("/device/transport", r#""virtio""#), ("/device/size_bytes", "1073741824")];

/// QEMU's card, as the board's own driver reads its registers.
const CARD: &[(&str, &str)] = &[
    ("/device/transport", r#""sd""#),
    ("/device/size_bytes", "1073741824"),
    ("/device/card/product", r#""QEMU!""#),
    ("/device/card/manufacturer_id", r#""0xaa""#),
    ("/device/card/manufactured", r#""2006-02""#),
    ("/device/card/capacity_bytes", "1073741824"),
    ("/device/bus/mode", r#""sd high-speed""#),
    ("/device/bus/width_bits", "4"),
];

/// All boards.
pub(super) const BOARDS: &[Board] = &[
    Board {
        name: "raspi3b",
        what: "Raspberry Pi 3 B, 64 bit, its own SD host",
        system: bookworm("arm64"),
        kernel: (bookworm("arm64"), "linux-image-arm64"),
        package: "arm64",
        emulator: &["qemu-system-aarch64", "-M", "raspi3b"],
        device_tree: Some("broadcom/bcm2837-rpi-3-b.dtb"),
        kernel_words: "console=ttyS1,115200",
        serial_port: 1,
        modules: &["bcm2835", "mmc_block", "ext4"],
        storage: Storage::Card,
        identity: CARD,
    },
    Board {
        name: "arm64",
        what: "Cortex-A72, 64 bit, virtio",
        system: bookworm("arm64"),
        kernel: (bookworm("arm64"), "linux-image-arm64"),
        package: "arm64",
        emulator: &["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72", "-m", "512"],
        device_tree: None,
        kernel_words: "console=ttyAMA0",
        serial_port: 0,
        modules: VIRTIO,
        storage: Storage::Virtio,
        identity: VIRTIO_DISK,
    },
    // A Raspberry Pi 5 has such pages by default; the Cortex-A72 cannot have them.
    Board {
        name: "arm64-16k",
        what: "64 bit with pages of 16 KiB, virtio",
        system: bookworm("arm64"),
        kernel: (trixie("arm64"), "linux-image-arm64-16k"),
        package: "arm64",
        emulator: &["qemu-system-aarch64", "-M", "virt", "-cpu", "max", "-m", "512"],
        device_tree: None,
        kernel_words: "console=ttyAMA0",
        serial_port: 0,
        modules: VIRTIO,
        storage: Storage::Virtio,
        identity: VIRTIO_DISK,
    },
    Board {
        name: "armhf",
        what: "Cortex-A15, 32 bit, virtio",
        system: bookworm("armhf"),
        kernel: (bookworm("armhf"), "linux-image-armmp"),
        package: "armhf",
        // Without LPAE the kernel does not reach what QEMU puts above 4 GiB, such as PCI.
        emulator: &["qemu-system-arm", "-M", "virt,highmem=off", "-cpu", "cortex-a15", "-m", "512"],
        device_tree: None,
        kernel_words: "console=ttyAMA0",
        serial_port: 0,
        modules: VIRTIO,
        storage: Storage::Virtio,
        identity: VIRTIO_DISK,
    },
    // Debian has no ARMv6 with hard float, and Raspberry Pi OS is not Debian: the system is armel,
    // which runs on every ARM processor, and our armhf package is static.
    Board {
        name: "raspi0",
        what: "Raspberry Pi Zero, ARMv6, its own SD host",
        system: bookworm("armel"),
        kernel: (bookworm("armel"), "linux-image-rpi"),
        package: "armhf",
        emulator: &["qemu-system-arm", "-M", "raspi0"],
        device_tree: Some("bcm2835-rpi-zero.dtb"),
        // QEMU has no power manager as this driver wants it.
        kernel_words: "console=ttyAMA0,115200 initcall_blacklist=bcm2835_pm_driver_init",
        serial_port: 0,
        modules: &["ext4"],
        storage: Storage::Card,
        identity: CARD,
    },
    Board {
        name: "riscv64",
        what: "RISC-V, 64 bit, virtio",
        system: forky("riscv64"),
        kernel: (forky("riscv64"), "linux-image-riscv64"),
        package: "riscv64",
        emulator: &["qemu-system-riscv64", "-M", "virt", "-m", "512"],
        device_tree: None,
        kernel_words: "console=ttyS0",
        serial_port: 0,
        modules: VIRTIO,
        storage: Storage::Virtio,
        identity: VIRTIO_DISK,
    },
];

impl Board {
    /// Its kernel with a busybox, unpacked below `cache`; fetched first where it is not there.
    pub(super) fn kernel(&self, cache: &Path) -> Result<Unpacked> {
        let (system, package) = self.kernel;
        let packages = format!("{package},busybox-static");
        let tree = system.tree(cache, &packages, &format!("{}-{package}", system.suite))?;
        let busybox = tree.join("bin/busybox");
        let kernel = Kernel::unpacked_in(&tree)?;
        Ok(Unpacked { kernel, busybox })
    }
}

/// A kernel and a busybox of its architecture.
pub(super) struct Unpacked {
    pub(super) kernel: Kernel,
    pub(super) busybox: PathBuf,
}

/// The boards with these names, all of them without a name.
///
/// # Errors
/// A name that is none of them.
pub(crate) fn by_name(names: &[String]) -> Result<Vec<&'static Board>> {
    if names.is_empty() {
        return Ok(BOARDS.iter().collect());
    }
    let known = || BOARDS.iter().map(|board| board.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        let found = BOARDS.iter().find(|board| board.name == name);
        found.with_context(|| format!("no board '{name}'; there are {}", known()))
    };
    names.iter().map(find).collect()
}
