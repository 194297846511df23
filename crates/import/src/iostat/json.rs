//! The JSON of `iostat -o JSON`, plain and extended. An iostat that was ended by a signal, or is still
//! at work, leaves the document open: its whole reports are read.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::cut_json::{closed, offset_of};

use super::{
    Figures, IostatCpu, IostatError, IostatLog, IostatReport, IostatRow, column, printable,
};

#[derive(Deserialize)]
struct Document {
    sysstat: Sysstat,
}

#[derive(Deserialize)]
struct Sysstat {
    hosts: Vec<Host>,
}

#[derive(Deserialize)]
struct Host {
    #[serde(rename = "number-of-cpus")]
    cpus: Option<u32>,
    statistics: Vec<Statistics>,
}

#[derive(Deserialize)]
struct Statistics {
    #[serde(rename = "avg-cpu")]
    cpu: Option<AvgCpu>,
    #[serde(default)]
    disk: Disks,
}

/// The rows of a report, or what is wrong with the first faulty one.
struct Disks(Result<Vec<IostatRow>, IostatError>);

/// A row, or what is wrong with it.
struct Disk(Result<IostatRow, IostatError>);

/// The name of a figure.
#[derive(Deserialize)]
struct Name<'n>(#[serde(borrow)] Cow<'n, str>);

impl Default for Disks {
    fn default() -> Self {
        Self(Ok(Vec::new()))
    }
}

impl<'de> Deserialize<'de> for Disks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(DisksVisitor)
    }
}

struct DisksVisitor;

impl<'de> Visitor<'de> for DisksVisitor {
    type Value = Disks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut disks: A) -> Result<Disks, A::Error> {
        let mut rows = Vec::new();
        while let Some(Disk(row)) = disks.next_element()? {
            match row {
                Ok(row) => rows.push(row),
                Err(error) => {
                    while disks.next_element::<IgnoredAny>()?.is_some() {}
                    return Ok(Disks(Err(error)));
                }
            }
        }
        Ok(Disks(Ok(rows)))
    }
}

impl<'de> Deserialize<'de> for Disk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DiskVisitor)
    }
}

struct DiskVisitor;

impl<'de> Visitor<'de> for DiskVisitor {
    type Value = Disk;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Disk, A::Error> {
        let (mut device, mut fault) = (None, None);
        let mut figures = Figures::default();
        while let Some((Name(name), value)) = map.next_entry::<Name<'_>, Value>()? {
            if name == "disk_device" {
                device = value.as_str().map(str::to_owned);
            } else if let Some(figure) = value.as_f64().filter(|figure| *figure >= 0.0) {
                column(&name).into_iter().for_each(|column| figures.add(column, figure));
            } else if fault.is_none() {
                fault = Some(format!("{value} under {name} is no figure of 0 or more"));
            }
        }
        let row = match (device, fault) {
            (None, _) => Err(IostatError::Json("a disk without a name".to_owned())),
            (_, Some(fault)) => Err(IostatError::Json(printable(&fault))),
            (Some(device), None) => figures.row(&device, 0).map_err(without_line),
        };
        Ok(Disk(row))
    }
}

/// The error of a row in JSON, which has no lines worth naming.
fn without_line(error: IostatError) -> IostatError {
    match error {
        IostatError::Heading { missing, .. } => {
            IostatError::Json(format!("a disk without {missing}"))
        }
        other => other,
    }
}

/// In percent.
#[derive(Deserialize)]
struct AvgCpu {
    user: f64,
    nice: f64,
    system: f64,
    iowait: f64,
    steal: f64,
    idle: f64,
}

/// Reads the log in JSON at the beginning of `text`, and tells how long it is in bytes.
pub(crate) fn document(text: &str) -> Result<(IostatLog, usize), IostatError> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Document>();
    let (document, length) = match documents.next() {
        Some(Ok(document)) => (document, documents.byte_offset()),
        Some(Err(error)) => {
            let is_cut = error.is_eof() || error.is_syntax();
            let whole = || whole_reports(&text[..offset_of(text, &error)]);
            is_cut
                .then(whole)
                .flatten()
                .ok_or_else(|| IostatError::Json(printable(&error.to_string())))?
        }
        None => return Err(IostatError::Empty),
    };
    let hosts = document.sysstat.hosts;
    let count = hosts.len();
    let Ok([host]) = <[Host; 1]>::try_from(hosts) else {
        return Err(IostatError::Json(format!("{count} hosts instead of one")));
    };
    let reports = host.statistics.into_iter().map(report).collect::<Result<_, _>>()?;
    Ok((IostatLog { cpus: host.cpus, first_is_since_boot: true, reports }, length))
}

