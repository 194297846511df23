//! Places that a test of free space has not written, on devices that repeat their addresses and on sound ones that
//! hold data of the test for another reason.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use cardproof_evidence::capacity::Verdict;
use cardproof_io::{
    Abilities, Completion, Directness, Engine, Op, OpKind, Slot, Submission, SubmitError, Target,
    TargetError, Wait,
};
use cardproof_probe::capacity::{Elsewhere, Looked, Plan, Progress, Wish, look_elsewhere, run};
use cardproof_units::{Bytes, Nanos, Seed};

const SECTOR: u64 = 512;
const PLACE: u64 = 4096;
const MIB: u64 = 1 << 20;

/// The device announces so much, and its free space lies here.
const SIZE: u64 = 1024 * MIB;
const FREE: (u64, u64) = (640 * MIB, 250 * MIB);

const WISH: Wish = Wish {
    store: Some(Bytes::mib(8)),
    bad_share: Some(0.01),
    is_full: false,
    full_below: Some(Bytes::ZERO),
};

type Data = [u8; SECTOR as usize];

/// A device that holds sectors.
#[derive(Default)]
struct Device {
    sectors: HashMap<u64, Data>,
    /// Its addresses begin again after so many bytes; 0 on a sound one.
    real: u64,
    /// The hidden store: the sectors written last, by address, at most this many.
    store: usize,
    kept: HashMap<u64, (Data, u64)>,
    order: VecDeque<(u64, u64)>,
    /// What is written is copied so far down, as by a mirror.
    mirror: Option<u64>,
    /// By how many sectors the copy follows.
    lag: usize,
    to_copy: VecDeque<(u64, Data)>,
    /// What others write with each write, elsewhere.
    others: u64,
    written: u64,
    is_counting: bool,
}

impl Device {
    fn sound() -> Self {
        Self { is_counting: true, ..Self::default() }
    }

    fn wrapping(real: u64, store: u64) -> Self {
        Self { real, store: (store / SECTOR) as usize, ..Self::sound() }
    }

    fn place(&self, address: u64) -> u64 {
        if self.real == 0 { address } else { address % self.real }
    }

    fn write(&mut self, address: u64, data: &Data) {
        self.written += SECTOR + self.others;
        if let Some(distance) = self.mirror {
            self.to_copy.push_back((address - distance, *data));
            while self.to_copy.len() > self.lag {
                self.sectors.extend(self.to_copy.pop_front());
                self.written += SECTOR;
            }
        }
        if self.store == 0 {
            self.sectors.insert(self.place(address), *data);
            return;
        }
        self.kept.insert(address, (*data, self.written));
        self.order.push_back((address, self.written));
        if self.order.len() > self.store {
            let (oldest, time) = self.order.pop_front().unwrap();
            if let Some(&(data, last)) = self.kept.get(&oldest)
                && last == time
            {
                self.kept.remove(&oldest);
                self.sectors.insert(self.place(oldest), data);
            }
        }
    }

    fn read(&self, address: u64) -> Data {
        let kept = self.kept.get(&address).map(|(data, _)| data);
        let held = kept.or_else(|| self.sectors.get(&self.place(address)));
        held.copied().unwrap_or([0; SECTOR as usize])
    }
}

/// Free space of the device.
struct Space {
    device: Rc<RefCell<Device>>,
    first: u64,
    abilities: Abilities,
    buffer: Vec<u8>,
    now: Nanos,
}

impl Space {
    fn new(device: &Rc<RefCell<Device>>, (first, size): (u64, u64), begun: u64) -> Self {
        let abilities = Abilities {
            engine: Engine::Null,
            engine_fallback: None,
            size: Bytes(size),
            logical_block: Bytes(SECTOR),
            directness: Directness::Direct,
            read_only: false,
            written_before: false,
            discard: false,
            keeps_data: true,
            queue_depth_max: 1,
        };
        let device = Rc::clone(device);
        Self { device, first, abilities, buffer: Vec::new(), now: Nanos(begun) }
    }
}

impl Target for Space {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        self.now
    }

    fn prepare(&mut self, _slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.buffer = vec![0; buffer_size.as_len()];
        Ok(())
    }

    fn buffer(&mut self, _slot: Slot) -> &mut [u8] {
        &mut self.buffer
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.abilities.check(&op, Bytes(self.buffer.len() as u64))?;
        let submitted = self.now;
        self.now += Nanos::from_micros(100);
        let mut device = self.device.borrow_mut();
        let mut address = self.first + op.offset.get();
        let (sectors, _) = self.buffer[..op.length.as_len()].as_chunks_mut();
        for sector in sectors {
            match op.kind {
                OpKind::Write => device.write(address, sector),
                OpKind::Read => *sector = device.read(address),
                OpKind::Flush | OpKind::Discard => {}
            }
            address += SECTOR;
        }
        let Op { slot, kind, length, .. } = op;
        let completed = self.now;
        Ok(Submission::Done(Completion { slot, kind, submitted, completed, outcome: Ok(length) }))
    }

    fn complete(
        &mut self,
        wait: Wait,
        _completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        if let Wait::Until(time) = wait {
            self.now = self.now.max(time);
        }
        Ok(())
    }
}

