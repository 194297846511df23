//! The identity that a user types to say which device may be destroyed.
//!
//! It is made of what tells two cards apart, so that a command kept in the shell's history does
//! not destroy the card that is in the slot today. The serial number in it is shown to the user
//! on the spot and goes nowhere else.

use std::fmt;
use std::path::Path;

use cardproof_units::{Bytes, shell_word};

use crate::block::BlockDevice;
use crate::link::usb_device;
use crate::transport::is_mmc_card;

/// What a device is called on this machine, how large it is, and its serial number if it has
/// one. Printed as `NAME:SIZE_BYTES[:SERIAL]`, such as `mmcblk0:31914983424:0x1234abcd`.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    name: String,
    size: Bytes,
    serial: Option<String>,
}

impl Identity {
    /// The identity of `device`; a partition has the serial number of its whole device.
    pub(crate) fn of_device(device: &BlockDevice<'_>) -> Option<Self> {
        Some(Self {
            name: device.name().to_owned(),
            size: device.size()?,
            serial: serial(&device.whole()),
        })
    }

    /// The identity of the regular file at `path`.
    pub(crate) fn of_file(path: &Path, size: Bytes) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { name, size, serial: None }
    }

    /// The kernel's name of the device, or the file's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes it holds.
    #[must_use]
    pub const fn size(&self) -> Bytes {
        self.size
    }

    /// What stays of it when the device is connected elsewhere: `SIZE_BYTES[:SERIAL]`.
    #[must_use]
    pub fn lasting(&self) -> String {
        match &self.serial {
            Some(serial) => format!("{}:{serial}", self.size.get()),
            None => self.size.get().to_string(),
        }
    }

    /// Whether a serial number tells it from others of its size.
    #[must_use]
    pub const fn has_serial(&self) -> bool {
        self.serial.is_some()
    }

    /// Whether `typed` is this identity, letter by letter; blanks around it do not count.
    #[must_use]
    pub fn matches(&self, typed: &str) -> bool {
        typed.trim() == self.to_string()
    }

    /// The option that gives this `leave` for the device, quoted as a shell needs it.
    #[must_use]
    pub fn as_option(&self, leave: Leave) -> String {
        format!("{}={}", leave.option(), shell_word(self.to_string()))
    }
}

/// What the user is asked to allow. The guard looks at the same things for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leave {
    /// All that is on it may be lost.
    #[default]
    Destroy,
    /// It is written to and put back.
    Restore,
}

impl Leave {
    /// The option of the command line that gives it.
    #[must_use]
    pub const fn option(self) -> &'static str {
        match self {
            Self::Destroy => "--destroy",
            Self::Restore => "--restore",
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.lasting())
    }
}

/// Without the serial number, so that it does not reach a log by way of `{:?}`.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("name", &self.name)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// The serial number of a whole device, from wherever its bus keeps it.
pub(crate) fn serial(device: &BlockDevice<'_>) -> Option<String> {
    let root = device.root();
    let card = device.ancestors().find(|path| is_mmc_card(path));
    let of_bus =
        card.or_else(|| usb_device(device)).and_then(|path| root.text(path.join("serial")));
    let found = of_bus
        .or_else(|| device.text("serial"))
        .or_else(|| device.text("device/serial"))
        .or_else(|| scsi_serial(device))?;
    typeable(&found)
}

/// The unit serial number page: four bytes of heading, then the number (SCSI Primary Commands,
/// "Unit Serial Number VPD page").
fn scsi_serial(device: &BlockDevice<'_>) -> Option<String> {
    let page = device.root().bytes(device.directory().join("device/vpd_pg80")).ok()?;
    let number = page.get(4..)?;
    Some(String::from_utf8_lossy(number).into_owned())
}

/// `serial` in characters that can be typed: makers pad with blanks and worse.
fn typeable(serial: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let typed: String = serial.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    let typed = typed.trim_matches('_');
    (!typed.is_empty()).then(|| typed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Identity {
        Identity {
            name: "mmcblk0".to_owned(),
            size: Bytes(31_914_983_424),
            serial: Some("0x1234abcd".to_owned()),
        }
    }

    #[test]
    fn what_lasts_is_size_and_serial_number_whatever_the_name_holds() {
        assert_eq!(card().lasting(), "31914983424:0x1234abcd");
        assert!(card().has_serial());
        let file = Identity::of_file(Path::new("/images/of:card"), Bytes(512));
        assert_eq!(
            (file.to_string(), file.lasting()),
            ("of:card:512".to_owned(), "512".to_owned())
        );
        assert!(!file.has_serial());
    }

    #[test]
    fn only_the_whole_identity_matches() {
        assert!(card().matches("mmcblk0:31914983424:0x1234abcd"));
        assert!(card().matches(" mmcblk0:31914983424:0x1234abcd\n"));
        for other in [
            "",
            "mmcblk0",
            "mmcblk0:31914983424",
            "mmcblk0:31914983424:",
            "yes",
            "*",
            "mmcblk1:31914983424:0x1234abcd",
            "mmcblk0:31914983425:0x1234abcd",
            "mmcblk0:31914983424:0x1234abce",
            "mmcblk0:31914983424:0x1234ABCD",
            "/dev/mmcblk0:31914983424:0x1234abcd",
            "mmcblk0:31914983424:0x1234abcd:",
        ] {
            assert!(!card().matches(other), "{other}");
        }
    }

    #[test]
    fn the_serial_number_is_not_in_debug_output() {
        assert!(!format!("{:?}", card()).contains("1234abcd"));
    }

    #[test]
    fn a_file_with_blanks_can_be_typed() {
        let identity = Identity::of_file(Path::new("/x/my card's.img"), Bytes(4096));
        assert_eq!(identity.as_option(Leave::Destroy), r"--destroy='my card'\''s.img:4096'");
        assert_eq!(card().as_option(Leave::Restore), "--restore=mmcblk0:31914983424:0x1234abcd");
    }

    #[test]
    fn serial_numbers_are_made_typeable() {
        assert_eq!(typeable("  WD-WX 12\u{0}").as_deref(), Some("WD-WX_12"));
        assert_eq!(typeable("\u{fffd}  "), None);
    }
}
