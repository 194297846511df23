//! `--charts DIR`: every chart of a page as SVG, as PNG, and its figures as CSV; and `--picture FILE`, the
//! result in one picture.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cardproof_report::ChartFile;

use crate::exit::Failure;
use crate::output;

/// Writes `charts` into `directory`, which is made where it is missing.
pub(crate) fn write(directory: &Path, charts: &[ChartFile]) -> Result<(), Failure> {
    fs::create_dir_all(directory).map_err(|error| {
        Failure::incomplete(format!(
            "cannot make the directory {}: {error}; name another for --charts",
            directory.display()
        ))
    })?;
    let mut taken = HashSet::new();
    for chart in charts {
        let mut name = chart.name.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{}-{number}", chart.name);
        }
        let png = chart.png().map_err(Failure::because("a chart cannot be drawn as PNG"))?;
        let file = |ending: &str| directory.join(format!("{name}.{ending}"));
        output::write_file(&file("svg"), &chart.svg)?;
        output::write_file(&file("png"), &png)?;
        output::write_file(&file("csv"), &chart.csv)?;
    }
    Ok(())
}

/// A file for a picture, SVG or PNG by its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PictureFile {
    pub(crate) path: PathBuf,
    is_png: bool,
}

/// A name does not say what the picture is to be.
#[derive(Debug, thiserror::Error)]
#[error("a picture is FILE.png or FILE.svg")]
pub(crate) struct ParsePictureError;

impl FromStr for PictureFile {
    type Err = ParsePictureError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let path = PathBuf::from(name);
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
        match ending.as_deref() {
            Some("png") => Ok(Self { path, is_png: true }),
            Some("svg") => Ok(Self { path, is_png: false }),
            _ => Err(ParsePictureError),
        }
    }
}

/// Writes `picture` to `file`.
pub(crate) fn write_picture(file: &PictureFile, picture: &ChartFile) -> Result<(), Failure> {
    if file.is_png {
        let png = picture.png().map_err(Failure::because("the picture cannot be made"))?;
        output::write_file(&file.path, &png)
    } else {
        output::write_file(&file.path, &picture.svg)
    }
}
