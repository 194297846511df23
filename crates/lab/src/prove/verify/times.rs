//! `cargo xtask prove verify-times`: bytes and seconds that `cardproof verify` announces on a loop device
//! of 64 GB, beside those that it takes.

use std::process::Command;

use anyhow::{Result, ensure};
use cardproof_testkit::{Limits, LoopDevice, Throttle};
use cardproof_units::Bytes;
use serde_json::Value;

use crate::program::{Build, build};
use crate::prove::{Asked, DependsOn, Proof, Proved, Rows, Takes};

/// The claim.
pub(in crate::prove) const PROOF: Proof = Proof {
    name: "verify-times",
    shows: "bytes and seconds that verify announces, beside those that it takes",
    document: "docs/design/verify.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short],
    run,
};

const SIZE: Bytes = Bytes(64_000_000_000);

/// How far the announced figures may be from the real ones.
const AWAY_MAX: f64 = 0.2;

/// Limits in MB/s of reading and writing, and operations a second; none for as fast as it goes.
type Limited = Option<(u64, u64, u32)>;

const DEVICES: [(&str, Limited); 3] = [
    ("as fast as it goes", None),
    ("reads 80 MB/s, writes 20 MB/s", Some((80, 20, 4000))),
    ("reads 40 MB/s, writes 40 MB/s, 300 operations/s", Some((40, 40, 300))),
];

fn run(asked: &Asked) -> Result<Proved> {
    let program = build(Build::Quick)?;
    let store = if asked.is_short { "128M" } else { "1G" };
    let mut rows = Rows::below(
        "| device | test | bytes written: announced | real | bytes read: announced | real | seconds: announced | real | ratio |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    )?;
    let mut holds = true;
    for (device_name, limits) in DEVICES {
        for option in ["destroy", "restore"] {
            let answer = verify(&program, limits, option, store)?;
            let number = |name: &str| answer[name].as_f64().unwrap_or(0.0);
            let bytes = |name: &str| Bytes(answer[name].as_u64().unwrap_or(0));
            let ratio = number("planned_seconds") / number("seconds").max(1e-9);
            holds &= (ratio - 1.0).abs() <= AWAY_MAX;
            rows.add(&format!(
                "| {device_name} | --{option} | {} | {} | {} | {} | {:.1} | {:.1} | {ratio:.2} |",
                bytes("planned_write_bytes"),
                bytes("bytes_written"),
                bytes("planned_read_bytes"),
                bytes("bytes_read"),
                number("planned_seconds"),
                number("seconds"),
            ))?;
        }
    }
    let note = "\nWith `--restore` what is put back counts as written and read too.\n";
    Ok(Proved { tables: rows.into_text() + note, holds })
}

fn verify(program: &std::path::Path, limits: Limited, option: &str, store: &str) -> Result<Value> {
    let place = tempfile::tempdir_in(crate::program::cache("verify")?)?;
    let device = LoopDevice::sparse_in(place.path(), SIZE)?;
    let throttle = limits.map(|(read, write, operations)| {
        let limits = Limits {
            read_bytes: Some(Bytes(read * 1_000_000)),
            write_bytes: Some(Bytes(write * 1_000_000)),
            read_iops: Some(operations),
            write_iops: Some(operations),
        };
        Throttle::new(&device, &limits)
    });
    let throttle = throttle.transpose()?;
    let mut command = throttle
        .as_ref()
        .map_or_else(|| Command::new(program), |throttle| throttle.command(program));
    let ended = command
        .args(["verify", "--quiet", "--json", "-", "--seed", "1", "--exclude-store", store])
        .arg(device.path())
        .arg(format!("--{option}={}", device.identity()?))
        .env("XDG_DATA_HOME", place.path().join("data"))
        .output()?;
    let said = String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.success(), "cardproof verify: {said}");
    Ok(serde_json::from_slice(&ended.stdout)?)
}
