//! Contents of known harm, and what is said of them.

use cardproof_units::Seed;

use super::*;

/// A medium after a cut, sector by sector.
struct Medium {
    plan: Plan,
    sectors: Vec<Sector>,
}

const PROMISE: Promise = Promise { issued: 46, durable: 40, unheard: 8 };

fn plan() -> Plan {
    Plan::new(Seed::from_bits(5), Bytes::mib(1), Bytes::mib(1), Bytes(512), 8).unwrap()
}

/// A medium on which every write up to `last` was done in full.
fn medium(last: u64) -> Medium {
    let plan = plan();
    let ground = |sector| Sector::Whole(Stamp { run: plan.run(), sector, number: 0, epoch: 0 });
    let mut medium = Medium { plan, sectors: plan.area().map(ground).collect() };
    (1..=last).for_each(|number| medium.write(number));
    medium
}

impl Medium {
    fn place(&mut self, sector: u64) -> &mut Sector {
        &mut self.sectors[(sector - self.plan.area().start) as usize]
    }

    fn write(&mut self, number: u64) {
        let request = self.plan.request(number);
        request.range().for_each(|sector| self.write_sector(number, sector));
    }

    fn write_sector(&mut self, number: u64, sector: u64) {
        let (run, epoch) = (self.plan.run(), self.plan.epoch_of(number));
        *self.place(sector) = Sector::Whole(Stamp { run, sector, number, epoch });
    }

    fn judged(&self) -> CutReport {
        classify(&self.plan, PROMISE, &self.sectors, &self.sectors)
    }

    fn kinds(&self) -> Vec<Kind> {
        self.judged().kinds().into_iter().collect()
    }
}

/// All writes but `absent` of the first `last`.
fn without(absent: &[u64], last: u64) -> Medium {
    let mut medium = medium(0);
    (1..=last).filter(|number| !absent.contains(number)).for_each(|number| medium.write(number));
    medium
}

#[test]
fn a_promise_of_any_size_is_judged_at_once() {
    let last = u64::MAX - 1;
    let mut medium = medium(0);
    (last - 5_000..=last).for_each(|number| medium.write(number));
    for durable in [last, u64::MAX] {
        let promise = Promise { issued: durable, durable, unheard: 8 };
        let report = classify(&medium.plan, promise, &medium.sectors, &medium.sectors);
        assert_eq!(report.findings.is_empty(), durable == last, "{report:?}");
    }
}

#[test]
fn what_was_not_promised_may_be_there_or_not_or_in_part() {
    assert_eq!(medium(40).kinds(), []);
    assert_eq!(medium(46).kinds(), []);
    // The witness may not have heard of the last writes.
    assert_eq!(medium(52).kinds(), []);
    let mut half = medium(40);
    let request = half.plan.request(43);
    half.write_sector(43, request.sector + 1);
    half.write(45);
    let report = half.judged();
    assert_eq!((report.findings.len(), report.had_writes_in_flight), (0, true));
}

#[test]
fn an_absent_end_is_lost() {
    assert_eq!(medium(32).kinds(), [Kind::Lost]);
    assert_eq!(medium(0).kinds(), [Kind::Lost]);
    let report = without(&[40], 40).judged();
    assert_eq!(report.findings.len(), 1);
    assert_eq!((report.findings[0].kind, report.findings[0].number), (Kind::Lost, Some(40)));
}

#[test]
fn an_absent_write_before_a_later_epoch_is_reordered() {
    assert_eq!(without(&[31], 40).kinds(), [Kind::Reordered]);
    assert_eq!(without(&[40], 41).kinds(), [Kind::Reordered]);
}

#[test]
fn a_promised_write_there_in_part_is_torn() {
    let mut torn = without(&[40], 40);
    torn.write_sector(40, torn.plan.request(40).sector);
    assert_eq!(torn.kinds(), [Kind::Torn]);
}

#[test]
fn a_sector_in_flight_that_is_neither_old_nor_new_is_torn() {
    let mut torn = medium(40);
    *torn.place(torn.plan.request(42).sector) = Sector::Other;
    assert_eq!(torn.kinds(), [Kind::Torn]);
}

#[test]
fn a_sector_of_a_write_that_was_never_issued_is_collateral() {
    let mut changed = medium(40);
    let sector = changed.plan.request(47).sector;
    *changed.place(sector) = Sector::Other;
    // The witness may not have heard of write 47; a writer that was asked itself knows.
    assert_eq!(changed.kinds(), [Kind::Torn]);
    let exact = Promise { unheard: 0, ..PROMISE };
    let report = classify(&changed.plan, exact, &changed.sectors, &changed.sectors);
    assert_eq!(report.kinds().into_iter().collect::<Vec<_>>(), [Kind::Collateral]);
}

#[test]
fn changes_far_from_what_was_in_flight_are_collateral_with_their_distance() {
    let mut changed = medium(46);
    let first = changed.plan.area().start;
    *changed.place(first) = Sector::Other;
    *changed.place(first + 1) = Sector::Other;
    let report = changed.judged();
    assert_eq!(report.findings.len(), 1);
    let Finding { kind, sectors, distance, .. } = report.findings[0];
    assert_eq!((kind, sectors), (Kind::Collateral, 2));
    let nearest = (41..=48).map(|number| changed.plan.request(number).sector).min().unwrap();
    assert_eq!(distance, Some(Bytes((nearest - first - 1) * 512)));
}

#[test]
fn data_at_anothers_address_are_misdirected_and_nothing_else() {
    let mut medium = without(&[40], 40);
    let request = medium.plan.request(40);
    for (turn, sector) in request.range().enumerate() {
        let (run, epoch) = (medium.plan.run(), request.epoch);
        let stamp = Stamp { run, sector, number: 40, epoch };
        let elsewhere = medium.plan.area().start + turn as u64;
        *medium.place(elsewhere) = Sector::Whole(stamp);
    }
    let report = medium.judged();
    assert_eq!(report.kinds().into_iter().collect::<Vec<_>>(), [Kind::Misdirected]);
    assert_eq!(report.findings[0].sectors, request.sectors);
}

#[test]
fn an_error_counts_when_the_second_reading_shows_it_too() {
    let good = medium(40);
    let mut bad = medium(40);
    *bad.place(bad.plan.area().end - 1) = Sector::Unreadable;
    let transient = classify(&good.plan, PROMISE, &bad.sectors, &good.sectors);
    assert_eq!((transient.findings.len(), transient.unstable_sectors), (0, 1));
    assert_eq!(bad.kinds(), [Kind::Unreadable]);
}

#[test]
fn data_of_an_earlier_run_are_an_old_state() {
    let mut old = medium(46);
    let first = old.plan.area().start;
    *old.place(first) = Sector::Whole(Stamp { run: 1, sector: first, number: 900, epoch: 90 });
    assert_eq!(old.kinds(), [Kind::Reordered]);
}

#[test]
fn nothing_in_flight_is_said() {
    let idle = Promise { issued: 40, durable: 40, unheard: 0 };
    let medium = medium(40);
    let report = classify(&medium.plan, idle, &medium.sectors, &medium.sectors);
    assert_eq!(report, CutReport::default());
}
