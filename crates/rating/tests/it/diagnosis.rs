//! "Is it the card?" on made situations of known truth: no wrong *yes*.

use cardproof_rating::diagnosis::{Culprit, Known, TaskWaits};
use cardproof_rating::limits::{Seen, limits_around};
use cardproof_rating::words::diagnosis::diagnose;
use cardproof_record::{Activity, CpuActivity, DeviceActivity, MemoryActivity, Pressure, Requests};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

/// The storage that is asked about.
const CARD: &str = "mmcblk0";
/// Another disk of the same computer.
const DISK: &str = "sda";

/// A window of two seconds of a computer with four processors.
#[derive(Clone, Copy, Default)]
struct Load {
    /// Share of all processors' time that programs use.
    cpu: f64,
    /// Share of the busiest processor's time, where it is more than that.
    one_cpu: f64,
    /// Shares of the time in which the card, and the other disk, have requests under way.
    card_busy: f64,
    disk_busy: f64,
    /// Shares of the time in which some task waits for I/O, and for memory.
    io_some: f64,
    memory_some: f64,
    /// Share of the time in which all tasks of a processor wait for I/O, where the kernel tells.
    io_full: Option<f64>,
    /// Tasks that are seen waiting for local storage, and for a network drive.
    waits: TaskWaits,
    /// MB/s that are swapped in and out.
    swapped: (u64, u64),
    /// Memory that is available, in MiB of 1024; 0 for 300.
    available_mib: u64,
    /// Reads and not writes.
    is_reading: bool,
}

impl Load {
    fn activity(self, has_pressure: bool) -> Activity {
        let window_ns = Nanos::from_secs(2);
        // A task that waits does so on an idle processor only.
        let iowait = (self.io_some / 4.0).min(1.0 - self.cpu);
        let pressure = Pressure {
            io_some: Some(self.io_some),
            io_full: self.io_full,
            memory_some: Some(self.memory_some),
            memory_full: Some(self.memory_some / 8.0),
            ..Pressure::default()
        };
        let mut card = device(CARD, self.card_busy);
        if self.is_reading {
            std::mem::swap(&mut card.reads, &mut card.writes);
        }
        Activity {
            window_ns,
            devices: vec![card, device(DISK, self.disk_busy)],
            cpu: Some(CpuActivity {
                cpus: 4,
                user: self.cpu,
                iowait,
                idle: 1.0 - self.cpu - iowait,
                busiest: self.cpu.max(self.one_cpu),
                ..CpuActivity::default()
            }),
            pressure: if has_pressure { pressure } else { Pressure::default() },
            memory: Some(MemoryActivity {
                total_bytes: Bytes::mib(1024),
                available_bytes: Bytes::mib(match self.available_mib {
                    0 => 300,
                    mib => mib,
                }),
                swapped_in_bytes: Bytes(self.swapped.0 * 2_000_000),
                swapped_out_bytes: Bytes(self.swapped.1 * 2_000_000),
            }),
            ..Activity::default()
        }
    }
}

/// A device that takes 10 ms for each write of 4 KiB and is busy for `share` of two seconds.
fn device(name: &str, share: f64) -> DeviceActivity {
    let count = (200.0 * share) as u64;
    let bytes = Bytes::kib(4) * count;
    let writes = Requests {
        count,
        bytes,
        per_s: Iops(count as f64 / 2.0),
        bytes_per_s: Throughput(bytes.as_f64() / 2.0),
        await_ns: (count > 0).then_some(Nanos::from_millis(10)),
        ..Requests::default()
    };
    DeviceActivity {
        name: name.to_owned(),
        writes,
        queue: share,
        utilisation: share,
        ..DeviceActivity::default()
    }
}

/// The answer for somebody who asks about the card, after windows with these loads, each so often.
fn answered(loads: &[(usize, Load)], has_pressure: bool) -> Culprit {
    let asked = [CARD.to_owned()];
    let window = |load: &Load| -> Seen {
        load.waits.correct(limits_around(&load.activity(has_pressure), &asked, &|_| None))
    };
    let windows = loads.iter().flat_map(|(count, load)| vec![window(load); *count]).collect();
    diagnose(&Known { windows, ..Known::default() }).culprit
}

