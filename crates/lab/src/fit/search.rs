//! Levenberg and Marquardt's search for the least sum of squares, on the logarithms of the
//! parameters, so that none can turn negative and all have the same scale.

use anyhow::Result;

/// How far a parameter is moved to see what it does, as a logarithm.
const STEP: f64 = 0.01;

/// The search ends when the worst residual is below this.
const GOOD_ENOUGH: f64 = 2e-4;

const ROUNDS_MAX: usize = 25;

/// The positive parameters near `start` with the least sum of squared `residuals`.
pub(super) fn least_squares(
    start: &[f64],
    residuals: impl Fn(&[f64]) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    let at = |logs: &[f64]| residuals(&logs.iter().map(|log| log.exp()).collect::<Vec<f64>>());
    let mut logs: Vec<f64> = start.iter().map(|value| value.ln()).collect();
    let mut now = at(&logs)?;
    let mut damping = 1e-3;
    for _ in 0..ROUNDS_MAX {
        if now.iter().all(|residual| residual.abs() < GOOD_ENOUGH) {
            break;
        }
        let slopes = slopes(&logs, &now, &at)?;
        let improved = (0..6).find_map(|_| {
            let tried = step(&logs, &slopes, &now, damping)?;
            let residuals = at(&tried).ok()?;
            if cost(&residuals) < cost(&now) {
                damping = f64::max(damping / 10.0, 1e-9);
                return Some((tried, residuals));
            }
            damping *= 10.0;
            None
        });
        match improved {
            Some((better, residuals)) => (logs, now) = (better, residuals),
            None => break,
        }
    }
    Ok(logs.iter().map(|log| log.exp()).collect())
}

fn cost(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}

/// By parameter, then by residual: how fast the residual grows with the parameter's logarithm.
fn slopes(
    logs: &[f64],
    now: &[f64],
    at: &impl Fn(&[f64]) -> Result<Vec<f64>>,
) -> Result<Vec<Vec<f64>>> {
    let mut slopes = Vec::with_capacity(logs.len());
    for parameter in 0..logs.len() {
        let mut moved = logs.to_vec();
        moved[parameter] += STEP;
        let there = at(&moved)?;
        slopes.push(there.iter().zip(now).map(|(there, here)| (there - here) / STEP).collect());
    }
    Ok(slopes)
}

/// The next place: one damped step of Gauss and Newton, at most a factor of two in any parameter.
fn step(logs: &[f64], slopes: &[Vec<f64>], now: &[f64], damping: f64) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut matrix: Vec<Vec<f64>> = slopes
        .iter()
        .enumerate()
        .map(|(row, slope)| {
            let mut line: Vec<f64> = slopes.iter().map(|other| dot(slope, other)).collect();
            line[row] += damping * (line[row] + 1e-6);
            line.push(-dot(slope, now));
            line
        })
        .collect();
    let change = solve(&mut matrix)?;
    Some(logs.iter().zip(change).map(|(log, change)| log + change.clamp(-0.7, 0.7)).collect())
}

/// Gauss's elimination with pivots on a matrix with its right side as the last column.
fn solve(matrix: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let size = matrix.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-15 {
            return None;
        }
        matrix.swap(column, pivot);
        let line = matrix[column].clone();
        for row in (0..size).filter(|&row| row != column) {
            let factor = matrix[row][column] / line[column];
            for (value, from) in matrix[row].iter_mut().zip(&line) {
                *value -= factor * from;
            }
        }
    }
    Some((0..size).map(|row| matrix[row][size] / matrix[row][row]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_found_again() {
        let times = [1.0, 2.0, 3.0, 5.0, 8.0];
        let curve = |p: &[f64], t: f64| p[0] * (-t / p[1]).exp() + p[2];
        let truth = [7.0, 2.5, 0.4];
        let residuals =
            |p: &[f64]| Ok(times.iter().map(|&t| (curve(p, t) / curve(&truth, t)).ln()).collect());
        let found = least_squares(&[1.0, 1.0, 1.0], residuals).unwrap();
        for (found, truth) in found.iter().zip(truth) {
            assert!((found / truth - 1.0).abs() < 0.01, "{found} is not {truth}");
        }
    }

    #[test]
    fn an_impossible_system_has_no_answer() {
        assert_eq!(solve(&mut [vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 7.0]]), None);
    }
}
