//! Pastes as people type them into forums and comments: each has an answer that was written down before it was
//! read.

use cardproof_record::{ErrorCause, FindingKind, OpName};

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
