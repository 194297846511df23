//! Commands of a card whose service times are told by how they arrive.

use super::Mechanism;
use crate::timing::reader::ReadWork;
use crate::timing::service::Times;

impl Mechanism {
    /// A read; `continues` where it belongs to the request of the command before.
    pub(super) fn read_by_times(
        &mut self,
        now: u64,
        offset: u64,
        length: u64,
        continues: bool,
    ) -> u64 {
        let is_written = self.written.any(offset, length);
        let ReadWork { latency, transfer, .. } =
            self.reader.read(offset, length, &mut self.written);
        let mut times = self.times(false, offset, length, continues);
        if !is_written {
            times = Times { alone: latency, queued: latency.min(times.queued) };
        }
        let retry = self.retry();
        let times = Times { alone: times.alone + retry, queued: times.queued + retry };
        self.work_through(now, false, times, transfer, 0)
    }

    /// A write; `continues` where it belongs to the request of the command before.
    pub(super) fn write_by_times(
        &mut self,
        now: u64,
        offset: u64,
        length: u64,
        continues: bool,
    ) -> u64 {
        let work = self.write_work(now, offset, length);
        let times = self.times(true, offset, length, continues);
        let beside = work.latency + work.pause;
        let times = Times { alone: times.alone + beside, queued: times.queued + beside };
        let beyond = work.beyond_cache;
        let data = (work.data - beyond).max(self.bus.nanos(length));
        let data = self.scatter.apply(data, now);
        self.work_through(now, true, times, data, beyond)
    }

    /// The times of a command in this host, as they turn out.
    fn times(&mut self, is_write: bool, offset: u64, length: u64, continues: bool) -> Times {
        let none = Times { alone: 0, queued: 0 };
        let Some(service) = &mut self.service else { return none };
        let Times { alone, queued } = service.of(is_write, offset, length);
        if continues {
            return none;
        }
        let (is_queued, now) = (self.is_queued, self.lanes.start(0));
        let scattered = self.scatter.apply(alone, now);
        let queued = (queued * scattered).checked_div(alone).unwrap_or(queued);
        let alone = self.command() + scattered;
        Times { alone, queued: if is_queued { queued } else { alone } }
    }

    /// `beyond` is what the data take longer for the flash's sake. Heat slows down a card's flow of data
    /// and not the flash, so only the longer of both delays counts.
    fn work_through(
        &mut self,
        now: u64,
        is_write: bool,
        times: Times,
        data: u64,
        beyond: u64,
    ) -> u64 {
        let start = self.lanes.start(now);
        let pace = self.pace_percent(start);
        let Times { alone, queued } = times;
        let slower = (queued + data) * (100 - pace) / pace;
        let end = self.lanes.pipelined(now, alone, queued, data + beyond.max(slower));
        self.note_work(start, end, is_write);
        self.note_busy(end);
        end
    }
}
