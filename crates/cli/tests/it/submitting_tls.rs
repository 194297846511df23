//! Sharing with a hub whose certificate is of an authority of its owner's: what is trusted, and what is said otherwise.
//!
//! The hub here is `openssl s_server`, to which the test hands the answer once it has shown the document.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use cardproof_testkit::{LabError, lab_or_skip};

use crate::home::Home;
use crate::process::run;
use crate::submitting::measured;

/// An authority, the certificate of `localhost` that it has issued, the key of that, and the authority's own.
fn issued(directory: &Path) -> Result<[PathBuf; 4], LabError> {
    let script = "set -e
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=Own \\
            -keyout ca.key -out ca.pem -days 30
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost \\
            -keyout hub.key -out hub.csr
        printf 'subjectAltName=DNS:localhost\\nbasicConstraints=CA:FALSE\\n' > extensions
        openssl x509 -req -in hub.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 \\
            -extfile extensions -out hub.pem";
    let made = Command::new("sh").args(["-c", script]).current_dir(directory).output();
    let unavailable = |why: String| LabError::Unavailable(format!("openssl: {why}"));
    let made = made.map_err(|error| unavailable(error.to_string()))?;
    if !made.status.success() {
        return Err(unavailable(String::from_utf8_lossy(&made.stderr).into_owned()));
    }
    Ok(["ca.pem", "hub.pem", "hub.key", "ca.key"].map(|name| directory.join(name)))
}

/// A hub with TLS; it ends with the test.
struct TlsHub {
    process: Child,
    address: String,
}

impl TlsHub {
    fn start(certificate: &Path, key: &Path) -> Self {
        let mut process = Command::new("openssl")
            .args(["s_server", "-accept", "127.0.0.1:0", "-cert"])
            .arg(certificate)
            .arg("-key")
            .arg(key)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("ACCEPT 127") {
            line.clear();
            assert!(told.read_line(&mut line).unwrap() > 0, "openssl s_server has ended");
        }
        let port = line.trim().rsplit(':').next().unwrap();
        let address = format!("https://localhost:{port}");
        let mut answer = process.stdin.take().unwrap();
        thread::spawn(move || {
            let (mut shown, mut part) = (Vec::new(), [0; 4096]);
            while let Ok(count @ 1..) = told.read(&mut part) {
                shown.extend_from_slice(&part[..count]);
                if shown.windows(9).any(|it| it == b"\"licence\"") {
                    let body = r#"{"path": "/r/n0", "token": "t0"}"#;
                    let length = body.len();
                    let text = format!("HTTP/1.1 201 X\r\nContent-Length: {length}\r\n\r\n{body}");
                    answer.write_all(text.as_bytes()).unwrap();
                    shown.clear();
                }
            }
        });
        Self { process, address }
    }
}

impl Drop for TlsHub {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn an_authority_of_ones_own_is_trusted_where_the_system_trusts_it() {
    let home = Home::new();
    measured(&home);
    let [authority, certificate, key, _] = lab_or_skip!(issued(home.data()));
    let hub = TlsHub::start(&certificate, &key);
    let submit = |name: &str, value: &Path| {
        let words = ["submit", "latest", "--to", &hub.address, "--yes"];
        let mut command = home.cardproof(&words);
        command.env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR").env(name, value);
        command
    };
    // An authority that has issued nothing here, which is the hub's own certificate.
    let refused = run(submit("SSL_CERT_FILE", &certificate)).expect(1).stderr;
    assert!(refused.contains("cannot trust https://localhost"), "{refused}");
    assert!(refused.contains("SSL_CERT_FILE=hub.crt") && !refused.contains("--queue"), "{refused}");
    assert!(refused.contains("ca-certificates/hub.crt (the name must end in .crt)"), "{refused}");
    let trusted = home.data().join("trusted");
    std::fs::create_dir(&trusted).unwrap();
    std::fs::copy(&authority, trusted.join("own.crt")).unwrap();
    for (name, value) in [("SSL_CERT_FILE", &authority), ("SSL_CERT_DIR", &trusted)] {
        let told = run(submit(name, value)).expect(0).stderr;
        assert!(told.contains(&format!("Shared: {}/r/n0", hub.address)), "{name}: {told}");
    }
}

/// `openssl req -x509` makes an authority where nobody asks for anything else.
#[test]
fn a_certificate_that_is_an_authority_is_told_what_is_wrong_with_it() {
    let home = Home::new();
    measured(&home);
    let [authority, _, _, key] = lab_or_skip!(issued(home.data()));
    let hub = TlsHub::start(&authority, &key);
    let mut command = home.cardproof(&["submit", "latest", "--to", &hub.address, "--yes"]);
    command.env_remove("SSL_CERT_DIR").env("SSL_CERT_FILE", &authority);
    let refused = run(command).expect(1).stderr;
    assert!(refused.contains("cannot trust https://localhost"), "{refused}");
    assert!(refused.contains("basicConstraints=CA:FALSE"), "{refused}");
}
