//! Names as words of a shell, for commands that are printed to be copied.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `text` as one word of a shell, whatever it holds.
///
/// What is plain stays as it is. What a terminal would not show as it is, such as a line feed, and bytes that
/// are no UTF-8 become `$'\012'`, which bash, zsh, ksh and busybox read.
#[must_use]
pub fn shell_word(text: impl AsRef<OsStr>) -> String {
    let bytes = text.as_ref().as_bytes();
    let Ok(text) = std::str::from_utf8(bytes) else { return escaped(bytes) };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:,+=@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else if text.chars().any(is_hidden) {
        escaped(bytes)
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// `path` as one word of a shell that no program takes for an option; `-`, standard input, stays.
#[must_use]
pub fn shell_path(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    if bytes.starts_with(b"-") && bytes != b"-" {
        shell_word(Path::new(".").join(path))
    } else {
        shell_word(path)
    }
}

/// Whether a terminal shows nothing, a blank or something else for `c`.
fn is_hidden(c: char) -> bool {
    let is_invisible = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    c.is_control() || (c.is_whitespace() && c != ' ') || is_invisible
}

fn escaped(bytes: &[u8]) -> String {
    let mut word = String::from("$'");
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' => word.extend(['\\', char::from(byte)]),
            b' '..=b'~' => word.push(char::from(byte)),
            _ => word.push_str(&format!("\\{byte:03o}")),
        }
    }
    word.push('\'');
    word
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_every_name_as_one_word() {
        let names: [&[u8]; 12] = [
            b"",
            b"plain",
            b"my card",
            b"it's $HOME",
            b"\"`id`\" ; rm -r *",
            b"~",
            b"-x",
            b"#!",
            b"a\\b\nc\td",
            "カード \u{a0}\u{202e}1".as_bytes(),
            b"\xff' \\x",
            b"a=b%c",
        ];
        for name in names {
            let word = shell_word(OsStr::from_bytes(name));
            let script = format!("printf '%s' {word}; set -- {word}; test $# = 1");
            let said = Command::new("bash").arg("-c").arg(script).output().unwrap();
            assert!(said.status.success(), "{word}");
            assert_eq!(said.stdout, name, "{word}");
        }
    }

    #[test]
    fn a_path_is_no_option() {
        assert_eq!(shell_path(Path::new("--destroy")), "./--destroy");
        assert_eq!(shell_path(Path::new("/media/pi/my card")), "'/media/pi/my card'");
        assert_eq!(shell_path(Path::new("sda")), "sda");
        assert_eq!(shell_path(Path::new("-")), "-");
    }
}
