//! What to do next: at most three steps, the one that saves data first.

use cardproof_record::TargetKind;
use cardproof_units::Bytes;
use serde::Serialize;

use super::{Answer, ClassPlace, Fast, Healthy, Overall, Powered, Real, SetUp, Thing, Untested};
use crate::capacity::space_lacking;
use crate::meaning::Grade;
use crate::signs::{Experiment, LogRead};

/// At most so many steps.
const STEPS_MAX: usize = 3;

/// A step, each an action or a command of cardproof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = as_names))]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Copy the data to another device.
    CopyData,
    /// Give it back and ask for the money.
    ReturnIt,
    /// Do not store data on it.
    ReplaceIt,
    /// Test all of its free space.
    VerifyFull,
    /// Test its capacity by writing.
    VerifyByWriting,
    /// Test the capacity of a device or file by writing, and put its data back.
    VerifyRestoring,
    /// Get another one before it is worn out.
    PlanReplacement,
    /// Find out whether the card, the reader or the power fails.
    SwapReader,
    /// Find out whether the cable or its port fails.
    SwapCable,
    /// Use a stronger power supply or a better cable.
    StrongerSupply,
    /// Cool the computer.
    Cool,
    /// Look at the plan of settings.
    Tune,
    /// Mount it with `noatime`.
    Noatime,
    /// Read the kernel's log as root.
    RunAsRoot,
    /// Measure a directory on it that may be written to.
    MeasureDirectory,
    /// The same, where a switch of the card or its adapter may forbid writing.
    LookAtSwitch,
    /// Measure a directory on the storage in place of an image.
    NameStorage,
    /// Measure a directory on the same storage, or a larger file, in place of a file too small for a grade.
    LargerFile,
    /// Measure a directory of the user's own on it, or run it as root.
    OwnDirectory,
    /// Free so much more of it, so that enough can be tested, and check again.
    MoveFiles(#[serde(skip)] Bytes),
    /// Mount a file system of it, and measure a directory there.
    MeasureMounted,
    /// Use another card for a system: one that passes A1, which this one does not.
    FasterCard,
    /// Use an SSD for a system, or another card, although this one passes A1.
    FasterStorage,
    /// Close other programs and check again.
    CheckAgain,
}

/// A step is written as its name, also the one that has an amount: that one is left out.
#[cfg(feature = "schema")]
fn as_names(schema: &mut schemars::Schema) {
    let steps = schema.get_mut("oneOf").and_then(serde_json::Value::as_array_mut);
    for step in steps.into_iter().flatten() {
        let Some(name) = step.pointer("/required/0").cloned() else { continue };
        let description = step["description"].take();
        *step = serde_json::json!({"type": "string", "const": name, "description": description});
    }
}

impl Next {
    /// The step that makes `experiment`.
    const fn of_experiment(experiment: Experiment) -> Self {
        match experiment {
            Experiment::SwapReader => Self::SwapReader,
            Experiment::SwapSupply => Self::StrongerSupply,
            Experiment::SwapCable => Self::SwapCable,
            Experiment::VerifyFull => Self::VerifyFull,
        }
    }
}

/// The steps that follow from the replies of `answer`.
pub(super) fn steps(answer: &Answer) -> Vec<Next> {
    let mut steps = of_real(answer.real.as_ref(), answer.may_be_card);
    match answer.overall {
        // Another tool has found it.
        Some(Overall::Fake) if steps.is_empty() => return vec![Next::CopyData, Next::ReturnIt],
        Some(Overall::Damaged) if steps.is_empty() => return vec![Next::CopyData, Next::ReplaceIt],
        Some(Overall::Fake | Overall::Damaged) => return steps,
        Some(Overall::LosesData | Overall::Failing) => return of_failing(answer),
        _ => {}
    }
    steps.extend(of_health(answer.healthy.as_ref()));
    steps.extend(of_power(answer.power.as_ref()));
    steps.extend(of_speed(answer.fast.as_ref(), answer.may_be_card));
    steps.extend(of_set_up(answer.set_up.as_ref()));
    // More of what is sound can wait.
    match answer.real {
        Some(Real::SoFar { .. }) => steps.push(Next::VerifyFull),
        Some(Real::TooSmall { tested, of }) => {
            steps.push(Next::MoveFiles(space_lacking(tested, of)));
        }
        _ => {}
    }
    if matches!(answer.healthy, Some(Healthy::Yes { log: LogRead::NotPermitted, .. })) {
        steps.push(Next::RunAsRoot);
    }
    first(steps)
}

