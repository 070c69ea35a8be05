// SPDX-License-Identifier: Apache-2.0
//
// Charts over time in SVG: stacked areas and lines, with axes, units, a legend that is a table, and
// a cursor for pointer and keyboard. Drawn to the pixel width that there is, so text never scales.
"use strict";

const CHART_HEIGHT = 196;
const MARGIN = {top: 10, right: 10, bottom: 24, left: 52};

/** Round steps for an axis up to `most`, about `count` of them: [0, step, …]. */
function linearTicks(most, count) {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const ticks = [];
  for (let tick = 0; tick <= most * 1.0001; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}

/** Powers of ten between two of them; with 2 and 5 between those when they are few. */
function logarithmicTicks(least, most) {
  const first = Math.round(Math.log10(least));
  const last = Math.round(Math.log10(most));
  const factors = last - first > 2 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = first; power < last; power += 1) {
    ticks.push(...factors.map((factor) => factor * 10 ** power));
  }
  return [...ticks, 10 ** last];
}

/** Round minutes between two times, so far apart that their labels do not touch. */
function timeTicks(from, to, width) {
  // A label has some 30 pixels; a narrow chart has them close, rather than none.
  const room = Math.max(2, width / (width < 300 ? 38 : 70));
  const minutes = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720];
  const step = minutes.map((count) => count * MINUTE)
    .find((size) => (to - from) / size <= room) ?? DAY;
  // Steps of hours begin at midnight where the reader is.
  const offset = new Date(to).getTimezoneOffset() * MINUTE;
  const ticks = [];
  for (let tick = Math.ceil((from - offset) / step) * step + offset; tick <= to; tick += step) {
    ticks.push(tick);
  }
  return ticks;
}

/**
 * A chart in an element, which keeps its size while it waits for data.
 *
 * `series` are [{name, tone}], in the order of the values of a point. `kind` is "stack" or "line".
 * `unit(most)` says how to write values: {factor, label, format}; `empty(period)` that there are
 * none.
 */
class TimeChart {
  constructor(element, {title, kind, series, unit, empty, isLogarithmic = false}) {
    Object.assign(this, {element, title, kind, series, unit, empty, isLogarithmic});
    this.points = [];
    this.cursorAt = null;
    this.canvas = draw("svg", {
      "class": "canvas", height: CHART_HEIGHT, tabindex: 0, role: "img", "aria-label": title,
      onpointermove: (event) => this.point(event), onpointerleave: () => this.moveTo(null),
      onkeydown: (event) => this.press(event), onblur: () => this.moveTo(null),
    });
    this.readout = make("p", {"class": "readout"});
    this.legend = make("div", {"class": "legend"});
    element.replaceChildren(this.canvas, this.readout, this.legend);
    new ResizeObserver(() => this.paint()).observe(element);
  }

  /** Shows these points; `totals` are numbers for the legend beside the present ones. */
  show(points, now, {totals: sums, totalTitle} = {}) {
    Object.assign(this, {points, now, sums, totalTitle});
    this.paint();
  }

  // MARK: Drawing

  paint() {
    const width = Math.floor(this.element.clientWidth);
    if (width < 80) return;
    this.width = width;
    this.canvas.setAttribute("width", width);
    this.canvas.setAttribute("viewBox", `0 0 ${width} ${CHART_HEIGHT}`);
    const now = this.now ?? session.now();
    const age = this.points.length ? now - this.points[0].at : 0;
    this.from = now - (HISTORY_SPANS.find((span) => age <= span) ?? HISTORY_SPAN);
    this.to = now;
    // A reading a little older than the axis draws the line to its edge.
    const shown = this.points.filter((point) => point.at >= this.from - RATE_SPAN);
    this.shown = shown;
    const values = shown.flatMap((point) => this.kind === "stack"
      ? [point.values.reduce((sum, value) => sum + value, 0)]
      : point.values.filter((value) => value !== null));
    this.scale(values);
    const inner = draw("g", {"clip-path": `url(#${this.clip()})`});
    if (shown.length > 1) inner.append(...(this.kind === "stack" ? this.areas() : this.lines()));
    this.cursorLine = draw("line", {"class": "cursor", visibility: "hidden"});
    this.canvas.replaceChildren(
      draw("defs", {}, draw("clipPath", {id: this.clip()}, draw("rect", {
        x: MARGIN.left, y: 0, width: Math.max(0, width - MARGIN.left - MARGIN.right),
        height: CHART_HEIGHT,
      }))),
      ...this.axes(), inner, this.cursorLine);
    if (shown.length < 2 || values.every((value) => !value)) {
      this.canvas.append(draw("text", {
        "class": "waiting", x: (MARGIN.left + width - MARGIN.right) / 2,
        y: CHART_HEIGHT / 2 - 6, "text-anchor": "middle",
      }, this.emptyWords(age)));
    }
    this.describe();
    this.placeCursor();
  }

