//! Attacks on files of ours that lie under known names beside the user's: `1.h2w` and so on.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use cardproof_io::scratch::NamedFiles;
use cardproof_testkit::Noise;

use super::Lab;
use super::world::World;

const NAMES: [&str; 3] = ["1.h2w", "2.h2w", "3.h2w"];

/// Puts files of somebody's, links and other directories where files of ours are made and removed.
pub(super) fn taken_names(_: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let world = World::new(noise)?;
    let own = tempfile::tempdir()?;
    let (place, away) = (own.path().join("card"), own.path().join("away"));
    fs::create_dir(&place)?;
    let is_over = AtomicBool::new(false);
    let mut theirs = Noise::new(noise.bits());
    let mut put = BTreeSet::new();
    std::thread::scope(|threads| {
        let attacker = threads.spawn(|| {
            let mut put = BTreeSet::new();
            for number in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                disturb(&world, (&place, &away), number, &mut theirs, &mut put);
            }
            put
        });
        for _ in 0..=noise.below(6) {
            // Any end will do but one that harms: what is disturbed may fail.
            if let Ok(mut files) = NamedFiles::open(&place) {
                for name in NAMES {
                    if let Ok(number) = files.make(name) {
                        let _ = files.file(number).write_all_at(&[7; 4096], 0);
                    }
                }
                let _ = files.remove();
            }
        }
        is_over.store(true, Ordering::Relaxed);
        put = attacker.join().unwrap_or_default();
    });
    let mut found = BTreeSet::new();
    contents_below(own.path(), &mut found)?;
    if let Some(lost) = put.difference(&found).next() {
        return Ok(Some(format!("somebody's file is gone: {lost}")));
    }
    world.harm()
}

/// One act of an attacker. None of it is meant to work always, and none loses a file of somebody's.
fn disturb(
    world: &World,
    (place, away): (&Path, &Path),
    number: u32,
    noise: &mut Noise,
    put: &mut BTreeSet<String>,
) {
    let name = place.join(NAMES[noise.below(NAMES.len() as u64) as usize]);
    let aside = place.join(format!("aside-{number}"));
    let photo = world.outside().join("photo.jpg");
    let _ = match noise.below(6) {
        0 | 1 => {
            let text = format!("somebody's {number}");
            let mine = place.join(format!("mine-{number}"));
            if fs::write(&mine, &text).is_ok() {
                put.insert(text);
            }
            // In one step and only where the name is free, as a careful program would.
            fs::hard_link(&mine, &name).and_then(|()| fs::remove_file(&mine))
        }
        2 => fs::rename(&name, &aside),
        3 => symlink(&photo, &name),
        4 => fs::hard_link(&photo, &name),
        _ => fs::rename(place, away)
            .and_then(|()| symlink(world.outside(), place))
            .and_then(|()| fs::remove_file(place))
            .and_then(|()| fs::rename(away, place)),
    };
}

/// The texts of all files below `directory`; links are not followed.
fn contents_below(directory: &Path, found: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            contents_below(&entry.path(), found)?;
        } else if kind.is_file() {
            found.insert(String::from_utf8_lossy(&fs::read(entry.path())?).into_owned());
        }
    }
    Ok(())
}
