//! Jobs: what real programs ask of a file system, as streams of operations on files.
//!
//! A micro-benchmark tells what a card can do; a job tells what that feels like. Each follows one
//! program's way with files: which it makes, in which order, how large, and above all when it waits
//! until they are durable. The shapes of packages are those of a table that was measured; everything
//! drawn follows from a seed. What a job does and does not copy is said in `docs/design/jobs.md`.
//!
//! Nothing here touches a file: operations come out, and the runner does them.

mod batch;
mod boot;
mod browser;
mod data;
mod dice;
mod dpkg;
mod job;
mod op;
mod packages;
mod small_files;
mod synced_writes;
mod totals;

pub use data::JobData;
pub use job::{FileOps, Form, Job, StepSpec, Timing};
pub use op::{Contents, FileOp, Handle, Opening, READ_MAX, WRITE_PIECE};
pub use packages::{Distribution, Package, PackageFiles, package_count};
pub use totals::{StepTotals, Totals};

/// The names of all jobs, each in full and, after it, in short where it has a short form.
#[must_use]
pub fn names() -> Vec<&'static str> {
    all().map(|job| job.name).collect()
}

/// The job called `name`.
#[must_use]
pub fn find(name: &str) -> Option<Job> {
    all().find(|job| job.name == name)
}

fn all() -> impl Iterator<Item = Job> {
    let packages = dpkg::jobs().into_iter();
    packages.chain([boot::job(), browser::job(), small_files::job(), synced_writes::job()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_of_one_job() {
        for name in names() {
            assert_eq!(find(name).map(|job| job.name), Some(name));
        }
        let mut sorted = names();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), names().len());
        assert!(find("no such job").is_none());
    }

    #[test]
    fn a_short_form_is_of_the_same_steps() {
        for job in all() {
            let Some(short) = job.shorter() else { continue };
            assert_eq!(short.form, Form::Short);
            assert_eq!(short.steps, job.steps, "{}", job.name);
            assert!(short.name.starts_with(job.name));
            assert_eq!(short.whole().map(|whole| whole.name), Some(job.name));
        }
    }
}
