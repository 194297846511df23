//! What bare tables of other tools make likely, on eight cards of which the truth is published.

use cardproof_import::{Origin, import};
use cardproof_rating::prediction::{PredictedJob, predictions};
use cardproof_rating::{PUBLISHED_CARDS, PublishedCard, indications, judge};
use cardproof_record::{Likelihood, Outcome, Record, WarningCode};

/// The table that somebody pastes who measured `card`, in kB/s and without a banner.
fn table(card: &PublishedCard) -> String {
    let kb = |iops: f64, kib: u64| (iops * kib as f64).round() as u64;
    let mib = |rate: f64| (rate / 1e6 * 1024.0).round() as u64;
    let (read, write) = (mib(card.sequential_read.0), mib(card.sequential_write.0));
    let small_write = kb(card.random_write.0, 16);
    format!(
        "                                                    random    random\n\
         \x20             kB  reclen    write  rewrite    read    reread    read     write\n\
         \x20         102400       4 {w4:>8} {w4:>8} {r4:>8} {r4:>8} {r4:>8} {w4:>9}\n\
         \x20         102400      16 {small_write:>8} {small_write:>8} {r16:>8} {r16:>8} {r16:>8} {small_write:>9}\n\
         \x20         102400   16384 {write:>8} {write:>8} {read:>8} {read:>8} {read:>8} {write:>9}\n",
        w4 = kb(card.random_write.0, 4),
        r4 = kb(card.random_read.0, 4),
        r16 = kb(card.random_read_16k.0, 16),
    )
}

fn record(text: &str) -> Record {
    let origin = Origin { id: "a".to_owned(), read_at: "2026-01-01T00:00:00Z".to_owned() };
    import(text, None, &origin).unwrap().records.remove(0)
}

fn a1(record: &Record) -> Likelihood {
    indications(record).into_iter().find(|it| it.rule == "A1").unwrap().outcome
}

#[test]
fn an_a1_indication_is_correct_unless_a_card_is_close_to_a_limit() {
    let mut judged = 0;
    for card in &PUBLISHED_CARDS {
        let shares = [
            card.random_read.0 / 1500.0,
            card.random_write.0 / 500.0,
            card.sequential_write.0 / 10e6,
        ];
        let record = record(&table(card));
        let misses = shares.iter().any(|share| *share < 0.75);
        let meets = shares.iter().all(|share| *share > 1.25);
        if misses || meets {
            let expected = if misses { Likelihood::LikelyMisses } else { Likelihood::LikelyMeets };
            assert_eq!(a1(&record), expected, "{}: {:?}", card.name, indications(&record));
            judged += 1;
        }
        assert!(judge(&record).iter().all(|verdict| verdict.outcome == Outcome::NotTestable));
    }
    assert!(judged >= 6, "{judged}");
}

#[test]
fn installs_are_predicted_in_the_published_order() {
    let time = |card: &PublishedCard| {
        let predictions = predictions(&record(&table(card))).unwrap();
        let install = predictions.iter().find(|it| it.job == PredictedJob::Install).unwrap();
        install.time.as_secs_f64()
    };
    let times: Vec<(f64, f64)> = PUBLISHED_CARDS
        .iter()
        .map(|card| (card.desktop_install.as_secs_f64(), time(card)))
        .collect();
    let (mut pairs, mut in_order) = (0, 0);
    for (index, a) in times.iter().enumerate() {
        for b in &times[index + 1..] {
            if a.0.max(b.0) / a.0.min(b.0) > 1.1 {
                pairs += 1;
                in_order += usize::from((a.0 < b.0) == (a.1 < b.1));
            }
        }
    }
    assert_eq!(pairs, 25);
    assert!(in_order >= 24, "{in_order} of {pairs}");
}

#[test]
fn possible_memory_rates_and_lost_data_give_no_indication() {
    let fast = table(&PUBLISHED_CARDS[5]).replace("    12804", "   412804");
    assert_eq!(a1(&record(&fast)), Likelihood::Unclear);
    let mut wrong = record(&table(&PUBLISHED_CARDS[5]));
    wrong.warnings.push(cardproof_record::Warning::stated(WarningCode::WrongData, "lost"));
    assert_eq!(indications(&wrong), []);
}

#[test]
fn no_class_is_indicated_from_what_cannot_tell_it() {
    let job = "rr: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
               ioengine=psync, iodepth=1\nrr: (groupid=0, jobs=1): err= 0: pid=1: Wed Nov 25 10:13:49 2026\n  \
               write: IOPS=35, BW=143KiB/s (146kB/s)(144KiB/1009msec); 0 zone resets\n";
    let synced = format!("{job}     issued rwts: total=0,36,0,36 short=0,0,0,0 dropped=0,0,0,0\n");
    let limited =
        format!("$ fio --name=rr --rw=randwrite --bs=4k --rate_iops=35 --direct=1\n{job}");
    let memory = "$ iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2\n    kB  reclen    write  rewrite    read    \
                  reread    read     write\n102400       4    80292    63909  1926436  1938478  1748930    80047\n";
    let faulty = "F3 write 8.0\nCreating file 1.h2w ... Write failure: Input/output error\n\
                  Average writing speed: 5.11 MB/s\n";
    assert_ne!(indications(&record(job)), [], "without any of them there is one");
    for text in [&synced, &limited, memory, faulty] {
        assert_eq!(indications(&record(text)), [], "{text}");
    }
}