/// What happens, whether *yes* is right, and how many windows there are of each load.
type Situation = (&'static str, bool, Vec<(usize, Load)>);

/// Situations with what the card has to do with them.
fn situations() -> Vec<Situation> {
    let idle = Load { cpu: 0.03, card_busy: 0.01, io_some: 0.01, ..Load::default() };
    vec![
        (
            "programs wait for the card all the time",
            true,
            vec![(15, Load { cpu: 0.05, card_busy: 0.98, io_some: 0.97, ..Load::default() })],
        ),
        (
            "programs wait for the card in a third of the time",
            true,
            vec![
                (5, Load { cpu: 0.1, card_busy: 0.9, io_some: 0.88, ..Load::default() }),
                (10, idle),
            ],
        ),
        (
            "full processors, and a card that is busy 1 % of the time",
            false,
            vec![(15, Load { cpu: 0.99, card_busy: 0.01, io_some: 0.85, ..Load::default() })],
        ),
        (
            "full processors, and a card that writes in the background",
            false,
            vec![(15, Load { cpu: 0.99, card_busy: 0.95, io_some: 0.04, ..Load::default() })],
        ),
        (
            "half busy processors and small logs on the card",
            false,
            vec![(15, Load { cpu: 0.5, card_busy: 0.06, io_some: 0.06, ..Load::default() })],
        ),
        (
            "programs wait for another disk",
            false,
            vec![(15, Load { cpu: 0.05, disk_busy: 0.97, card_busy: 0.05, io_some: 0.97, ..idle })],
        ),
        (
            "programs wait for the network, and the card writes some logs",
            false,
            vec![(15, Load { cpu: 0.05, card_busy: 0.12, io_some: 0.95, ..Load::default() })],
        ),
        (
            "programs wait for the network, and the card is half busy in the background",
            false,
            vec![(15, Load { cpu: 0.05, card_busy: 0.55, io_some: 0.95, ..Load::default() })],
        ),
        (
            "memory is short, so that the card reads dropped pages again",
            false,
            vec![(
                15,
                Load {
                    cpu: 0.2,
                    card_busy: 0.9,
                    io_some: 0.9,
                    memory_some: 0.7,
                    ..Load::default()
                },
            )],
        ),
        (
            "the card and another disk at once",
            false,
            vec![(15, Load { cpu: 0.05, card_busy: 0.9, disk_busy: 0.95, io_some: 0.98, ..idle })],
        ),
        (
            "the card and the processors at once",
            false,
            vec![(15, Load { cpu: 0.97, card_busy: 0.95, io_some: 0.9, ..Load::default() })],
        ),
        (
            "one program computes, and the card writes in the background",
            false,
            vec![(
                15,
                Load { cpu: 0.26, one_cpu: 0.99, card_busy: 0.95, io_some: 0.9, ..Load::default() },
            )],
        ),
        ("nothing to do", false, vec![(15, idle)]),
    ]
}

#[test]
fn waits_elsewhere_are_not_blamed_on_the_card() {
    for (name, is_the_card, loads) in situations() {
        let culprit = answered(&loads, true);
        assert_eq!(culprit == Culprit::Storage, is_the_card, "{name}: {culprit:?}");
    }
}

/// What the card has to do with a situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    /// Programs wait for the card, and for nothing else.
    Card,
    /// For the card and for something else.
    Both,
    /// For something else.
    Elsewhere,
    /// For nothing.
    Nothing,
}

