//! Somebody's data, in the directory that is measured and outside of it.

use std::fs;
use std::path::Path;

use anyhow::Result;
use cardproof_testkit::{Noise, Tree};
use tempfile::TempDir;

/// A directory that is measured, and one outside, both with somebody's files.
pub(super) struct World {
    place: TempDir,
    outside: TempDir,
    before: [Tree; 2],
}

impl World {
    pub(super) fn new(noise: &mut Noise) -> Result<Self> {
        let (place, outside) = (tempfile::tempdir()?, tempfile::tempdir()?);
        for directory in [place.path(), outside.path()] {
            fill(directory, noise)?;
        }
        let before = [Tree::of_user(place.path())?, Tree::of_user(outside.path())?];
        Ok(Self { place, outside, before })
    }

    /// The directory that is measured.
    pub(super) fn place(&self) -> &Path {
        self.place.path()
    }

    /// Where nothing of ours has anything to do.
    pub(super) fn outside(&self) -> &Path {
        self.outside.path()
    }

    /// What has changed of somebody's data; `None` for nothing.
    pub(super) fn harm(&self) -> Result<Option<String>> {
        let now = [Tree::of_user(self.place())?, Tree::of_user(self.outside())?];
        let changes: String =
            self.before.iter().zip(&now).map(|(before, now)| before.changes(now)).collect();
        Ok((!changes.is_empty()).then_some(changes))
    }
}

/// Files as somebody has them. None begins as ours do.
fn fill(directory: &Path, noise: &mut Noise) -> Result<()> {
    fs::create_dir_all(directory.join("letters/old"))?;
    for name in ["photo.jpg", "letters/one.txt", "letters/old/two.txt", "test-file"] {
        let mut bytes = vec![0; 1 + noise.below(5000) as usize];
        noise.fill(&mut bytes);
        fs::write(directory.join(name), bytes)?;
    }
    Ok(())
}
