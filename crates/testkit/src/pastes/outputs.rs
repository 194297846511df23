//! Outputs of tools with drawn figures that fit together as the tool's own do.

use cardproof_record::OpName;

use super::Row;
use super::dice::{Dice, printed};
use super::typed::Form;
use super::{reports, typed};

/// A tool's output in one of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OutputKind {
    /// dd, in one of its languages.
    Dd,
    /// `hdparm -t`.
    Hdparm,
    /// iozone's table.
    Iozone,
    /// fio's output for people, version 3.
    FioHuman,
    /// fio's sums of all jobs alone.
    FioSums,
    /// fio's JSON.
    FioJson,
    /// f3write and f3read.
    F3,
    /// `CrystalDiskMark` 6.
    CrystalDiskMark,
    /// `CrystalDiskMark` 8.
    CrystalDiskMark8,
    /// h2testw in English or German.
    H2testw,
    /// bonnie++.
    Bonnie,
    /// AS SSD Benchmark.
    AsSsd,
    /// The kernel's messages.
    KernelLog,
    /// A table in Markdown.
    MarkdownTable,
    /// A table in columns parted by spaces.
    ColumnsTable,
    /// A table parted by tabs or semicolons.
    SeparatedTable,
    /// Figures of a program with a window.
    App,
}

/// All kinds.
pub(super) const KINDS: [OutputKind; 17] = [
    OutputKind::Dd,
    OutputKind::Hdparm,
    OutputKind::Iozone,
    OutputKind::FioHuman,
    OutputKind::FioSums,
    OutputKind::FioJson,
    OutputKind::F3,
    OutputKind::CrystalDiskMark,
    OutputKind::CrystalDiskMark8,
    OutputKind::H2testw,
    OutputKind::Bonnie,
    OutputKind::AsSsd,
    OutputKind::KernelLog,
    OutputKind::MarkdownTable,
    OutputKind::ColumnsTable,
    OutputKind::SeparatedTable,
    OutputKind::App,
];

impl OutputKind {
    /// Whether two outputs under names can be pasted one after the other.
    pub(super) const fn can_be_two(self) -> bool {
        !matches!(self, Self::FioJson | Self::KernelLog | Self::App) && !self.is_table()
    }

    const fn is_table(self) -> bool {
        matches!(self, Self::MarkdownTable | Self::ColumnsTable | Self::SeparatedTable)
    }

    /// Whether what stands in a line holds without the lines above it.
    pub(super) const fn has_free_lines(self) -> bool {
        matches!(self, Self::Dd | Self::F3 | Self::CrystalDiskMark | Self::H2testw)
    }

    /// Whether the output may be cut after any line.
    pub(super) const fn can_be_cut(self) -> bool {
        !matches!(self, Self::FioJson)
    }
}

/// The lines of an output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    pub(super) rows: Vec<Row>,
}

/// An output of `kind`.
pub(super) fn output(kind: OutputKind, dice: &mut Dice) -> Output {
    let rows = match kind {
        OutputKind::Dd => dd(dice),
        OutputKind::Hdparm => hdparm(dice),
        OutputKind::Iozone => iozone(dice),
        OutputKind::FioHuman => fio_human(dice),
        OutputKind::FioSums => fio_sums(dice),
        OutputKind::FioJson => fio_json(dice),
        OutputKind::F3 => f3(dice),
        OutputKind::CrystalDiskMark => crystal_disk_mark(dice),
        OutputKind::CrystalDiskMark8 => crystal_disk_mark_8(dice),
        OutputKind::H2testw => h2testw(dice),
        OutputKind::Bonnie => reports::bonnie(dice),
        OutputKind::AsSsd => reports::as_ssd(dice),
        OutputKind::KernelLog => reports::kernel_log(dice),
        OutputKind::MarkdownTable => typed::table(Form::Markdown, dice),
        OutputKind::ColumnsTable => typed::table(Form::Columns, dice),
        OutputKind::SeparatedTable => {
            let mark = *dice.of(&['\t', ';']);
            typed::table(Form::Separated(mark), dice)
        }
        OutputKind::App => typed::app(dice),
    };
    Output { rows }
}

