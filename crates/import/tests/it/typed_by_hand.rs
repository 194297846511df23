//! Pastes as people type them into forums and comments: each has an answer that was written down before it was
//! read.

use cardproof_record::{ErrorCause, FindingKind, OpName};
use cardproof_units::Bytes;

use crate::imported;

#[test]
fn a_comment_of_two_rates_is_no_output_of_dd() {
    let record = imported("4k read- 9.32 MB/s 4k write- 2.96 MB/s\n").unwrap();
    let told: Vec<(OpName, u64, f64)> = record
        .phases
        .iter()
        .map(|it| (it.op, it.block_size_bytes.0, it.point_throughput().unwrap().0))
        .collect();
    assert_eq!(told, [(OpName::Read, 4096, 9.32e6), (OpName::Write, 4096, 2.96e6)]);
}

#[test]
fn a_read_that_failed_under_hdparm_is_a_finding() {
    let device = "/dev/mmcblk0:\n";
    let failed = " Timing buffered disk reads: read() failed: Input/output error\n";
    let record = imported(&format!("{device}{failed}")).unwrap();
    assert!(record.phases.is_empty());
    assert_eq!(record.findings.len(), 1);
    let finding = &record.findings[0];
    assert_eq!((finding.line, finding.device.as_deref()), (Some(2), Some("mmcblk0")));
    let FindingKind::IoErrors { op, count, cause, .. } = finding.what else {
        panic!("{finding:?}")
    };
    assert_eq!((op, count, cause), (OpName::Read, 1, ErrorCause::Io));
}

#[test]
fn the_card_in_brackets_behind_its_figures_is_the_label() {
    let record =
        imported("4k read 9.32 MB/s, 4k write 2.96 MB/s (SanDisk Extreme 64GB A2)\n").unwrap();
    assert_eq!(record.label.as_deref(), Some("SanDisk Extreme 64GB A2"));
    assert_eq!(record.phases.len(), 2);
}

#[test]
fn lost_data_quoted_in_a_sentence_are_a_finding() {
    let text = "I ran f3read and it said Data OK: 2.00 GB (4194304 sectors), Data LOST: 1.00 GB (2097152 \
                sectors), so is the card fake?\n";
    let record = imported(text).unwrap();
    let lost = FindingKind::DataLost {
        lost_bytes: Bytes(2_097_152 * 512),
        of_bytes: Bytes(6_291_456 * 512),
        right_to_bytes: None,
    };
    assert_eq!(record.findings.len(), 1);
    assert_eq!(record.findings[0].what, lost);
}
