//! Charts: lines and points on two axes, with a legend.

use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;

/// A line with a mark at each point.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in the order of x.
    pub points: Vec<(f64, f64)>,
    /// Its style.
    pub style: Style,
}

/// The style of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Ours: a line in a colour of this number, with round marks.
    Ours(usize),
    /// The paper's, or a baseline: a thin line in a grey of this number, with crosses.
    Theirs(usize),
    /// The paper's, where ours coincides with it: black crosses without a line.
    Points,
    /// An ideal: a thin black line without marks.
    Ideal,
}

/// The corner of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Legend {
    /// Above to the left.
    UpperLeft,
    /// Above to the right.
    UpperRight,
}

/// A chart.
#[derive(Debug, Clone)]
pub struct Chart<'a> {
    /// Its title.
    pub title: &'a str,
    /// The label of the x axis.
    pub x: &'a str,
    /// The label of the y axis.
    pub y: &'a str,
    /// Whether both axes are logarithmic.
    pub log: bool,
    /// The corner of the legend.
    pub legend: Legend,
    /// The series to draw.
    pub series: Vec<Series>,
}

impl Chart<'_> {
    /// The chart as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut out = String::new();
        {
            let area = SVGBackend::with_string(&mut out, SIZE).into_drawing_area();
            self.draw(&area).expect("drawing into a string does not fail");
            area.present().expect("drawing into a string does not fail");
        }
        out
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        area.fill(&WHITE)?;
        let all = || self.series.iter().flat_map(|s| s.points.iter().copied());
        let most = |pick: fn((f64, f64)) -> f64| all().map(pick).fold(f64::MIN, f64::max);
        let least = |pick: fn((f64, f64)) -> f64| all().map(pick).fold(f64::MAX, f64::min);
        let (x_max, y_max) = (most(|p| p.0), most(|p| p.1));
        let mut builder = ChartBuilder::on(area);
        builder.caption(self.title, ("sans-serif", 22)).margin(16).x_label_area_size(46).y_label_area_size(70);
        if self.log {
            let (x_min, y_min) = (least(|p| p.0), least(|p| p.1));
            let (x, y) = ((x_min * 0.9..x_max * 1.1).log_scale(), (y_min * 0.6..y_max * 3.0).log_scale());
            self.plot(&mut builder.build_cartesian_2d(x, y)?)
        } else {
            self.plot(&mut builder.build_cartesian_2d(0.0..x_max * 1.03, 0.0..y_max * 1.15)?)
        }
    }

    fn plot<'a, X, Y>(&self, chart: &mut ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>) -> Drawn
    where
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let number = |v: &f64| if *v >= 1000.0 { format!("{v:.0}") } else { format!("{}", (*v * 1e4).round() / 1e4) };
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 16))
            .light_line_style(WHITE)
            .draw()?;
        for s in &self.series {
            let (color, width) = s.style.look();
            if s.style == Style::Points {
                let marks = s.points.iter().map(|p| Cross::new(*p, 6, color.stroke_width(width)));
                chart
                    .draw_series(marks)?
                    .label(&s.name)
                    .legend(move |(x, y)| Cross::new((x + 11, y), 5, color.stroke_width(width)));
                continue;
            }
            chart
                .draw_series(LineSeries::new(s.points.iter().copied(), color.stroke_width(width)))?
                .label(&s.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], color.stroke_width(width + 1)));
            match s.style {
                Style::Ours(_) => {
                    chart.draw_series(s.points.iter().map(|p| Circle::new(*p, 4, color.filled())))?;
                }
                Style::Theirs(_) => {
                    chart.draw_series(s.points.iter().map(|p| Cross::new(*p, 5, color.stroke_width(2))))?;
                }
                Style::Points | Style::Ideal => {}
            }
        }
        chart
            .configure_series_labels()
            .position(self.legend.position())
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 14))
            .draw()?;
        Ok(())
    }
}

impl Style {
    /// Colour and width of the line.
    fn look(self) -> (RGBColor, u32) {
        match self {
            Self::Ours(i) => (OURS[i % OURS.len()], 2),
            Self::Theirs(i) => (THEIRS[i % THEIRS.len()], 1),
            Self::Points => (BLACK, 2),
            Self::Ideal => (BLACK, 1),
        }
    }
}

impl Legend {
    const fn position(self) -> SeriesLabelPosition {
        match self {
            Self::UpperLeft => SeriesLabelPosition::UpperLeft,
            Self::UpperRight => SeriesLabelPosition::UpperRight,
        }
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

const SIZE: (u32, u32) = (860, 560);
/// Colours that are distinct with any kind of colour blindness (Okabe and Ito).
const OURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
/// Greys for the figures of others.
const THEIRS: [RGBColor; 3] = [RGBColor(100, 100, 100), RGBColor(150, 110, 40), RGBColor(150, 150, 150)];
