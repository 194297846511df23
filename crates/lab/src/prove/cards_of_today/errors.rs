//! Errors of simulated figures, in percent.

/// A fitted figure may be off by so many percent.
pub(super) const FITTED_MAX: f64 = 10.0;

/// One that had no part in the fit may be off by so many percent.
pub(super) const HELD_OUT_MAX: f64 = 15.0;

/// A published figure and the simulated one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) published: f64,
    pub(super) simulated: f64,
    pub(super) is_fitted: bool,
}

impl Pair {
    /// By how much the simulated figure is off, in percent of the published one.
    pub(super) fn error(&self) -> f64 {
        100.0 * (self.simulated / self.published - 1.0)
    }

    /// The most that it may be off.
    const fn limit(&self) -> f64 {
        if self.is_fitted { FITTED_MAX } else { HELD_OUT_MAX }
    }

    /// Whether it is off by more than it may.
    pub(super) fn misses(&self) -> bool {
        self.error().abs() > self.limit()
    }

    /// Both figures and the error, in bold where it is more than it may be.
    pub(super) fn shown(&self) -> String {
        let Self { published, simulated, .. } = self;
        let digits = usize::from(*published < 100.0);
        let error = format!("{:+.1} %", self.error());
        let error = if self.misses() { format!("**{error}**") } else { error };
        format!("{published:.digits$} / {simulated:.digits$} ({error})")
    }
}

/// Errors without their sign.
#[derive(Clone, Debug, Default)]
pub(super) struct Errors(Vec<f64>);

impl Errors {
    /// Those of the fitted ones among `pairs`, or of the others.
    pub(super) fn of<'p>(pairs: impl IntoIterator<Item = &'p Pair>, are_fitted: bool) -> Self {
        let wanted = pairs.into_iter().filter(|pair| pair.is_fitted == are_fitted);
        let mut errors: Vec<f64> = wanted.map(|pair| pair.error().abs()).collect();
        errors.sort_by(f64::total_cmp);
        Self(errors)
    }

    pub(super) fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(0.0)
    }

    /// Median and worst, as two cells of a table.
    pub(super) fn cells(&self) -> String {
        match self.0.last() {
            Some(worst) => format!("{:.1} % | {worst:.1} %", self.median()),
            None => "- | -".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_misses_by_the_limit_of_its_kind() {
        let pair = |simulated, is_fitted| Pair { published: 50.0, simulated, is_fitted };
        assert_eq!(pair(56.0, true).shown(), "50.0 / 56.0 (**+12.0 %**)");
        assert_eq!(pair(56.0, false).shown(), "50.0 / 56.0 (+12.0 %)");
        let pairs = [pair(51.0, true), pair(45.0, true), pair(50.5, true), pair(80.0, false)];
        assert_eq!(Errors::of(&pairs, true).cells(), "2.0 % | 10.0 %");
        assert_eq!(Errors::of(&pairs, false).cells(), "60.0 % | 60.0 %");
    }
}
