//! What the tools print, as far as the comparison needs it.

use anyhow::{Context, Result};

/// The rates of iozone's row for `record_kib`, in its order, in its kB/s.
pub(super) fn iozone(text: &str, record_kib: u64) -> Result<Vec<f64>> {
    let row = text.lines().find_map(|line| {
        let numbers: Option<Vec<f64>> =
            line.split_whitespace().map(|word| word.parse().ok()).collect();
        numbers.filter(|row| row.len() > 2 && row[1] as u64 == record_kib)
    });
    let row = row.with_context(|| format!("iozone gave no row for {record_kib}k:\n{text}"))?;
    Ok(row[2..].to_vec())
}

/// The number before ` MB/sec` on hdparm's line about `what`.
pub(super) fn hdparm(text: &str, what: &str) -> Result<f64> {
    let line = text.lines().find(|line| line.contains(what));
    let number = line.and_then(|line| line.split('=').nth(1)?.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .with_context(|| format!("hdparm said nothing of {what}:\n{text}"))
}

/// dd's rate in MB/s from its bytes and seconds, which say more digits than its rate does.
pub(super) fn dd(text: &str) -> Result<f64> {
    let rate = || {
        let line = text.lines().find(|line| line.contains(" copied, "))?;
        let bytes: f64 = line.split_whitespace().next()?.parse().ok()?;
        let seconds: f64 =
            line.split(" copied, ").nth(1)?.split_whitespace().next()?.parse().ok()?;
        Some(bytes / seconds / 1e6)
    };
    rate().with_context(|| format!("dd said nothing of its speed:\n{text}"))
}

/// One job of fio's terse output, version 3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Terse {
    pub(super) read_kib_per_s: f64,
    pub(super) read_iops: f64,
    pub(super) write_kib_per_s: f64,
    pub(super) write_iops: f64,
}

/// The jobs of fio's terse output, which gives rates in KiB/s and whole IOPS.
pub(super) fn fio(text: &str) -> Result<Vec<Terse>> {
    let jobs = text.lines().filter(|line| line.starts_with("3;"));
    let job = |line: &str| {
        let fields: Vec<&str> = line.split(';').collect();
        let field = |number: usize| fields.get(number - 1)?.parse().ok();
        let terse = || {
            Some(Terse {
                read_kib_per_s: field(7)?,
                read_iops: field(8)?,
                write_kib_per_s: field(48)?,
                write_iops: field(49)?,
            })
        };
        terse().with_context(|| format!("fio answered in another form: {line}"))
    };
    jobs.map(job).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tools_print_is_read() {
        let row = "  102400       4    4813    5021   30211   30302   18811     3512   ";
        assert_eq!(iozone(row, 4).unwrap()[5], 3512.0);
        assert!(iozone(row, 16).is_err());
        let text = " Timing buffered disk reads:  62 MB in  3.07 seconds =  20.21 MB/sec";
        assert_eq!(hdparm(text, "disk reads").unwrap(), 20.21);
        let text = "335544320 bytes (336 MB, 320 MiB) copied, 17.3846 s, 19.3 MB/s";
        assert!((dd(text).unwrap() - 19.301).abs() < 1e-3);
        let mut fields = vec!["0"; 60];
        fields[0] = "3";
        (fields[6], fields[7], fields[48]) = ("29257", "7314", "5");
        let job = fio(&fields.join(";")).unwrap()[0];
        assert_eq!((job.read_kib_per_s, job.read_iops, job.write_iops), (29257.0, 7314.0, 5.0));
    }
}
