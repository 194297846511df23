//! What helps where the kernel does not let this user open a device.

use rustix::process::geteuid;

/// What to do where a device may not be opened. Root cannot be told to become root: what stops it is the container or
/// the sandbox that it runs in.
#[must_use]
pub fn permission_remedy() -> &'static str {
    remedy_for(geteuid().is_root())
}

const fn remedy_for(is_root: bool) -> &'static str {
    if is_root {
        "you are root, but this container or sandbox does not allow it: run cardproof outside of it, or give it the \
         device"
    } else {
        "run cardproof as root, outside of any container"
    }
}

#[cfg(test)]
mod tests {
    use super::remedy_for;

    #[test]
    fn root_is_not_told_to_become_root() {
        assert!(!remedy_for(true).contains("as root"));
        assert!(remedy_for(true).contains("outside"));
        assert!(remedy_for(false).contains("as root"));
    }
}
