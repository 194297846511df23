//! Attacks on the directory that a run makes in a user's directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use cardproof_io::scratch::{Scratch, sweep};
use cardproof_testkit::{Noise, run};

use super::Lab;
use super::world::World;

const MARKER: &str = "cardproof-marker";

/// How our directories' names begin.
const PREFIX: &str = ".cardproof-";

/// Renames, links and replaces while a run makes its directory, fills it and takes it away.
pub(super) fn race(_: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let world = World::new(noise)?;
    let is_over = AtomicBool::new(false);
    let mut theirs = Noise::new(noise.bits());
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                disturb(&world, &mut theirs);
            }
        });
        for _ in 0..=noise.below(4) {
            // Any end will do but one that harms: what is disturbed may fail.
            if let Ok(scratch) = Scratch::create(world.place(), None) {
                if let Ok(file) = scratch.create_file() {
                    let _ = std::os::unix::fs::FileExt::write_all_at(&file, &[7; 4096], 0);
                }
                let _ = scratch.create_tree();
                let _ = scratch.remove();
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    world.harm()
}

/// One act of an attacker on whatever directory of ours is there. None of it is meant to work always.
fn disturb(world: &World, noise: &mut Noise) {
    let Some(ours) = our_directory(world.place()) else { return };
    let moved = world.place().join(format!("{PREFIX}moved"));
    let _ = match noise.below(8) {
        0 => fs::rename(&ours, &moved).and_then(|()| symlink(world.outside(), &ours)),
        1 => fs::rename(&ours, &moved).and_then(|()| fs::create_dir(&ours)),
        2 => fs::rename(&moved, &ours),
        3 => symlink(world.outside().join("photo.jpg"), ours.join("test-file")),
        4 => symlink(world.outside(), ours.join("test-tree")),
        5 => fs::hard_link(world.outside().join("photo.jpg"), ours.join("test-file")),
        6 => fs::remove_file(ours.join("test-file")),
        _ => symlink(world.outside().join("photo.jpg"), ours.join(MARKER)),
    };
}

/// A directory of ours, and no link in its place: through that the attacker would harm the data itself.
fn our_directory(place: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(place).ok()?.filter_map(Result::ok);
    let is_ours = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(PREFIX)
            && !name.ends_with("moved")
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    entries.into_iter().find(is_ours).map(|entry| entry.path())
}

/// The text of a marker, taken from a real one.
fn marker_text(place: &Path) -> Result<Vec<u8>> {
    let scratch = Scratch::create(place, None)?;
    let text = fs::read(scratch.path().join(MARKER))?;
    scratch.remove()?;
    Ok(text)
}

/// A directory of our name with a marker that is almost ours, and somebody's files in it.
pub(super) fn forged_marker(_: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let world = World::new(noise)?;
    let ours = world.place().join(format!("{PREFIX}{:08x}", noise.bits() as u32));
    let mut text = marker_text(world.place())?;
    fs::create_dir(&ours)?;
    let way = noise.below(6);
    match way {
        0 => {
            let place = noise.below(text.len() as u64) as usize;
            text[place] ^= 1 << noise.below(8);
        }
        1 => text.push(b'\n'),
        2 => text.truncate(noise.below(text.len() as u64) as usize),
        3 => text.clear(),
        // 4: the whole marker; 5: none.
        _ => {}
    }
    let marker = ours.join(MARKER);
    if way != 5 {
        fs::write(&marker, &text)?;
    }
    let precious =
        ours.join(["diary", "test-file.bak", "tree", "thumbs.db"][noise.below(4) as usize]);
    fs::write(&precious, "mine")?;
    match noise.below(3) {
        0 => symlink(world.outside(), ours.join("test-tree"))?,
        1 => symlink(world.outside().join("photo.jpg"), ours.join("test-file"))?,
        _ => fs::hard_link(world.outside().join("photo.jpg"), ours.join("test-file"))?,
    }
    let _ = sweep(world.place())?;
    if fs::read(&precious).ok().as_deref() != Some(b"mine") {
        return Ok(Some(format!("way {way}: {} is gone", precious.display())));
    }
    world.harm()
}

/// Binds a directory or a file of somebody's into a directory of ours, of a live run or a dead one.
pub(super) fn mounted(_: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let world = World::new(noise)?;
    let is_alive = noise.below(2) == 0;
    let text = marker_text(world.place())?;
    let scratch = if is_alive { Some(Scratch::create(world.place(), None)?) } else { None };
    let ours = match &scratch {
        Some(scratch) => scratch.path(),
        None => world.place().join(format!("{PREFIX}{:08x}", noise.bits() as u32)),
    };
    let below = ["test-tree", "test-tree/a", "test-tree/a/b"];
    fs::create_dir_all(ours.join(below[2]))?;
    fs::write(ours.join("test-tree/a/file"), "ours")?;
    fs::write(ours.join(MARKER), text)?;
    fs::write(ours.join("test-file"), "ours")?;
    let (what, at) = match noise.below(3) {
        0 => (world.outside().join("photo.jpg"), ours.join("test-file")),
        1 => (world.outside().join("photo.jpg"), ours.join("test-tree/a/file")),
        _ => (world.outside().to_owned(), ours.join(below[noise.below(3) as usize])),
    };
    run("mount", ["--bind".as_ref(), what.as_os_str(), at.as_os_str()])?;
    let told = match scratch {
        Some(scratch) => scratch.remove().err().map(|left| left.to_string()),
        None => sweep(world.place())?.left.first().map(ToString::to_string),
    };
    let harm = world.harm()?;
    run("umount", [at.as_os_str()])?;
    if harm.is_some() {
        return Ok(harm);
    }
    let is_named = told.as_ref().is_some_and(|told| told.contains("mounted"));
    if !is_named {
        return Ok(Some(format!("the mount at {} is not named: {told:?}", at.display())));
    }
    let swept = sweep(world.place())?;
    Ok((swept.removed != 1).then(|| format!("what was ours stays: {swept:?}")))
}
