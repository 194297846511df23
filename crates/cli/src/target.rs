//! From what the user named to a target that may be driven.
use std::fs::OpenOptions as FileOptions;
use std::path::Path;
use cardproof_io::{OpenOptions, Target, open};
use clap::Args;
use crate::engine::EngineArg;
use crate::exit::Failure;

/// How a target may be used.
#[derive(Debug, Args)]
pub(crate) struct AccessArgs {
    /// Allow writing
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "IDENTITY")]
    pub(crate) destroy: Option<Option<String>>,
    /// Which engine
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: EngineArg,
}
pub(crate) struct Existing<'a> { pub(crate) path: &'a Path, pub(crate) direct: bool }
pub(crate) struct Opened { pub(crate) target: Box<dyn Target> }
impl Existing<'_> {
    pub(crate) fn open(&self, access: &AccessArgs, writes: bool) -> Result<Opened, Failure> {
        let file = FileOptions::new().read(true).write(writes).open(self.path).map_err(|e| Failure::usage(e))?;
        let target = open(file, OpenOptions { engine: access.engine.into(), read_only: !writes, direct: self.direct }).map_err(Failure::because("cannot open"))?;
        Ok(Opened { target })
    }
}
