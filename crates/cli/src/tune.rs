//! `cardproof tune`: a plan for setting a card up, done and undone on request, and its gain measured.
//!
//! Without `--apply` nothing is changed. Settings that last until the next start are changed with
//! `--apply`; partition and file system only with `--destroy` beside it, by the same guard as
//! every other writing to a device.

mod partitions;
mod text;

use std::path::{Path, PathBuf};

use cardproof_device::{Partition, Surroundings, Sysroot, look_at_path};
use cardproof_evidence::geometry::Geometry;
use cardproof_rating::tuning::{AppliedBy, Gain, Ground, Mounted, Setting, TuningPlace};
use cardproof_rating::words::tuning::{TuningDocument, TuningStep, settings_to_keep, tuning_plan};
use cardproof_record::{Conditions, DeviceInfo, Record, RecordHead};
use cardproof_report::one_line;
use cardproof_session::{
    GainWish, LATEST, LaidOut, SetUp, Starts, Store, change_setting, has_swap, is_on_whole_disk,
    logical_block_of, mount_point_of, mounted_on, partitions_of, refuse_no_image, refuse_partition,
    restore_settings, simulated_card, simulated_name,
};
use cardproof_units::{Bytes, Seed, shell_path};
use clap::Args;

use self::partitions::{Need, Partitions};
use crate::args::AccessArgs;
use crate::exit::{Exit, Failure};
use crate::inventory;
use crate::measuring::seed_or_drawn;
use crate::output::{self, Sink};
use crate::saved;
use crate::signals::Signals;
use crate::talk::{self, Talk};
use crate::target::refuse_no_storage;
use crate::terminal::Terminal;

/// What to set up, and how far to go.
#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// A block device, an image file, a directory (for its device's settings), or sim:NAME
    #[arg(value_name = "TARGET", default_value = ".", value_parser = crate::target::parser())]
    pub(crate) target: PathBuf,
    /// A record of `cardproof geometry` on the same card: a file, an id as `list` shows it, a label, or
    /// `latest`
    #[arg(long, value_name = "RECORD")]
    pub(crate) geometry: Option<PathBuf>,
    /// Apply the settings of the plan; no data is lost. With --destroy, also make the partition and
    /// the file system; then all data is lost
    #[arg(long)]
    pub(crate) apply: bool,
    /// Restore the settings that --apply replaced
    #[arg(long, conflicts_with_all = ["apply", "prove"])]
    pub(crate) undo: bool,
    /// Measure how much faster an aligned partition is. This overwrites the test area, so a device needs
    /// --destroy
    #[arg(long)]
    pub(crate) prove: bool,
    /// Two sectors at which a partition may begin, for --prove to compare, such as 8192,32768
    #[arg(long, value_name = "SECTOR,SECTOR", requires = "prove")]
    pub(crate) starts: Option<Starts>,
    /// Number of pairs of measurements for --prove
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = crate::args::number(4..=200_u32))]
    pub(crate) pairs: u32,
    /// Size of the area that --prove writes to
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(crate) size: Option<Bytes>,
    /// Seed for addresses and data; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// How the target may be used.
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Show alternatives, gain, risk and undo of each step
    #[arg(long)]
    pub(crate) details: bool,
    /// The plan as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Stands for the device in the commands for a simulated card.
const PLACEHOLDER: &str = "/dev/sdX";

/// What is known of the target.
struct Known {
    /// What can be laid out; nothing for a directory.
    ground: Option<Ground>,
    /// Where the file system of a directory is mounted.
    mount_point: Option<PathBuf>,
    conditions: Conditions,
    geometry: Option<Geometry>,
    /// Its partitions; of a directory, the one that holds it.
    partitions: Vec<Partition>,
    /// Whether a file system in use has the whole device, without a partition.
    is_whole: bool,
    /// The mounted file systems on the device; none for a directory.
    mounts: Vec<Mounted>,
}

impl Known {
    /// What is set up.
    fn set_up<'k>(&'k self, args: &'k TuneArgs) -> SetUp<'k> {
        SetUp {
            target: &args.target,
            access: (&args.access).into(),
            device: &self.conditions.device,
            geometry: self.geometry.as_ref(),
        }
    }

    /// Where its partition begins, of several the largest one.
    fn partition_start(&self) -> Option<Bytes> {
        self.partitions.iter().max_by_key(|partition| partition.size).map(|it| it.start)
    }

    /// The number of that partition, where the plan makes none anew.
    fn main_partition(&self) -> Option<usize> {
        self.partitions.iter().max_by_key(|partition| partition.size).map(|it| it.number)
    }