  /** Why there is nothing to be seen. */
  emptyWords(age) {
    if (this.points.length < 2) return "Two readings make a chart: a few seconds…";
    return this.empty(age < HISTORY_SPAN
      ? "since the start" : `in the last ${durationWords(HISTORY_SPAN)}`);
  }

  clip() {
    return `${this.element.id}-clip`;
  }

  scale(values) {
    const most = Math.max(0, ...values);
    if (this.isLogarithmic) {
      const positive = values.filter((value) => value > 0);
      const least = positive.length ? Math.min(...positive) : 0.001;
      this.least = 10 ** Math.floor(Math.log10(least));
      this.most = Math.max(10 ** Math.ceil(Math.log10(Math.max(most, 0.01))), this.least * 10);
      this.words = this.unit(this.most);
      this.ticks = logarithmicTicks(this.least, this.most);
      return;
    }
    this.words = this.unit(most);
    const top = most > 0 ? most * this.words.factor : 1;
    const ticks = linearTicks(top * 1.08, 4);
    // An axis that counts whole things has no half ones.
    this.ticks = (this.words.isWhole ? ticks.filter(Number.isInteger) : ticks)
      .map((tick) => tick / this.words.factor);
    this.least = 0;
    this.most = Math.max(top * 1.08, this.words.isWhole ? 1.08 : 0) / this.words.factor;
  }

  x(at) {
    return MARGIN.left
      + (at - this.from) / (this.to - this.from) * (this.width - MARGIN.left - MARGIN.right);
  }

  y(value) {
    const height = CHART_HEIGHT - MARGIN.top - MARGIN.bottom;
    const part = this.isLogarithmic
      ? Math.log10(Math.max(value, this.least) / this.least) / Math.log10(this.most / this.least)
      : value / this.most;
    return CHART_HEIGHT - MARGIN.bottom - part * height;
  }

  axes() {
    const right = this.width - MARGIN.right;
    const bottom = CHART_HEIGHT - MARGIN.bottom;
    const parts = [];
    for (const tick of this.ticks) {
      const y = Math.round(this.y(tick)) + 0.5;
      parts.push(
        draw("line", {"class": "grid", x1: MARGIN.left, x2: right, y1: y, y2: y}),
        draw("text", {"class": "tick", x: MARGIN.left - 7, y: y + 3.5, "text-anchor": "end"},
          this.words.format(tick * this.words.factor)));
    }
    for (const at of timeTicks(this.from, this.to, right - MARGIN.left)) {
      const x = Math.round(this.x(at)) + 0.5;
      if (x > right - 14) continue;
      parts.push(
        draw("line", {"class": "grid faint", x1: x, x2: x, y1: MARGIN.top, y2: bottom}),
        draw("text", {"class": "tick", x, y: CHART_HEIGHT - 7, "text-anchor": "middle"},
          CLOCK.format(at)));
    }
    return parts;
  }

  areas() {
    const base = this.shown.map(() => 0);
    return this.series.map(({tone}, index) => {
      const lower = [...base];
      this.shown.forEach((point, place) => {
        base[place] += point.values[index];
      });
      if (base.every((value, place) => value === lower[place])) return null;
      const forth = this.shown.map((point, place) => this.pair(point.at, base[place]));
      const back = this.shown.map((point, place) => this.pair(point.at, lower[place])).reverse();
      return draw("path", {
        "class": `area tone-${tone}`, d: `M${forth.join("L")}L${back.join("L")}Z`,
      });
    }).filter(Boolean);
  }

  lines() {
    return this.series.map(({tone, dash}, index) => {
      let path = "";
      let isDrawing = false;
      for (const point of this.shown) {
        const value = point.values[index];
        // A point between two that are not there is a dot.
        if (value !== null) path += `${isDrawing ? "L" : "M"}${this.pair(point.at, value)}h0`;
        isDrawing = value !== null;
      }
      return draw("path", {
        "class": `line tone-${tone}`, d: path || "M0 0", "stroke-dasharray": dash,
      });
    });
  }