/// The first steps, each once.
fn first(steps: Vec<Next>) -> Vec<Next> {
    let mut kept: Vec<Next> = Vec::new();
    for step in steps {
        if kept.len() < STEPS_MAX && !kept.contains(&step) {
            kept.push(step);
        }
    }
    kept
}

/// The steps for a card that loses data or fails: no setting and no other card helps the data on it.
fn of_failing(answer: &Answer) -> Vec<Next> {
    let mut steps = vec![Next::CopyData];
    // A test that overwrites what is there is no help to a card that fails.
    let is_harmless = |step: &Next| *step != Next::VerifyRestoring;
    steps.extend(of_real(answer.real.as_ref(), answer.may_be_card).into_iter().filter(is_harmless));
    if answer.overall == Some(Overall::LosesData) && answer.real.is_none() {
        steps.push(Next::VerifyByWriting);
    }
    steps.extend(of_health(answer.healthy.as_ref()));
    steps.extend(of_power(answer.power.as_ref()));
    if steps.iter().all(|step| *step == Next::CopyData) {
        steps.push(Next::ReplaceIt);
    }
    first(steps)
}

/// Only a card has a switch against writing, or the adapter that it is in.
const fn of_read_only(may_be_card: bool) -> Next {
    if may_be_card { Next::LookAtSwitch } else { Next::MeasureDirectory }
}

fn of_real(real: Option<&Real>, may_be_card: bool) -> Vec<Next> {
    match real {
        Some(Real::No { .. }) => vec![Next::CopyData, Next::ReturnIt],
        Some(Real::Damaged) => vec![Next::CopyData, Next::ReplaceIt],
        Some(Real::Suspicious { .. } | Real::Undecided) => vec![Next::VerifyByWriting],
        Some(Real::NotTested { why: Untested::Unsupported | Untested::TooLittleSpace }) => {
            vec![Next::VerifyFull]
        }
        Some(Real::NotTested { why: Untested::ReadOnly }) => vec![of_read_only(may_be_card)],
        Some(Real::NotTested { why: Untested::Holes }) => vec![Next::NameStorage],
        Some(Real::NotTested { why: Untested::NotPermitted }) => vec![Next::OwnDirectory],
        Some(Real::NotTested { why: Untested::OnlyRead }) => vec![Next::VerifyRestoring],
        _ => Vec::new(),
    }
}

fn of_health(healthy: Option<&Healthy>) -> Vec<Next> {
    match healthy {
        Some(Healthy::CopyNow { experiments, .. } | Healthy::Dead { experiments, .. }) => {
            let experiments = experiments.iter().map(|&it| Next::of_experiment(it));
            [Next::CopyData].into_iter().chain(experiments).collect()
        }
        Some(Healthy::Watch { signs, experiments }) => {
            let is_worn = signs.iter().any(|sign| sign.kind.is_of_wear());
            let replace = is_worn.then_some(Next::PlanReplacement);
            replace
                .into_iter()
                .chain(experiments.iter().map(|&it| Next::of_experiment(it)))
                .collect()
        }
        Some(Healthy::NotKnown { log: LogRead::NotPermitted }) => vec![Next::RunAsRoot],
        _ => Vec::new(),
    }
}

fn of_power(power: Option<&Powered>) -> Option<Next> {
    match power {
        Some(Powered::LowVoltage { .. }) => Some(Next::StrongerSupply),
        Some(Powered::Throttled) => Some(Next::Cool),
        _ => None,
    }
}

