//! The live screen's picture of a window, for any size of terminal: what limits comes first,
//! since that is what is asked; what does not fit is left out from below.

use cardproof_rating::wording::whole_percent as percent;
use cardproof_rating::words::limits::in_words;
use cardproof_record::Limit;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, RenderDirection, Sparkline, Wrap};

use super::columns::{DEVICE_HEADINGS, device_row, system};
use super::history::{History, Series};
use super::source::Sample;

/// The columns before a curve: its name and its newest value.
const LABEL_COLUMNS: u16 = 24;

/// The words on what limits get at least this many lines, so that the picture below seldom moves.
const WORDS_LINES: u16 = 4;

/// All that is on the screen.
pub(super) struct View<'watch> {
    /// The last window; none before the first has ended.
    pub(super) sample: Option<&'watch Sample>,
    pub(super) history: &'watch History,
    /// How long a window is, in words.
    pub(super) interval: String,
    /// Whether colour is wanted.
    pub(super) has_colour: bool,
}

/// One curve with its name, its value in words, and what a full height means.
type Curve<'watch> = (&'static str, &'watch Series, String, Option<f64>);

impl View<'_> {
    /// Draws it.
    pub(super) fn draw(&self, frame: &mut Frame<'_>) {
        // A serial line tells a terminal of no rows.
        if frame.area().is_empty() {
            return;
        }
        let devices = self.sample.map_or(0, |sample| sample.activity.devices.len());
        let [title, words, table, curves, facts_area] = Layout::vertical([
            Constraint::Length(2),
            Constraint::Length(self.words_lines(frame.area().width) + 1),
            Constraint::Length(u16::try_from(devices + 2).unwrap_or(u16::MAX)),
            Constraint::Length(self.curves().len() as u16 + 1),
            Constraint::Fill(1),
        ])
        .areas(frame.area());
        let heading = format!("cardproof watch, every {}", self.interval);
        frame.render_widget(Line::from(vec![heading.bold(), "   q quits".into()]), title);
        let Some(sample) = self.sample else {
            frame.render_widget("Measuring; the first result comes after one interval.", words);
            return;
        };
        self.draw_words(frame, words, sample);
        draw_table(frame, table, sample);
        self.draw_curves(frame, curves);
        let facts: Vec<Line<'_>> = system(&sample.activity).into_iter().map(Line::from).collect();
        frame.render_widget(Paragraph::new(facts).wrap(Wrap { trim: true }), facts_area);
    }

    /// The lines that the words on what limits take at a width: all of them, on a narrow display too.
    fn words_lines(&self, width: u16) -> u16 {
        let words = self.sample.map_or(String::new(), |sample| in_words(&sample.limited_by));
        let lines = cardproof_report::wrapped(&words, width).lines().count();
        u16::try_from(lines).unwrap_or(u16::MAX).max(WORDS_LINES)
    }

    fn draw_words(&self, frame: &mut Frame<'_>, area: Rect, sample: &Sample) {
        let style = if self.has_colour { style_of(sample.limited_by.limit) } else { Style::new() };
        let words = Paragraph::new(in_words(&sample.limited_by)).style(style.bold());
        frame.render_widget(words.wrap(Wrap { trim: true }), area);
    }

    fn curves(&self) -> Vec<Curve<'_>> {
        let history = self.history;
        let mb = |series: &Series| format!("{:.2} MB/s", series.last() / 1e6);
        let share = |series: &Series| percent(series.last());
        let mut curves = vec![
            ("read", &history.read, mb(&history.read), None),
            ("written", &history.written, mb(&history.written), None),
            ("device busy", &history.busiest, share(&history.busiest), Some(1.0)),
            ("programs wait", &history.waiting, share(&history.waiting), Some(1.0)),
            ("processors", &history.cpu, share(&history.cpu), Some(1.0)),
        ];
        if let Some(temperature) = &history.temperature {
            let celsius = format!("{:.0} °C", temperature.last());
            curves.push(("temperature", temperature, celsius, Some(100.0)));
        }
        curves
    }

    fn draw_curves(&self, frame: &mut Frame<'_>, area: Rect) {
        for (row, (name, series, value, full)) in (0..).zip(self.curves()) {
            if row >= area.height {
                return;
            }
            let line = Rect { y: area.y + row, height: 1, ..area };
            let [label, curve] =
                Layout::horizontal([Constraint::Length(LABEL_COLUMNS), Constraint::Fill(1)])
                    .areas(line);
            frame.render_widget(format!("{name:<12}{value:>11}"), label);
            let mut heights = series.heights(usize::from(curve.width), full);
            heights.reverse();
            let sparkline = Sparkline::default()
                .data(heights)
                .max(1000)
                .direction(RenderDirection::RightToLeft);
            frame.render_widget(sparkline, curve);
        }
    }
}

