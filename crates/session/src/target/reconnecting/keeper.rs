//! Who connects a device again when this process is killed while it is disconnected.
//!
//! A killed program writes nothing any more, and the device would stay away until it is plugged in
//! again. So a shell waits for the end of a pipe from here, which the kernel closes however this
//! process ends.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use cardproof_device::Order;

/// Writes the text `$1` to the file `$0`; nothing where a line comes before the input ends.
const CONNECT: &str = r#"
trap '' HUP INT TERM
read -r _ && exit
printf %s "$1" > "$0"
"#;

/// A shell that carries out an order when this is dropped, and when this process is killed.
#[derive(Debug)]
pub(super) struct Keeper {
    shell: Child,
}

impl Keeper {
    /// The keeper of a device that `connect` connects. It must be there before the device is
    /// disconnected.
    ///
    /// # Errors
    /// There is no shell.
    pub(super) fn start(connect: &Order) -> io::Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", CONNECT])
            .arg(&connect.file)
            .arg(&connect.text)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // The kernel refuses to connect what is connected by then, and nobody need hear of it.
            .stderr(Stdio::null())
            // Ctrl-C is for us alone.
            .process_group(0)
            .spawn()?;
        Ok(Self { shell })
    }

    /// Lets it go: the device is connected.
    pub(super) fn dismiss(mut self) {
        if let Some(pipe) = &mut self.shell.stdin {
            // Without a reader there is nobody to let go.
            let _ = pipe.write_all(b"\n");
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // A drop has nobody to tell.
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_order_is_carried_out_unless_the_keeper_was_dismissed() {
        let directory = tempfile::tempdir().unwrap();
        let order = Order { file: directory.path().join("authorized"), text: "1".to_owned() };
        fs::write(&order.file, "0").unwrap();
        Keeper::start(&order).unwrap().dismiss();
        assert_eq!(fs::read_to_string(&order.file).unwrap(), "0");
        drop(Keeper::start(&order).unwrap());
        assert_eq!(fs::read_to_string(&order.file).unwrap(), "1");
    }
}
