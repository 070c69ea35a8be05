// SPDX-License-Identifier: Apache-2.0
//
// What the page makes of /metrics: totals become rates, histograms become percentiles. The page
// remembers what it has read since it was opened; the hour before comes from the gateway.
"use strict";

/** How often the gateway is asked, in milliseconds. */
const SAMPLE_INTERVAL = 5 * SECOND;
/** How far back the charts go, in milliseconds: the shortest of these that shows all there is. */
const HISTORY_SPANS = [2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR];
const HISTORY_SPAN = HISTORY_SPANS.at(-1);
/** Rates are taken over so long, so that single wakes do not make needles. */
const RATE_SPAN = 3 * SAMPLE_INTERVAL;
/** The gateway counts so many waiting wakes of an app's queue. */
const WAITING_LIMIT = 100000;
/** Chosen instead of an app that the gateway does not count by its name: nothing is of it. */
const NO_APP = {app: null, environment: null};
/** Percentiles in the table are of so long. */
const PERCENTILE_SPAN = 5 * MINUTE;

/** The histograms that the table shows: metric, the label that tells series apart, words, and
 * whether they are counted by app. */
const HISTOGRAMS = {
  rouse_apns_request_seconds: {label: "kind", title: "APNs answers", isByApp: true},
  rouse_due_lag_seconds: {label: "kind", title: "From due to sent", isByApp: true},
  rouse_store_commit_seconds: {label: "verb", title: "Store commit"},
  rouse_http_request_seconds: {label: null, title: "Answers of this API"},
};

const METRIC_LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const METRIC_LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Reads Prometheus' text format 0.0.4: for each name its series, as {labels, value}. */
function parseMetrics(text) {
  const metrics = new Map();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const match = METRIC_LINE.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(METRIC_LABEL)) {
      labels[name] = value.replace(/\\(.)/g, (_, letter) => (letter === "n" ? "\n" : letter));
    }
    if (!metrics.has(match[1])) metrics.set(match[1], []);
    metrics.get(match[1]).push({labels, value: match[3] === "+Inf" ? Infinity : Number(match[3])});
  }
  return metrics;
}

/** Totals of a counter by one label; `where` chooses the series. */
function totals(metrics, name, label, where = () => true) {
  const sums = {};
  for (const series of metrics.get(name) ?? []) {
    if (!where(series.labels)) continue;
    const key = series.labels[label] ?? "";
    sums[key] = (sums[key] ?? 0) + series.value;
  }
  return sums;
}

/** A metric's only series, or the sum of all. */
function total(metrics, name, isCounted = () => true) {
  return (metrics.get(name) ?? []).filter(({labels}) => isCounted(labels))
    .reduce((sum, series) => sum + series.value, 0);
}

/** A histogram's series by one label: for each the cumulated counts, as [[bound, count], …]. */
function histograms(metrics, name, label, isCounted = () => true) {
  const byLabel = {};
  for (const {labels, value} of metrics.get(`${name}_bucket`) ?? []) {
    if (!isCounted(labels)) continue;
    const key = label === null ? "" : labels[label] ?? "";
    byLabel[key] ??= new Map();
    const bound = labels.le === "+Inf" ? Infinity : Number(labels.le);
    byLabel[key].set(bound, (byLabel[key].get(bound) ?? 0) + value);
  }
  return Object.fromEntries(Object.entries(byLabel).map(
    ([key, buckets]) => [key, [...buckets].sort(([left], [right]) => left - right)]));
}

/** What fell into each bucket between two readings. Without an earlier one: since the start. */
function bucketsBetween(earlier, later) {
  const before = new Map(earlier ?? []);
  return later.map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]);
}

/** How many values a histogram holds. */
function countOf(buckets) {
  return buckets.length ? buckets[buckets.length - 1][1] : 0;
}

/**
 * A quantile of a histogram, in the unit of its bounds: linear within its bucket, as Prometheus'
 * histogram_quantile has it. Above the last bound it is that bound; null when nothing was counted.
 */
function quantile(buckets, q) {
  const count = countOf(buckets);
  if (!(count > 0)) return null;
  const rank = q * count;
  let lowerBound = 0;
  let below = 0;
  for (const [bound, cumulated] of buckets) {
    if (cumulated >= rank && cumulated > below) {
      if (bound === Infinity) return lowerBound;
      return lowerBound + (bound - lowerBound) * (rank - below) / (cumulated - below);
    }
    lowerBound = bound;
    below = cumulated;
  }
  return lowerBound;
}

/**
 * One reading of the gateway: what the charts and tables need of it. What is counted by app is that
 * of one app if one is chosen, a {app, environment}; everything else is of all apps.
 */
function sampleOf(metrics, stats, at, chosen) {
  const isChosen = ({app, environment}) => chosen === null
    || (app === chosen.app && environment === chosen.environment);
  const readings = {};
  for (const [name, {label, isByApp}] of Object.entries(HISTOGRAMS)) {
    readings[name] = histograms(metrics, name, label, isByApp ? isChosen : undefined);
  }
  return {
    at,
    decisions: totals(metrics, "rouse_decisions_total", "decision", isChosen),
    backgroundDecisions: totals(metrics, "rouse_decisions_total", "decision",
      (labels) => isChosen(labels) && labels.kind === "background"),
    backgroundSent: total(metrics, "rouse_wakes_ended_total",
      (labels) => isChosen(labels) && labels.kind === "background" && labels.state === "sent"),
    outcomes: totals(metrics, "rouse_wakes_ended_total", "state", isChosen),
    refused: totals(metrics, "rouse_requests_refused_total", "reason"),
    accepted: total(metrics, "rouse_wakes_accepted_total"),
    acceptedOfChosen: total(metrics, "rouse_wakes_accepted_total", isChosen),
    connections: total(metrics, "rouse_apns_connections"),
    streams: total(metrics, "rouse_apns_streams"),
    depth: stats.unended,
    histograms: readings,
  };
}

