//! What reached the disk, and for whom, from the kernel's tracepoints: no counter of a process or of a control group
//! has a part in it.
//!
//! `block_rq_complete` tells each range of sectors. Whose a sector is follows from where it lies: in the partition for
//! swap, or in a block that the file system gave to an inode. ext4 tells each such gift (`ext4_allocate_blocks`), F2FS
//! tells the inode with each block that it hands down (`f2fs_submit_page_write`); both are recorded from the moment the
//! empty file system is mounted. An inode is a program's by its name before or after the watch, or by the program that
//! made it (`ext4_allocate_inode`, `f2fs_new_inode`), which alone is known of files that lived in between. The kernel
//! tells the moments of the first and the last look by a probe where it shows the disk's counters.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use anyhow::{Context, Result, ensure};
use cardproof_rating::who::{FILESYSTEM, SWAP};

use super::programs::PROGRAMS;

/// The whole disk, as the events name it: the first of virtio.
const DISK: &str = "254,0";

/// Sectors in a block of both file systems.
const SECTORS: u64 = 8;

/// The inode of F2FS whose pages are the nodes, and that whose pages are its tables.
const F2FS_NODES: u64 = 1;

/// Where things are on the disk, in sectors of 512 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) swap_start: u64,
    pub(super) filesystem_start: u64,
}

/// What was recorded in the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorded<'a> {
    /// The events, in their order.
    pub(super) trace: &'a str,
    /// Inodes, kinds and paths before and after the watch: `12 f /etc/passwd`.
    pub(super) before: &'a str,
    pub(super) after: &'a str,
}

/// Bytes that reached the disk between the first and the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Truth {
    /// All of them.
    pub(super) total: u64,
    /// Those of contents, by the name that is right: a program's service, swap, or the file system.
    pub(super) contents: BTreeMap<&'static str, u64>,
    /// Those of nodes and directories of a program's own files: both the program and the file system are right.
    pub(super) tables: BTreeMap<&'static str, u64>,
    /// Those of files that no program of the table has, by what is known of them.
    pub(super) strangers: BTreeMap<String, u64>,
    /// Looks that were taken.
    pub(super) looks: usize,
}

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Contents {
        inode: u64,
    },
    /// The node of F2FS that describes the inode.
    Node {
        inode: u64,
    },
    Tables,
}