/// All places of the device.
struct Disk<'a> {
    device: Rc<RefCell<Device>>,
    first: u64,
    data: Vec<u8>,
    /// What happens when the first data of the test was found.
    meanwhile: Option<Box<dyn FnOnce() + 'a>>,
}

impl Disk<'_> {
    fn new(device: &Rc<RefCell<Device>>, (first, _): (u64, u64)) -> Self {
        Self { device: Rc::clone(device), first, data: Vec::new(), meanwhile: None }
    }
}

impl Elsewhere for Disk<'_> {
    type Place = u64;

    fn choose(&mut self, random: u64) -> Option<u64> {
        Some(random % (SIZE / PLACE) * PLACE)
    }

    fn read(&mut self, place: u64) -> Option<&[u8]> {
        let device = self.device.borrow();
        let sector = |number| device.read(place + number * SECTOR);
        self.data = (0..PLACE / SECTOR).flat_map(sector).collect();
        Some(&self.data)
    }

    fn is_own(&self, place: u64, inside_bytes: u64, address_bytes: u64) -> bool {
        place + inside_bytes == self.first + address_bytes
    }

    fn written_bytes(&mut self) -> Option<u64> {
        if let Some(meanwhile) = self.meanwhile.take() {
            meanwhile();
        }
        let device = self.device.borrow();
        device.is_counting.then_some(device.written)
    }
}

/// A test that was done, which has found nothing wrong in the free space alone.
struct Done {
    device: Rc<RefCell<Device>>,
    plan: Plan,
    space: Space,
    written: Vec<(u64, u64)>,
    free: (u64, u64),
}

impl Done {
    fn new(device: &Rc<RefCell<Device>>, free: (u64, u64), seed: u64, begun: u64) -> Self {
        let plan = Plan::new(Bytes(free.1), Bytes(SECTOR), WISH, Seed::from_bits(seed)).unwrap();
        let mut space = Space::new(device, free, begun);
        let outcome = run(&mut space, &plan, &mut |_: &Progress| true).unwrap();
        let finding = &outcome.finding;
        assert_ne!(finding.verdict, Verdict::Fake, "{finding:#?}");
        let stretches = outcome.evidence.writes.stretches();
        let written = stretches.map(|(start, length, _)| (start, length)).collect();
        Self { device: Rc::clone(device), plan, space, written, free }
    }

    fn look<E: Elsewhere>(&mut self, elsewhere: &mut E) -> Looked<E::Place> {
        let Self { plan, space, written, .. } = self;
        look_elsewhere(space, plan, written, elsewhere, 2000, &mut |_| true).unwrap()
    }

    fn disk(&self) -> Disk<'static> {
        Disk::new(&self.device, self.free)
    }
}

fn shared(device: Device) -> Rc<RefCell<Device>> {
    Rc::new(RefCell::new(device))
}

/// What a test of the free space of `device` sees elsewhere.
fn looked(device: Device, seed: u64) -> Looked<u64> {
    let mut done = Done::new(&shared(device), FREE, seed, 1);
    let mut disk = done.disk();
    done.look(&mut disk)
}

const fn is_repeating<P>(looked: &Looked<P>) -> bool {
    looked.changed.len() * 2 > looked.found.len()
}

#[test]
fn addresses_that_repeat_farther_apart_than_the_free_space_is_long_are_found() {
    let moduli = [251 * MIB, 300 * MIB + 3 * SECTOR, 333 * MIB + SECTOR, 400 * MIB, 512 * MIB];
    for (seed, real) in moduli.into_iter().enumerate() {
        for store in [0, 3 * MIB] {
            let looked = looked(Device::wrapping(real, store), seed as u64);
            assert!(is_repeating(&looked), "{real} {store}: {looked:#?}");
            for strayed in looked.changed {
                let own = FREE.0 + strayed.address_bytes;
                let distance = own.abs_diff(strayed.place + strayed.inside_bytes);
                assert_eq!(distance % real, 0, "{real} {store}: {strayed:?}");
            }
        }
    }
}

#[test]
fn a_device_that_repeats_is_found_while_others_write() {
    for others in [1, 200] {
        let device = Device { others, ..Device::wrapping(400 * MIB, 0) };
        assert!(is_repeating(&looked(device, 1)), "{others}");
    }
}

#[test]
fn a_sound_device_shows_nothing_and_nothing_is_written_again() {
    let looked = looked(Device::sound(), 1);
    assert_eq!((looked.places, looked.found.len(), looked.changed.len()), (2000, 0, 0));
    assert_eq!(looked.bytes_written, Bytes::ZERO);
}

