//! What is taken out of a dump before it leaves the machine.
//!
//! Identification reads no serial number on its own, but some files hold one among other things:
//! the CID register, the mount table, the names of volumes. Those are cut to what is needed here,
//! file by file; whatever is not known to be harmless in them goes.

use std::path::{Path, PathBuf};

use crate::dump::{self, Entry, SERIALS_REMOVED, Tree};
use crate::identify::features::is_boot_setting_of_storage;
use crate::identify::kernel_log::{is_log_file, kept_lines, public_lines};
use crate::options;
use crate::sysroot::Sysroot;

/// Files never kept, whoever read them.
const SECRET_NAMES: [&str; 8] = [
    "serial",
    "serial-number",
    "serial_number",
    "hostname",
    "unique_id",
    "wwid",
    "vpd_pg80",
    "vpd_pg83",
];

/// The places of mounts that are the same on many machines.
const PUBLIC_POINTS: [&str; 9] =
    ["/", "/boot", "/boot/firmware", "/boot/efi", "/home", "/var", "/tmp", "/srv", "/opt"];

impl Sysroot {
    /// What was read since [`with_journal`](Self::with_journal), as the text of a dump without
    /// serial numbers, names and paths.
    #[must_use]
    pub fn dump(&self) -> String {
        dump::write(&redacted(&self.journal()))
    }
}

/// The public part of what was read.
fn redacted(read: &Tree) -> Tree {
    let mut public = Tree::default();
    let mut volumes = Vec::new();
    for (path, entry) in read.entries() {
        if SECRET_NAMES.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        let entry = match entry {
            Entry::File(bytes) => content(read, path, bytes).map(Entry::File),
            other => Some(other.clone()),
        };
        if let Some(entry) = entry {
            public.insert(without_volume(path, &mut volumes), entry);
        }
    }
    public.insert(SERIALS_REMOVED.into(), Entry::File(b"yes\n".to_vec()));
    public
}

/// `path` with a number in the place of a btrfs volume's unique name.
fn without_volume(path: &Path, volumes: &mut Vec<PathBuf>) -> PathBuf {
    const ABOVE: &str = "sys/fs/btrfs";
    let Ok(below) = path.strip_prefix(ABOVE) else { return path.to_owned() };
    let mut parts = below.components();
    let Some(volume) = parts.next().map(|part| PathBuf::from(part.as_os_str())) else {
        return path.to_owned();
    };
    let known = volumes.iter().position(|earlier| *earlier == volume);
    let number = known.unwrap_or_else(|| {
        volumes.push(volume);
        volumes.len() - 1
    });
    Path::new(ABOVE).join(number.to_string()).join(parts.as_path())
}

/// The public part of the file at `path`.
fn content(read: &Tree, path: &Path, bytes: &[u8]) -> Option<Vec<u8>> {
    let name = path.file_name()?.to_str()?;
    match name {
        "cid" => cid_without_serial(bytes, &card_type(read, path)?),
        "mountinfo" => Some(lines(bytes, mount)),
        "config.txt" => {
            Some(lines(bytes, |line| is_boot_setting_of_storage(line).then(|| line.to_owned())))
        }
        "backing_file" => Some(backing_file(bytes)),
        _ if is_log_file(name) => Some((public_lines(bytes).join("\n") + "\n").into_bytes()),
        // Logs of crashes, `dmesg-ramoops-0` and `dmesg.txt`.
        _ if name.starts_with("dmesg") => Some((kept_lines(bytes).join("\n") + "\n").into_bytes()),
        "name" if is_mapped(path) => None,
        "uuid" if is_mapped(path) => Some(kind_of_layer(bytes)),
        "uuid" => None,
        _ => Some(bytes.to_vec()),
    }
}

/// Whether `path` is an attribute of a device-mapper device.
fn is_mapped(path: &Path) -> bool {
    path.parent().is_some_and(|above| above.ends_with("dm"))
}

/// The capital words at the beginning of a device-mapper UUID, which name its maker.
fn kind_of_layer(uuid: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(uuid);
    let is_kind = |word: &&str| {
        ["CRYPT", "LUKS1", "LUKS2", "VERITY", "LVM", "mpath", "DMRAID", "VDO"].contains(word)
    };
    let kind: String =
        text.split('-').take_while(is_kind).fold(String::new(), |all, word| all + word + "-");
    (kind + "\n").into_bytes()
}

/// `SD` or `MMC`, from the file beside the register.
fn card_type(read: &Tree, cid: &Path) -> Option<String> {
    let bytes = read.bytes(&cid.with_file_name("type")).ok()?;
    Some(String::from_utf8(bytes).ok()?.trim().to_owned())
}