/// How many lists and objects are open between two reports: the document, `sysstat`, `hosts`, the host,
/// `statistics`.
const OPEN_BETWEEN_REPORTS: usize = 5;

/// The document whose end is missing, with the reports that are whole; nothing where none is.
fn whole_reports(text: &str) -> Option<(Document, usize)> {
    let cut = closed(text)?;
    let mut document: Document = serde_json::from_str(&cut.closed).ok()?;
    let reports = &mut document.sysstat.hosts.last_mut()?.statistics;
    if cut.open_count > OPEN_BETWEEN_REPORTS {
        reports.pop();
    }
    (!reports.is_empty()).then_some((document, cut.until))
}

fn report(statistics: Statistics) -> Result<IostatReport, IostatError> {
    let cpu = statistics.cpu.map(|percent| IostatCpu {
        user: percent.user / 100.0,
        nice: percent.nice / 100.0,
        system: percent.system / 100.0,
        iowait: Some(percent.iowait / 100.0),
        steal: percent.steal / 100.0,
        idle: percent.idle / 100.0,
    });
    Ok(IostatReport { cpu, rows: statistics.disk.0? })
}

#[cfg(test)]
mod tests {
    use cardproof_units::{Bytes, Iops, Nanos, Throughput};

    use crate::iostat::{IostatError, iostat};

    fn log(disks: &str) -> String {
        format!(
            r#"{{"sysstat": {{"hosts": [{{"nodename": "somebody", "number-of-cpus": 2,
            "statistics": [{{"avg-cpu": {{"user": 18.0, "nice": 0.0, "system": 12.0,
            "iowait": 50.0, "steal": 0.0, "idle": 20.0}}, "disk": [{disks}]}}]}}]}}}}"#
        )
    }

    #[test]
    fn both_forms_are_read() {
        let plain = r#"{"disk_device": "sda", "tps": 26.0, "kB_read/s": 0.0, "kB_wrtn/s": 900.0,
            "kB_dscd/s": 1.0, "kB_read": 0, "kB_wrtn": 18000, "kB_dscd": 20}"#;
        let extended = r#"{"disk_device": "sdb", "r/s": 1.0, "w/s": 30.0, "d/s": 1.0, "f/s": 2.0,
            "rkB/s": 4.0, "wkB/s": 120.0, "dkB/s": 0.0, "r_await": 0.5, "w_await": 30.0,
            "aqu-sz": 0.9, "util": 97.0}"#;
        let log = iostat(&log(&format!("{plain}, {extended}"))).unwrap();
        assert_eq!((log.cpus, log.first_is_since_boot), (Some(2), true));
        assert!((log.reports[0].cpu.unwrap().iowait.unwrap() - 0.5).abs() < 1e-12);
        let [plain, extended] = log.reports[0].rows.as_slice() else { panic!("{log:?}") };
        assert_eq!(plain.written, Some(Bytes::kib(18_000)));
        assert_eq!(plain.window(), Some(Nanos::from_secs(20)));
        assert_eq!(extended.transactions_per_s, Iops(32.0));
        assert_eq!(extended.written_per_s, Throughput(122_880.0));
        assert_eq!(extended.utilisation, Some(0.97));
        assert!(!format!("{log:?}").contains("somebody"));
    }

    /// There is no line to name in JSON, so none is.
    #[test]
    fn a_disk_that_lacks_a_figure_is_refused_without_a_line() {
        let text = log(r#"{"disk_device": "sda", "tps": 1.0, "kB_wrtn/s": 1}"#);
        assert!(matches!(iostat(&text), Err(IostatError::Json(why)) if why.contains("without")));
    }

    #[test]
    fn a_figure_that_is_none_is_refused() {
        let text = log(r#"{"disk_device": "sda", "tps": "many", "kB_read/s": 0, "kB_wrtn/s": 1}"#);
        assert!(matches!(iostat(&text), Err(IostatError::Json(why)) if why.contains("tps")));
    }
}
