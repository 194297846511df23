//! Texts that no tool prints, each made to be slow where a reader is careless: one endless line, the
//! shortest lines, marks that are taken off, documents without an end, and what a tool prints too often.

/// A text: what stands once before it, and what is repeated.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) head: &'static [u8],
    pub(super) repeated: &'static [u8],
}

const fn form(name: &'static str, repeated: &'static [u8]) -> Form {
    Form { name, head: b"", repeated }
}

const fn below(name: &'static str, head: &'static [u8], repeated: &'static [u8]) -> Form {
    Form { name, head, repeated }
}

/// One line of the whole length, or lines of a few characters.
pub(super) const CHARACTERS: &[Form] = &[
    form("newlines", b"\n"),
    form("one line of prose", b"The next card was bought last year. "),
    form("one line of digits", b"1"),
    form("one line of numbers", b"1 "),
    form("one line of rates", b"100000a 1s 1/s "),
    form("one line of braces", b"{"),
    form("one line of brackets", b"["),
    form("one line of spaces", b" "),
    form("one line of quotation marks", b"> "),
    form("one line of escapes", b"\x1b"),
    form("one line of entities", b"&amp;"),
    form("one line of <br>", b"<br>"),
    form("one line of tags", b"<p>"),
    form("one line of a program's name", b".iozone"),
    form("one line of a timing's beginning", b"Timing "),
    form("one line of capacities", b"1GB "),
    form("lines of a letter", b"a\n"),
    form("lines of a digit", b"1\n"),
    form("lines of a brace", b"{\n"),
    form("lines of a quotation mark", b"> \n"),
    form("lines of an escape", b"\x1b[0m\n"),
    form("lines of an entity", b"&amp;\n"),
    form("lines of a word", b"card\n"),
    form("lines of a Cyrillic letter", b"\xd0\xb6\n"),
    form("bytes of no text", b"\x80"),
    form("control characters", b"\x01"),
];

/// What stands around outputs.
pub(super) const SURROUNDINGS: &[Form] = &[
    form("a prompt on each line", b"pi@board:~ $ ls -la /mnt\npi@board:~ $ sudo dd if=a of=b\n"),
    form("quotations of prompts", b"> > pi@board:~ $ ls -la /mnt\n> total 4\n"),
    form("coloured lines", b"\x1b[33mThe card\x1b[m in the reader 12 MB\n"),
    form("lines of a web page", b"<p>The card &amp; the <b>reader</b>&nbsp;12 MB</p><br>\n"),
    form("lines of a system's log", b"Jan 06 12:00:00 host program[123]: The card was slow\n"),
    form("messages of the kernel", b"[    2.1] mmcblk0: mmc0:aaaa SC16G 14.8 GiB \n"),
    form("headings of Markdown", b"# Card\n"),
    form("commands on several lines", b"fio --rw=read \\\n"),
    form("single bytes for micro signs", b"a card \xb5 of 12 \xb5s and more\n"),
];

/// What a tool prints, too often or without its end.
pub(super) const OUTPUTS: &[Form] = &[
    below("fio's JSON, deep", b"{\"fio version\": \"fio-3\", \"x\": ", b"["),
    below(
        "fio's JSON of jobs alone",
        b"{\"fio version\": \"3\", \"jobs\": [",
        b"{\"read\":{},\"write\":{}},",
    ),
    below(
        "fio's JSON of options alone",
        b"{\"fio version\": \"3\", \"global options\": {",
        b"\"aa\":\"\",",
    ),
    form("heads of fio's JSON", b"{\"fio version\" : \"fio-3.1\"}\n"),
    below("fields of fio's terse line", b"3;fio-3.1;", b";"),
    form("fio's rates alone", b"read: IOPS=1, BW=1B/s (1B/s)(1B/1sec)\n"),
    form("fio's announcements", b"a: (g=0): rw=read, bs=4k, ioengine=x, iodepth=1\n"),
    below("iozone's shortest rows", b"kB reclen\n", b"4 4 1 1 1 1 1 1\n"),
    below("iozone's longest row", b"kB reclen\n4 4 ", b"1 "),
    below("iostat's shortest rows", b"Device tps kB_read/s kB_wrtn/s\n", b"a 1 1 1\n"),
    form("iostat's headings", b"Device tps kB_read/s kB_wrtn/s\n"),
    below("iostat's JSON, deep", b"{\"sysstat\": {\"hosts\": ", b"["),
    form(
        "f3's losses",
        b"F3 read 7.0\nData LOST: 1 Byte (1 sectors)\nAverage reading speed: 1 MB/s\n",
    ),
    below("f3's sizes", b"*Usable* size: 1 GB (1 blocks)\n", b"Announced size: 1 GB (1 blocks)\n"),
    form(
        "h2testw's losses",
        b"Warning: Only 1 of 1 MByte\n1 MByte DATA LOST (1 sectors)\nWriting speed: 1 MByte/s\n",
    ),
    below(
        "ioping's times",
        b"1 requests completed in 1 s, 1 B read, 1 iops, 1 B/s\n",
        b"min/avg/max/mdev = 1 us / 1 us / 1 us / 1 us\n",
    ),
    below("sd-card-bench's rates", b"IOPS read/write: ", b"1k: 1/1, "),
    form("sbc-bench's devices", b"* 1GB \"a\" as /dev/sda\n"),
    form("dd's contradictions", b"1073741824 bytes (1.1 GB) copied, 51.2039 s, 99.0 MB/s\n"),
    form(
        "hdparm's contradictions",
        b" Timing buffered disk reads:  262 MB in  3.01 seconds = 962.90 MB/sec\n",
    ),
    form("flashbench's rates", b"4MiB 1B/s\n"),
    below(
        "drives of PiBenchmarks",
        b"Chosen partition (/) has been detected as /dev/sda1\n",
        b"ID-1: /dev/sda a\n",
    ),
];
