// SPDX-License-Identifier: Apache-2.0
//
// The gateway at a glance: tiles, apps with the states of their queues, rates, queue, use of the
// budget, and latencies.
"use strict";

// MARK: Tiles

/** What each tile shows: its value and a note, from the counts and the latest reading. One that is
 * counted by the app's name says so where the gateway does not. */
const TILES = [
  {
    title: "Waiting",
    value: ({stats}) => (stats.isMore ? "over " : "") + countWords(stats.unended),
    note: ({stats}) => stats.intake_queue
      ? `and ${plural(stats.intake_queue, "request")} to be written` : "for their time or for room",
  },
  {
    title: "Overdue by", value: ({stats}) => overdueWords(stats),
    note: ({stats}) => overdueNote(stats),
  },
  {
    title: "In flight",
    value: ({stats, sample}) => countWords(stats.isOfApp ? stats.in_flight : sample.streams),
    note: ({stats, sample}) => (stats.isOfApp ? "handed over to be sent"
      : `under way on ${plural(sample.connections, "connection")}`),
  },
  {
    title: "Accepted", isByName: true, value: ({stats}) => countWords(stats.accepted),
    note: ({stats}) => (stats.isOfApp ? "since the gateway started" : "since the store began"),
  },
  {
    title: "Sent", isByName: true, value: ({stats}) => countWords(stats.by_state.sent),
    note: ({stats}) => mergedWords(stats.by_state.coalesced),
  },
  {
    title: "Unsuccessful", isByName: true,
    value: ({stats: {by_state: states}}) => countWords(
      states.rejected + states.undeliverable + states.expired + states.failed),
    note: ({stats: {by_state: states}}) => [
      states.undeliverable ? `${countWords(states.undeliverable)} for dead device tokens` : "",
      states.expired ? `${countWords(states.expired)} expired` : "",
    ].filter(Boolean).join(", ") || "refused, expired or failed",
  },
];

function mergedWords(count) {
  if (count === 0) return "none was merged into another";
  return count === 1 ? "1 more was merged into another"
    : `${countWords(count)} more were merged into others`;
}

/** How long the longest due wake of any kind is due already. */
function overdueWords({oldest_due_milliseconds: ages}) {
  const oldest = Math.max(0, ...Object.values(ages));
  return ageWords(oldest);
}

function overdueNote({oldest_due_milliseconds: ages}) {
  const late = Object.entries(ages).filter(([, age]) => age > 0);
  if (late.length === 0) return "nothing due waits for room";
  return late.length === 1 ? `the oldest ${kindWords(late[0][0])} wake that is due`
    : late.map(([kind, age]) => `${kindWords(kind)} ${ageWords(age)}`).join(", ");
}

/** Makes the tiles, empty. Their places never change, only their texts do. */
function makeTiles() {
  byID("tiles").replaceChildren(...TILES.map(({title}) => make("div", {"class": "tile"},
    make("dt", {}, title), make("dd", {"class": "value"}, "–"),
    make("dd", {"class": "note"}, "\u00a0"))));
}

function showTiles(stats, sample) {
  [...byID("tiles").children].forEach((tile, index) => {
    const {value, note, isByName} = TILES[index];
    const isLeftOut = isByName && !byID("uncounted-help").hidden;
    setText(tile.querySelector(".value"), isLeftOut ? "–" : value({stats, sample}));
    setText(tile.querySelector(".note"), isLeftOut ? "not counted by app" : note({stats, sample}));
  });
}

/** Leaves out what is counted by the app's name, where the gateway does not; says whether that is
 * new. */
