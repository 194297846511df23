//! Pixels, and polygons drawn on them with soft edges.

/// Only what lies inside is drawn, in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clip {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// Lines of samples in a line of pixels.
const SAMPLES: usize = 4;

/// A dot is so many times as wide as a line.
const DOT: f64 = 1.4;

/// White paper.
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Red, green and blue of each pixel, 0 to 255.
    values: Vec<[f32; 3]>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, height, values: vec![[255.0; 3]; width * height] }
    }

    /// Red, green and blue of each pixel, line by line.
    pub(super) fn pixels(&self) -> Vec<u8> {
        self.values.iter().flatten().map(|value| value.round().clamp(0.0, 255.0) as u8).collect()
    }

    /// Fills the `lines`, each closed by itself, with `colour` (0xrrggbb).
    pub(super) fn fill(
        &mut self,
        lines: &[Vec<(f64, f64)>],
        colour: u32,
        opacity: f64,
        clip: Option<Clip>,
    ) {
        let clip = self.around(lines, clip);
        let (left, right) = (clip.left, clip.right);
        let top = clip.top as usize * SAMPLES;
        let bottom = clip.bottom as usize * SAMPLES;
        // Where edges cross each line of samples, and in which direction.
        let mut crossings: Vec<Vec<(f64, i32)>> = vec![Vec::new(); bottom.saturating_sub(top)];
        for line in lines {
            for (at, &from) in line.iter().enumerate() {
                let to = line[(at + 1) % line.len()];
                cross(&mut crossings, top, from, to);
            }
        }
        let mut row = vec![0.0_f32; (right - left).max(0.0) as usize];
        for (index, crossings) in crossings.iter_mut().enumerate() {
            crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut winding = 0;
            for pair in 0..crossings.len().saturating_sub(1) {
                winding += crossings[pair].1;
                if winding != 0 {
                    let ends = [crossings[pair].0, crossings[pair + 1].0];
                    cover(&mut row, ends.map(|end| end.clamp(left, right) - left));
                }
            }
            if (index + 1) % SAMPLES == 0 {
                let start = (top + index) / SAMPLES * self.width + left as usize;
                self.blend(start, &mut row, colour, opacity);
            }
        }
    }

    /// The whole pixels in which `lines` can leave ink, on the canvas and within `clip`.
    fn around(&self, lines: &[Vec<(f64, f64)>], clip: Option<Clip>) -> Clip {
        let (width, height) = (self.width as f64, self.height as f64);
        let clip = clip.unwrap_or(Clip { left: 0.0, top: 0.0, right: width, bottom: height });
        let places = || lines.iter().flatten();
        let least = |of: fn(&(f64, f64)) -> f64| places().map(of).fold(f64::INFINITY, f64::min);
        let most = |of: fn(&(f64, f64)) -> f64| places().map(of).fold(0.0, f64::max);
        let left = least(|place| place.0).max(clip.left).floor().clamp(0.0, width);
        let top = least(|place| place.1).max(clip.top).floor().clamp(0.0, height);
        Clip {
            left,
            top,
            right: most(|place| place.0).min(clip.right).ceil().clamp(left, width),
            bottom: most(|place| place.1).min(clip.bottom).ceil().clamp(top, height),
        }
    }

    /// Draws `lines` with round ends and joints in `colour` (0xrrggbb).
    pub(super) fn stroke(
        &mut self,
        lines: &[Vec<(f64, f64)>],
        width: f64,
        colour: u32,
        opacity: f64,
        clip: Option<Clip>,
    ) {
        let mut shapes = Vec::new();
        let half = width / 2.0;
        for line in lines {
            if let [dot] = line.as_slice() {
                shapes.push(super::disc(*dot, DOT * half));
                continue;
            }
            for pair in line.windows(2) {
                shapes.extend(segment(pair[0], pair[1], half));
            }
            // Joints; a straight line needs none.
            let joints = line.get(1..line.len().saturating_sub(1)).unwrap_or_default();
            shapes.extend(joints.iter().map(|joint| super::disc(*joint, half)));
        }
        self.fill(&shapes, colour, opacity, clip);
    }

    /// Puts `colour` on the pixels from `start` on as far as each is covered, and clears `row`.
    fn blend(&mut self, start: usize, row: &mut [f32], colour: u32, opacity: f64) {
        let [_, inks @ ..] = colour.to_be_bytes();
        let pixels = &mut self.values[start..start + row.len()];
        for (pixel, cover) in pixels.iter_mut().zip(row) {
            let share = (*cover / SAMPLES as f32).min(1.0) * opacity as f32;
            *cover = 0.0;
            if share > 0.0 {
                for (value, ink) in pixel.iter_mut().zip(inks) {
                    *value += share * (f32::from(ink) - *value);
                }
            }
        }
    }
}

/// Notes where the edge from `from` to `to` crosses the lines of samples from `top` on.
fn cross(crossings: &mut [Vec<(f64, i32)>], top: usize, from: (f64, f64), to: (f64, f64)) {
    let (upper, lower, direction) = if from.1 <= to.1 { (from, to, 1) } else { (to, from, -1) };
    // Samples lie in the middle of their lines.
    let index = |y: f64| (y * SAMPLES as f64 - 0.5 - top as f64).ceil().max(0.0) as usize;
    let (first, last) = (index(upper.1), index(lower.1).min(crossings.len()));
    for (number, line) in crossings.iter_mut().enumerate().take(last).skip(first) {
        let y = ((number + top) as f64 + 0.5) / SAMPLES as f64;
        let share = (y - upper.1) / (lower.1 - upper.1);
        line.push((upper.0 + share * (lower.0 - upper.0), direction));
    }
}

/// Adds to `row` what the stretch between the `ends` covers of each pixel.
fn cover(row: &mut [f32], [from, to]: [f64; 2]) {
    if to <= from {
        return;
    }
    let (first, last) = (from.floor() as usize, to.ceil() as usize);
    for (at, cover) in row.iter_mut().enumerate().take(last).skip(first) {
        let share = to.min(at as f64 + 1.0) - from.max(at as f64);
        *cover += share as f32;
    }
}

/// The rectangle around a straight line, turned like a disc so that both add up.
fn segment(from: (f64, f64), to: (f64, f64), half: f64) -> Option<Vec<(f64, f64)>> {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let length = x.hypot(y);
    if length == 0.0 {
        return None;
    }
    let (across, up) = (-y / length * half, x / length * half);
    Some(vec![
        (from.0 - across, from.1 - up),
        (to.0 - across, to.1 - up),
        (to.0 + across, to.1 + up),
        (from.0 + across, from.1 + up),
    ])
}