    /// Its partitions on blocks of the card.
    fn on_blocks(&self, target: &Path) -> Partitions<'_> {
        let (is_image, is_whole) = (target.is_file(), self.is_whole);
        Partitions { all: &self.partitions, unit: self.unit(), is_image, is_whole }
    }

    /// The allocation unit, measured or reported.
    fn unit(&self) -> Option<Bytes> {
        let measured = self.geometry.as_ref().and_then(|geometry| geometry.allocation_unit.bytes());
        let card = self.conditions.device.card.as_ref();
        let unit = measured.or_else(|| card?.allocation_unit_bytes);
        unit.filter(|unit| *unit > Bytes::ZERO)
    }
}

/// Makes the plan that `args` ask for, and does what they allow of it.
pub(crate) fn run(args: &TuneArgs, signals: &Signals) -> Result<Exit, Failure> {
    args.json.iter().try_for_each(output::check)?;
    let known = look(args)?;
    let name = known.conditions.device.name.clone();
    if args.undo {
        let name = name.ok_or_else(no_device)?;
        let restored: Vec<String> = restore_settings(&name)?
            .iter()
            .map(|setting| format!("{}: restored {}", setting.file, setting.before))
            .collect();
        restored.iter().for_each(|line| Talk::new(args.quiet).note(line));
        write_json(args, &TuningDocument::of_undo(&restored))?;
        return Ok(Exit::Done);
    }
    let place = TuningPlace {
        ground: known.ground.clone(),
        name: name.as_deref(),
        mount_point: known.mount_point.as_deref(),
        main_partition: known.main_partition(),
        mounts: &known.mounts,
    };
    let mut steps = tuning_plan(&place, &known.conditions, known.geometry.as_ref());
    if simulated_name(&args.target).is_none() && !has_swap() {
        steps.retain(|step| step.name != "swap");
    }
    // Who asks for deletion of what is mounted is refused by the guard.
    let is_well = known.on_blocks(&args.target).need() == Some(Need::Nothing) && !args.prove;
    if (!known.mounts.is_empty() || is_well) && args.access.destroy.is_none() {
        steps.retain(|step| !step.deletes_data);
    }
    if args.prove {
        let gain = gain(args, &known, signals)?;
        if let Gain::NotMeasured { not_measured } = &gain {
            Talk::new(args.quiet).note(&format!("--prove has measured nothing: {not_measured}."));
        }
        if let Some(step) = steps.iter_mut().find(|step| step.name == "partition") {
            step.gain = gain;
        }
    }
    let applied = if args.apply { apply(args, &known, &steps)? } else { Vec::new() };
    show(args, &known, &steps, &applied)?;
    Ok(signals.exit().unwrap_or(Exit::Done))
}

/// Measures the gain of the place of a partition.
fn gain(args: &TuneArgs, known: &Known, signals: &Signals) -> Result<Gain, Failure> {
    let seed = seed_or_drawn(args.seed)?;
    let (starts, pairs, size) = (args.starts, args.pairs, args.size);
    let partition_start = known.partition_start();
    let wish = GainWish { starts, partition_start, pairs, size, seed };
    let terminal = &mut Terminal::new(Talk::new(args.quiet));
    Ok(known.set_up(args).measure_gain(&wish, terminal, signals.stop())?)
}

/// Does all that `args` allow; a line for each step that was done.
fn apply(args: &TuneArgs, known: &Known, steps: &[TuningStep]) -> Result<Vec<String>, Failure> {
    if simulated_name(&args.target).is_some() {
        return Err(Failure::usage(
            "a simulated card has no settings to change; leave --apply out, or serve it with \
             'cardproof sim serve' and name the device",
        ));
    }
    let mut done = Vec::new();
    if args.access.destroy.is_some() {
        let LaidOut { layout, options } = known.set_up(args).lay_out()?;
        let (size, begin) = (layout.size, layout.unit);
        done.push(format!("Made a partition of {size} that begins at {begin}."));
        done.push(format!("Made ext4 on it with {options}."));
    }
    let name = known.conditions.device.name.as_deref();
    for step in steps.iter().filter(|step| step.applied_by == AppliedBy::Apply) {
        if let (Some(Setting { file, value }), Some(name)) = (&step.setting, name) {
            let before = change_setting(name, file, value)?.before;
            done.push(format!("Set {file}: {before} -> {value}"));
        }
    }
    if done.is_empty() {
        let needs_leave = steps.iter().any(|step| step.applied_by == AppliedBy::Destroy);
        done.push(if needs_leave {
            "Nothing was changed: partition and file system need --destroy, which deletes all data, and the \
             other steps are done by hand."
                .to_owned()
        } else {
            "Nothing was changed: the steps below are done by hand.".to_owned()
        });
    }
    Ok(done)
}

