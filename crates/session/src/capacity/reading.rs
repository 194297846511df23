//! What can be found without writing: how fast the device reads, and whether its front comes back at
//! other addresses.

use cardproof_io::Target;
use cardproof_probe::Drive;
use cardproof_probe::capacity::Plan;
use cardproof_record::{CapacityMethod, CapacityTest, State};
use cardproof_units::{Bytes, Nanos, with_causes};

use crate::failure::Failure;
use crate::session::Bench;
use crate::target::Storage;

/// How long a place is.
const PLACE: u64 = 4096;

/// How much is read in one piece to learn the rate.
const PIECE: u64 = 1 << 20;

/// How long `plan` takes if writing is as fast as reading; from 16 places and 8 MiB that are read.
pub(super) fn time_guess(target: &mut dyn Target, plan: &Plan) -> Result<Nanos, Failure> {
    let failed = |error: cardproof_probe::DriveError| Failure::incomplete(with_causes(&error));
    let size = target.abilities().size.get();
    let mut drive = Drive::new(target, Bytes(PIECE)).map_err(failed)?;
    let begun = drive.now();
    for number in 0..16 {
        // A place that fails takes its time as well.
        let _ = drive.read(size / 16 * number / PLACE * PLACE, PLACE).map_err(failed)?;
    }
    let places = drive.now();
    for number in 0..8 {
        let _ = drive.read(size / 2 / PIECE * PIECE + number * PIECE, PIECE).map_err(failed);
    }
    let pieces = drive.now();
    let per_place = places.saturating_sub(begun).as_secs_f64() / 16.0;
    let per_byte = pieces.saturating_sub(places).as_secs_f64() / (8 * PIECE) as f64;
    let count = plan.places_count() as f64;
    let in_pieces =
        plan.bytes_to_write().as_f64() + plan.bytes_to_read().as_f64() - 2.0 * count * PLACE as f64;
    Ok(Nanos::from_secs_f64(2.0 * count * per_place + in_pieces.max(0.0) * per_byte))
}

/// How long reading all of `target` takes, from 16 MiB at four places.
pub(super) fn time_to_read(target: &mut dyn Target) -> Result<Nanos, Failure> {
    let failed = |error: cardproof_probe::DriveError| Failure::incomplete(with_causes(&error));
    let size = target.abilities().size.get();
    let mut drive = Drive::new(target, Bytes(PIECE)).map_err(failed)?;
    let begun = drive.now();
    for part in 0..4 {
        let start = size / 4 * part / PIECE * PIECE;
        for offset in (start..size.min(start + 4 * PIECE)).step_by(PIECE as usize) {
            let _ = drive.read(offset, PIECE.min(size - offset)).map_err(failed)?;
        }
    }
    let took = drive.now().saturating_sub(begun).as_secs_f64();
    let read = drive.read_so_far().as_f64().max(1.0);
    Ok(Nanos::from_secs_f64(took / read * size as f64))
}

/// Reads the front of the device and the same places at multiples of likely real sizes. Data that
/// come back at several places at one distance are a sign of a wrap-around.
pub(super) fn signs(bench: &mut Bench<'_, Storage>) -> CapacityTest {
    let size = bench.place.target.abilities().size;
    let mut test = CapacityTest {
        method: CapacityMethod::ReadOnly,
        announced_bytes: size,
        ..CapacityTest::default()
    };
    bench.record.state = State::Complete;
    match look(&mut *bench.place.target, size.get()) {
        Ok((signs, read)) => {
            test.signs = signs;
            bench.record.bytes_read += read;
        }
        Err(error) => {
            bench.recorder.note(&format!("The test has ended early: {}.", with_causes(&error)));
            bench.record.state = State::Failed;
        }
    }
    test.signs.extend(suspicions(&bench.record.conditions.device));
    test
}

fn look(
    target: &mut dyn Target,
    size: u64,
) -> Result<(Vec<String>, Bytes), cardproof_probe::DriveError> {
    let mut drive = Drive::new(target, Bytes(PLACE))?;
    let mut signs = Vec::new();
    let last = size / PLACE * PLACE - PLACE;
    if drive.read(last, PLACE)?.is_err() {
        signs.push("the last block of the announced size cannot be read".to_owned());
    }
    let mut fronts = Vec::new();
    for number in 0..FRONTS {
        let offset = number * FRONT_STEP;
        if offset + PLACE > size {
            break;
        }
        let Ok(data) = drive.read(offset, PLACE)? else { continue };
        if is_telling(data) {
            fronts.push((offset, data.to_vec()));
        }
    }
    for power in 28..44 {
        let distance = 1_u64 << power;
        let (mut compared, mut same) = (0, 0);
        for (offset, front) in fronts.iter().filter(|(offset, _)| offset + distance + PLACE <= size)
        {
            compared += 1;
            same += usize::from(drive.read(offset + distance, PLACE)?.is_ok_and(|d| d == front));
        }
        if same >= 3 && same * 2 > compared {
            signs.push(format!(
                "{same} of {compared} blocks from the front come back {} further on: addresses \
                 seem to start again there",
                Bytes(distance)
            ));
            break;
        }
    }
    Ok((signs, drive.read_so_far()))
}

/// How many places of the front are compared, and their distance.
const FRONTS: u64 = 64;
const FRONT_STEP: u64 = 256 << 10;

/// Whether a block holds enough that another one like it is no accident.
fn is_telling(data: &[u8]) -> bool {
    let mut seen = [false; 256];
    data.iter().for_each(|&byte| seen[usize::from(byte)] = true);
    seen.iter().filter(|&&is_seen| is_seen).count() > 32
}

/// What the registers, names and sizes of the card show.
fn suspicions(device: &cardproof_record::DeviceInfo) -> Vec<String> {
    let Some(card) = &device.card else { return Vec::new() };
    card.counterfeit_signs.clone()
}
