//! Logs of iostat that tell what the storage has nothing to do with.

use cardproof_import::iostat::iostat;
use cardproof_rating::limits::explain_log;
use cardproof_record::Limit;

/// The log says what the processors did, so that it also tells what the storage has nothing to do with.
#[test]
fn a_log_tells_what_is_not_the_storage() {
    let report = |cpu: [f64; 3], writes: u32, busy: u32| {
        let [user, iowait, idle] = cpu;
        format!(
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
             \x20         {user:.2}    0.00    2.00   {iowait:.2}    0.00   {idle:.2}\n\n\
             Device            r/s     rkB/s   w/s     wkB/s   w_await wareq-sz  aqu-sz  %util\n\
             mmcblk0          0.00      0.00   {writes}.00  {}.00   30.00  400.00   1.00  {busy}.00\n\n",
            writes * 400
        )
    };
    for (cpu, writes, busy, expected) in [
        ([5.0, 60.0, 33.0], 33, 99, Limit::StorageSequential),
        ([20.0, 0.5, 77.5], 33, 99, Limit::Nothing),
        ([95.0, 0.0, 3.0], 0, 1, Limit::Cpu),
        ([5.0, 90.0, 3.0], 0, 1, Limit::Elsewhere),
        ([2.0, 0.1, 95.9], 0, 1, Limit::Nothing),
    ] {
        let head = "Linux 6.12.0 (pi) \t11/21/26 \t_aarch64_\t(4 CPU)\n\n";
        let text = format!("{head}{}", report(cpu, writes, busy).repeat(6));
        let explanations = explain_log(&iostat(&text).unwrap(), None);
        assert_eq!(explanations[0].limited_by.limit, expected, "{text}");
    }
}
