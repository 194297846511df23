//! Names for a record in the place of those that somebody has chosen.
//!
//! A job file is called after a customer, its sections after servers, and a record goes to forums and to hubs.
//! So the phases of a user's own file are called after what they do, and the file after a digest of its
//! text: the same file gives the same name, which is all that a comparison needs.

use std::collections::HashMap;

use cardproof_units::Bytes;

use crate::{Access, FigureSpec, Origin, PhaseSpec, Profile, Quantity};

/// Units that say nothing of their author.
const UNITS: [&str; 12] = [
    "B/s", "kB/s", "KB/s", "MB/s", "GB/s", "KiB/s", "MiB/s", "GiB/s", "IOPS", "iops", "ops/s",
    "MBps",
];

impl Profile {
    /// The same profile without a name that its author has chosen. `kind` is the kind of its file, and `text`
    /// what is in it.
    #[must_use]
    pub fn with_plain_names(mut self, kind: &str, text: &str) -> Self {
        self.name = format!("{kind}-{:08x}", digest(text));
        let mut renamed = HashMap::new();
        let mut counts: HashMap<String, u32> = HashMap::new();
        for phase in &mut self.phases {
            let plain = plain_name(phase);
            let count = counts.entry(plain.clone()).or_insert(0);
            *count += 1;
            let name = if *count == 1 { plain } else { format!("{plain}-{count}") };
            renamed.insert(std::mem::replace(&mut phase.name, name.clone()), name);
        }
        let of = |name: &String| renamed.get(name).cloned().unwrap_or_default();
        let mut counts: HashMap<String, u32> = HashMap::new();
        for (number, figure) in self.figures.iter_mut().enumerate() {
            rename(figure, number + 1, &of);
            let count = counts.entry(figure.name.clone()).or_insert(0);
            *count += 1;
            if *count > 1 {
                figure.name = format!("{} ({count})", figure.name);
            }
        }
        for end in &mut self.early_ends {
            end.after = of(&end.after);
        }
        self
    }
}

/// What `phase` does, such as `random-read-4k-qd8`.
fn plain_name(phase: &PhaseSpec) -> String {
    let access = match phase.access {
        Access::Sequential => "sequential",
        Access::Random(_) => "random",
    };
    let deed = match phase.read_percent {
        0 => "write".to_owned(),
        100 => "read".to_owned(),
        percent => format!("mixed-{percent}-{}", 100_u8.saturating_sub(percent)),
    };
    format!("{access}-{deed}-{}-qd{}", in_short(phase.block_size), phase.queue_depth)
}

/// A size as phases are named by it: `4k`, `1m`, `512`.
fn in_short(size: Bytes) -> String {
    match size.get() {
        bytes if bytes > 0 && bytes % (1 << 20) == 0 => format!("{}m", bytes >> 20),
        bytes if bytes > 0 && bytes % (1 << 10) == 0 => format!("{}k", bytes >> 10),
        bytes => bytes.to_string(),
    }
}

/// Gives the figure with `number` a plain name, and the plain names of its phases, which `of` knows.
fn rename(figure: &mut FigureSpec, number: usize, of: &dyn Fn(&String) -> String) {
    figure.name = match &mut figure.origin {
        Origin::Phases { phases, quantity, .. } => {
            phases.iter_mut().for_each(|phase| *phase = of(phase));
            format!("{} of {}", word_of(*quantity), phases.join(", "))
        }
        Origin::Sum { .. } | Origin::SetsMet { .. } => format!("figure {number}"),
    };
    if figure.tool != "fio" {
        "own".clone_into(&mut figure.tool);
    }
    if !UNITS.contains(&figure.unit.name.as_str()) {
        "unit".clone_into(&mut figure.unit.name);
    }
}

const fn word_of(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Bytes => "bandwidth",
        Quantity::Operations => "IOPS",
        Quantity::Reads => "read IOPS",
        Quantity::Writes => "write IOPS",
        Quantity::BytesRead => "read bandwidth",
        Quantity::BytesWritten => "write bandwidth",
    }
}

/// A number that other texts hardly share, the same on every machine (FNV-1a of 64 bits, by Fowler, Noll
/// and Vo, folded to 32).
fn digest(text: &str) -> u32 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{job, user_profile};

    const SECRET: &str = "annas-payroll";

    #[test]
    fn no_name_of_a_job_file_is_left() {
        let text = format!(
            "[{SECRET}-1]\nrw=randread\nbs=4k\nsize=64m\niodepth=8\nioengine=libaio\ndirect=1\n\
             [{SECRET}-2]\nrw=randread\nbs=4k\nsize=64m\niodepth=8\nioengine=libaio\ndirect=1\nstonewall\n"
        );
        let own = job::from_fio(SECRET, &text).unwrap();
        let plain = own.clone().with_plain_names("fio", &text);
        assert!(format!("{own:?}").contains(SECRET));
        assert!(!format!("{plain:?}").contains(SECRET), "{plain:?}");
        assert!(plain.name.starts_with("fio-"), "{}", plain.name);
        let mut names: Vec<&str> = plain.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert!(
            names.iter().all(|name| name.contains("-4k-") || name.contains("-qd")),
            "{names:?}"
        );
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), plain.phases.len(), "each phase has a name of its own");
        for figure in &plain.figures {
            if let Origin::Phases { phases, .. } = &figure.origin {
                assert!(phases.iter().all(|phase| names.contains(&&**phase)), "{figure:?}");
            }
        }
        let names: Vec<&str> = plain.figures.iter().map(|figure| figure.name.as_str()).collect();
        assert!(names.contains(&"bandwidth of random-read-4k-qd8"), "{names:?}");
        let other = own.with_plain_names("fio", &(text + "# another\n"));
        assert_ne!(other.name, plain.name);
    }

    #[test]
    fn no_name_of_a_users_profile_is_left() {
        let text = format!(
            "purpose = \"p\"\nspan = \"64M\"\n[[phase]]\nname = \"{SECRET}\"\nop = \"write\"\n\
             pattern = \"random\"\nblock-size = \"4K\"\nbytes = \"1M\"\n\
             [[figure]]\nname = \"{SECRET}\"\ntool = \"{SECRET}\"\nunit = \"{SECRET}\"\nof = \"bytes\"\n\
             phases = [\"{SECRET}\"]\n"
        );
        let own = user_profile::from_toml(SECRET, &text).unwrap();
        let plain = own.with_plain_names("own", &text);
        assert!(!format!("{plain:?}").contains(SECRET), "{plain:?}");
    }
}