/// The register with zeros for the serial number: bits 55 to 24 of an SD card's, 47 to 16 of an
/// eMMC's. A text that is no register is not kept.
fn cid_without_serial(bytes: &[u8], card_type: &str) -> Option<Vec<u8>> {
    let serial = match card_type {
        "SD" | "SDcombo" => 18..26,
        "MMC" => 20..28,
        _ => return None,
    };
    let text = std::str::from_utf8(bytes).ok()?.trim();
    if text.len() != 32 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut text = text.to_owned();
    text.replace_range(serial, "00000000");
    text.push('\n');
    Some(text.into_bytes())
}

/// The lines of a text, each as `keep` has it or not at all.
fn lines(bytes: &[u8], keep: impl Fn(&str) -> Option<String>) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let mut kept: String =
        text.lines().filter_map(keep).fold(String::new(), |all, line| all + &line + "\n");
    if kept.is_empty() {
        kept.push('\n');
    }
    kept.into_bytes()
}

/// A line of the mount table with the number of the device, the type and the harmless options;
/// places and sources only where they tell nothing of a person.
fn mount(line: &str) -> Option<String> {
    let (before, after) = line.split_once(" - ")?;
    let fields: Vec<&str> = before.split(' ').collect();
    let [id, parent, device, _, point, mount_options, ..] = fields.as_slice() else { return None };
    let mut after = after.split(' ');
    let (kind, source, super_options) = (after.next()?, after.next()?, after.next()?);
    let point =
        if PUBLIC_POINTS.contains(point) { (*point).to_owned() } else { format!("/mounted/{id}") };
    let is_plain = source.starts_with("/dev/")
        && !source.starts_with("/dev/mapper/")
        && source.matches('/').count() == 2;
    let source = if is_plain { source } else { "-" };
    let kept = options::public(mount_options, super_options).join(",");
    Some(format!("{id} {parent} {device} / {point} {kept} - {kind} {source} {kept}"))
}

/// Whether a loop device is over a device or a file is kept, the file's path is not, nor a name that
/// a volume's owner gave it.
fn backing_file(bytes: &[u8]) -> Vec<u8> {
    let node = bytes.strip_prefix(b"/dev/").filter(|name| !name.contains(&b'/'));
    if node.is_some() { bytes.to_vec() } else { b"(a file)\n".to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serial_number_leaves_the_register_and_nothing_else_does() {
        let cid = b"035344534E363447867E650771016B8D\n";
        let sd = cid_without_serial(cid, "SD").unwrap();
        assert_eq!(
            sd,
            b"035344534E36344786\
                         00000000\
                         016B8D\n"
        );
        let mmc = cid_without_serial(b"150100424a5444345208deadbeefa700\n", "MMC").unwrap();
        assert_eq!(
            mmc,
            b"150100424a5444345208\
                          00000000\
                          a700\n"
        );
        assert_eq!(cid_without_serial(cid, "SDIO"), None);
        assert_eq!(cid_without_serial(b"garbage", "SD"), None);
    }

    #[test]
    fn no_log_names_its_host_or_what_came_before_the_boot() {
        let log = b"Nov 20 08:00:00 SECRET-host kernel: [ 1.0] mmc0: new SD card at address 1\n\
                    Nov 21 08:00:00 SECRET-host kernel: [ 0.0] Linux version 6.12 (SECRET@host)\n\
                    Nov 21 08:00:01 SECRET-host kernel: [ 1.0] usb 1-1: SerialNumber: SECRET\n\
                    Nov 21 08:00:02 SECRET-host kernel: [ 2.0] mmc0: new SDHC card at address 2\n";
        for path in ["kmsg", "dmesg", "var/log/kern.log", "var/log/dmesg"] {
            let kept = content(&Tree::default(), Path::new(path), log).unwrap();
            let kept = String::from_utf8(kept).unwrap();
            let expected = "Nov 21 08:00:02 - kernel: mmc0: new SDHC card at address 2\n";
            assert_eq!(kept, expected, "{path}");
        }
    }

    #[test]
    fn what_a_loop_device_lies_on_is_not_named() {
        for secret in ["/home/ann/card.img\n", "/dev/shm/ann\n", "/dev/mapper/ann-home\n"] {
            assert_eq!(backing_file(secret.as_bytes()), b"(a file)\n", "{secret}");
        }
        assert_eq!(backing_file(b"/dev/sda1\n"), b"/dev/sda1\n");
    }

    #[test]
    fn a_mount_keeps_what_changes_figures() {
        let cases = [
            (
                "27 1 179:2 / / rw,noatime shared:1 - ext4 /dev/mmcblk0p2 rw,commit=600",
                "27 1 179:2 / / rw,noatime,commit=600 - ext4 /dev/mmcblk0p2 rw,noatime,commit=600",
            ),
            (
                "30 27 0:33 /@ann /media/ann/STICK rw - btrfs /dev/mapper/ann-home rw,subvol=/@ann",
                "30 27 0:33 / /mounted/30 rw - btrfs - rw",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(mount(line).as_deref(), Some(expected));
        }
        assert_eq!(mount("garbage"), None);
    }
}
