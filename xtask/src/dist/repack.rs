//! A Debian package with its data compressed harder than cargo-deb does.
//!
//! xz rewrites the jumps of a program so that the same target looks the same everywhere (its filters for
//! x86 and ARM), which every xz has been able to undo since 2009. Filters that Debian 11 cannot undo are not
//! used.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};

const MAGIC: &[u8] = b"!<arch>\n";
/// A member's head: its name is in the first 16 bytes, its length in the ten before the last two.
const HEAD_BYTES: usize = 60;

/// A member of an `ar` archive, which is what a package is.
struct Member {
    head: Vec<u8>,
    data: Vec<u8>,
}

/// Compresses the data of the package `file` anew, with these options of xz.
///
/// # Errors
/// `file` is no package that cargo-deb makes, or xz failed.
pub(crate) fn repack(file: &Path, options: &[&str]) -> Result<()> {
    let bytes = repacked(&fs::read(file)?, options)
        .with_context(|| format!("{} cannot be packed again", file.display()))?;
    fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}

fn repacked(package: &[u8], options: &[&str]) -> Result<Vec<u8>> {
    let mut members = members(package).context("no Debian package")?;
    let data = members
        .iter_mut()
        .find(|member| member.head.starts_with(b"data.tar.xz"))
        .context("the package's data are not compressed with xz")?;
    let plain = through_xz(&["--decompress"], std::mem::take(&mut data.data))?;
    // dpkg's own choice of a checksum. With more threads xz would cut the data into blocks.
    let words = [&["--compress", "--check=crc32", "--threads=1"], options].concat();
    data.data = through_xz(&words, plain)?;
    Ok(archive(&members))
}

/// What xz makes of `bytes`.
fn through_xz(options: &[&str], bytes: Vec<u8>) -> Result<Vec<u8>> {
    let mut xz = Command::new("xz")
        .args(options)
        .arg("--stdout")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start xz; install xz-utils")?;
    let mut input = xz.stdin.take().context("xz has no input")?;
    let writer = thread::spawn(move || input.write_all(&bytes));
    let output = xz.wait_with_output()?;
    ensure!(output.status.success(), "xz {} failed", options.join(" "));
    let written = writer.join().map_err(|_| anyhow::anyhow!("writing to xz broke off"))?;
    written.context("xz did not read all of the package's data")?;
    Ok(output.stdout)
}

/// The members of the archive; `None` where it is none.
fn members(bytes: &[u8]) -> Option<Vec<Member>> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let mut members = Vec::new();
    while !rest.is_empty() {
        let (head, after) = rest.split_at_checked(HEAD_BYTES)?;
        let length: usize = std::str::from_utf8(&head[48..58]).ok()?.trim().parse().ok()?;
        let (data, after) = after.split_at_checked(length)?;
        members.push(Member { head: head.to_vec(), data: data.to_vec() });
        // Members begin at even places.
        rest = after.get(length % 2..).unwrap_or_default();
    }
    Some(members)
}

/// The archive of `members`, with the lengths that they have.
fn archive(members: &[Member]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for Member { head, data } in members {
        bytes.extend(&head[..48]);
        bytes.extend(format!("{:<10}", data.len()).as_bytes());
        bytes.extend(&head[58..]);
        bytes.extend(data);
        bytes.extend(&b"\n"[..data.len() % 2]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use cardproof_testkit::{lab_or_skip, run};

    use super::*;

    fn member(name: &str, data: &[u8]) -> Member {
        let head = format!("{name:<16}0           0     0     100644  {:<10}`\n", data.len());
        Member { head: head.into_bytes(), data: data.to_vec() }
    }

    #[test]
    fn an_archive_of_odd_and_even_members_comes_back() {
        let bytes = archive(&[
            member("debian-binary", b"2.0\n"),
            member("data.tar.xz", b"odd"),
            member("x", b""),
        ]);
        let read = members(&bytes).unwrap();
        let data: Vec<&[u8]> = read.iter().map(|member| member.data.as_slice()).collect();
        assert_eq!(data, [&b"2.0\n"[..], b"odd", b""]);
        assert_eq!(archive(&read), bytes);
    }

    #[test]
    fn what_is_cut_off_is_no_archive() {
        let bytes = archive(&[member("debian-binary", b"2.0\n")]);
        for length in 1..bytes.len() {
            let is_empty_archive = length == MAGIC.len();
            assert_eq!(members(&bytes[..length]).is_some(), is_empty_archive, "{length} bytes");
        }
    }

    #[test]
    fn the_data_are_the_same_after_it() {
        lab_or_skip!(run("xz", ["--version"]));
        let plain = b"call call call".repeat(1000);
        let packed = through_xz(&["--compress", "-0"], plain.clone()).unwrap();
        let package = archive(&[member("debian-binary", b"2.0\n"), member("data.tar.xz", &packed)]);
        let again = repacked(&package, &["--x86", "--lzma2=preset=9e"]).unwrap();
        let again = members(&again).unwrap();
        assert_eq!(again[0].data, b"2.0\n");
        let data = again.into_iter().nth(1).unwrap().data;
        assert_eq!(through_xz(&["--decompress"], data).unwrap(), plain);
    }
}
