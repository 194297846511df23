//! The programs that write in the machine, and how what they write is known.

/// A program, or what belongs together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// The service, as `watch --who` has to name it.
    pub(super) service: &'static str,
    /// The kind of program, as the table names it.
    pub(super) what: &'static str,
    /// Where its files are; nobody else writes there.
    places: &'static [&'static str],
    /// Its processes, of which none has its name from another program of this table.
    makers: &'static [&'static str],
}

pub(super) const PROGRAMS: [Program; 5] = [
    Program {
        service: "upgrade.service",
        what: "apt and dpkg, begun and ended within the watch",
        places: &[
            "/var/lib/dpkg",
            "/var/lib/apt",
            "/var/cache/apt",
            "/var/log/apt",
            "/var/log/dpkg.log",
            "/opt/first",
            "/opt/second",
        ],
        makers: &["apt-get", "dpkg", "dpkg-deb", "dpkg-split"],
    },
    Program {
        service: "database.service",
        what: "SQLite",
        places: &["/var/lib/readings"],
        makers: &["sqlite3"],
    },
    Program {
        service: "systemd-journald.service",
        what: "journald",
        places: &["/var/log/journal"],
        makers: &["systemd-journal"],
    },
    Program {
        service: "rsyslog.service",
        what: "rsyslog",
        places: &[
            "/var/log/syslog",
            "/var/log/user.log",
            "/var/log/messages",
            "/var/spool/rsyslog",
        ],
        makers: &["rs:main Q:Reg", "rsyslogd"],
    },
    Program {
        service: "docker-4f1c0e5a9d0b.scope",
        what: "a program on an overlay mount",
        places: &["/var/lib/containers"],
        makers: &[],
    },
];

impl Program {
    /// Whether `path` is its.
    pub(super) fn has(&self, path: &str) -> bool {
        self.places.iter().any(|place| {
            path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Whether the process named `maker` is its.
    pub(super) fn makes(&self, maker: &str) -> bool {
        self.makers.contains(&maker)
    }
}