fn dd(dice: &mut Dice) -> Vec<Row> {
    let count = 64 << dice.below(6);
    let bytes = count * 1_048_576_u64;
    let rate = dice.between(2.0, 90.0);
    let seconds = bytes as f64 / (rate * 1e6);
    let (seconds, exact) = printed(seconds, 4);
    let (rate, value) = printed(bytes as f64 / exact / 1e6, 1);
    let has_command = dice.one_in(3);
    let op = if has_command { OpName::Write } else { OpName::Unknown };
    let mut rows = Vec::new();
    if has_command {
        rows.push(Row::new(format!("$ dd if=/dev/zero of=test bs=1M count={count} oflag=direct")));
    }
    let comma = |text: &str| text.replace('.', ",");
    let (mb, gib) = (bytes / 1_000_000, bytes / 1_048_576);
    let (records, line) = match dice.below(6) {
        2 => (
            ["records in", "records out"],
            format!("{bytes}字节（{mb} MB，{gib} MiB）已复制，{seconds} s，{rate} MB/s"),
        ),
        0 => (
            ["Datensätze ein", "Datensätze aus"],
            format!(
                "{bytes} Bytes ({mb} MB, {gib} MiB) kopiert, {} s, {} MB/s",
                comma(&seconds),
                comma(&rate)
            ),
        ),
        1 => (
            ["enregistrements lus", "enregistrements écrits"],
            format!(
                "{bytes} octets ({mb} MB, {gib} MiB) copiés, {} s, {} MB/s",
                comma(&seconds),
                comma(&rate)
            ),
        ),
        _ => (
            ["records in", "records out"],
            format!("{bytes} bytes ({mb} MB, {gib} MiB) copied, {seconds} s, {rate} MB/s"),
        ),
    };
    rows.extend(records.map(|words| Row::new(format!("{count}+0 {words}"))));
    rows.push(Row::new(line).tells(op, value));
    if !has_command && dice.one_in(4) {
        let message = *dice.of(&[
            "dd: error reading '/dev/mmcblk0': Input/output error",
            "dd: Fehler beim Lesen von '/dev/mmcblk0': Eingabe-/Ausgabefehler",
            "dd: erreur de lecture de '/dev/mmcblk0': Erreur d'entrée/sortie",
        ]);
        rows.insert(0, Row { has_fault: true, ..Row::new(message) });
        if let Some(last) = rows.last_mut() {
            // The message names what the figures do not.
            last.told.iter_mut().for_each(|told| told.op = OpName::Unknown);
        }
    }
    rows
}

fn hdparm(dice: &mut Dice) -> Vec<Row> {
    let (seconds, exact) = printed(dice.between(3.0, 3.1), 2);
    let megabytes = (dice.between(20.0, 250.0) * exact / 2.0).round() * 2.0;
    let (rate, value) = printed(megabytes / exact, 2);
    let device = *dice.of(&["/dev/mmcblk0:", "/dev/sda:"]);
    vec![
        Row::new(device),
        Row::new(format!(
            " Timing buffered disk reads: {megabytes:.0} MB in  {seconds} seconds =  {rate} MB/sec"
        ))
        .tells(OpName::Read, value),
    ]
}

fn iozone(dice: &mut Dice) -> Vec<Row> {
    const OPS: [OpName; 6] =
        [OpName::Write, OpName::Write, OpName::Read, OpName::Read, OpName::Read, OpName::Write];
    let mut rows = Vec::new();
    if dice.one_in(2) {
        rows.push(Row::new("$ iozone -e -I -a -s 100M -r 4k -r 16M -i 0 -i 1 -i 2"));
    }
    rows.push(Row::new(
        "                                                              random    random",
    ));
    rows.push(Row::new(
        "              kB  reclen    write  rewrite    read    reread    read     write",
    ));
    for record in [4, 16384] {
        let figures = OPS.map(|op| (op, dice.between(900.0, 80_000.0).round()));
        let [a, b, c, d, e, f] = figures.map(|(_, value)| value);
        let text =
            format!("          102400 {record:>7} {a:>8} {b:>8} {c:>8} {d:>8} {e:>8} {f:>8}");
        let row = figures.into_iter().fold(Row::new(text), |row, (op, value)| row.tells(op, value));
        rows.push(row);
    }
    rows
}

/// A direction, its rate in KiB/s, operations of 4 KiB a second, and milliseconds.
struct Job {
    op: OpName,
    word: &'static str,
    kib_per_s: f64,
    iops: f64,
    milliseconds: f64,
}

impl Job {
    fn drawn(dice: &mut Dice) -> Self {
        let iops = dice.between(40.0, 900.0).round();
        let milliseconds = dice.between(20_000.0, 120_000.0).round();
        let is_read = dice.one_in(2);
        let (op, word) = if is_read { (OpName::Read, "read") } else { (OpName::Write, "write") };
        Self { op, word, kib_per_s: iops * 4.0, iops, milliseconds }
    }

    fn kib(&self) -> f64 {
        (self.kib_per_s * self.milliseconds / 1000.0).round()
    }
}