/// What happens, its truth, and how many windows there are of each load.
type Further = (&'static str, Truth, Vec<(usize, Load)>);

/// How far an answer may be from the truth: a *yes* must be right, and whoever is undecided says too little.
fn is_undecided(truth: Truth, culprit: Culprit) -> bool {
    match truth {
        Truth::Card => culprit != Culprit::Storage,
        Truth::Both => {
            !matches!(culprit, Culprit::StorageAndMore | Culprit::Memory | Culprit::OtherStorage)
        }
        Truth::Elsewhere => matches!(culprit, Culprit::NothingSeen | Culprit::StorageAndMore),
        Truth::Nothing => culprit != Culprit::NothingSeen,
    }
}

/// Thirty-two further situations: light and heavy, of one cause and of several, steady and in bursts.
fn further() -> Vec<Further> {
    use Truth::{Both, Card, Elsewhere, Nothing};
    let idle = Load { cpu: 0.03, card_busy: 0.01, io_some: 0.01, ..Load::default() };
    let load = |cpu, card_busy, io_some| Load { cpu, card_busy, io_some, ..Load::default() };
    let disk = |cpu, disk_busy, io_some| Load { cpu, disk_busy, io_some, ..Load::default() };
    let full = |io_full, load| Load { io_full: Some(io_full), ..load };
    let waits = |storage, network, load| Load { waits: TaskWaits { storage, network }, ..load };
    let short = |card_busy, io_some, memory_some| Load {
        cpu: 0.2,
        card_busy,
        io_some,
        memory_some,
        ..Load::default()
    };
    vec![
        ("an update writes small files", Card, vec![(15, load(0.3, 0.97, 0.9))]),
        ("a database commits after each line", Card, vec![(15, load(0.08, 0.85, 0.84))]),
        ("programs start from a slow card", Card, vec![(15, load(0.4, 0.93, 0.8))]),
        ("a card that pauses every few seconds", Card, vec![(6, load(0.05, 1.0, 1.0)), (9, idle)]),
        ("a copy to the card, and somebody waits", Card, vec![(15, load(0.15, 1.0, 0.6))]),
        ("half of the time is a wait for the card", Card, vec![(15, load(0.1, 0.66, 0.62))]),
        ("boot: the card first, then nothing", Card, vec![(4, load(0.5, 0.96, 0.9)), (11, idle)]),
        ("a compiler on all processors", Elsewhere, vec![(15, load(1.0, 0.03, 0.02))]),
        ("a compiler whose objects go to the card", Elsewhere, vec![(15, load(0.99, 0.3, 0.1))]),
        (
            "full processors, waits are of tasks in turn",
            Elsewhere,
            vec![(15, load(1.0, 0.09, 0.95))],
        ),
        ("a video plays, and the card reads it ahead", Nothing, vec![(15, load(0.4, 0.25, 0.05))]),
        ("a camera writes steadily", Nothing, vec![(15, load(0.3, 0.5, 0.08))]),
        ("a backup reads the card, and nobody waits", Nothing, vec![(15, load(0.2, 0.95, 0.05))]),
        ("a network drive is slow", Elsewhere, vec![(15, load(0.02, 0.0, 0.9))]),
        ("a network drive, with logs on the card", Elsewhere, vec![(15, load(0.02, 0.08, 0.8))]),
        (
            "a network drive is slow half of the time",
            Elsewhere,
            vec![(8, load(0.02, 0.02, 0.9)), (7, idle)],
        ),
        ("a USB disk spins up", Elsewhere, vec![(15, disk(0.02, 1.0, 1.0))]),
        ("a USB disk works, lightly", Elsewhere, vec![(15, disk(0.05, 0.82, 0.7))]),
        ("a USB disk works, and the processors", Elsewhere, vec![(15, disk(0.96, 0.9, 0.8))]),
        ("memory is short, and swap is on the card", Both, vec![(15, short(0.98, 0.95, 0.9))]),
        ("memory is a little short", Both, vec![(15, short(0.85, 0.8, 0.55))]),
        (
            "the card and a USB disk copy to each other",
            Both,
            vec![(15, Load { disk_busy: 0.9, ..load(0.1, 0.92, 0.95) })],
        ),
        ("the card and all processors", Both, vec![(15, load(0.98, 0.99, 0.9))]),
        (
            "the card and one processor",
            Both,
            vec![(15, Load { one_cpu: 1.0, ..load(0.3, 0.95, 0.85) })],
        ),
        ("nothing at all", Nothing, vec![(15, Load::default())]),
        (
            "a burst of two seconds in half a minute",
            Nothing,
            vec![(1, load(0.2, 1.0, 0.9)), (14, idle)],
        ),
        (
            "a network drive, and the card is busy in the background",
            Elsewhere,
            vec![(15, waits(0, 8, load(0.05, 0.97, 0.95)))],
        ),
        ("a network drive and the card", Both, vec![(15, waits(5, 4, load(0.05, 0.97, 0.95)))]),
        (
            "the card, and seldom a network drive",
            Card,
            vec![(15, waits(14, 1, load(0.05, 0.97, 0.95)))],
        ),
        (
            "full processors, and a writer that takes its turns",
            Elsewhere,
            vec![(15, full(0.004, load(0.99, 0.95, 0.6)))],
        ),
        (
            "full processors, and a program that only waits",
            Both,
            vec![(15, full(0.3, load(0.95, 0.97, 0.9)))],
        ),
        ("a desktop with a browser at rest", Nothing, vec![(15, load(0.25, 0.1, 0.06))]),
    ]
}

#[test]
fn forty_situations_have_no_wrong_yes_and_few_are_undecided() {
    let first = situations().len();
    assert!(first + further().len() >= 40);
    let mut undecided = Vec::new();
    for (name, truth, loads) in further() {
        let culprit = answered(&loads, true);
        let is_yes = culprit == Culprit::Storage;
        assert!(!is_yes || truth == Truth::Card, "a wrong yes: {name}: {culprit:?}");
        if is_undecided(truth, culprit) {
            undecided.push((name, truth, culprit));
        }
    }
    assert!(undecided.len() <= 3, "{undecided:#?}");
}

/// Kernels without pressure: a background write cannot be told from one that is waited for while the
/// processors are full, which is answered as both.
#[test]
fn without_pressure_there_is_no_wrong_yes_either() {
    for (name, is_the_card, loads) in situations() {
        // What tells memory from storage is pressure alone.
        if loads.iter().any(|(_, load)| load.memory_some > 0.0) {
            continue;
        }
        let culprit = answered(&loads, false);
        assert_eq!(culprit == Culprit::Storage, is_the_card, "{name}: {culprit:?}");
    }
}

/// Many kernels tell no pressure, so that iowait and the counters of memory have to do.
#[test]
fn without_pressure_fifteen_further_situations_have_no_wrong_yes() {
    use Truth::{Both, Card, Elsewhere, Nothing};
    let idle = Load { cpu: 0.03, card_busy: 0.01, io_some: 0.01, ..Load::default() };
    let load = |cpu, card_busy, io_some| Load { cpu, card_busy, io_some, ..Load::default() };
    let waits = |storage, network, load| Load { waits: TaskWaits { storage, network }, ..load };
    let full = load(0.99, 0.05, 0.02);
    let slow = load(0.05, 0.97, 0.95);
    let cases: Vec<Further> = vec![
        ("all wait for the card", Card, vec![(15, slow)]),
        ("half busy processors, and all wait for the card", Card, vec![(15, load(0.5, 1.0, 0.95))]),
        ("the card is written in the background", Nothing, vec![(15, load(0.2, 0.95, 0.03))]),
        ("a long light load", Nothing, vec![(15, load(0.1, 0.15, 0.15))]),
        ("processors only", Elsewhere, vec![(15, full)]),
        ("the card and the processors in turn", Both, vec![(7, slow), (6, full), (2, idle)]),
        ("the processors, and often the card", Both, vec![(8, full), (5, slow), (2, idle)]),
        (
            "encryption fills a processor, and the card waits for it",
            Elsewhere,
            vec![(15, Load { one_cpu: 0.99, ..load(0.27, 0.3, 0.9) })],
        ),
        ("encryption, but the card is slower", Card, vec![(15, Load { one_cpu: 0.6, ..slow })]),
        (
            "swap on the card, both ways",
            Both,
            vec![(15, Load { swapped: (3, 3), is_reading: true, ..slow })],
        ),
        ("swap is read back from the card", Both, vec![(15, Load { swapped: (3, 0), ..slow })]),
        (
            "compressed swap in memory, and the card is at rest",
            Elsewhere,
            vec![(15, Load { swapped: (9, 9), ..load(0.6, 0.05, 0.1) })],
        ),
        (
            "programs are read again for want of memory, without swap",
            Both,
            vec![(15, Load { available_mib: 20, is_reading: true, ..slow })],
        ),
        ("a network drive", Elsewhere, vec![(15, waits(0, 8, load(0.05, 0.9, 0.95)))]),
        (
            "another disk, and the card in the background",
            Elsewhere,
            vec![(15, Load { disk_busy: 0.97, ..load(0.05, 0.6, 0.95) })],
        ),
    ];
    assert_eq!(cases.len(), 15);
    let mut undecided = Vec::new();
    for (name, truth, loads) in cases {
        let culprit = answered(&loads, false);
        assert!(culprit != Culprit::Storage || truth == Card, "a wrong yes: {name}");
        if is_undecided(truth, culprit) {
            undecided.push((name, truth, culprit));
        }
    }
    assert_eq!(undecided, []);
}

/// Whatever else is going on, a device that is idle nine tenths of the time is no cause.
#[test]
fn a_card_that_is_hardly_busy_is_never_the_answer() {
    for card_busy in [0.0, 0.02, 0.05, 0.099] {
        for io_some in [0.0, 0.1, 0.5, 0.8, 1.0] {
            for cpu in [0.0, 0.3, 0.6, 0.93, 1.0] {
                let load = Load { cpu, card_busy, io_some, ..Load::default() };
                for has_pressure in [true, false] {
                    let culprit = answered(&[(15, load)], has_pressure);
                    let is_blamed = matches!(
                        culprit,
                        Culprit::Storage | Culprit::StorageAndMore | Culprit::Bus
                    );
                    assert!(!is_blamed, "card {card_busy}, waits {io_some}, processors {cpu}");
                }
            }
        }
    }
}

/// A request that takes longer than a window completes in none of them.
#[test]
fn a_card_that_hangs_is_the_answer() {
    let asked = [CARD.to_owned()];
    let mut load = Load { cpu: 0.02, io_some: 1.0, ..Load::default() }.activity(true);
    load.devices[0] =
        DeviceActivity { name: CARD.to_owned(), queue: 1.0, utilisation: 1.0, ..device(CARD, 0.0) };
    let windows = vec![limits_around(&load, &asked, &|_| None); 15];
    assert_eq!(diagnose(&Known { windows, ..Known::default() }).culprit, Culprit::Storage);
}
