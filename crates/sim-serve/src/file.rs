//! The file system of one file: the card. Requests for its bytes go to the pacer's thread.
//!
//! Past the page cache the file answers as a block device does: what is not on the grid of the card's
//! logical blocks is refused. Programs find that grid by trying, and one that is given a single byte
//! takes the file for one without a grid; QEMU then fills its guests' writes up to whole pages, and
//! up to version 8.0 fails those of many pieces.

use std::ffi::OsStr;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cardproof_io::OpKind;
use cardproof_units::Bytes;
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request as KernelRequest, TimeOrNow, WriteFlags,
};
use rustix::fs::OFlags;

use crate::pacer::{Message, REQUEST_MAX};
use crate::reply::{Reply, Request};

/// How long the kernel may remember names and sizes, which never change.
const FOREVER: Duration = Duration::from_secs(86_400);

const FILE: INodeNo = INodeNo(2);

/// How many requests the kernel may have under way: at least as many as a program may ask for.
const UNDER_WAY_MAX: u16 = 256;

/// How a hole is punched: `FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE` of Linux's falloc.h.
const PUNCH_HOLE: i32 = 0x02 | 0x01;

/// A directory with one file.
#[derive(Debug)]
pub(crate) struct CardFile {
    /// The file's name.
    pub(crate) name: String,
    /// The card's size.
    pub(crate) size: Bytes,
    /// The unit in which the card is addressed.
    pub(crate) logical_block: Bytes,
    /// Whether the card can discard.
    pub(crate) discard: bool,
    /// Who the files belong to: user and group.
    pub(crate) owner: (u32, u32),
    /// The way to the pacer.
    pub(crate) pacer: Sender<Message>,
}

impl CardFile {
    fn attributes(&self, number: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match number {
            INodeNo::ROOT => (FileType::Directory, 0o700, 0),
            FILE => (FileType::RegularFile, 0o600, self.size.get()),
            _ => return None,
        };
        Some(FileAttr {
            ino: number,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn send(&self, kind: OpKind, offset: Bytes, length: Bytes, data: Vec<u8>, reply: Reply) {
        let received = Instant::now();
        let request = Request { received, kind, offset, length, data, reply };
        if let Err(unsent) = self.pacer.send(Message::Request(request))
            && let Message::Request(request) = unsent.0
        {
            request.reply.fail(Errno::ENODEV);
        }
    }

    fn is_on_the_grid(&self, offset: u64, length: u64) -> bool {
        Bytes(offset).is_multiple_of(self.logical_block)
            && Bytes(length).is_multiple_of(self.logical_block)
            && offset.checked_add(length).is_some_and(|end| end <= self.size.get())
    }
}

/// Whether the request comes past the page cache.
fn is_direct(flags: OpenFlags) -> bool {
    u32::try_from(flags.0)
        .is_ok_and(|flags| OFlags::from_bits_retain(flags).contains(OFlags::DIRECT))
}

impl Filesystem for CardFile {
    fn init(&mut self, _request: &KernelRequest, config: &mut KernelConfig) -> std::io::Result<()> {
        // Without the first two a direct request is cut up and its parts wait for each other; a
        // kernel that knows them not serves one request at a time, rightly but at depth one. The
        // third lets the kernel put small writes together in its page cache, as it does for a
        // block device.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_READ);
        let _ = config.add_capabilities(InitFlags::FUSE_WRITEBACK_CACHE);
        let _ = config.set_max_background(UNDER_WAY_MAX);
        let _ = config.set_congestion_threshold(UNDER_WAY_MAX);
        let _ = config.set_max_write(u32::try_from(REQUEST_MAX.get()).unwrap_or(u32::MAX));
        Ok(())
    }

    fn lookup(&self, _request: &KernelRequest, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let known = parent == INodeNo::ROOT && name.to_str() == Some(&self.name);
        match self.attributes(FILE).filter(|_| known) {
            Some(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(
        &self,
        _request: &KernelRequest,
        number: INodeNo,
        _handle: Option<FileHandle>,
        reply: ReplyAttr,
    ) {
        match self.attributes(number) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// A card has no size, owner or time to change: it stays as it is, as a block device would
    /// when it is opened to be truncated.
    fn setattr(
        &self,
        request: &KernelRequest,
        number: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        _size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.getattr(request, number, handle, reply);
    }

    fn open(&self, _request: &KernelRequest, number: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        if number == FILE {
            reply.opened(FileHandle(0), FopenFlags::empty());
        } else {
            reply.error(Errno::EISDIR);
        }
    }

    fn read(
        &self,
        _request: &KernelRequest,
        _number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let end = (offset.saturating_add(u64::from(size))).min(self.size.get());
        let block = self.logical_block.get();
        let from = offset - offset % block;
        let length = end.next_multiple_of(block).saturating_sub(from);
        if offset >= end {
            return reply.data(&[]);
        }
        if length > REQUEST_MAX.get() {
            return reply.error(Errno::EINVAL);
        }
        if is_direct(flags) && !self.is_on_the_grid(offset, end - offset) {
            return reply.error(Errno::EINVAL);
        }
        let (start, asked) = ((offset - from) as usize, (end - offset) as usize);
        let reply = Reply::Data { reply, start, length: asked };
        self.send(OpKind::Read, Bytes(from), Bytes(length), Vec::new(), reply);
    }

    fn write(
        &self,
        _request: &KernelRequest,
        _number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let length = data.len() as u64;
        if offset.saturating_add(length) > self.size.get() {
            return reply.error(Errno::ENOSPC);
        }
        if length == 0 || length > REQUEST_MAX.get() || !self.is_on_the_grid(offset, length) {
            return reply.error(Errno::EINVAL);
        }
        let reply = Reply::Written(reply);
        self.send(OpKind::Write, Bytes(offset), Bytes(length), data.to_vec(), reply);
    }

    fn flush(
        &self,
        _request: &KernelRequest,
        _number: INodeNo,
        _handle: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn fsync(
        &self,
        _request: &KernelRequest,
        _number: INodeNo,
        _handle: FileHandle,
        _data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.send(OpKind::Flush, Bytes::ZERO, Bytes::ZERO, Vec::new(), Reply::Done(reply));
    }

    fn fallocate(
        &self,
        _request: &KernelRequest,
        _number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if mode != PUNCH_HOLE || !self.discard {
            return reply.error(Errno::EOPNOTSUPP);
        }
        if length == 0 || !self.is_on_the_grid(offset, length) {
            return reply.error(Errno::EINVAL);
        }
        let reply = Reply::Done(reply);
        self.send(OpKind::Discard, Bytes(offset), Bytes(length), Vec::new(), reply);
    }

    fn readdir(
        &self,
        _request: &KernelRequest,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if number != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (FILE, FileType::RegularFile, self.name.as_str()),
        ];
        for (next, (number, kind, name)) in (1..).zip(entries).skip(offset as usize) {
            if reply.add(number, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