/** What the tiles show, of one app: its ended wakes are counted from the gateway's start on. */
function statsOfApp({queues}, sample) {
  const states = Object.fromEntries(Object.keys(STATE_LOOKS).map((state) => [state, 0]));
  const sum = (name) => queues.reduce((count, queue) => count + queue[name], 0);
  return {
    accepted: sample.acceptedOfChosen, by_state: {...states, ...sample.outcomes},
    unended: sum("waiting") + sum("in_flight"), in_flight: sum("in_flight"), intake_queue: 0,
    oldest_due_milliseconds: Object.fromEntries(
      queues.map(({kind, oldest_due_milliseconds: age}) => [kind, age])),
    isOfApp: true, isMore: queues.some(({waiting}) => waiting >= WAITING_LIMIT),
  };
}

/** The readings that the gateway kept itself, as far as they go: for the charts. What waited is of
 * all apps; points without the rest are of a time when the app was not counted by its name. */
function samplesOf({apns_bounds_seconds: bounds, points}, chosen) {
  const counted = points.filter(({decisions}) => decisions);
  return counted.map(({at, waiting, decisions, outcomes, apns_answers: answers}) => {
    let sum = 0;
    const buckets = answers.map((count, index) => [bounds[index] ?? Infinity, sum += count]);
    return {
      at: Date.parse(at), depth: chosen ? null : waiting ?? null, decisions, outcomes, isKept: true,
      histograms: {rouse_apns_request_seconds: {"": buckets}},
    };
  });
}

/** The readings of the last hour: the page's own, and the gateway's where there are none. */
class History {
  constructor() {
    this.samples = [];
  }

  /** Forgets all. */
  clear() {
    this.samples = [];
  }

  /** Takes the gateway's readings, which are farther apart, where the page has none. */
  fill(kept) {
    const own = this.samples.filter(({isKept}) => !isKept);
    const isBare = ({at}) => own.length === 0 || at < own[0].at
      || !own.some((sample) => Math.abs(sample.at - at) < SAMPLE_INTERVAL);
    this.samples = [...kept.filter(isBare), ...own].sort((left, right) => left.at - right.at);
  }

  get latest() {
    return this.samples.at(-1) ?? null;
  }

  /** Adds a reading. Totals that fell tell of a new start of the gateway: all before is dropped. */
  add(sample) {
    const before = this.latest;
    const fell = (name) => Object.entries(before[name]).some(
      ([key, value]) => (sample[name][key] ?? 0) < value);
    const isRestart = before !== null
      && (sample.accepted < before.accepted || fell("outcomes") || fell("decisions"));
    if (isRestart) this.samples = [];
    this.samples.push(sample);
    while (sample.at - this.samples[0].at > HISTORY_SPAN + RATE_SPAN) this.samples.shift();
    return isRestart;
  }

  /** The newest reading at least so much older than `index`'s, or the oldest one. */
  before(index, span) {
    let earlier = index;
    while (earlier > 0 && this.samples[index].at - this.samples[earlier].at < span) earlier -= 1;
    return this.samples[earlier];
  }

  /** Totals of `name` as rates per second: [{at, values: [one for each key]}, …]. */
  rates(name, keys) {
    const points = [];
    for (let index = 1; index < this.samples.length; index += 1) {
      const sample = this.samples[index];
      const earlier = this.before(index, RATE_SPAN - SAMPLE_INTERVAL / 2);
      const seconds = (sample.at - earlier.at) / SECOND;
      points.push({
        at: sample.at,
        values: keys.map(
          (key) => Math.max(0, (sample[name][key] ?? 0) - (earlier[name][key] ?? 0)) / seconds),
      });
    }
    return points;
  }

  /** A number of each reading that has it: [{at, values: [it]}, …]. */
  levels(name) {
    return this.samples.filter((sample) => sample[name] !== null).map(
      (sample) => ({at: sample.at, values: [sample[name]]}));
  }

  /**
   * What a histogram's series counted in the last `span`, or since the page was opened; all since
   * the gateway's start when that is nothing. `milliseconds` is null for that.
   */
  recent(name, key, span) {
    const last = this.samples.length - 1;
    // What the gateway kept does not have each series.
    const before = this.samples.find(
      ({at, isKept}) => !isKept && this.samples[last].at - at <= span);
    const later = this.samples[last].histograms[name][key] ?? [];
    const buckets = bucketsBetween(before.histograms[name][key], later);
    return countOf(buckets) > 0
      ? {buckets, milliseconds: this.samples[last].at - before.at}
      : {buckets: later, milliseconds: null};
  }

  /** Quantiles of a histogram over time, all its series together, in its unit. */
  quantiles(name, quantiles) {
    const points = [];
    for (let index = 1; index < this.samples.length; index += 1) {
      const buckets = bucketsBetween(
        History.together(this.before(index, 6 * SAMPLE_INTERVAL).histograms[name]),
        History.together(this.samples[index].histograms[name]));
      points.push({
        at: this.samples[index].at, values: quantiles.map((q) => quantile(buckets, q)),
      });
    }
    return points;
  }

  static together(series) {
    const sums = new Map();
    for (const buckets of Object.values(series)) {
      for (const [bound, count] of buckets) sums.set(bound, (sums.get(bound) ?? 0) + count);
    }
    return [...sums].sort(([left], [right]) => left - right);
  }
}
