//! Hostile text in what others write: every field of a record, another tool's log, what a kernel tells of a card,
//! a hub's answer. It must steer no terminal, make no markup, no formula and no line, on every way out.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use cardproof_record::Record;
use cardproof_report::steers;
use cardproof_testkit::Noise;
use cardproof_testkit::records::{interrupted, package_installation, slow_class4, typical_a1_card};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Lab;

/// Pieces of which hostile text is made.
const PIECES: [&str; 18] = [
    "\u{1b}[2J",
    "\u{1b}]0;title\u{7}",
    "\u{1b}P$q\u{1b}\\",
    "\u{9b}1m",
    "\u{9d}0;t\u{9c}",
    "\u{202e}",
    "\u{2066}",
    "\u{61c}",
    "\r\nFORGED",
    "\u{2028}FORGED",
    "\u{85}FORGED",
    "\u{0}",
    "\u{8}\u{7f}",
    "<img src=q onerror=p>",
    "</td></title></script><script>",
    "\"q'q`q&q",
    "|[a](b)![c](d)",
    "=cmd()",
];

/// Outputs of tools, and a machine, in which words are replaced.
const LOGS: [&str; 3] = [
    include_str!("../../../../import/tests/import/fio-terse.txt"),
    include_str!("../../../../import/tests/import/iostat-extended.txt"),
    include_str!("../../../../import/tests/import/f3-probe.txt"),
];
const MACHINES: [&str; 3] = [
    include_str!("../../../../device/tests/trees/pi4_a2_ddr50.txt"),
    include_str!("../../../../device/tests/trees/nanopi_emmc_hs200.txt"),
    include_str!("../../../../device/tests/trees/usb2_uas_ssd.txt"),
];

/// One of the attacks.
pub(super) fn text(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let scene = Scene { program: &lab.program, home: tempfile::tempdir()? };
    match noise.below(6) {
        0 | 1 => scene.in_a_record(noise),
        2 => scene.in_a_log(noise),
        3 => scene.in_a_machine(noise),
        4 => scene.in_a_hubs_answer(noise),
        _ => scene.in_what_is_typed(noise),
    }
}

/// Some pieces in a row behind a letter or not.
fn draw(noise: &mut Noise) -> String {
    let mut text = if noise.below(2) == 0 { "x".to_owned() } else { String::new() };
    for _ in 0..=noise.below(6) {
        text += PIECES[noise.below(PIECES.len() as u64) as usize];
    }
    text
}

struct Scene<'lab> {
    program: &'lab Path,
    home: TempDir,
}