fn draw_table(frame: &mut Frame<'_>, area: Rect, sample: &Sample) {
    let heading = Line::from(DEVICE_HEADINGS).bold();
    let rows = sample.activity.devices.iter().map(|device| Line::from(device_row(device)));
    let lines: Vec<Line<'_>> = std::iter::once(heading).chain(rows).collect();
    frame.render_widget(Text::from(lines), area);
}

/// Colour repeats what the words say, and says nothing by itself.
const fn style_of(limit: Limit) -> Style {
    match limit {
        Limit::Nothing | Limit::Elsewhere | Limit::Unknown => Style::new(),
        Limit::Heat | Limit::Power | Limit::MemoryPressure => Style::new().fg(Color::Red),
        _ => Style::new().fg(Color::Yellow),
    }
}

#[cfg(test)]
mod tests {
    use cardproof_rating::words::limits::limited_now;
    use cardproof_record::{
        Activity, Climate, CpuActivity, DeviceActivity, MemoryActivity, Pressure, Requests,
    };
    use cardproof_units::{Bytes, Iops, Nanos, Throughput};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    /// A card that is waited for, with `writes` a second.
    fn sample(writes: u64) -> Sample {
        let bytes = Bytes::kib(4) * writes;
        let card = DeviceActivity {
            name: "mmcblk0".to_owned(),
            writes: Requests {
                count: writes,
                bytes,
                per_s: Iops(writes as f64),
                bytes_per_s: Throughput(bytes.as_f64()),
                await_ns: Some(Nanos::from_millis(30)),
                ..Requests::default()
            },
            queue: 1.0,
            utilisation: 0.98,
            ..DeviceActivity::default()
        };
        let activity = Activity {
            window_ns: Nanos::from_secs(1),
            devices: vec![card],
            cpu: Some(CpuActivity {
                cpus: 4,
                user: 0.02,
                iowait: 0.24,
                idle: 0.74,
                busiest: 0.05,
                ..CpuActivity::default()
            }),
            pressure: Pressure { io_some: Some(0.97), ..Pressure::default() },
            memory: Some(MemoryActivity {
                total_bytes: Bytes::mib(512),
                available_bytes: Bytes::mib(300),
                ..MemoryActivity::default()
            }),
            climate: Climate {
                temperature_celsius: Some(61.3),
                clock_hz: Some(1_500_000_000),
                clock_max_hz: Some(1_800_000_000),
                under_voltage: Some(false),
                ..Climate::default()
            },
        };
        let limited_by = limited_now(&activity, &|_| None);
        Sample { time: "2026-11-21T10:00:00.000Z".to_owned(), activity, limited_by }
    }

    fn drawn(columns: u16, lines: u16) -> String {
        terminal(columns, lines).backend().to_string()
    }

    fn terminal(columns: u16, lines: u16) -> Terminal<TestBackend> {
        let mut history = History::default();
        for writes in [5, 10, 20, 33] {
            history.push(&sample(writes).activity);
        }
        let last = sample(33);
        let view = View {
            sample: Some(&last),
            history: &history,
            interval: "1s".to_owned(),
            has_colour: false,
        };
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
        terminal.draw(|frame| view.draw(frame)).unwrap();
        terminal
    }

    #[test]
    fn a_terminal_of_80_by_24_shows_all() {
        insta::assert_snapshot!(drawn(80, 24));
    }

    #[test]
    fn a_terminal_of_40_columns_shows_the_whole_sentence() {
        let words = in_words(&sample(33).limited_by);
        let picture = drawn(40, 24).replace('"', " ");
        let shown = picture.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(&words), "no {words} in {picture}");
    }

    /// A serial line tells of no rows and no columns.
    #[test]
    fn a_terminal_without_rows_or_columns_is_left_as_it_is() {
        for (columns, lines) in [(80, 0), (0, 24), (0, 0)] {
            assert!(terminal(columns, lines).backend().buffer().content().is_empty());
        }
    }

    /// The words come first, so that they are there on the smallest display.
    #[test]
    fn a_tiny_terminal_shows_what_limits() {
        let picture = drawn(40, 6);
        assert!(picture.contains("Limited by small writes"), "{picture}");
    }
}
