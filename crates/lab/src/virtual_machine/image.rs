//! The laboratory machine's file system: an initramfs made of busybox, some kernel modules, and
//! the programs to be tried with the libraries that they load.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use cardproof_testkit::{LabError, run};
use cardproof_units::in_words;
use tempfile::TempDir;

/// What the kernel starts. `/task` is what differs between laboratories; what it prints comes out
/// of the second serial port, whatever it says on standard error out of the first.
const INIT: &str = "\
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t debugfs debugfs /sys/kernel/debug
mkdir -p /tmp /run /root
mount -t tmpfs tmpfs /tmp
export HOME=/root
for module in /modules/*; do insmod $module || echo \"cannot load $module\" >&2; done
stty -F /dev/ttyS1 raw -echo
sh /task > /dev/ttyS1
echo LABORATORY-IS-DONE > /dev/ttyS1
sync
reboot -f
";

/// An initramfs in the making.
pub(crate) struct Image {
    stage: TempDir,
}

impl Image {
    /// One with busybox and nothing to do.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without a static busybox.
    pub(crate) fn new() -> Result<Self> {
        Self::starting(INIT)
    }

    /// One with this machine's busybox, and the script that the kernel starts.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without a static busybox.
    pub(crate) fn starting(init: &str) -> Result<Self> {
        let busybox = ["/bin/busybox", "/usr/bin/busybox"].map(Path::new);
        let busybox = busybox.iter().find(|path| path.is_file()).ok_or_else(|| {
            LabError::Unavailable("no busybox here; install Debian's busybox-static".to_owned())
        })?;
        let image = Self::with(busybox, init)?;
        image.add_libraries_of(busybox)?;
        Ok(image)
    }

    /// One with this `busybox`, which may be another processor's, and the script that the kernel starts.
    ///
    /// # Errors
    /// A file cannot be copied or written.
    pub(crate) fn with(busybox: &Path, init: &str) -> Result<Self> {
        let image = Self { stage: tempfile::tempdir()? };
        for directory in ["bin", "dev", "proc", "sys", "modules", "sbin", "usr/bin", "usr/sbin"] {
            fs::create_dir_all(image.stage.path().join(directory))?;
        }
        image.copy(busybox, "bin/busybox")?;
        image.write("init", init)?;
        Ok(image)
    }

    /// Loads `modules` at the start, in their order.
    pub(crate) fn add_modules(&self, modules: &[PathBuf]) -> Result<()> {
        for (number, module) in modules.iter().enumerate() {
            let name = module.file_name().context("a module without a name")?.to_string_lossy();
            self.copy(module, &format!("modules/{number:03}-{name}"))?;
        }
        Ok(())
    }

    /// Puts `program` in the path, with the libraries that it loads.
    pub(crate) fn add_program(&self, program: &Path) -> Result<()> {
        let name = program.file_name().context("a program without a name")?.to_string_lossy();
        self.copy(program, &format!("usr/bin/{name}"))?;
        self.add_libraries_of(program)
    }

    /// As [`Self::add_program`], without the debug information of a build for tests, which would fill the
    /// machine's memory.
    pub(crate) fn add_stripped(&self, program: &Path) -> Result<()> {
        let stripped = tempfile::tempdir()?;
        let name = program.file_name().context("a program without a name")?;
        let stripped = stripped.path().join(name);
        run("strip", ["-o".as_ref(), stripped.as_os_str(), program.as_os_str()])?;
        self.add_program(&stripped)
    }

    fn add_libraries_of(&self, program: &Path) -> Result<()> {
        // A static program has no libraries, which ldd calls an error.
        let libraries = run("ldd", [program]).unwrap_or_default();
        for path in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
            self.copy(Path::new(path), path.trim_start_matches('/'))?;
        }
        Ok(())
    }

    /// What the machine does, a script of busybox's shell.
    pub(crate) fn set_task(&self, script: &str) -> Result<()> {
        self.write("task", script)
    }

    /// Packs it into `file`.
    pub(crate) fn pack(&self, file: &Path) -> Result<()> {
        let names = names_below(self.stage.path())?;
        let mut packer = Command::new("cpio")
            .args(["--create", "--format=newc", "--quiet", "--null", "--owner=0:0"])
            .current_dir(self.stage.path())
            .stdin(Stdio::piped())
            .stdout(File::create(file)?)
            .spawn()
            .map_err(|error| {
                LabError::Unavailable(format!(
                    "cpio cannot be started ({why})",
                    why = in_words(&error)
                ))
            })?;
        if let Some(mut input) = packer.stdin.take() {
            for name in names {
                write!(input, "{}\0", name.display())?;
            }
        }
        match packer.wait()? {
            status if status.success() => Ok(()),
            status => bail!("cpio ended with {status}"),
        }
    }

    fn copy(&self, from: &Path, to: &str) -> Result<()> {
        let place = self.place(to)?;
        fs::copy(from, &place).with_context(|| format!("cannot copy {}", from.display()))?;
        Ok(())
    }

    /// Puts a file with `text` there, which may be started.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(&self, to: &str, text: &str) -> Result<()> {
        let place = self.place(to)?;
        fs::write(&place, text)?;
        Ok(fs::set_permissions(&place, fs::Permissions::from_mode(0o755))?)
    }

    /// Where `to` is in the stage, with its directory made.
    fn place(&self, to: &str) -> Result<PathBuf> {
        let place = self.stage.path().join(to);
        fs::create_dir_all(place.parent().context("a file without a directory")?)?;
        Ok(place)
    }
}

/// All names below `root`, relative to it, directories before what they hold.
fn names_below(root: &Path) -> Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
            names.push(entry.path().strip_prefix(root)?.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
