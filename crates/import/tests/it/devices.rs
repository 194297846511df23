//! What the kernel and drives say of themselves: a record each, with the findings first.

use cardproof_import::ForeignTool;
use cardproof_record::{FindingKind, KernelFault, Record, Transport};

use crate::{all_of, imported};

/// The faults that the kernel told of a record's device.
fn faults(record: &Record) -> Vec<KernelFault> {
    let fault = |what: &FindingKind| match what {
        FindingKind::KernelMessages { fault, .. } => Some(*fault),
        _ => None,
    };
    record.findings.iter().filter_map(|finding| fault(&finding.what)).collect()
}

#[test]
fn each_device_in_a_log_is_a_record_and_power_is_one_of_its_own() {
    let log = "\
Mar 12 10:11:02 a-host-name kernel: mmc0: new high speed SDHC card at address aaaa
Mar 12 10:11:02 a-host-name kernel: mmcblk0: mmc0:aaaa SC16G 14.8 GiB
Mar 12 10:11:40 a-host-name kernel: hwmon hwmon1: Undervoltage detected!
Mar 12 10:11:44 a-host-name kernel: hwmon hwmon1: Voltage normalised
Mar 12 10:12:13 a-host-name kernel: critical medium error, dev sda, sector 2048 op 0x0:(READ) flags 0x80700
Mar 12 10:12:14 a-host-name kernel: mmcblk0: error -84 transferring data, sector 8, nr 8, cmd response 0x900, card status 0x0
";
    let found = all_of(log).unwrap();
    let told: Vec<_> = found
        .records
        .iter()
        .map(|record| (record.conditions.device.name.as_deref(), faults(record)))
        .collect();
    let expected = [
        (None, vec![KernelFault::UnderVoltage]),
        (Some("sda"), vec![KernelFault::MediumError]),
        (Some("mmcblk0"), vec![KernelFault::WrongChecksum]),
    ];
    assert_eq!(told, expected);
    let FindingKind::KernelMessages { first_at, sectors, .. } = &found.records[1].findings[0].what
    else {
        panic!("{:?}", found.records[1].findings)
    };
    assert_eq!((first_at.as_deref(), sectors.as_slice()), (Some("Mar 12 10:12:13"), &[2048][..]));
    for record in &found.records {
        assert!(!record.to_json().unwrap().contains("a-host-name"));
    }
}

#[test]
fn a_card_that_goes_while_it_is_in_use_is_one_record_with_its_name() {
    let text = "\
[    4.512311] mmc0: new ultra high speed SDR104 SDXC card at address aaaa
[    4.513345] mmcblk0: mmc0:aaaa SN128 119 GiB
[86211.201193] mmcblk0: error -110 sending stop command, original cmd response 0x900, card status 0xc00
[86211.303311] mmc0: card aaaa removed
[91222.120032] blk_update_request: I/O error, dev mmcblk0, sector 8653824 op 0x1:(WRITE) flags 0x103000 phys_seg 1 prio class 0
[91222.120101] Buffer I/O error on dev mmcblk0p2, logical block 1081728, lost async page write
[91222.125511] EXT4-fs (mmcblk0p2): Remounting filesystem read-only
";
    let found = all_of(text).unwrap();
    let [record] = found.records.as_slice() else { panic!("{:?}", found.records) };
    let told = [
        KernelFault::NoAnswer,
        KernelFault::Gone,
        KernelFault::IoError,
        KernelFault::WriteLost,
        KernelFault::ReadOnly,
    ];
    assert_eq!(faults(record), told);
    let device = &record.conditions.device;
    assert_eq!((device.model.as_deref(), &device.transport), (Some("SN128"), &Some(Transport::Sd)));
    assert_eq!(found.skipped, []);
}

#[test]
fn what_the_kernel_says_of_a_device_leads_what_was_measured_on_it() {
    let text = "\
/dev/sda:
 Timing buffered disk reads: 120 MB in  3.02 seconds =  39.73 MB/sec
[  303.2] I/O error, dev sda, sector 100 op 0x0:(READ) flags 0x0
";
    let record = imported(text).unwrap();
    assert_eq!((faults(&record), record.phases.len()), (vec![KernelFault::IoError], 1));
}

#[test]
fn a_healthy_boot_is_no_record() {
    let text = "\
[    1.482350] mmc0: new UHS-I speed SDR104 SDXC card at address 59b4
[    1.482799] mmcblk0: mmc0:59b4 ED2S5 239 GiB
[    1.490000] mmc0: host does not support reading read-only switch, assuming write-enable
[    2.400000] EXT4-fs (mmcblk0p2): mounted filesystem with ordered data mode. Opts: (null)
";
    assert!(all_of(text).is_err());
}

#[test]
fn a_failing_drive_leads_with_what_it_says_of_itself() {
    let text = crate::fixture("nvme-smart-log.txt");
    let record = imported(&text).unwrap();
    assert_eq!(record.tool.name, ForeignTool::Nvme.name());
    let kinds: Vec<&FindingKind> = record.findings.iter().map(|it| &it.what).collect();
    let expected = [
        FindingKind::CriticalWarning { bits: 5 },
        FindingKind::SpareBelowThreshold { left_percent: 3, threshold_percent: 10 },
        FindingKind::LifeUsedUp { used_percent: Some(104) },
        FindingKind::MediaErrors { count: 1204 },
    ];
    assert_eq!(kinds, expected.iter().collect::<Vec<_>>());
    let json = imported(&crate::fixture("smartctl-nvme.txt")).unwrap().to_json().unwrap();
    assert!(!json.contains("S0123456789A"), "a serial number");
}