function noteCounted(isCounted) {
  const isNew = byID("uncounted-help").hidden !== isCounted;
  byID("uncounted-help").hidden = isCounted;
  for (const name of ["rates", "budget", "latency-chart"]) byID(name).hidden = !isCounted;
  return isNew;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// MARK: Apps

/** The queues that APNs refuses or does not answer, each with its app. */
function troubledQueues(apps) {
  return apps.flatMap((app) => app.queues.filter(
    ({state}) => state === "held" || state === "unresponsive")
    .map((queue) => ({app, queue})));
}

/** How each state of a queue looks: a tone, and a sign for those who see no colour. */
const QUEUE_LOOKS = {
  sending: ["blue", "✓"], paused: ["amber", "‖"], held: ["red", "✕"], unresponsive: ["amber", "?"],
};

function stateChip({state}) {
  return chip(...(QUEUE_LOOKS[state] ?? ["grey", "?"]), state);
}

function chip(tone, sign, word) {
  return make("span", {"class": `state tone-${tone}`},
    make("span", {"aria-hidden": "true", "class": "sign"}, sign), " ", word);
}

/** How a queue stands, in the gateway's words, and how to end it where that is up to a person. */
function stateWords({app}, {state, message}) {
  const words = sentence(message);
  const effects = {paused: " ends that.", held: " tries at once."};
  return effects[state]
    ? [...words, " ", make("code", {}, `POST /v1/apps/${app}/resume`), effects[state]] : words;
}

/** Pauses an app, or lets it go on: for a key with the scope admin. */
function appControl(app) {
  const {app: name, environment} = app;
  const isStopped = app.paused || app.queues.some(({state}) => state === "held");
  const query = `environment=${environment}`;
  const onclick = isStopped
    ? () => change("resumed", null, () => act("POST", `v1/apps/${name}/resume?${query}`))
    : () => change("paused", `Stop sending for ${name} (${environment})? Wakes are still taken, `
      + "and wait. Calls expire after ten seconds.",
    () => act("POST", `v1/apps/${name}/pause?${query}`));
  return make("button", {
    type: "button", "class": "quiet", onclick, "data-key": `control-${name}-${environment}`,
    "aria-label": `${isStopped ? "Resume" : "Pause"} ${name} (${environment})`,
  }, isStopped ? "Resume" : "Pause");
}

function showApps(apps) {
  const place = byID("app-list");
  renderIfChanged(place, apps, () => {
    const rows = apps.flatMap((app) => app.queues.map((queue, index) => [
      make("span", {"class": "breakable"}, app.app), app.environment, kindWords(queue.kind),
      stateChip(queue), make("span", {}, stateWords(app, queue)),
      index === 0 ? appControl(app) : "",
    ]));
    fill(place, rows.length
      ? makeTable("Apps and whether they are sent for", [
        {title: "App"}, {title: "Environment"}, {title: "Push"}, {title: "State"},
        {title: "What that means", wide: true}, {title: "Change"},
      ], rows, {isStacked: true})
      : make("p", {"class": "empty"}, "No app is configured. Add one under ",
        make("code", {}, "apps"), " in rouse.yaml, and send the gateway SIGHUP."));
  });
}

/** The receivers of webhooks, what waits for them, and why; nothing where there are none. */
function showWebhooks(endpoints) {
  byID("webhooks").hidden = endpoints.length === 0;
  renderIfChanged(byID("webhook-list"), endpoints, () => fill(byID("webhook-list"), makeTable(
    "Webhook endpoints", [
      {title: "Receiver"}, {title: "State"}, {title: "Waiting", told: true},
      {title: "Oldest", told: true}, {title: "Last failure", wide: true, told: true},
    ], endpoints.map((endpoint) => [
      make("span", {"class": "breakable"}, endpoint.endpoint),
      endpoint.failing_since ? chip("red", "✕", "takes nothing") : chip("blue", "✓", "well"),
      endpoint.backlog === undefined ? "–" : countWords(endpoint.backlog),
      endpoint.oldest_at ? makeTime(endpoint.oldest_at) : "–",
      endpoint.last_failure
        ? make("span", {}, makeTime(endpoint.last_failure_at), `: ${endpoint.last_failure}. `,
          ...(endpoint.warning ? sentence(endpoint.warning) : []))
        : make("span", {}, endpoint.warning ? sentence(endpoint.warning) : "none"),
    ]), {isStacked: true})));
}

/** The gateways that share the store, and what is in its way; nothing for one gateway's. */
function showStore(store) {
  byID("store").hidden = !store;
  if (!store) return;
  const place = byID("store-list");
  renderIfChanged(place, store, () => {
    const rows = store.gateways.map((gateway) => [
      make("span", {"class": "breakable"}, gateway.name + (gateway.this ? " (this one)" : "")),
      gateway.alive ? chip("blue", "✓", "alive")
        : chip("red", "✕", `silent for ${durationWords(gateway.silent_milliseconds)}`),
      makeTime(gateway.since), countWords(gateway.leases),
    ]);
    const facts = [
      `PostgreSQL ${store.server_version}`,
      `${store.conflicts_per_second.toFixed(1)} conflicts a second at this gateway`,
      `the database's clock is ${store.clock_offset_milliseconds} ms ahead of its own`,
    ];
    if (store.standby_lag_bytes !== undefined) {
      facts.push(`the standby is ${countWords(store.standby_lag_bytes)} bytes of log behind`);
    }
    fill(place, [
      makeTable("Gateways that share the store", [
        {title: "Gateway"}, {title: "State"}, {title: "Since"},
        {title: "Wakes in hand", wide: true},
      ], rows, {isStacked: true}),
      make("p", {"class": "help"}, `${facts.join("; ")}.`),
      ...store.open_transactions.map(({message}) => make("p", {}, chip("red", "✕", "held up"),
        " ", message)),
    ]);
  });
}

/** A sentence of the gateway's, with its times as people here read them. */
function sentence(text) {
  return text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/).map(
    (part, index) => (index % 2 ? makeTime(part) : part));
}

// MARK: Charts

const charts = {};

