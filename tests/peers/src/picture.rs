//! Time against size, log–log, from lines that `peers bench --json` printed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use plotters::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Line {
    case: String,
    peer: String,
    ours_cpu_ms: Option<f64>,
    peer_cpu_ms: Option<f64>,
}

/// Partitions and CPU ms.
type Points = Vec<(f64, f64)>;

/// What a case ends with, and what that is called.
const PANELS: [(&str, &str); 2] = [
    ("identical, one leaves", "identical subscriptions, one member leaves"),
    ("p = 0.1, fresh", "each member on a tenth of the topics, fresh"),
];
const OURS: &str = "ours";
const SERIES: [(&str, RGBColor); 7] = [
    (OURS, RGBColor(200, 30, 30)),
    ("franz-go", RGBColor(0, 120, 200)),
    ("Java", RGBColor(230, 140, 0)),
    ("Java, cooperative", RGBColor(150, 110, 60)),
    ("Sarama", RGBColor(90, 90, 90)),
    ("kafka-python", RGBColor(40, 150, 60)),
    ("librdkafka, cooperative", RGBColor(130, 70, 170)),
];
const SIZE: (u32, u32) = (1040, 460);

/// Draws the picture that `docs/benchmarks.md` shows.
pub(crate) fn draw(results: &Path, picture: &Path) -> Result<()> {
    let text = fs::read_to_string(results).with_context(|| format!("cannot read {}", results.display()))?;
    let lines = text.lines().filter(|line| line.contains("\"peer\":"));
    let lines: Vec<Line> = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
    let root = SVGBackend::new(picture, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, (ending, title)) in root.split_evenly((1, 2)).iter().zip(PANELS) {
        panel(area, title, &series(&lines, ending)?).map_err(|error| anyhow!("{error}"))?;
    }
    root.present().with_context(|| format!("cannot write {}", picture.display()))
}

fn series(lines: &[Line], ending: &str) -> Result<BTreeMap<String, Points>> {
    let mut series: BTreeMap<String, BTreeMap<u64, f64>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.case.ends_with(ending)) {
        let partitions = line.case.split(' ').next().context("an empty case")?.parse()?;
        let times = [(OURS, line.ours_cpu_ms), (line.peer.as_str(), line.peer_cpu_ms)];
        for (peer, time) in times.into_iter().filter_map(|(peer, time)| Some((peer, time?))) {
            // Of two groups with as many partitions, the one with fewer members comes first.
            series.entry(peer.to_owned()).or_default().entry(partitions).or_insert(time);
        }
    }
    let points =
        |by_size: BTreeMap<u64, f64>| by_size.into_iter().map(|(size, ms)| (size as f64, ms)).collect();
    Ok(series.into_iter().map(|(peer, by_size)| (peer, points(by_size))).collect())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    title: &str,
    series: &BTreeMap<String, Points>,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 17))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(62)
        .build_cartesian_2d((500.0..2e6).log_scale(), (0.01..1e5).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("partitions")
        .y_desc("CPU ms a rebalance")
        .x_label_formatter(&power)
        .y_label_formatter(&power)
        .draw()?;
    for (peer, color) in SERIES {
        let Some(points) = series.get(peer) else { continue };
        let style = color.stroke_width(if peer == OURS { 4 } else { 2 });
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style))?
            .label(peer)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        chart.draw_series(points.iter().map(|point| Circle::new(*point, 4, color.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .label_font(("sans-serif", 14))
        .draw()?;
    Ok(())
}

fn power(value: &f64) -> String {
    if *value >= 1000.0 { format!("{}k", value / 1000.0).replace("000k", "M") } else { value.to_string() }
}
