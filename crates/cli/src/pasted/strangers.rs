//! Texts that people paste and that hold no measurement: what they are, and what to run in their place.
//!
//! A text is named only by a line that the program prints and no sentence has.

/// A text that no command reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// A shell says that there is no such program.
    NoProgram(String),
    /// Raspberry Pi Imager says that what it read back differs.
    ImagerDiffers,
    /// The table of lsblk.
    Lsblk,
    /// The table of df.
    Df,
    /// The list of fdisk.
    Fdisk,
    /// Nothing but addresses of web pages or pictures.
    Links,
}

impl Stranger {
    /// What the clean `text` is; the gravest first.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first =
            |find: &dyn Fn(&str) -> Option<Self>| text.lines().map(str::trim).find_map(find);
        let is_link = |line: &str| line.starts_with("https://") || line.starts_with("http://");
        first(&imager).or_else(|| first(&no_program)).or_else(|| first(&table)).or_else(|| {
            (lines.next().is_some_and(is_link) && lines.all(is_link)).then_some(Self::Links)
        })
    }

    /// The name of the text and the command to run, as a clause without a full stop.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::NoProgram(name) => no_program_words(name),
            Self::ImagerDiffers => "Raspberry Pi Imager read back something else than it wrote: do not use \
                                    this card; test it with `cardproof verify`, also in another reader"
                .to_owned(),
            Self::Lsblk => "it is the table of lsblk, which tells sizes and no speed; `cardproof identify` \
                            shows what the devices are, `cardproof run` measures"
                .to_owned(),
            Self::Df => "it is the table of df, which tells free space and no speed; `cardproof run` measures, \
                         `iostat -x 20` shows what a device does"
                .to_owned(),
            Self::Fdisk => "it is a list of partitions, which tells no speed; `cardproof identify` shows what \
                            the devices are, `cardproof run` measures"
                .to_owned(),
            Self::Links => "it is only an address; paste the text that stands there, and no picture of it"
                .to_owned(),
        }
    }
}

fn imager(line: &str) -> Option<Stranger> {
    line.contains("Contents of SD card is different from what was written to it")
        .then_some(Stranger::ImagerDiffers)
}

/// The program in `bash: mmc: command not found`, `sudo: fio: command not found` and `sh: 1: fio: not found`.
fn no_program(line: &str) -> Option<Stranger> {
    let before =
        line.strip_suffix(": command not found").or_else(|| line.strip_suffix(": not found"))?;
    let (shell, rest) = before.split_once(": ")?;
    let is_shell = ["bash", "-bash", "sh", "-sh", "dash", "ash", "zsh", "sudo"].contains(&shell);
    let name = rest.rsplit(": ").next()?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_+.".contains(c));
    (is_shell && is_name && !name.is_empty()).then(|| Stranger::NoProgram(name.to_owned()))
}

fn no_program_words(name: &str) -> String {
    // Debian's packages whose names are not the program's.
    let package = match name {
        "mmc" => "mmc-utils",
        "smartctl" => "smartmontools",
        "nvme" => "nvme-cli",
        "iostat" | "sar" | "pidstat" => "sysstat",
        "f3read" | "f3write" | "f3probe" => "f3",
        "iozone" => "iozone3",
        "cardproof" => {
            return "cardproof itself is not installed there".to_owned();
        }
        name => name,
    };
    format!(
        "{name} is not installed there and has measured nothing; on Debian, `sudo apt install {package}`"
    )
}

fn table(line: &str) -> Option<Stranger> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["NAME", "MAJ:MIN", "RM", "SIZE", "RO", "TYPE", ..] => Some(Stranger::Lsblk),
        ["Filesystem", .., "Used", _, _, "Mounted", "on"] => Some(Stranger::Df),
        ["Disk", device, _, _, _, "bytes,", _, "sectors"] if device.starts_with("/dev/") => {
            Some(Stranger::Fdisk)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_without_a_measurement_are_named_by_their_own_lines() {
        let named = [
            (
                "pi@pi:~ $ sudo fio --name=x\nsudo: fio: command not found\n",
                Stranger::NoProgram("fio".into()),
            ),
            ("sh: 1: mmc: not found", Stranger::NoProgram("mmc".into())),
            (
                "Filesystem      Size  Used Avail Use% Mounted on\n/dev/root 29G 5.1G 23G 19% /",
                Stranger::Df,
            ),
            ("NAME        MAJ:MIN RM  SIZE RO TYPE MOUNTPOINT", Stranger::Lsblk),
            ("Disk /dev/mmcblk0: 29.7 GiB, 31914983424 bytes, 62333952 sectors", Stranger::Fdisk),
            ("https://example.org/a.png\n", Stranger::Links),
        ];
        for (text, wanted) in named {
            assert_eq!(Stranger::from_text(text), Some(wanted), "{text}");
        }
        for text in [
            "",
            "I wrote: command not found",
            "The page was: not found",
            "look at https://example.org",
        ] {
            assert_eq!(Stranger::from_text(text), None, "{text}");
        }
    }
}
