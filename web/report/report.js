// Draws the charts of a report with uPlot where the page carries it; else the still pictures stay.
(() => {
  "use strict";
  if (typeof uPlot === "undefined") {
    return;
  }
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const kHeight = 300;
  const kColours = 8;
  const kDashes = [[], [7, 4], [2, 3]];

  const colourOf = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // A value as the legend shows it.
  const shown = (value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(4)).toString());

  // The ends that the chart names, else a little more than the values'.
  const ends = (axis) => (_, low, high) => {
    if (!Number.isFinite(low) || !Number.isFinite(high)) {
      return [axis.low ?? 0, axis.high ?? 1];
    }
    const room = (high - low || Math.abs(high) || 1) * 0.04;
    return [axis.low ?? low - room, axis.high ?? high + room];
  };

  const seriesOf = (series) => {
    const colour = colourOf(`--c${series.look % kColours}`);
    const common = { label: series.name, stroke: colour, width: 1.8, spanGaps: true, points: { show: false }, value: (_, value) => shown(value) };
    switch (series.mark) {
      case "guide":
        return { ...common, stroke: colourOf("--soft"), width: 1, dash: [4, 4] };
      case "steps":
        return { ...common, fill: `${colour}40`, paths: uPlot.paths.stepped({ align: 1 }) };
      case "dots":
        return { ...common, points: { show: true, size: 7, fill: colour } };
      default:
        return { ...common, dash: kDashes[Math.floor(series.look / kColours) % kDashes.length] };
    }
  };

  const axisOf = (axis, side) => ({
    label: axis.label,
    labelSize: 22,
    labelFont: "12px system-ui, sans-serif",
    font: "12px system-ui, sans-serif",
    stroke: colourOf("--ink"),
    values: (_, splits) => splits.map((value) => Number(value.toPrecision(6)).toString()),
    grid: { stroke: colourOf("--line"), width: 1 },
    ticks: { stroke: colourOf("--line"), width: 1 },
    size: side === "y" ? 54 : 34,
  });

  const draw = (figure, spec) => {
    const holder = figure.querySelector(".live");
    holder.replaceChildren();
    figure.classList.add("drawn");
    const options = {
      width: holder.clientWidth,
      height: kHeight,
      scales: { x: { time: false, range: ends({ low: spec.x[0], high: spec.x[spec.x.length - 1], ...spec.x_axis }) }, y: { range: ends(spec.y_axis) } },
      axes: [axisOf(spec.x_axis, "x"), axisOf(spec.y_axis, "y")],
      series: [{ label: spec.x_axis.label, value: (_, value) => shown(value) }, ...spec.series.map(seriesOf)],
      cursor: { drag: { x: true, y: false } },
    };
    return new uPlot(options, [spec.x, ...spec.series.map((series) => series.y)], holder);
  };

  const charts = new Map();
  const drawAll = () => {
    for (const [id, spec] of Object.entries(specs)) {
      const figure = document.getElementById(id);
      charts.get(id)?.destroy();
      charts.set(id, draw(figure, spec));
    }
  };
  drawAll();

  // Canvases neither stretch nor know colours by name.
  new ResizeObserver(() => {
    for (const [id, chart] of charts) {
      const width = document.getElementById(id).querySelector(".live").clientWidth;
      if (width > 0 && width !== chart.width) {
        chart.setSize({ width, height: kHeight });
      }
    }
  }).observe(document.querySelector("main"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