fn fio_human(dice: &mut Dice) -> Vec<Row> {
    let job = Job::drawn(dice);
    let Job { op, word, kib_per_s, iops, milliseconds } = job;
    let mib = job.kib() / 1024.0;
    vec![
        Row::new(format!(
            "job: (g=0): rw=rand{word}, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1"
        )),
        Row::new("fio-3.33"),
        Row::new("Starting 1 process"),
        Row::new(""),
        Row::new("job: (groupid=0, jobs=1): err= 0: pid=1000: Wed Nov 25 10:13:46 2026"),
        Row::new(format!(
            "  {word}: IOPS={iops:.0}, BW={kib_per_s:.0}KiB/s ({:.0}kB/s)({mib:.1}MiB/{milliseconds:.0}msec)",
            kib_per_s * 1.024
        ))
        .tells(op, kib_per_s.round())
        .tells(op, iops),
        Row::new("    clat (usec): min=333, max=131071, avg=2034.55, stdev=1234.56"),
        Row::new("  cpu          : usr=0.50%, sys=1.00%, ctx=1140, majf=0, minf=11"),
    ]
}

fn fio_sums(dice: &mut Dice) -> Vec<Row> {
    let job = Job::drawn(dice);
    let (rate, value) = printed(job.kib_per_s, 0);
    let kb = job.kib_per_s * 1.024;
    let (kib, milliseconds) = (job.kib(), job.milliseconds);
    let name = job.word.to_uppercase();
    vec![
        Row::new("Run status group 0 (all jobs):"),
        Row::new(format!(
            "  {name:>5}: bw={rate}KiB/s ({kb:.0}kB/s), {rate}KiB/s-{rate}KiB/s ({kb:.0}kB/s-{kb:.0}kB/s), io={:.1}MiB \
             ({:.1}MB), run={milliseconds:.0}-{milliseconds:.0}msec",
            kib / 1024.0,
            kib * 1.024 / 1000.0
        ))
        .tells(job.op, value),
    ]
}

fn fio_json(dice: &mut Dice) -> Vec<Row> {
    let job = Job::drawn(dice);
    let Job { op, word, kib_per_s, iops, milliseconds } = job;
    let other = if word == "read" { "write" } else { "read" };
    let kib = job.kib();
    let text = format!(
        "{{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n    {{\n      \"jobname\" : \"job\",\n      \"error\" : 0,\n      \
         \"job options\" : {{\n        \"rw\" : \"rand{word}\",\n        \"bs\" : \"4k\",\n        \"direct\" : \"1\"\n      }},\n      \
         \"{word}\" : {{\n        \"io_bytes\" : {},\n        \"bw_bytes\" : {},\n        \"bw\" : {kib_per_s},\n        \
         \"iops\" : {iops},\n        \"runtime\" : {milliseconds},\n        \"total_ios\" : {}\n      }},\n      \
         \"{other}\" : {{\n        \"io_bytes\" : 0,\n        \"bw_bytes\" : 0,\n        \"bw\" : 0,\n        \"iops\" : 0,\n        \
         \"runtime\" : 0,\n        \"total_ios\" : 0\n      }}\n    }}\n  ]\n}}",
        kib * 1024.0,
        kib_per_s * 1024.0,
        (kib / 4.0).round(),
    );
    let mut rows: Vec<Row> = text.lines().map(Row::new).collect();
    if let Some(last) = rows.last_mut() {
        *last = last.clone().tells(op, kib_per_s).tells(op, iops);
    }
    rows
}

fn f3(dice: &mut Dice) -> Vec<Row> {
    let (write, written) = printed(dice.between(3.0, 60.0), 2);
    let (read, was_read) = printed(dice.between(10.0, 90.0), 2);
    let lost = if dice.one_in(3) { 1 + dice.below(100_000) } else { 0 };
    let sound = 2_097_152 - lost;
    let kb = |sectors: usize| format!("{:.2} KB ({sectors} sectors)", sectors as f64 / 2.0);
    vec![
        Row::new("F3 write 8.0"),
        Row::new("Free space: 1.02 GB"),
        Row::new("Creating file 1.h2w ... OK!"),
        Row::new("Free space: 0.02 GB"),
        Row::new(format!("Average writing speed: {write} MB/s")).tells(OpName::Write, written),
        Row::new("F3 read 8.0"),
        Row::new("                  SECTORS      ok/corrupted/changed/overwritten"),
        Row {
            has_fault: lost > 0,
            ..Row::new(format!("Validating file 1.h2w ... {sound:>7}/{lost:>9}/      0/      0"))
        },
        Row::new(""),
        Row::new(format!("  Data OK: 1.00 GB ({sound} sectors)")),
        Row::new(format!("Data LOST: {}", kb(lost))),
        Row::new(format!("\t       Corrupted: {}", kb(lost))),
        Row::new("\tSlightly changed: 0.00 Byte (0 sectors)"),
        Row::new("\t     Overwritten: 0.00 Byte (0 sectors)"),
        Row::new(format!("Average reading speed: {read} MB/s")).tells(OpName::Read, was_read),
    ]
}