fn of_speed(fast: Option<&Fast>, may_be_card: bool) -> Vec<Next> {
    match fast {
        // No quiet computer makes a file or a device larger.
        Some(Fast::Measured { too_small: Some(TargetKind::File), .. }) => vec![Next::LargerFile],
        Some(Fast::Measured { too_small: Some(TargetKind::BlockDevice), .. }) => Vec::new(),
        Some(Fast::Measured { system, disturbed, a1, doubt, .. }) => {
            // A grade is poor only where no disturbance explains it, and poor or fair where one may.
            let is_slow = match system {
                Grade::Poor => true,
                Grade::PoorOrFair => *disturbed == 0,
                _ => false,
            };
            // What forbids a word about the speed is there on a quiet computer as well.
            let again = (*disturbed > 0 && doubt.is_none()).then_some(Next::CheckAgain);
            let faster = match a1 {
                ClassPlace::Passed => Next::FasterStorage,
                _ => Next::FasterCard,
            };
            is_slow.then_some(faster).into_iter().chain(again).collect()
        }
        Some(Fast::NotMeasured { why: Untested::ReadOnly }) => vec![of_read_only(may_be_card)],
        Some(Fast::NotMeasured { why: Untested::Holes }) => vec![Next::NameStorage],
        Some(Fast::NotMeasured { why: Untested::NotPermitted }) => vec![Next::OwnDirectory],
        Some(Fast::NotMeasured { why: Untested::OnlyRead }) => vec![Next::MeasureMounted],
        _ => Vec::new(),
    }
}