#[test]
fn copies_that_were_made_before_are_found_and_do_not_change() {
    let device = shared(Device::sound());
    let mut done = Done::new(&device, FREE, 7, 1);
    let copied = device.borrow().sectors.clone();
    for (address, data) in copied {
        device.borrow_mut().sectors.insert(address - 300 * MIB, data);
    }
    let looked = done.look(&mut done.disk());
    assert!(looked.found.len() > 10, "{looked:#?}");
    assert_eq!(looked.changed, []);
}

/// A mirror writes each piece of data a second time, to its other half on the same device.
#[test]
fn a_mirror_does_not_make_a_sound_device_look_as_if_its_addresses_repeat() {
    let looked = looked(Device { mirror: Some(320 * MIB), ..Device::sound() }, 3);
    assert!(looked.found.len() > 10, "{looked:#?}");
    assert_eq!(looked.changed, []);
}

/// As somebody who copies one partition to another in a loop: what is written once more in a moment is not copied yet,
/// and what takes longer is.
#[test]
fn copies_that_come_later_are_not_taken_for_repeated_addresses() {
    for lag in [100, 1000, 5000] {
        let device = Device { mirror: Some(320 * MIB), lag, ..Device::sound() };
        let looked = looked(device, 3);
        assert!(looked.found.len() > 10, "{lag}: {looked:#?}");
        assert_eq!(looked.changed, [], "{lag}");
        assert!(looked.bytes_written > Bytes(MIB), "{lag}: {looked:#?}");
    }
}

#[test]
fn addresses_that_repeat_are_found_wherever_the_free_space_lies() {
    for first in [0, 63 * SECTOR, 300 * MIB + SECTOR, SIZE - FREE.1] {
        for (real, store) in [(400 * MIB + 5 * SECTOR, 0), (512 * MIB, 3 * MIB)] {
            let free = (first, FREE.1);
            let mut done = Done::new(&shared(Device::wrapping(real, store)), free, 4, 1);
            let looked = done.look(&mut done.disk());
            assert!(is_repeating(&looked), "from {first}, {real} {store}: {looked:#?}");
        }
    }
}

#[test]
fn where_nobody_counts_the_writes_of_others_nothing_is_said_to_change() {
    let looked = looked(Device { is_counting: false, ..Device::wrapping(400 * MIB, 0) }, 3);
    assert!(!looked.found.is_empty());
    assert_eq!(looked.changed, []);
}

#[test]
fn two_tests_with_one_seed_at_the_same_time_do_not_take_each_others_data_for_their_own() {
    let device = shared(Device::sound());
    let other_free = (256 * MIB, FREE.1);
    let mut other = Done::new(&device, other_free, 7, 5_000_000);
    let mut done = Done::new(&device, FREE, 7, 1);
    let mut disk = done.disk();
    // The other looks while this one writes once more.
    disk.meanwhile = Some(Box::new(|| {
        let looked = other.look(&mut other.disk());
        assert!(!looked.found.is_empty());
        assert_eq!(looked.changed, []);
    }));
    let looked = done.look(&mut disk);
    assert!(disk.meanwhile.is_none(), "the other has looked");
    assert!(!looked.found.is_empty());
    assert_eq!(looked.changed, []);
}

/// Places of which none can be read, or none exists.
struct Closed {
    has_places: bool,
}

impl Elsewhere for Closed {
    type Place = u64;

    fn choose(&mut self, random: u64) -> Option<u64> {
        self.has_places.then_some(random)
    }

    fn read(&mut self, _place: u64) -> Option<&[u8]> {
        None
    }

    fn is_own(&self, _: u64, _: u64, _: u64) -> bool {
        false
    }

    fn written_bytes(&mut self) -> Option<u64> {
        None
    }
}

#[test]
fn places_that_cannot_be_read_or_do_not_exist_say_nothing() {
    let mut done = Done::new(&shared(Device::wrapping(400 * MIB, 0)), FREE, 1, 1);
    for has_places in [true, false] {
        let looked = done.look(&mut Closed { has_places });
        assert_eq!((looked.places, looked.found.len()), (0, 0));
        assert_eq!(looked.bytes_written, Bytes::ZERO);
    }
}

#[test]
fn whoever_stops_it_gets_what_was_seen_until_then() {
    let mut done = Done::new(&shared(Device::wrapping(400 * MIB, 0)), FREE, 1, 1);
    let mut disk = done.disk();
    let Done { plan, space, written, .. } = &mut done;
    let mut goes_on = |part: f64| part < 0.02;
    let looked = look_elsewhere(space, plan, written, &mut disk, 2000, &mut goes_on).unwrap();
    assert_eq!(looked.places, 40);
}
