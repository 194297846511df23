//! A reader of fio job files, as far as their options have a meaning here.
//!
//! fio has some hundreds of options. Those that say which operations go where, how many at a time
//! and for how long are taken; those that only concern fio's own output or its random numbers are
//! passed over; every other one is an error that names the line, because a job run without it
//! would be another job. What the job names as its file is not taken: the target is what the user
//! names to this program.

mod options;
mod phases;

use crate::{Profile, bounds};
use options::Settings;

/// Options for all jobs; each job takes a copy of them.
const SETTINGS_MAX: usize = 1_000;

/// Why a job file cannot be run, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {option}: {what}")]
pub struct JobError {
    /// The line, from 1.
    pub line: usize,
    /// The option or section.
    pub option: String,
    /// What is wrong with it, and what to do.
    pub what: String,
}

impl JobError {
    fn new(line: usize, option: &str, what: impl Into<String>) -> Self {
        Self { line, option: option.to_owned(), what: what.into() }
    }
}

/// One option as it stands in the file.
#[derive(Clone, Debug)]
struct Setting {
    line: usize,
    key: String,
    value: String,
}

/// One job as it stands in the file, with the settings that every job before it has set for all.
#[derive(Clone, Debug)]
struct FileJob {
    name: String,
    line: usize,
    settings: Vec<Setting>,
}

/// The profile `name` that the fio job file `text` describes.
///
/// # Errors
/// The first thing in it that has no meaning here.
pub fn from_fio(name: &str, text: &str) -> Result<Profile, JobError> {
    let mut parsed = Vec::new();
    for job in jobs(text)? {
        let mut settings = Settings::default();
        for Setting { line, key, value } in &job.settings {
            settings.apply(key, value).map_err(|what| JobError::new(*line, key, what))?;
        }
        settings.check().map_err(|what| JobError::new(job.line, &job.name, what))?;
        parsed.push((job, settings));
    }
    if parsed.is_empty() {
        return Err(JobError::new(1, "the file", "it has no job: add a section such as [test]"));
    }
    phases::profile(name, &parsed)
}

/// The jobs of `text` in their order. What stands in `[global]` holds for the jobs after it.
fn jobs(text: &str) -> Result<Vec<FileJob>, JobError> {
    let mut globals: Vec<Setting> = Vec::new();
    let mut jobs: Vec<FileJob> = Vec::new();
    let mut is_global = true;
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = content.strip_prefix('[') {
            let name = rest.strip_suffix(']').ok_or_else(|| {
                JobError::new(line, content, "a section ends with a bracket: [name]")
            })?;
            is_global = name == "global";
            bounds::check_count(jobs.len(), 1).map_err(|what| JobError::new(line, name, what))?;
            if !is_global {
                jobs.push(FileJob { name: name.to_owned(), line, settings: globals.clone() });
            }
            continue;
        }
        let setting = setting(line, content)?;
        match jobs.last_mut().filter(|_| !is_global) {
            Some(job) => job.settings.push(setting),
            None if globals.len() >= SETTINGS_MAX => {
                let what = format!("there are at most {SETTINGS_MAX} options for all jobs");
                return Err(JobError::new(line, &setting.key, what));
            }
            None => globals.push(setting),
        }
    }
    Ok(jobs)
}

/// `key=value`, or a key alone, which is `key=1`.
fn setting(line: usize, content: &str) -> Result<Setting, JobError> {
    let (key, value) = content.split_once('=').unwrap_or((content, "1"));
    let (key, value) = (key.trim().to_ascii_lowercase(), value.trim().to_owned());
    if key == "include" || key.starts_with("include ") {
        return Err(JobError::new(line, &key, "other files are not read; put its lines here"));
    }
    if value.contains("${") {
        return Err(JobError::new(line, &key, "variables are not read; put the value here"));
    }
    Ok(Setting { line, key, value })
}

#[cfg(test)]
mod tests {
    use cardproof_io::{Caching, FileState};
    use cardproof_units::{Bytes, Nanos};

    use super::*;
    use crate::{Access, Repetition, Role, TimeLimit};

    fn error(text: &str) -> String {
        from_fio("test", text).unwrap_err().to_string()
    }