/// All that is known at one moment.
#[derive(Debug, Default)]
struct Map<'a> {
    blocks: HashMap<u64, Held>,
    /// The program that made each inode.
    makers: HashMap<u64, &'a str>,
    before: HashMap<u64, (bool, &'a str)>,
    after: HashMap<u64, (bool, &'a str)>,
}

impl Truth {
    /// What `recorded` tells of a disk of this `layout`.
    ///
    /// # Errors
    /// There were no two looks, or an event has another form than that of the kernels known.
    pub(super) fn of(recorded: &Recorded<'_>, layout: Layout) -> Result<Self> {
        let (window, looks) = window(recorded.trace)?;
        let mut map =
            Map { before: names(recorded.before), after: names(recorded.after), ..Map::default() };
        let mut truth = Self { looks, ..Self::default() };
        for event in recorded.trace.lines().filter_map(Event::parse) {
            match event.name {
                "block_rq_complete" if window.contains(&event.at) => {
                    if let Some((sector, sectors)) = written(event.text) {
                        truth.add(&map, layout, sector, sectors);
                    }
                }
                _ => map.learn(&event).with_context(|| event.text.to_owned())?,
            }
        }
        Ok(truth)
    }

    fn add(&mut self, map: &Map<'_>, layout: Layout, start: u64, sectors: u64) {
        self.total += sectors * 512;
        for sector in start..start + sectors {
            let Some(place) = sector.checked_sub(layout.filesystem_start) else {
                let name = if sector < layout.swap_start { FILESYSTEM } else { SWAP };
                *self.contents.entry(name).or_default() += 512;
                continue;
            };
            match map.blocks.get(&(place / SECTORS)).copied() {
                None | Some(Held::Tables) => {
                    *self.contents.entry(FILESYSTEM).or_default() += 512;
                }
                Some(Held::Node { inode }) => match map.owner(inode) {
                    Ok((_, name)) => *self.tables.entry(name).or_default() += 512,
                    Err(_) => *self.contents.entry(FILESYSTEM).or_default() += 512,
                },
                Some(Held::Contents { inode }) => match map.owner(inode) {
                    Ok((true, name)) => *self.tables.entry(name).or_default() += 512,
                    Ok((false, name)) => *self.contents.entry(name).or_default() += 512,
                    Err(known) => *self.strangers.entry(known).or_default() += 512,
                },
            }
        }
    }
}

impl<'a> Map<'a> {
    fn learn(&mut self, event: &Event<'a>) -> Result<()> {
        let number = |name: &str| event.number(name);
        match event.name {
            "ext4_allocate_inode" => {
                self.makers.insert(number("ino ")?, event.program);
            }
            "f2fs_new_inode" => {
                self.makers.insert(number("ino = ")?, event.program);
            }
            "ext4_allocate_blocks" => {
                let inode = number("ino ")?;
                let is_contents = event.text.contains("HINT_DATA");
                let held = if is_contents { Held::Contents { inode } } else { Held::Tables };
                let first = number("block ")?;
                self.blocks.extend((first..first + number("len ")?).map(|block| (block, held)));
            }
            "f2fs_submit_page_write" | "f2fs_submit_page_bio" if event.text.contains("WRITE") => {
                let inode = number("ino = ")?;
                let held = match () {
                    () if inode == F2FS_NODES => Held::Node { inode: number("page_index = ")? },
                    () if event.text.contains("type = DATA") || event.text.contains("_DATA") => {
                        Held::Contents { inode }
                    }
                    () => Held::Tables,
                };
                self.blocks.insert(number("newaddr = ")?, held);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whose the inode is, and whether it is a directory; what is known of it where it is nobody's.
    fn owner(&self, inode: u64) -> Result<(bool, &'static str), String> {
        let maker = self.makers.get(&inode).copied();
        let by_maker = PROGRAMS.iter().find(|it| maker.is_some_and(|name| it.makes(name)));
        let names = [&self.before, &self.after].map(|names| names.get(&inode).copied());
        let by_name = names.iter().flatten().find_map(|(is_directory, path)| {
            PROGRAMS.iter().find(|it| it.has(path)).map(|it| (*is_directory, it.service))
        });
        let is_directory = names.iter().flatten().any(|(is_directory, _)| *is_directory);
        match (by_maker, by_name) {
            // An inode that was made anew since the names were listed is its maker's.
            (Some(program), _) => Ok((is_directory, program.service)),
            (None, Some(found)) => Ok(found),
            (None, None) => {
                let path = names.iter().flatten().map(|(_, path)| *path).next().unwrap_or("?");
                Err(format!("{path} of {}", maker.unwrap_or("?")))
            }
        }
    }
}

/// A line of the trace.
#[derive(Clone, Copy, Debug)]
struct Event<'a> {
    /// The program at whose time it came, at most 15 bytes of its name.
    program: &'a str,
    /// When, in seconds.
    at: f64,
    name: &'a str,
    text: &'a str,
}

impl<'a> Event<'a> {
    /// `tar-124 [001] ..... 4.569: NAME: TEXT`; a program's name may hold anything.
    fn parse(line: &'a str) -> Option<Self> {
        let (program, rest) = line.split_once(" [")?;
        let (head, rest) = rest.split_once(": ")?;
        let (name, text) = rest.split_once(": ")?;
        let (program, _) = program.trim().rsplit_once('-')?;
        let at = head.split_whitespace().last()?.parse().ok()?;
        Some(Self { program, at, name, text })
    }

    /// The number behind `name`, which stands at a word's beginning.
    fn number(&self, name: &str) -> Result<u64> {
        let found = self
            .text
            .match_indices(name)
            .find(|(place, _)| *place == 0 || self.text[..*place].ends_with([' ', ',', '(']));
        let (place, _) = found.with_context(|| format!("no '{name}'"))?;
        let word = self.text[place + name.len()..].split([' ', ',', ')']).next();
        let word = word.unwrap_or_default();
        let number = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        number.with_context(|| format!("'{name}' is {word}"))
    }
}

/// From the first look to the last, and how many there were.
fn window(trace: &str) -> Result<(RangeInclusive<f64>, usize)> {
    let looks: Vec<f64> = trace
        .lines()
        .filter_map(Event::parse)
        .filter(|event| event.name == "look")
        .map(|event| event.at)
        .collect();
    ensure!(looks.len() > 1, "the trace shows {} looks", looks.len());
    Ok((looks[0]..=looks[looks.len() - 1], looks.len()))
}

/// The first sector and the number of sectors of a write that ended: `254,0 WS () 12345 + 8 [0]`.
fn written(text: &str) -> Option<(u64, u64)> {
    let (head, range) = text.split_once(") ")?;
    let mut head = head.split_whitespace();
    let (disk, kind) = (head.next()?, head.next()?);
    let mut range = range.split_whitespace();
    let (sector, _plus, sectors) = (range.next()?, range.next()?, range.next()?);
    let is_write = kind.contains('W') && !kind.contains('D');
    (disk == DISK && is_write).then_some((sector.parse().ok()?, sectors.parse().ok()?))
}

/// Inodes with whether they are directories, and their paths.
fn names(text: &str) -> HashMap<u64, (bool, &str)> {
    let name = |line| {
        let (inode, rest): (&str, &str) = str::split_once(line, ' ')?;
        let (kind, path) = rest.split_once(' ')?;
        Some((inode.parse().ok()?, (kind == "d", path)))
    };
    text.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    const LAYOUT: Layout = Layout { swap_start: 2048, filesystem_start: 4096 };

    fn truth(trace: &str, before: &str, after: &str) -> Truth {
        let look = |at: f64| format!(" ld-9 [000] ..... {at:.6}: look: (part_stat_show+0x0/0x1)\n");
        let trace = format!("{}{trace}{}", look(10.0), look(20.0));
        Truth::of(&Recorded { trace: &trace, before, after }, LAYOUT).unwrap()
    }

    #[test]
    fn a_block_of_ext4_is_of_the_file_that_has_it_at_that_time() {
        let truth = truth(
            " sqlite3-3 [000] ..... 11.0: ext4_allocate_inode: dev 254,2 ino 12 dir 2 mode 0100644\n\
             kworker/u4:0-9 [000] ..... 11.1: ext4_allocate_blocks: dev 254,2 ino 12 flags HINT_DATA|USE_RESV len 2 \
             block 100 lblk 0 goal 7 lleft 0 lright 0 pleft 0 pright 0\n\
             kworker/u4:0-9 [000] d.h1. 11.2: block_rq_complete: 254,0 WS () 4896 + 16 [0]\n\
             rs:main Q:Reg-4 [000] ..... 12.0: ext4_allocate_inode: dev 254,2 ino 12 dir 2 mode 0100644\n\
             kworker/u4:0-9 [000] ..... 12.1: ext4_allocate_blocks: dev 254,2 ino 12 flags HINT_DATA len 1 block 101 \
             lblk 0 goal 7 lleft 0 lright 0 pleft 0 pright 0\n\
             kworker/u4:0-9 [000] d.h1. 12.2: block_rq_complete: 254,0 W () 4904 + 8 [0]\n\
             jbd2-8 [000] d.h1. 13.0: block_rq_complete: 254,0 WFS () 8192 + 8 [0]\n\
             perl-8 [000] d.h1. 13.1: block_rq_complete: 254,0 WS () 2056 + 8 [0]\n\
             perl-8 [000] d.h1. 13.2: block_rq_complete: 254,0 R () 2056 + 8 [0]\n\
             perl-8 [000] d.h1. 13.3: block_rq_complete: 254,32 W () 2056 + 8 [0]\n\
             perl-8 [000] d.h1. 20.5: block_rq_complete: 254,0 W () 2056 + 8 [0]\n",
            "",
            "",
        );
        assert_eq!((truth.total, truth.looks), (5 * 4096, 2));
        let expected = [
            ("database.service", 8192),
            ("rsyslog.service", 4096),
            (FILESYSTEM, 4096),
            (SWAP, 4096),
        ];
        assert_eq!(truth.contents, expected.into());
        assert!(truth.strangers.is_empty());
    }

    #[test]
    fn a_node_of_f2fs_is_a_table_of_the_file_that_it_describes() {
        let write = |inode, index, place, kind| {
            format!(
                " x-1 [001] ..... 11.0: f2fs_submit_page_write: dev = (254,2), ino = {inode}, page_index = 0x{index:x}, \
                 oldaddr = 0x0, newaddr = 0x{place:x}, rw = WRITE(SYNC), type = {kind}\n\
                 x-1 [001] d.h1. 11.1: block_rq_complete: 254,0 WS () {} + 8 [0]\n",
                4096 + 8 * place
            )
        };
        let trace = [
            write(7, 0, 20, "HOT_DATA"),
            write(F2FS_NODES, 7, 21, "WARM_NODE"),
            write(F2FS_NODES, 9, 22, "WARM_NODE"),
            write(2, 9, 23, "META"),
            write(6, 0, 24, "HOT_DATA"),
            write(8, 0, 25, "COLD_DATA"),
        ];
        let before = "7 f /var/log/journal/system.journal\n6 d /var/log/journal\n8 f /var/other\n";
        let truth = truth(&trace.concat(), before, before);
        assert_eq!(truth.contents, [("systemd-journald.service", 4096), (FILESYSTEM, 8192)].into());
        assert_eq!(truth.tables, [("systemd-journald.service", 8192)].into());
        assert_eq!(truth.strangers, [("/var/other of ?".to_owned(), 4096)].into());
    }

    #[test]
    fn a_trace_without_two_looks_is_no_truth() {
        assert!(Truth::of(&Recorded { trace: "", before: "", after: "" }, LAYOUT).is_err());
    }
}
