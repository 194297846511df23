//! An eMMC's `life_time` and `pre_eol_info`, saved as two files as sysfs has them: together they are one output.

use std::path::Path;

use cardproof_import::decode;
use cardproof_registers::{LifeFile, life_file};

use super::Output;

/// `outputs`, each `pre_eol_info` joined to the `life_time` of the same directory; one alone keeps its name, since its
/// one code does not tell what it is.
pub(super) fn joined(outputs: Vec<Output>) -> Vec<Output> {
    let mut joined: Vec<Output> = Vec::new();
    let mut reserves: Vec<Output> = Vec::new();
    for output in outputs {
        match kind(&output) {
            Some(LifeFile::PreEolInfo) => reserves.push(output),
            _ => joined.push(output),
        }
    }
    for reserve in reserves {
        let place = directory(&reserve.path).to_owned();
        let is_partner = |output: &&mut Output| {
            kind(output) == Some(LifeFile::LifeTime) && directory(&output.path) == place
        };
        match joined.iter_mut().find(is_partner) {
            Some(life) => {
                life.name = format!("{} and {}", life.name, reserve.name);
                life.bytes.push(b'\n');
                life.bytes.extend(&reserve.bytes);
            }
            None => joined.push(Output {
                bytes: [b"pre_eol_info: ", reserve.bytes.as_slice()].concat(),
                ..reserve
            }),
        }
    }
    joined
}

/// Which file of sysfs it is: of one code by its name alone, which any file may hold.
fn kind(output: &Output) -> Option<LifeFile> {
    let kind = life_file(&decode(&output.bytes))?;
    let name = output.path.file_name()?.to_string_lossy();
    (kind == LifeFile::LifeTime || name.contains("pre_eol_info")).then_some(kind)
}

fn directory(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