fn crystal_disk_mark(dice: &mut Dice) -> Vec<Row> {
    let mut rows = vec![
        Row::new("-----------------------------------------------------------------------"),
        Row::new("CrystalDiskMark 6.0.0 x64 (C) 2007-2017 hiyohiyo"),
        Row::new("                          Crystal Dew World : https://crystalmark.info/"),
        Row::new("-----------------------------------------------------------------------"),
        Row::new("* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]"),
        Row::new("* KB = 1000 bytes, KiB = 1024 bytes"),
        Row::new(""),
    ];
    for (name, op) in [("Sequential Read", OpName::Read), ("Sequential Write", OpName::Write)] {
        let (rate, value) = printed(dice.between(5.0, 95.0), 3);
        let text = format!("{name:>18} (Q= 32,T= 1) : {rate:>9} MB/s");
        rows.push(Row::new(text).tells(op, value));
    }
    for (name, op) in [("Random Read 4KiB", OpName::Read), ("Random Write 4KiB", OpName::Write)] {
        rows.push(random_row(&format!("{name:>18} (Q=  1,T= 1) :"), op, dice));
    }
    rows.extend([
        Row::new(""),
        Row::new("  Test : 1024 MiB [E: 1.7% (0.5/29.7 GiB)] (x5)  [Interval=5 sec]"),
        Row::new("  Date : 2019/04/01 11:33:09"),
        Row::new("    OS : Windows 10  [10.0 Build 14393] (x64)"),
    ]);
    rows
}

/// A line with MB/s and operations of 4 KiB a second.
fn random_row(name: &str, op: OpName, dice: &mut Dice) -> Row {
    let (iops, exact) = printed(dice.between(150.0, 3000.0), 1);
    let (rate, value) = printed(exact * 4096.0 / 1e6, 3);
    Row::new(format!("{name} {rate:>9} MB/s [{iops:>9} IOPS]")).tells(op, value).tells(op, exact)
}

fn crystal_disk_mark_8(dice: &mut Dice) -> Vec<Row> {
    let rule = "-".repeat(78);
    let mut rows = vec![
        Row::new(rule.clone()),
        Row::new("CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo"),
        Row::new("                                  Crystal Dew World: https://crystalmark.info/"),
        Row::new(rule),
        Row::new(""),
    ];
    for (section, op) in [("[Read]", OpName::Read), ("[Write]", OpName::Write)] {
        rows.push(Row::new(section));
        let (iops, exact) = printed(dice.between(5.0, 95.0), 1);
        let (rate, value) = printed(exact * 1_048_576.0 / 1e6, 3);
        let text =
            format!("  SEQ    1MiB (Q=  8, T= 1): {rate:>9} MB/s [{iops:>9} IOPS] < 9471.11 us>");
        rows.push(Row::new(text).tells(op, value).tells(op, exact).tells(op, 9471.11));
        let row = random_row("  RND    4KiB (Q=  1, T= 1):", op, dice);
        rows.push(row);
        rows.push(Row::new(""));
    }
    rows.push(Row::new("Profile: Default"));
    rows.push(Row::new("   Test: 1 GiB (x5) [E: 1% (0/60GiB)]"));
    rows
}

fn h2testw(dice: &mut Dice) -> Vec<Row> {
    let (write, written) = printed(dice.between(3.0, 60.0), 1);
    let (read, was_read) = printed(dice.between(10.0, 90.0), 1);
    let is_lost = dice.one_in(3);
    let mut rows = Vec::new();
    if is_lost {
        rows.push(Row { has_fault: true, ..Row::new("The media is likely to be defective.") });
        rows.push(Row::new("7.4 GByte OK (15600256 sectors)"));
        rows.push(Row { has_fault: true, ..Row::new("22.3 GByte DATA LOST (46767488 sectors)") });
    } else {
        rows.push(Row::new("Test finished without errors."));
        rows.push(Row::new("You can now delete the test files *.h2w or verify them again."));
    }
    rows.push(Row::new(format!("Writing speed: {write} MByte/s")).tells(OpName::Write, written));
    rows.push(Row::new(format!("Reading speed: {read} MByte/s")).tells(OpName::Read, was_read));
    rows.push(Row::new("H2testw v1.4"));
    rows
}