    #[test]
    fn what_would_take_all_memory_is_refused_with_the_limit_before_it_is_made() {
        let job = |more: &str| format!("[a]\nrw=write\nsize=64m\n{more}\n");
        let many: String = (0..1_100).map(|job| format!("[j{job}]\nrw=write\nsize=1m\n")).collect();
        let options = format!("[global]\n{}", "size=1m\n".repeat(1_100));
        let cases = [
            (job("loops=4294967295"), "at most 1000 phases"),
            (job("ioengine=libaio\ndirect=1\niodepth=65535\nbs=16m"), "the limit is 256 MiB"),
            (many, "at most 1000 phases"),
            (options, "at most 1000 options"),
        ];
        for (text, wanted) in cases {
            let said = error(&text);
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
    }

    const AGNOSTICS: &str = "\
[global]
ioengine=libaio
iodepth=32
size=256m
direct=1
end_fsync=1
directory=/var/tmp
filename=sd.test.file

[prepare-file]
rw=write
bs=512k
stonewall

[rand-4k-read]
rw=randread
bs=4k
runtime=10
stonewall
";

    #[test]
    fn a_published_job_file_becomes_its_phases() {
        let profile = from_fio("agnostics", AGNOSTICS).unwrap();
        let [prepare, read] = profile.phases.as_slice() else { panic!("{:?}", profile.phases) };
        assert_eq!(prepare.name, "prepare-file");
        assert_eq!((prepare.block_size, prepare.queue_depth), (Bytes::kib(512), 32));
        assert_eq!(prepare.arrangement.file, FileState::Reserved(Bytes::mib(256)));
        assert!(prepare.flush_at_end && prepare.arrangement.caching == Caching::Bypassed);
        // The second job reads the file of the first, so nothing is laid out for it.
        assert_eq!(read.arrangement.file, FileState::AsIs);
        assert_eq!(read.access, Access::Random(Repetition::EachBlockOnce));
        assert_eq!(read.ends.time, TimeLimit::Fixed(Nanos::from_secs(10)));
        assert_eq!(read.ends.bytes, Some(Bytes::mib(256)));
        assert_eq!(profile.span, Bytes::mib(256));
    }

    #[test]
    fn times_beyond_all_clocks_do_not_become_short_ones() {
        let job =
            |name: &str| format!("[{name}]\nrw=read\nsize=1m\nruntime=10000000000\nstonewall\n");
        let profile = from_fio("test", &(job("a") + &job("b"))).unwrap();
        assert_eq!(profile.time_budget, Nanos(u64::MAX));
    }

    #[test]
    fn a_file_that_is_read_first_is_laid_out_and_defaults_are_those_of_fio() {
        let profile = from_fio("test", "[a]\nrw=randread\nsize=1m\n").unwrap();
        let [lay_out, read] = profile.phases.as_slice() else { panic!("{:?}", profile.phases) };
        assert_eq!(lay_out.role, Role::LayOut);
        assert_eq!((read.block_size, read.queue_depth), (Bytes::kib(4), 1));
        assert_eq!(read.arrangement.caching, Caching::Through { random: true });
    }

    #[test]
    fn loops_are_phases_of_their_own_under_one_figure() {
        let text = "[a]\nrw=write\nsize=1m\nbs=64k\nloops=3\n";
        let profile = from_fio("test", text).unwrap();
        let names: Vec<&str> = profile.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names, ["a-loop-1", "a-loop-2", "a-loop-3"]);
        assert_eq!(profile.phases[1].arrangement.file, FileState::AsIs);
        assert_eq!(profile.figures.len(), 2);
    }

    #[test]
    fn what_has_no_meaning_here_is_named_with_its_line() {
        let job = |line: &str| format!("[a]\nrw=read\nsize=1m\n{line}\n");
        for (line, wanted) in [
            ("numjobs=4", "line 4: numjobs: "),
            ("zonemode=zbd", "line 4: zonemode: "),
            ("verify=crc32c", "line 4: verify: "),
            ("bs=4k-64k", "line 4: bs: "),
            ("bs=4k,8k", "line 4: bs: "),
            ("size=50%", "line 4: size: "),
            ("rw=trim", "line 4: rw: "),
            ("rw=randread:8", "line 4: rw: "),
            ("ioengine=rbd", "line 4: ioengine: "),
            ("runtime=soon", "line 4: runtime: "),
            ("direct=maybe", "line 4: direct: "),
            ("include other.fio", "line 4: include other.fio: "),
            ("size=${SIZE}", "line 4: size: "),
            ("[b", "line 4: [b: "),
            ("rwmixread=101", "line 4: rwmixread: "),
        ] {
            let said = error(&job(line));
            assert!(said.starts_with(wanted), "{said}");
        }
    }

    #[test]
    fn a_job_without_a_size_or_without_an_end_is_refused() {
        assert!(error("[a]\nrw=read\n").contains("size"));
        assert!(error("[a]\nrw=read\nsize=1m\ntime_based\n").contains("runtime"));
        assert!(error("").contains("no job"));
    }

    #[test]
    fn jobs_side_by_side_are_refused() {
        let text = "[a]\nrw=write\nsize=1m\n[b]\nrw=read\nsize=1m\n";
        let said = error(text);
        assert!(said.starts_with("line 4: b: ") && said.contains("stonewall"), "{said}");
        let text = text.replace("[b]", "[b]\nstonewall");
        assert!(from_fio("test", &text).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "(\\[?[a-z_0-9=%.\\[\\]#;$ {}-]{0,24}\\n){0,12}") {
            let _ = from_fio("test", &text);
        }
    }
}