impl Scene<'_> {
    /// Runs the program; what is hostile in what it says, or in the documents that it writes to OUT.
    fn harm(&self, words: &[&str]) -> Result<Option<String>> {
        let out = tempfile::tempdir()?;
        let mut command = Command::new(self.program);
        for word in words {
            command.arg(word.replace("OUT", &out.path().to_string_lossy()));
        }
        command.env("XDG_DATA_HOME", self.home.path()).current_dir(self.home.path());
        let ended = command.stdin(Stdio::null()).output()?;
        let code = ended.status.code();
        if code.is_none_or(|code| code > 4) {
            return Ok(Some(format!("{words:?} ends with {}", ended.status)));
        }
        for stream in [&ended.stdout, &ended.stderr] {
            let told = String::from_utf8_lossy(stream);
            if let Some(how) = steering(&told) {
                return Ok(Some(format!("{words:?}: {how}: {told:?}")));
            }
        }
        for entry in fs::read_dir(out.path())? {
            let path = entry?.path();
            if let Some(how) = harm_of_document(&path)? {
                return Ok(Some(format!("{words:?}, {}: {how}", path.display())));
            }
        }
        Ok(None)
    }

    fn first_harm(&self, commands: &[&[&str]]) -> Result<Option<String>> {
        for words in commands {
            if let Some(how) = self.harm(words)? {
                return Ok(Some(how));
            }
        }
        Ok(None)
    }

    /// About half of the text fields of a record, its name as well, shown by all commands.
    fn in_a_record(&self, noise: &mut Noise) -> Result<Option<String>> {
        let grounds = [typical_a1_card, slow_class4, package_installation, interrupted];
        let records = self.home.path().join("cardproof/records");
        fs::create_dir_all(&records)?;
        for id in ["20260101T000000Z-00000001", "20260101T000000Z-00000002"] {
            let ground = grounds[noise.below(grounds.len() as u64) as usize]();
            let mut record = attacked(&ground, noise)?;
            record.id = id.to_owned();
            fs::write(records.join(format!("{id}.json")), serde_json::to_vec(&record)?)?;
        }
        let one = "20260101T000000Z-00000001";
        let other = "20260101T000000Z-00000002";
        let pages = ["--html", "OUT/p.html", "--markdown", "OUT/p.md", "--json", "OUT/p.json"];
        let report = [&["report", one][..], &pages].concat();
        let all = [&["compare", one, other][..], &pages, &["--csv", "OUT/p.csv"]].concat();
        let summary = [&["summary"][..], &pages, &["--csv", "OUT/p.csv"]].concat();
        let commands: [&[&str]; 8] = [
            &["rate", one],
            &["report", other],
            &report,
            &["compare", one, other],
            &all,
            &["list"],
            &["summary"],
            &summary,
        ];
        self.first_harm(&commands)
    }

    /// Words of another tool's output, and the file's name.
    fn in_a_log(&self, noise: &mut Noise) -> Result<Option<String>> {
        let log = LOGS[noise.below(LOGS.len() as u64) as usize];
        let mut text = String::new();
        for word in log.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            text += word;
            if word.len() > 3 && noise.below(12) == 0 {
                text += &draw(noise).replace('\n', " ");
            }
        }
        let name = draw(noise).replace(['/', '\0', '\n'], "_");
        let path = self.home.path().join(format!("a{name}.txt"));
        fs::write(&path, text)?;
        let path = path.to_str().context("no text")?;
        let commands: [&[&str]; 4] = [
            &["import", path],
            &["import", path, "--json", "OUT/r.json"],
            &["watch", "--explain", path],
            &["rate", path],
        ];
        self.first_harm(&commands)
    }

    /// Attributes of a card and its computer.
    fn in_a_machine(&self, noise: &mut Noise) -> Result<Option<String>> {
        let machine = MACHINES[noise.below(MACHINES.len() as u64) as usize];
        let mut text = String::new();
        for line in machine.lines() {
            match line.split_once(" = ") {
                Some((path, value)) if !line.starts_with('#') && noise.below(3) == 0 => {
                    let hostile = draw(noise);
                    let bytes = value.bytes().chain(hostile.bytes());
                    let escaped: String = bytes.map(|byte| format!("\\x{byte:02x}")).collect();
                    text += &format!("{path} = {escaped}\n");
                }
                _ => text += &format!("{line}\n"),
            }
        }
        let path = self.home.path().join("machine.txt");
        fs::write(&path, text)?;
        let path = path.to_str().context("no text")?;
        let commands: [&[&str]; 3] = [
            &["identify", "--sysroot", path],
            &["identify", "--sysroot", path, "--all", "--show-serial"],
            &["identify", "--sysroot", path, "--all", "--json", "OUT/i.json"],
        ];
        self.first_harm(&commands)
    }

    /// A hub that refuses in such words, or takes a record and names such an address.
    fn in_a_hubs_answer(&self, noise: &mut Noise) -> Result<Option<String>> {
        let record = self.home.path().join("record.json");
        fs::write(&record, serde_json::to_vec(&typical_a1_card())?)?;
        let status = [201, 400, 403, 409, 413, 422, 429, 500][noise.below(8) as usize];
        let answer = match noise.below(3) {
            0 => draw(noise),
            _ => json!({
                "error": draw(noise), "message": draw(noise), "path": draw(noise), "token": draw(noise),
            })
            .to_string(),
        };
        let reason = draw(noise).replace(['\r', '\n', '\0'], "_");
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = format!("http://{}", listener.local_addr()?);
        let head = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            answer.len()
        );
        std::thread::spawn(move || -> Result<()> {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream?);
                let (mut length, mut line) = (0, String::new());
                while stream.read_line(&mut line)? > 2 {
                    let lower = line.to_lowercase();
                    if let Some(value) = lower.strip_prefix("content-length:") {
                        length = value.trim().parse()?;
                    }
                    line.clear();
                }
                std::io::copy(&mut stream.by_ref().take(length), &mut std::io::sink())?;
                stream.get_mut().write_all((head.clone() + &answer).as_bytes())?;
            }
            Ok(())
        });
        let path = record.to_str().context("no text")?;
        let commands: [&[&str]; 2] = [
            &["submit", path, "--to", &address, "--yes", "--quiet"],
            &["submit", path, "--to", &address, "--yes", "--quiet", "--json", "OUT/s.json"],
        ];
        self.first_harm(&commands)
    }

    /// Names, labels and sizes that somebody was made to type.
    fn in_what_is_typed(&self, noise: &mut Noise) -> Result<Option<String>> {
        let typed = draw(noise).replace('\0', "");
        let card = format!("sim:{typed}");
        let record = self.home.path().join("record.json");
        fs::write(&record, serde_json::to_vec(&typical_a1_card())?)?;
        let record = record.to_str().context("no text")?;
        let commands: [&[&str]; 12] = [
            &["run", &card],
            &["run", "sim:sandisk-ultra", "--profile", &typed],
            &["run", "sim:sandisk-ultra", "--require", &typed],
            &["verify", "sim:fake-drop", "--label", &typed, "--json", "OUT/v.json"],
            &["verify", &typed],
            &["identify", &typed],
            &["compare", record, &format!("ref:{typed}")],
            &["report", record, "--html", &format!("{typed}/p.html")],
            &["list", &typed],
            &["import", record, "--label", &typed],
            &["health", &typed],
            &[&typed],
        ];
        self.first_harm(&commands)
    }
}

