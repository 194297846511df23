//! The sampler on a machine laid out in files: what it reads, what it leaves out, and that a
//! card may be taken out and put back.

use std::fs;
use std::path::Path;

use cardproof_device::Sysroot;
use cardproof_device::live::{Counters, NameError, Sampler, device_at, worth_watching};
use cardproof_units::{Bytes, Iops, Nanos};

/// A Raspberry Pi with a card, hot and short of power.
fn board(root: &Path) {
    let cpufreq = "sys/devices/system/cpu/cpufreq/policy0";
    let files = [
        ("sys/class/block/mmcblk0/stat", "100 0 800 50 10 0 80 20 0 60 70 0 0 0 0 4 8\n"),
        ("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 100 0 100 800 0 0 0 0 0 0\n"),
        ("proc/pressure/io", "some total=1000000\nfull total=0\n"),
        ("proc/meminfo", "MemTotal: 512000 kB\nMemAvailable: 100000 kB\n"),
        ("proc/vmstat", "pswpin 0\npswpout 0\n"),
        ("sys/class/thermal/thermal_zone0/temp", "61000\n"),
        ("sys/class/thermal/thermal_zone1/temp", "82345\n"),
        ("sys/class/thermal/thermal_zone2/temp", "-274000\n"),
        ("sys/class/hwmon/hwmon0/name", "cpu_thermal\n"),
        ("sys/class/hwmon/hwmon1/name", "rpi_volt\n"),
        ("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1\n"),
        ("sys/devices/platform/soc/soc:firmware/get_throttled", "80006\n"),
        (&format!("{cpufreq}/scaling_cur_freq"), "600000\n"),
        (&format!("{cpufreq}/scaling_max_freq"), "600000\n"),
        (&format!("{cpufreq}/cpuinfo_max_freq"), "1400000\n"),
    ];
    for (path, text) in files {
        write(root, path, text);
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn sampler(root: &Path) -> Sampler {
    Sampler::new(&Sysroot::new(root), &["mmcblk0".to_owned()])
}

#[test]
fn two_looks_at_a_board_give_its_activity() {
    let keep = tempfile::tempdir().unwrap();
    let root = keep.path();
    board(root);
    let mut sampler = sampler(root);
    let before = sampler.sample(Nanos::from_secs(10));
    write(
        root,
        "sys/class/block/mmcblk0/stat",
        "100 0 800 50 43 0 344 1010 0 1050 1060 0 0 0 0 5 38\n",
    );
    write(root, "proc/stat", "cpu  110 0 102 888 0\ncpu0 110 0 102 888 0\n");
    write(root, "proc/pressure/io", "some total=1970000\nfull total=500000\n");
    write(root, "sys/class/hwmon/hwmon1/in0_lcrit_alarm", "0\n");
    let activity = sampler.sample(Nanos::from_secs(11)).since(&before);

    assert_eq!(activity.window_ns, Nanos::from_secs(1));
    let [card] = activity.devices.as_slice() else { panic!("{activity:?}") };
    assert_eq!(card.writes.per_s, Iops(33.0));
    assert_eq!(card.writes.await_ns, Some(Nanos::from_millis(30)));
    assert_eq!(card.flushes.await_ns, Some(Nanos::from_millis(30)));
    assert!((card.utilisation - 0.99).abs() < 1e-12);
    assert!((activity.cpu.unwrap().busy() - 0.12).abs() < 1e-12);
    assert!((activity.pressure.io_some.unwrap() - 0.97).abs() < 1e-9);
    assert_eq!(activity.pressure.memory_full, None);
    assert_eq!(activity.memory.unwrap().available_bytes, Bytes::kib(100_000));
    let climate = activity.climate;
    assert_eq!(climate.temperature_celsius, Some(82.345));
    assert_eq!((climate.clock_hz, climate.clock_max_hz), (Some(600_000_000), Some(1_400_000_000)));
    assert_eq!(climate.clock_allowed_hz, Some(600_000_000));
    assert_eq!((climate.clock_capped, climate.throttled), (Some(true), Some(true)));
    assert_eq!(climate.soft_temperature_limit, Some(false));
    assert_eq!(climate.under_voltage, Some(true), "it was too low when the window began");
}

/// The firmware's directory carries the address of the system on the chip on some boards.
#[test]
fn a_board_whose_chip_has_an_address_in_its_name_tells_of_its_power() {
    let keep = tempfile::tempdir().unwrap();
    let soc = "sys/devices/platform/soc@107c000000";
    write(keep.path(), &format!("{soc}/soc@107c000000:firmware/get_throttled"), "5\n");
    let climate = sampler(keep.path()).sample(Nanos::ZERO).since(&Counters::default()).climate;
    assert_eq!((climate.under_voltage, climate.throttled), (Some(true), Some(true)));
}

#[test]
fn a_bare_machine_has_no_figures_and_no_faults() {
    let keep = tempfile::tempdir().unwrap();
    let mut sampler = sampler(keep.path());
    let before = sampler.sample(Nanos::ZERO);
    let activity = sampler.sample(Nanos::from_secs(1)).since(&before);
    assert_eq!(activity.devices, []);
    assert_eq!((activity.cpu, activity.memory), (None, None));
    assert_eq!(activity.pressure, cardproof_record::Pressure::default());
    assert_eq!(activity.climate, cardproof_record::Climate::default());
}

#[test]
fn a_card_that_is_taken_out_is_found_again_with_new_counters() {
    let keep = tempfile::tempdir().unwrap();
    let root = keep.path();
    board(root);
    let mut sampler = sampler(root);
    let before = sampler.sample(Nanos::ZERO);
    // An empty text is what a reading at the moment of its leaving gives.
    let stat = root.join("sys/class/block/mmcblk0/stat");
    fs::write(&stat, "").unwrap();
    let without = sampler.sample(Nanos::from_secs(1));
    assert_eq!(without.since(&before).devices, []);
    fs::write(&stat, "7 0 56 3 0 0 0 0 0 3 3\n").unwrap();
    let back = sampler.sample(Nanos::from_secs(2)).since(&before);
    assert_eq!(back.devices[0].reads.count, 7);
}

#[test]
fn no_window_has_no_rates() {
    let keep = tempfile::tempdir().unwrap();
    board(keep.path());
    let counters = sampler(keep.path()).sample(Nanos::from_secs(1));
    let activity = counters.since(&counters);
    assert_eq!(activity.devices[0].transactions_per_s(), Iops(0.0));
    assert!((activity.devices[0].utilisation).abs() < 1e-12);
    assert_eq!(activity.pressure.io_some, None);
}

#[test]
fn names_are_of_devices_or_of_paths() {
    let keep = tempfile::tempdir().unwrap();
    let root = Sysroot::new(keep.path());
    write(keep.path(), "sys/block/sda/stat", "1 0 8 1 0 0 0 0 0 1 1\n");
    write(keep.path(), "sys/block/loop0/stat", "0 0 0 0 0 0 0 0 0 0 0\n");
    write(keep.path(), "sys/devices/virtual/block/sda/size", "8\n");
    fs::create_dir_all(keep.path().join("sys/class/block")).unwrap();
    std::os::unix::fs::symlink(
        "../../devices/virtual/block/sda",
        keep.path().join("sys/class/block/sda"),
    )
    .unwrap();
    assert_eq!(worth_watching(&root), ["sda"]);
    assert_eq!(device_at(&root, "sda").unwrap(), "sda");
    let error = device_at(&root, "/no/such/path").unwrap_err();
    assert!(matches!(&error, NameError::Unknown { .. }));
    assert!(error.to_string().contains("sda"), "{error}");
}
