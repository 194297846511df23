//! `--charts DIR`: every chart of a page as SVG, as PNG, and its figures as CSV; and `--picture FILE`, the
//! result in one picture.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cardproof_report::ChartFile;
use cardproof_session::{make_directories, replace_all};

use cardproof_units::in_words;

use crate::exit::Failure;
use crate::output;

/// What to do about a directory that does not do.
const ANOTHER: &str = "name another directory";

/// Whether `directory` can be written or made, found out before anything else is written.
pub(crate) fn check(directory: &Path) -> Result<(), Failure> {
    if directory == Path::new("-") {
        return Err(Failure::usage("charts go to a directory; name one, such as charts"));
    }
    let found = directory.ancestors().find(|it| it.exists()).unwrap_or(Path::new("."));
    let name = directory.display();
    if !found.is_dir() {
        let fault = format!("{} is a file", found.display());
        return Err(Failure::usage(format!("--charts {name}: {fault}; {ANOTHER}")));
    }
    if rustix::fs::access(found, rustix::fs::Access::WRITE_OK).is_err() {
        let fault = format!("this user may not write to {}", found.display());
        return Err(Failure::incomplete(format!("--charts {name}: {fault}; {ANOTHER}")));
    }
    Ok(())
}

/// Writes `charts` into `directory`, which is made where it is missing: all of them, or none.
pub(crate) fn write(directory: &Path, charts: &[ChartFile]) -> Result<(), Failure> {
    let files = files(charts)?;
    let missing: Vec<&Path> = directory.ancestors().take_while(|it| !it.exists()).collect();
    let written = make_directories(directory).and_then(|()| replace_all(directory, &files));
    written.map_err(|error| {
        for made in missing {
            // One that was not made, or in which others have put something, stays.
            let _ = fs::remove_dir(made);
        }
        let place = directory.display();
        Failure::incomplete(format!(
            "cannot write the charts to {place}: {error}; {ANOTHER}, or make room",
            error = in_words(&error)
        ))
    })
}

/// The files of `charts`, with their names, each of which is of one file.
fn files(charts: &[ChartFile]) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut taken = HashSet::new();
    let mut files = Vec::with_capacity(3 * charts.len());
    for chart in charts {
        let mut name = chart.name.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{}-{number}", chart.name);
        }
        let png = chart.png().map_err(Failure::because("a chart cannot be drawn as PNG"))?;
        files.push((format!("{name}.svg"), chart.svg().into_bytes()));
        files.push((format!("{name}.png"), png));
        files.push((format!("{name}.csv"), chart.csv.clone().into_bytes()));
    }
    Ok(files)
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
        output::write_file(&file.path, picture.svg())
    }
}