/** Makes the charts, empty, in the places that are kept for them. */
function makeCharts() {
  const series = (words) => words.map(([, name, tone]) => ({name, tone, isOptional: true}));
  charts.decisions = new TimeChart(byID("decisions-chart"), {
    title: "Decisions", kind: "stack", series: series(DECISIONS), unit: rateUnit,
    empty: (period) => `No wake was accepted ${period}`,
  });
  charts.outcomes = new TimeChart(byID("outcomes-chart"), {
    title: "Outcomes", kind: "stack", series: series(OUTCOMES), unit: rateUnit,
    empty: (period) => `No wake ended ${period}`,
  });
  charts.queue = new TimeChart(byID("queue-chart"), {
    title: "Queue", kind: "stack", series: [{name: "waiting", tone: "amber"}],
    unit: () => ({factor: 1, label: "wakes", format: countWords, isWhole: true}),
    empty: () => "Nothing waits",
  });
  charts.latency = new TimeChart(byID("latency-chart"), {
    title: "Latency of APNs", kind: "line", isLogarithmic: true,
    series: [
      {name: "99th percentile", tone: "red", dash: "2 3"},
      {name: "95th", tone: "amber", dash: "7 3"},
      {name: "50th", tone: "blue", dash: ""},
    ],
    unit: () => ({factor: 1000, label: "time", format: durationWords}),
    empty: (period) => `APNs was not asked ${period}`,
  });
}

function showCharts(history, now) {
  const latest = history.latest;
  const rates = (name, words) => [
    history.rates(name, words.map(([key]) => key)), now,
    {totals: words.map(([key]) => latest[name][key] ?? 0), totalTitle: "since the start"},
  ];
  charts.decisions.show(...rates("decisions", DECISIONS));
  charts.outcomes.show(...rates("outcomes", OUTCOMES));
  charts.queue.show(history.levels("depth"), now);
  charts.latency.show(history.quantiles("rouse_apns_request_seconds", [0.99, 0.95, 0.5]), now);
  showLatencies(history);
  showBudget(latest);
  showRefused(latest);
}

// MARK: Latency

function showLatencies(history) {
  const rows = [];
  for (const [name, {title}] of Object.entries(HISTOGRAMS)) {
    for (const key of Object.keys(history.latest.histograms[name]).sort()) {
      const {buckets, milliseconds} = history.recent(name, key, PERCENTILE_SPAN);
      if (countOf(buckets) === 0) continue;
      const words = [0.5, 0.95, 0.99].map((q) => durationWords(quantile(buckets, q) * SECOND));
      rows.push([
        key ? `${title}, ${kindWords(key)}` : title, ...words, countWords(countOf(buckets)),
        milliseconds === null ? "the start" : `${ageWords(milliseconds)} ago`,
      ]);
    }
  }
  const place = byID("latency-table");
  renderIfChanged(place, rows, () => fill(place, rows.length
    ? makeTable("Percentiles of times", [
      {title: "What", wide: true}, {title: "50th", numeric: true, told: true},
      {title: "95th", numeric: true, told: true}, {title: "99th", numeric: true, told: true},
      {title: "Count", numeric: true, told: true}, {title: "Since", told: true},
    ], rows, {isStacked: true})
    : make("p", {"class": "empty"}, "Nothing was measured yet.")));
}

// MARK: Budget

/** Where background wakes went, as one bar: from leaving at once to not being sent at all. */
function showBudget(sample) {
  const parts = DECISIONS.map(([key, name, tone]) => ({
    name, tone, key, count: sample.backgroundDecisions[key] ?? 0,
  })).filter(({count}) => count > 0);
  const sum = parts.reduce((total, {count}) => total + count, 0);
  const place = byID("budget-bar");
  renderIfChanged(place, parts, () => fill(place, sum === 0
    ? make("p", {"class": "empty"}, "No background wake was accepted since the gateway started. "
      + "Each will be sent at once, deferred until its device can afford it, or merged into one "
      + "that waits.")
    : [
      budgetDrawing(parts, sum), budgetTable(parts, sum),
      budgetSentence(sum, sample.backgroundSent),
    ]));
}

function budgetDrawing(parts, sum) {
  let left = 0;
  const bars = parts.map(({tone, count}) => {
    const width = count / sum * 100;
    const bar = draw("rect", {"class": `bar tone-${tone}`, x: left, y: 0, width, height: 10});
    left += width;
    return bar;
  });
  return draw("svg", {
    "class": "share", viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img",
    "aria-label": parts.map(({name, count}) => `${name} ${shareWords(count, sum)}`).join(", "),
  }, bars);
}

function shareWords(count, sum) {
  const share = count / sum * 100;
  return share > 0 && share < 1 ? "under 1 %" : `${Math.round(share)} %`;
}

function budgetTable(parts, sum) {
  return make("div", {"class": "legend"}, make("table", {},
    make("caption", {"class": "visually-hidden"}, "Decisions on background wakes"),
    make("thead", {}, make("tr", {}, make("th", {scope: "col"},
      make("span", {"class": "visually-hidden"}, "Decision")),
    make("th", {scope: "col", "class": "number"}, "wakes"),
    make("th", {scope: "col", "class": "number"}, "share"))),
    make("tbody", {}, parts.map(({name, tone, count}) => make("tr", {},
      make("th", {scope: "row"},
        make("span", {"class": `swatch tone-${tone}`, "aria-hidden": "true"}), name),
      make("td", {"class": "number"}, countWords(count)),
      make("td", {"class": "number total"}, shareWords(count, sum)))))));
}

function budgetSentence(asked, sent) {
  return make("p", {"class": "help"},
    `${plural(asked, "background wake")}, of which APNs accepted ${countWords(sent)} so far.`);
}
