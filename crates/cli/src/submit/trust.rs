//! What the system trusts beyond the roots that are built in: an authority of one's own, say.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

/// Where systems keep all certificates that they trust in one file: Debian, Fedora, openSUSE, Alpine, and older Fedora.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
];

/// No list of certificates is longer.
const LENGTH_MAX: u64 = 16 << 20;

/// The certificates of `SSL_CERT_FILE` and `SSL_CERT_DIR` where one is set, else those of the system; none where there
/// are none.
pub(super) fn of_system() -> Option<RootCerts> {
    let set = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let found = in_files(&chosen(set("SSL_CERT_FILE"), set("SSL_CERT_DIR")));
    (!found.is_empty()).then(|| RootCerts::from(found))
}

/// The files in which to look.
fn chosen(file: Option<PathBuf>, directory: Option<PathBuf>) -> Vec<PathBuf> {
    if file.is_none() && directory.is_none() {
        let bundle = BUNDLES.iter().map(Path::new).find(|it| it.is_file());
        return bundle.map(Path::to_path_buf).into_iter().collect();
    }
    let entries = directory.and_then(|it| fs::read_dir(it).ok()).into_iter().flatten().flatten();
    file.into_iter().chain(entries.map(|entry| entry.path())).collect()
}

/// The certificates in `files`; what is none is passed over.
fn in_files(files: &[PathBuf]) -> Vec<Certificate<'static>> {
    let is_read =
        |path: &&PathBuf| fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= LENGTH_MAX);
    let texts = files.iter().filter(is_read).filter_map(|path| fs::read(path).ok());
    let in_text = |text: Vec<u8>| {
        let items = parse_pem(&text).filter_map(Result::ok);
        let certificate = |item| match item {
            PemItem::Certificate(found) => Some(found),
            _ => None,
        };
        items.filter_map(certificate).collect::<Vec<_>>()
    };
    texts.flat_map(in_text).collect()
}