fn no_device() -> Failure {
    Failure::refused(
        "the device of this target is not known, so none of its settings can be changed; name the \
         block device, such as /dev/mmcblk0",
    )
}

fn look(args: &TuneArgs) -> Result<Known, Failure> {
    let named = args.geometry.as_deref().map(record_of).transpose()?;
    let surroundings = match simulated_name(&args.target) {
        Some(name) => simulated(name)?,
        None => {
            refuse_no_storage(&args.target)?;
            // The plan begins with the device's partitions.
            refuse_partition(&args.target, args.access.destroy.is_some())?;
            look_at_path(&Sysroot::default(), &args.target)
                .map_err(|error| Failure::usage(cardproof_units::with_causes(&error)))?
        }
    };
    if let Some(record) = &named {
        refuse_other_card(record, &args.target, &surroundings.device)?;
    }
    let Surroundings { mut device, host, mut filesystem, settings, unknown } = surroundings;
    let metadata = std::fs::metadata(&args.target).ok();
    if let Some(file) = metadata.filter(std::fs::Metadata::is_file) {
        refuse_no_image(&args.target, Bytes(file.len()))?;
        // An image: what counts is its own size, not the disk that it lies on.
        filesystem = None;
        device = DeviceInfo { size_bytes: Some(Bytes(file.len())), ..DeviceInfo::default() };
    }
    let mut conditions = Record::begun(
        String::new(),
        String::new(),
        cardproof_record::Tool { name: String::new(), version: String::new() },
        cardproof_record::ProfileInfo::untimed("", 1),
    )
    .conditions;
    conditions.device = device;
    conditions.host = host;
    conditions.filesystem = filesystem;
    conditions.settings = settings;
    conditions.unknown = unknown;
    let ground = ground(&args.target);
    let mount_point = mount_point_of(&args.target);
    let measured = match named {
        Some(record) => Some(record),
        None => geometry_of(&args.target, &conditions.device, Talk::new(args.quiet))?,
    };
    let geometry = measured.as_ref().and_then(cardproof_rating::geometry);
    let partitions = partitions_of(&args.target, &conditions)?;
    let mounts = mounted_on(&args.target);
    conditions.target.logical_block_bytes = logical_block_of(&args.target);
    let is_whole = partitions.is_empty() && is_on_whole_disk(&args.target, &mounts);
    Ok(Known { ground, mount_point, conditions, geometry, partitions, is_whole, mounts })
}

/// What can be laid out of `target`.
fn ground(target: &Path) -> Option<Ground> {
    if simulated_name(target).is_some() {
        return Some(Ground::of_device(Path::new(PLACEHOLDER)));
    }
    if target.is_dir() {
        return None;
    }
    Some(if target.is_file() { Ground::of_image(target) } else { Ground::of_device(target) })
}

/// A geometry is of one card. What is not known of either is no difference, and an image has no model.
fn refuse_other_card(record: &Record, target: &Path, device: &DeviceInfo) -> Result<(), Failure> {
    let known = &record.conditions.device;
    let differ = |a: Option<&String>, b: Option<&String>| a.zip(b).is_some_and(|(a, b)| a != b);
    let is_other = match simulated_name(target) {
        Some(name) => known.name.as_deref() != Some(&*format!("sim:{name}")),
        None if target.is_file() => false,
        None => {
            let sizes = known.size_bytes.zip(device.size_bytes);
            record.is_simulated()
                || differ(known.model.as_ref(), device.model.as_ref())
                || sizes.is_some_and(|(own, other)| own != other)
        }
    };
    if !is_other {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "the record {} is of another card ({}), and a geometry holds for its own card alone; run `cardproof geometry` \
         on this one",
        record.id,
        cardproof_report::title(record)
    )))
}

/// The record called `name`; `latest` is the last one that holds timings of a geometry.
fn record_of(name: &Path) -> Result<Record, Failure> {
    let record =
        if name == Path::new(LATEST) { latest()? } else { saved::read(&saved::locate(name)?)? };
    if record.flash_timings.is_empty() {
        return Err(Failure::usage(format!(
            "the record {} holds no timings of a card's geometry; run 'cardproof geometry' first",
            name.display()
        )));
    }
    Ok(record)
}