  pair(at, value) {
    return `${this.x(at).toFixed(1)} ${this.y(value).toFixed(1)}`;
  }

  // MARK: Legend and cursor

  valueWords(value) {
    return value === null || value === undefined
      ? "–" : this.words.format(value * this.words.factor);
  }

  /** The legend: what each colour is, its present value, and its total. */
  describe() {
    const point = this.points.at(-1);
    const order = this.series.map((series, index) => ({...series, index}))
      .filter(({isOptional}, index) => !isOptional || this.points.some(
        (each) => each.values[index]) || this.sums?.[index]);
    const rows = order.map(({name, tone, dash, index}) => make("tr", {},
      make("th", {scope: "row"},
        this.kind === "line" && dash !== undefined
          ? draw("svg", {"class": "dash", width: 22, height: 10, "aria-hidden": "true"},
            draw("line", {"class": `line tone-${tone}`, x1: 1, x2: 21, y1: 5, y2: 5,
              "stroke-dasharray": dash}))
          : make("span", {"class": `swatch tone-${tone}`, "aria-hidden": "true"}), name),
      make("td", {"class": "number"}, this.valueWords(point?.values[index])),
      this.sums ? make("td", {"class": "number total"}, countWords(this.sums[index] ?? 0)) : null));
    fill(this.legend, rows.length === 0 ? null : make("table", {},
      make("caption", {"class": "visually-hidden"}, `${this.title}: the present values`),
      make("thead", {}, make("tr", {},
        make("th", {scope: "col"}, make("span", {"class": "visually-hidden"}, "Series")),
        make("th", {scope: "col", "class": "number"}, this.words.label),
        this.sums ? make("th", {scope: "col", "class": "number"}, this.totalTitle) : null)),
      make("tbody", {}, rows)));
    const present = order.map(
      ({name, index}) => `${name} ${this.valueWords(point?.values[index])}`).join(", ");
    this.canvas.setAttribute(
      "aria-label", `${this.title}, the last ${durationWords(this.to - this.from)}, `
        + `in ${this.words.label}. Now: ${present}. The arrow keys read earlier values.`);
  }

  point(event) {
    if (!this.shown?.length) return;
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    let nearest = 0;
    this.shown.forEach((point, index) => {
      if (Math.abs(this.x(point.at) - x) < Math.abs(this.x(this.shown[nearest].at) - x)) {
        nearest = index;
      }
    });
    this.moveTo(nearest);
  }

  press(event) {
    if (!this.shown?.length) return;
    const last = this.shown.length - 1;
    const place = this.shown.findIndex(({at}) => at === this.cursorAt);
    const places = {
      ArrowLeft: place < 0 ? last : Math.max(0, place - 1),
      ArrowRight: place < 0 ? last : Math.min(last, place + 1), Home: 0, End: last, Escape: null,
    };
    if (!(event.key in places)) return;
    event.preventDefault();
    this.moveTo(places[event.key]);
    if (this.cursorAt !== null) announce(this.readout.textContent);
  }

  /** The cursor stays at its time while new readings come. */
  moveTo(index) {
    this.cursorAt = index === null ? null : this.shown[index].at;
    this.placeCursor();
  }

  placeCursor() {
    const point = this.shown?.find(({at}) => at === this.cursorAt);
    if (!point) {
      this.cursorLine?.setAttribute("visibility", "hidden");
      this.readout.textContent = "";
      return;
    }
    const x = this.x(point.at);
    for (const [name, value] of Object.entries({
      x1: x, x2: x, y1: MARGIN.top, y2: CHART_HEIGHT - MARGIN.bottom, visibility: "visible",
    })) this.cursorLine.setAttribute(name, value);
    const parts = this.series.map(({name}, index) => [name, point.values[index]])
      .filter(([, value]) => value || this.kind === "line")
      .map(([name, value]) => `${name} ${this.valueWords(value)}`);
    this.readout.textContent = `${CLOCK_SECONDS.format(point.at)}: `
      + (parts.length ? parts.join(", ") : "none") + ` (${this.words.label})`;
  }
}

/** Rates as people say them: a second where there are many, a minute where there are few. */
function rateUnit(most) {
  return most >= 0.5
    ? {factor: 1, label: "a second", format: figure}
    : {factor: 60, label: "a minute", format: figure};
}