fn of_set_up(set_up: Option<&SetUp>) -> Option<Next> {
    match set_up {
        Some(SetUp::CanBeBetter { things }) if things == &[Thing::AccessTimes] => {
            Some(Next::Noatime)
        }
        Some(SetUp::CanBeBetter { .. }) => Some(Next::Tune),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use cardproof_record::WarningCode;

    use super::*;

    fn steps_of(system: Grade, disturbed: usize) -> Vec<Next> {
        steps_beside(system, disturbed, ClassPlace::Undecided)
    }

    fn steps_beside(system: Grade, disturbed: usize, a1: ClassPlace) -> Vec<Next> {
        of_speed(Some(&measured(system, disturbed, a1)), true)
    }

    fn measured(system: Grade, disturbed: usize, a1: ClassPlace) -> Fast {
        Fast::Measured {
            system,
            purposes: Vec::new(),
            a1,
            a2: ClassPlace::Undecided,
            a1_open: None,
            a2_open: None,
            a1_missed: None,
            slow_by: Vec::new(),
            bad_pauses: None,
            felt_pause: None,
            place: None,
            doubt: None,
            disturbed,
            tests: 7,
            is_card: true,
            too_small: None,
        }
    }

    #[test]
    fn only_a_card_is_looked_at_for_a_switch() {
        let read_only = |may_be_card| {
            let why = Untested::ReadOnly;
            let of_real = of_real(Some(&Real::NotTested { why }), may_be_card);
            [of_real, of_speed(Some(&Fast::NotMeasured { why }), may_be_card)].concat()
        };
        assert_eq!(read_only(true), [Next::LookAtSwitch, Next::LookAtSwitch]);
        assert_eq!(read_only(false), [Next::MeasureDirectory, Next::MeasureDirectory]);
        let holes = Fast::NotMeasured { why: Untested::Holes };
        assert_eq!(of_speed(Some(&holes), true), [Next::NameStorage], "an image has no switch");
    }

    #[test]
    fn a_disturbed_check_is_to_be_made_again_whatever_it_found() {
        for system in [Grade::Good, Grade::FairOrGood, Grade::Unknown, Grade::PoorOrFair] {
            assert_eq!(steps_of(system, 1), [Next::CheckAgain], "{system:?}");
        }
        // No disturbance explains this one.
        assert_eq!(steps_of(Grade::Poor, 7), [Next::FasterCard, Next::CheckAgain]);
        assert_eq!(steps_of(Grade::PoorOrFair, 0), [Next::FasterCard]);
        assert_eq!(steps_of(Grade::Good, 0), []);
    }

    /// A remedy that the target does not allow is not given.
    #[test]
    fn what_is_too_small_is_not_to_be_measured_again_as_it_is() {
        let small = |kind| {
            let mut fast = measured(Grade::Unknown, 3, ClassPlace::NotTestable);
            if let Fast::Measured { too_small, .. } = &mut fast {
                *too_small = Some(kind);
            }
            of_speed(Some(&fast), false)
        };
        assert_eq!(small(TargetKind::File), [Next::LargerFile]);
        assert_eq!(small(TargetKind::BlockDevice), []);
        // A slow card in a directory gets no further while others use it.
        assert_eq!(small(TargetKind::Directory), [Next::CheckAgain]);
    }

    #[test]
    fn a_quiet_computer_does_not_help_where_the_figures_are_not_those_of_the_storage() {
        let mut fast = measured(Grade::Unknown, 3, ClassPlace::NotTestable);
        if let Fast::Measured { doubt, .. } = &mut fast {
            *doubt = Some(WarningCode::CopyOnWrite);
        }
        assert_eq!(of_speed(Some(&fast), false), []);
    }

    #[test]
    fn a_slow_card_that_passes_a1_is_not_sent_for_one_that_does() {
        let steps = |a1| steps_beside(Grade::Poor, 0, a1);
        assert_eq!(steps(ClassPlace::Passed), [Next::FasterStorage]);
        assert_eq!(steps(ClassPlace::Failed), [Next::FasterCard]);
    }

    #[test]
    fn bad_storage_is_not_to_be_tuned_or_bought_again_for_its_speed() {
        let answer = |overall, healthy| Answer {
            overall: Some(overall),
            defect: None,
            real: None,
            real_found_on: None,
            failure: None,
            healthy,
            fast: Some(Fast::NotMeasured { why: Untested::Holes }),
            set_up: Some(SetUp::CanBeBetter { things: vec![Thing::Scheduler, Thing::ReadAhead] }),
            power: None,
            may_be_card: true,
            next: Vec::new(),
        };
        let failing = |experiments| Some(Healthy::CopyNow { signs: Vec::new(), experiments });
        for (overall, healthy, wanted) in [
            (Overall::Fake, None, vec![Next::CopyData, Next::ReturnIt]),
            (Overall::Damaged, None, vec![Next::CopyData, Next::ReplaceIt]),
            (Overall::LosesData, None, vec![Next::CopyData, Next::VerifyByWriting]),
            (Overall::Failing, failing(vec![]), vec![Next::CopyData, Next::ReplaceIt]),
            (
                Overall::Failing,
                failing(vec![Experiment::SwapReader]),
                vec![Next::CopyData, Next::SwapReader],
            ),
        ] {
            assert_eq!(steps(&answer(overall, healthy)), wanted, "{overall:?}");
        }
        // No test writes over what a failing one still holds.
        let real = Some(Real::NotTested { why: Untested::OnlyRead });
        let only_read = Answer { real, ..answer(Overall::Failing, failing(vec![])) };
        assert_eq!(steps(&only_read), [Next::CopyData, Next::ReplaceIt]);
        // One that is not bad is tuned.
        let slow = steps(&answer(Overall::WatchIt, None));
        assert!(slow.contains(&Next::Tune), "{slow:?}");
        // What is sound so far is tested further when the rest is done, by a test that can say more.
        let (tested, of) = (Bytes::gib(1), Bytes::gib(8));
        for (real, last) in [
            (Real::SoFar { tested, of }, Next::VerifyFull),
            (Real::TooSmall { tested, of }, Next::MoveFiles(Bytes::gib(2))),
        ] {
            let sound = Answer { real: Some(real), ..answer(Overall::WatchIt, None) };
            assert_eq!(steps(&sound), [slow.clone(), vec![last]].concat(), "{sound:?}");
        }
    }
}
