//! Bar charts on a logarithmic scale, as SVG for light and dark themes.

use std::fmt::Write;

pub(super) struct Chart<'a> {
    pub(super) title: &'a str,
    /// Description, shown below the title and as alternative text.
    pub(super) description: &'a str,
    pub(super) bars: Vec<Bar>,
}

pub(super) struct Bar {
    pub(super) label: String,
    pub(super) value: f64,
    /// Value beside the bar.
    pub(super) figure: String,
    pub(super) is_ours: bool,
}

const WIDTH: f64 = 820.0;
/// Left edge of the bars: the longest label fits before it.
const LEFT: f64 = 232.0;
/// Space for the figure beside the longest bar.
const RIGHT: f64 = 132.0;
const TOP: f64 = 74.0;
const ROW: f64 = 30.0;
const BAR: f64 = 18.0;

const STYLE: &str = "
  svg { --ink: #1f2328; --quiet: #59636e; --line: #d1d9e0; --bar: #8c959f; --ours: #0969da; --ground: #ffffff }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #f0f6fc; --quiet: #9198a1; --line: #3d444d; --bar: #656c76; --ours: #4493f8; --ground: #0d1117 }
  }
  text { font: 14px system-ui, sans-serif; fill: var(--ink); stroke: var(--ground); stroke-width: 4px; paint-order: stroke }
  .ground { fill: var(--ground) } .title { font-size: 17px; font-weight: 600 } .quiet { fill: var(--quiet); font-size: 12px }
  .line { stroke: var(--line) } .bar { fill: var(--bar) } .ours { fill: var(--ours) } .our { font-weight: 600 }
";

impl Chart<'_> {
    /// Returns `None` if there is nothing to compare.
    pub(super) fn svg(&self) -> Option<String> {
        let values = || self.bars.iter().map(|bar| bar.value).filter(|value| *value > 0.0);
        let least = values().reduce(f64::min)?;
        let most = values().reduce(f64::max)?;
        // Half a decade below the least, so that its bar is visible; whole decades are marked.
        let (from, to) = (least.log10() - 0.5, most.log10().max(least.log10() + 0.5));
        let x = |value: f64| LEFT + (value.log10() - from) / (to - from) * (WIDTH - LEFT - RIGHT);
        let height = TOP + ROW * self.bars.len() as f64 + 10.0;
        let (title, description) = (escaped(self.title), escaped(self.description));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"title description\">\n\
             <title id=\"title\">{title}</title>\n<desc id=\"description\">{description}</desc>\n\
             <style>{STYLE}</style>\n\
             <rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>\n\
             <text class=\"title\" x=\"16\" y=\"30\">{title}</text>\n\
             <text class=\"quiet\" x=\"16\" y=\"52\">{description}</text>\n"
        );
        for decade in from.ceil() as i32..=to.floor() as i32 {
            let at = x(10f64.powi(decade));
            let (from, to) = (TOP - 8.0, height - 8.0);
            let _ = writeln!(svg, "<line class=\"line\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{from}\" y2=\"{to}\"/>");
        }
        for (index, bar) in self.bars.iter().enumerate() {
            bar.draw(&mut svg, TOP + ROW * index as f64, x(bar.value.max(least)));
        }
        svg.push_str("</svg>\n");
        Some(svg)
    }
}

impl Bar {
    fn draw(&self, svg: &mut String, top: f64, end: f64) {
        let (bar, text) = if self.is_ours { ("ours", " class=\"our\"") } else { ("bar", "") };
        let (label, figure) = (escaped(&self.label), escaped(&self.figure));
        let (width, base) = (end - LEFT, top + BAR - 4.0);
        let _ = writeln!(
            svg,
            "<text{text} x=\"{}\" y=\"{base}\" text-anchor=\"end\">{label}</text>\n\
             <rect class=\"{bar}\" x=\"{LEFT}\" y=\"{top}\" width=\"{width:.1}\" height=\"{BAR}\" rx=\"3\"/>\n\
             <text{text} x=\"{:.1}\" y=\"{base}\">{figure}</text>",
            LEFT - 10.0,
            end + 8.0
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::{Bar, Chart};

    fn chart(values: &[f64]) -> Option<String> {
        let bar = |value: &f64| Bar { label: "a<b".into(), value: *value, figure: "f".into(), is_ours: *value == 1.0 };
        Chart { title: "T & t", description: "d", bars: values.iter().map(bar).collect() }.svg()
    }

    #[test]
    fn bar_length_is_logarithmic() {
        let svg = chart(&[1.0, 10.0, 100.0]).expect("there are bars");
        let widths: Vec<f64> = svg
            .split("height=\"18\"")
            .filter_map(|part| part.rsplit_once("width=\"")?.1.split('"').next()?.parse().ok())
            .take(3)
            .collect();
        let [one, ten, hundred] = widths[..] else { panic!("{svg}") };
        assert!(one > 0.0 && ((hundred - ten) - (ten - one)).abs() < 0.2 && ten - one > 1.9 * one, "{widths:?}");
        assert_eq!(svg.matches("class=\"ours\"").count(), 1);
        assert!(svg.contains("a&lt;b") && svg.contains("T &amp; t") && svg.contains("role=\"img\""));
    }

    #[test]
    fn no_chart_without_comparison() {
        assert!(chart(&[]).is_none());
        assert!(chart(&[0.0]).is_none());
        assert!(chart(&[3.0]).is_some());
    }
}