/// `ground` with hostile text in about half of the fields that take it.
fn attacked(ground: &Record, noise: &mut Noise) -> Result<Record> {
    let mut value = serde_json::to_value(ground)?;
    let mut ways = Vec::new();
    text_fields(&value, "", &mut ways);
    let mut count = 0;
    for way in ways {
        if noise.below(2) == 0 {
            continue;
        }
        let hostile = Value::from(draw(noise));
        let field = value.pointer_mut(&way).context("a field is gone")?;
        let before = std::mem::replace(field, hostile);
        if Record::from_json(&value.to_string()).is_ok() {
            count += 1;
        } else if let Some(field) = value.pointer_mut(&way) {
            *field = before;
        }
    }
    ensure!(count > 5, "only {count} fields were made hostile");
    Ok(Record::from_json(&value.to_string())?)
}

/// Every way to a text of `value`.
fn text_fields(value: &Value, way: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(way.to_owned()),
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                text_fields(item, &format!("{way}/{number}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                text_fields(item, &format!("{way}/{name}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What of `text` steers a terminal.
fn steering(text: &str) -> Option<String> {
    let steering = text.chars().find(|c| steers(*c) && *c != '\n');
    steering.map(|c| format!("{c:?} steers a terminal"))
}

/// What is wrong with a document that the program has written.
fn harm_of_document(path: &PathBuf) -> Result<Option<String>> {
    let text = fs::read_to_string(path)?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if ending == "json" {
        let is_json = serde_json::from_str::<Value>(&text).is_ok();
        return Ok((!is_json).then(|| format!("no JSON: {text}")));
    }
    if let Some(how) = steering(&text) {
        return Ok(Some(how));
    }
    let is_forged = |line: &str| line.trim_start().starts_with("FORGED");
    if let Some(line) = text.lines().find(|line| is_forged(line)) {
        return Ok(Some(format!("a forged line: {line}")));
    }
    let raw: &[&str] = match ending {
        "html" => &["<img src=q", "</td></title></script>", "\"q'q"],
        "md" => &["<img src=q", "</td></title></script>", "|[a](b)"],
        _ => &["\n=cmd", ",=cmd", ",\"=cmd"],
    };
    let found = raw.iter().find(|part| text.contains(**part));
    Ok(found.map(|part| format!("{part:?} as it was")))
}
