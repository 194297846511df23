//! Mount options, without those that say who or where.
//!
//! Options change figures (`noatime`, `data=ordered`, `compress`), so a record keeps them; some
//! hold paths, names, addresses or passwords, and a record must not. A list of what to drop would
//! miss the next file system's, so this is a list of what to keep: plain switches, numbers, and
//! the values of options known to name a choice.

/// Options whose value is one of a few words of the file system's own. Those whose value is a
/// number need no entry.
const CHOICES: [&str; 31] = [
    "alloc_mode",
    "background_gc",
    "cache",
    "checkpoint",
    "codepage",
    "compress",
    "compress-force",
    "compress_algorithm",
    "compress_mode",
    "data",
    "discard",
    "discard_unit",
    "errors",
    "fsync_mode",
    "huge",
    "index",
    "iocharset",
    "jqfmt",
    "local_lock",
    "memory",
    "metacopy",
    "mode",
    "order",
    "proto",
    "redirect_dir",
    "sec",
    "shortname",
    "space_cache",
    "vers",
    "whint_mode",
    "xino",
];

/// The options of a mount and of its file system in one list, each once, `ro` or `rw` first.
///
/// A file system that may be written can be mounted read-only: it then counts as `ro`.
pub(crate) fn public(mount_options: &str, super_options: &str) -> Vec<String> {
    let all = || mount_options.split(',').chain(super_options.split(','));
    let access = if all().any(|option| option == "ro") { "ro" } else { "rw" };
    let mut kept = vec![access.to_owned()];
    for option in all().filter(|&option| option != "ro" && option != "rw") {
        if is_public(option) && !kept.iter().any(|earlier| earlier == option) {
            kept.push(option.to_owned());
        }
    }
    kept
}

fn is_public(option: &str) -> bool {
    match option.split_once('=') {
        None => is_word(option),
        Some((key, value)) if CHOICES.contains(&key) => is_word(key) && is_choice(value),
        Some((key, value)) => is_word(key) && !key.ends_with("dir") && is_number(value),
    }
}

/// Whether `text` is one of the words that file systems use for switches.
fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !text.is_empty() && text.len() <= 40 && text.chars().all(fits)
}

/// Whether `text` is a choice, such as `ordered`, `zstd:3` or `remount-ro`.
fn is_choice(text: &str) -> bool {
    text.split(':').all(is_word)
}

/// Whether `text` is a number in any base, with at most a letter for its unit.
fn is_number(text: &str) -> bool {
    let digits = text.strip_suffix(|c: char| c.is_ascii_alphabetic()).unwrap_or(text);
    let hexadecimal = text.strip_prefix("0x").unwrap_or_default();
    let all =
        |text: &str, fits: fn(&char) -> bool| !text.is_empty() && text.chars().all(|c| fits(&c));
    all(digits, char::is_ascii_digit) || all(hexadecimal, char::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_figures_is_kept() {
        let cases = [
            ("rw,noatime", "rw,commit=600,data=ordered", "rw noatime commit=600 data=ordered"),
            (
                "rw,relatime",
                "rw,compress=zstd:3,space_cache=v2,subvolid=5",
                "rw relatime compress=zstd:3 space_cache=v2 subvolid=5",
            ),
            (
                "rw",
                "rw,fmask=0022,iocharset=ascii,errors=remount-ro",
                "rw fmask=0022 iocharset=ascii errors=remount-ro",
            ),
            (
                "rw",
                "rw,size=12334556k,mode=755,uid=1000,gid=1000",
                "rw size=12334556k mode=755 uid=1000 gid=1000",
            ),
            ("ro,noatime", "rw,noatime", "ro noatime"),
            ("rw", "ro", "ro"),
            ("", "", "rw"),
        ];
        for (mount, filesystem, expected) in cases {
            assert_eq!(public(mount, filesystem).join(" "), expected);
        }
    }

    #[test]
    fn who_and_where_are_dropped() {
        let secrets = [
            "lowerdir=/var/lib/docker/l/AB:/home/ann",
            "upperdir=upper",
            "workdir=1",
            "subvol=/@home/ann",
            "username=ann",
            "user=ann",
            "password=secret",
            "domain=HOME",
            "addr=192.168.1.7",
            "clientaddr=10.0.0.2",
            "mountaddr=fe80::1",
            "unc=\\\\nas\\ann",
            "name=ann",
            "uname=ann",
            "context=system_u:object_r:tmp_t:s0",
            "source=/dev/sdb",
            "trans=tcp",
            "data=/home/ann",
            "jqfmt=vfsv0/x",
            "usrjquota=ann.user",
            "mode=a b",
            "errors=",
            "=x",
            "commit=\u{e9}",
        ];
        for secret in secrets {
            assert_eq!(public("rw", secret), ["rw"], "{secret}");
        }
    }
}