/// The newest record of a geometry of this card, or of one of the same model and size; none where there is no
/// such record.
fn geometry_of(target: &Path, device: &DeviceInfo, talk: Talk) -> Result<Option<Record>, Failure> {
    let simulated = simulated_name(target).map(|name| format!("sim:{name}"));
    let is_same = |head: &RecordHead| {
        let known = &head.conditions.device;
        match &simulated {
            Some(name) => head.is_simulated() && known.name.as_ref() == Some(name),
            None => {
                let is_model = device.model.is_some() && known.model == device.model;
                is_model && known.size_bytes == device.size_bytes && !head.is_simulated()
            }
        }
    };
    // A record holds no serial number. Month and revisions tell most cards of one model apart.
    let is_own = |head: &RecordHead| {
        let of = |device: &DeviceInfo| {
            let card = device.card.as_ref()?;
            let revisions = (card.hardware_revision, card.firmware_revision.clone());
            Some((card.manufactured.clone()?, revisions))
        };
        of(device).is_some() && of(&head.conditions.device) == of(device)
    };
    let found = newest_geometry(is_same, is_own)?;
    if let Some(record) = &found {
        let whose = if simulated.is_some() || is_own(&RecordHead::from(record)) {
            "the geometry that was measured before"
        } else {
            "the geometry of a card of this model and size; it may be another card"
        };
        talk.note(&format!("Uses {whose}: {}.", record.id));
    }
    Ok(found)
}

/// The newest record with timings of a geometry for which `is_wanted` holds; those for which `is_own` holds come
/// before all others.
fn newest_geometry(
    is_wanted: impl Fn(&RecordHead) -> bool,
    is_own: impl Fn(&RecordHead) -> bool,
) -> Result<Option<Record>, Failure> {
    let mut wanted = inventory::heads()?;
    wanted.retain(|(_, head)| is_wanted(head));
    wanted.sort_by_cached_key(|(path, head)| (is_own(head), Store::age(path)));
    let mut records = wanted.iter().rev().filter_map(|(path, _)| saved::read(path).ok());
    Ok(records.find(|record| !record.flash_timings.is_empty()))
}

fn latest() -> Result<Record, Failure> {
    newest_geometry(|_| true, |_| true)?.ok_or_else(|| {
        Failure::usage("no record holds timings of a card's geometry; run cardproof geometry first")
    })
}

fn simulated(name: &str) -> Result<Surroundings, Failure> {
    let card = simulated_card(name)?;
    let device = DeviceInfo { size_bytes: Some(card.announced_size()), ..DeviceInfo::default() };
    Ok(Surroundings { device, ..Surroundings::default() })
}

fn write_json(args: &TuneArgs, document: &TuningDocument<'_>) -> Result<(), Failure> {
    let Some(sink) = &args.json else { return Ok(()) };
    let text = serde_json::to_string_pretty(document)
        .map_err(Failure::because("the plan cannot be put into JSON"))?;
    output::write(sink, &format!("{text}\n"))
}

fn show(
    args: &TuneArgs,
    known: &Known,
    steps: &[TuningStep],
    applied: &[String],
) -> Result<(), Failure> {
    write_json(args, &TuningDocument::of_plan(steps, applied))?;
    if args.json == Some(Sink::Stdout) || args.quiet {
        return Ok(());
    }
    let target = one_line(&args.target.display().to_string());
    let mut out = String::new();
    for line in applied {
        out.push_str(&cardproof_report::wrapped(&format!("{line}\n"), talk::width()));
    }
    if !applied.is_empty() {
        out.push('\n');
    }
    let deletes = steps.iter().any(|step| step.applied_by == AppliedBy::Destroy);
    let step = if args.details { "The step partition" } else { "Step 1" };
    let word = shell_path(&args.target);
    let mut there = known.on_blocks(&args.target).told(&word, deletes.then_some(step));
    there.push_str(&kept(args, known, steps));
    out.push_str(&if args.details {
        text::in_full(&target, steps, &there, talk::width())
    } else {
        text::in_short(&target, steps, &there, talk::width())
    });
    if args.target.is_dir() {
        out.push_str(
            "For partition and file system, name the card itself, such as /dev/mmcblk0.\n",
        );
    } else if let Some(mounted) = known.mounts.first() {
        let point = one_line(&mounted.point.display().to_string());
        let in_use = format!(
            "{target} is in use (mounted at {point}), so only settings are planned. For partition and file system, \
             name a card that is not mounted.\n"
        );
        out.push_str(&cardproof_report::wrapped(&in_use, talk::width()));
    }
    output::write(&Sink::Stdout, &out)
}

/// The settings that are good as they are, in a line; empty where none was looked at.
fn kept(args: &TuneArgs, known: &Known, steps: &[TuningStep]) -> String {
    if simulated_name(&args.target).is_some() {
        return String::new();
    }
    let mut kept = settings_to_keep(&known.conditions, steps);
    if !kept.is_empty() && !has_swap() {
        kept.push("no swap".to_owned());
    }
    if kept.is_empty() { String::new() } else { format!("Good as it is: {}.\n", kept.join(", ")) }
}
