// SPDX-License-Identifier: Apache-2.0
//
// The last day of one device, for one app and kind of push, drawn: when wakes were accepted, how
// long they were deferred, which were merged into which, what APNs answered, and what launched the
// app.
"use strict";

const TRACKS = [
  ["asked", "Accepted"], ["deferred", "Deferred"], ["answered", "Answered"],
  ["launched", "Launched"],
];
const TRACK_HEIGHT = 34;
const TIMELINE_TOP = 24;
const TIMELINE_BOTTOM = 26;
const TIMELINE_HEIGHT = TIMELINE_TOP + TRACKS.length * TRACK_HEIGHT + TIMELINE_BOTTOM;
/** How much of the day can be drawn at once; the whole of it to begin with. */
const SPANS = [[DAY, "24 hours"], [6 * HOUR, "6 hours"], [HOUR, "1 hour"]];
/** Room for the word at the line of what is to come, in pixels. */
const AHEAD_ROOM = 40;
/** Marks closer than this, in pixels, become one with a number. */
const MARK_DISTANCE = 11;

let chosenSpan = DAY;

/** What happened on each track, of wakes as the gateway tells them. Times are milliseconds. */
function momentsOf(wakes, now) {
  const moments = {asked: [], deferred: [], answered: [], launched: []};
  for (const wake of wakes) {
    const asked = Date.parse(wake.accepted_at);
    const isMerged = wake.state === "coalesced";
    moments.asked.push({at: asked, look: isMerged ? "merged" : "own", wake});
    const first = wake.attempts[0];
    const left = first ? Date.parse(first.started_at)
      : wake.ended_at ? Date.parse(wake.ended_at) : now;
    if (!isMerged) {
      moments.deferred.push({
        from: asked, to: Math.max(asked, left), isPending: !first && !wake.ended_at, wake,
        dueAt: wake.due_at ? Date.parse(wake.due_at) : null,
      });
    }
    for (const attempt of wake.attempts) {
      moments.answered.push({at: Date.parse(attempt.ended_at), look: attempt.result, wake});
    }
    if (!wake.attempts.length && wake.ended_at && !isMerged) {
      moments.answered.push({at: Date.parse(wake.ended_at), look: "unsent", wake});
    }
    if (wake.launched_at) {
      moments.launched.push({at: Date.parse(wake.launched_at), look: "launched", wake});
    }
  }
  return moments;
}

/** Neighbours that would cover each other, gathered: [{x, items}, …], by what they look like. */
function clustersOf(items, x) {
  const clusters = [];
  for (const item of [...items].sort((left, right) => left.at - right.at)) {
    const place = x(item.at);
    const last = clusters.findLast((cluster) => cluster.look === item.look);
    if (last && place - last.x < MARK_DISTANCE) last.items.push(item);
    else clusters.push({x: place, look: item.look, items: [item]});
  }
  return clusters;
}

/** Draws marks by what they mean; each has a shape of its own, so that colour is not needed. */
const MARKS = {
  own: (x, y) => draw("circle", {"class": "mark tone-blue", cx: x, cy: y, r: 5}),
  merged: (x, y) => draw("circle", {"class": "mark hollow tone-teal", cx: x, cy: y, r: 4.5}),
  accepted: (x, y) => draw("path", {
    "class": "mark stroke tone-blue", d: `M${x - 5} ${y}l3.5 4.5 6.5-9`}),
  refused: (x, y) => draw("path", {
    "class": "mark stroke tone-red", d: `M${x - 4.5} ${y - 4.5}l9 9m0-9l-9 9`}),
  unanswered: (x, y) => draw("path", {
    "class": "mark stroke tone-amber", d: `M${x} ${y - 6}v7m0 4v1.5`}),
  abandoned: (x, y) => draw("path", {
    "class": "mark stroke tone-amber", d: `M${x} ${y - 6}v7m0 4v1.5`}),
  unsent: (x, y) => draw("path", {"class": "mark stroke tone-grey", d: `M${x - 5} ${y}h10`}),
  launched: (x, y) => draw("path", {
    "class": "mark tone-green", d: `M${x} ${y - 6}l6 6-6 6-6-6z`}),
};

const MARK_WORDS = {
  own: "accepted", merged: "merged into one that waited", accepted: "sent",
  refused: "refused by APNs", unanswered: "no answer", abandoned: "no answer",
  unsent: "ended unsent", launched: "launched, by a receipt",
};

/** A day of a device: drawing, legend, and the same as a table. */
class DayTimeline {
  /** `until` is when the next send may go, which is drawn when it is yet to come. */
  constructor(wakes, {now, nextSend, title, key}) {
    Object.assign(this, {wakes, now, nextSend, title, key});
    this.moments = momentsOf(wakes, now);
    this.canvas = draw("svg", {
      "class": "canvas timeline", height: TIMELINE_HEIGHT, role: "img",
      "aria-label": this.summary(),
    });
    this.element = make(
      "div", {"class": "timeline-box"}, this.spans(), this.canvas, this.legend(), this.table());
    new ResizeObserver(() => this.paint()).observe(this.element);
  }

  summary() {
    const {asked, answered, launched} = this.moments;
    const merged = asked.filter(({look}) => look === "merged").length;
    const taken = answered.filter(({look}) => look === "accepted").length;
    return `${this.title}, the last 24 hours: ${plural(asked.length, "wake")} accepted, ${merged} `
      + `merged, ${taken} sent, ${launched.length} launched. The table below lists them.`;
  }

  paint() {
    const width = Math.floor(this.element.clientWidth);
    if (width < 80) return;
    const left = width < 460 ? 66 : 86;
    const pending = this.moments.deferred.map(({isPending, dueAt}) => (isPending && dueAt) || 0);
    const span = chosenSpan;
    const horizon = this.now + span / 4;
    const last = Math.min(horizon, Math.max(this.now, ...pending, this.nextSend ?? 0));
    const from = this.now - span;
    // What is ahead has a word at its right.
    const room = last > this.now ? AHEAD_ROOM : 8;
    const to = last + (last - from) * room / (width - left - room);
    const within = (at) => Math.min(Math.max(at, from), to);
    const x = (at) => left + (within(at) - from) / (to - from) * (width - left);
    this.isShown = (at) => at >= from && at <= to;
    const bottom = TIMELINE_HEIGHT - TIMELINE_BOTTOM;
    this.canvas.setAttribute("width", width);
    this.canvas.setAttribute("viewBox", `0 0 ${width} ${TIMELINE_HEIGHT}`);
    this.canvas.replaceChildren(
      ...this.axis(from, to, x, left, width, bottom), ...this.links(x), ...this.bars(x, left),
      ...this.marks("asked", x), ...this.marks("answered", x), ...this.marks("launched", x),
      ...this.present(x, bottom, horizon));
  }

  y(track) {
    return TIMELINE_TOP + (TRACKS.findIndex(([name]) => name === track) + 0.5) * TRACK_HEIGHT;
  }

  axis(from, to, x, left, width, bottom) {
    const parts = [];
    TRACKS.forEach(([, words], index) => {
      const y = TIMELINE_TOP + index * TRACK_HEIGHT;
      if (index % 2 === 0) {
        parts.push(draw("rect", {
          "class": "band", x: left - 6, y, width: width - left + 6, height: TRACK_HEIGHT}));
      }
      parts.push(draw("text", {"class": "tick", x: 0, y: y + TRACK_HEIGHT / 2 + 4}, words));
    });
    for (const at of timeTicks(from, to, width - left)) {
      const place = Math.round(x(at)) + 0.5;
      parts.push(draw("line", {
        "class": "grid", x1: place, x2: place, y1: TIMELINE_TOP, y2: bottom}));
      if (place > width - 20 || place < left + 8) continue;
      parts.push(draw("text", {"class": "tick", x: place, y: bottom + 16, "text-anchor": "middle"},
        CLOCK.format(at)));
    }
    return parts;
  }

  /** The stretches in which a wake waited for its device to afford it. */
  bars(x, left) {
    const y = this.y("deferred");
    const shown = this.moments.deferred.filter(
      ({from, to}) => this.isShown(from) || this.isShown(to));
    const bars = shown.filter(({from, to}) => to - from > SECOND).map((item) => {
      const start = Math.max(left, x(item.from));
      return draw("rect", {
        "class": `hold tone-amber${item.isPending ? " pending" : ""}`, x: start, y: y - 7,
        width: Math.max(3, x(item.to) - start), height: 14, rx: 3,
      }, draw("title", {}, `deferred ${durationWords(item.to - item.from)}`));
    });
    for (const {isPending, dueAt} of shown) {
      if (!isPending || dueAt === null || dueAt <= this.now) continue;
      bars.push(draw("rect", {
        "class": "hold ahead tone-amber", x: x(this.now), y: y - 7,
        width: Math.max(3, x(dueAt) - x(this.now)), height: 14, rx: 3,
      }, draw("title", {}, "will wait until then")));
    }
    return bars;
  }

  /** From each wake that was merged to the one that carries it. */
  links(x) {
    const byWake = new Map(this.moments.deferred.map((item) => [item.wake.id, item]));
    const seen = new Set();
    return this.moments.asked.map((item) => {
      const carrier = byWake.get(item.wake.carried_by);
      const place = Math.round(x(item.at));
      const isDrawn = item.look === "merged" && carrier && this.isShown(item.at);
      if (!isDrawn || seen.has(place)) return null;
      seen.add(place);
      return draw("line", {
        "class": "link tone-teal", x1: place, x2: place, y1: this.y("asked") + 5,
        y2: this.y("deferred") - 7,
      });
    }).filter(Boolean);
  }

  marks(track, x) {
    const y = this.y(track);
    const shown = this.moments[track].filter(({at}) => this.isShown(at));
    return clustersOf(shown, x).flatMap(({x: place, look, items}) => {
      const words = `${items.length > 1 ? items.length + " × " : ""}${MARK_WORDS[look]}, `
        + CLOCK_SECONDS.format(items[0].at);
      const mark = draw("g", {}, MARKS[look](place, y), draw("title", {}, words));
      return items.length > 1
        ? [mark, draw("text", {"class": "many", x: place, y: y - 8, "text-anchor": "middle"},
          String(items.length))]
        : [mark];
    });
  }

  /** Where now is, and from when on the next may go. */
  present(x, bottom, horizon) {
    const line = (at, name, words, anchor, shift) => {
      const place = Math.round(x(at)) + 0.5;
      return [
        draw("line", {"class": name, x1: place, x2: place, y1: TIMELINE_TOP - 10, y2: bottom}),
        draw("text", {"class": `tick ${name}`, x: place + shift, y: TIMELINE_TOP - 12,
          "text-anchor": anchor}, words)];
    };
    const isAhead = this.nextSend && this.nextSend > this.now + MINUTE && this.nextSend <= horizon;
    return [
      ...(isAhead ? line(this.nextSend, "next", "next", "start", 4) : []),
      ...line(this.now, "present", "now", "end", -2),
    ];
  }

  /** The choice of how much is drawn, the same for all timelines and for the next look-up. */
  spans() {
    const choices = SPANS.map(([span, words]) => make("label", {},
      make("input", {
        type: "radio", name: `span-${this.key}`, value: span, checked: span === chosenSpan,
        "data-key": `span-${this.key}-${span}`,
        onchange: () => {
          chosenSpan = span;
          this.paint();
        },
      }), make("span", {}, words)));
    return make("fieldset", {"class": "spans"},
      make("legend", {"class": "visually-hidden"}, `How much of the day of ${this.title} is drawn`),
      choices);
  }

  // MARK: In words

  legend() {
    const {asked, deferred, answered, launched} = this.moments;
    const looks = new Set([...asked, ...answered, ...launched].map(({look}) => look));
    looks.delete("abandoned");
    const item = (mark, words) => make("li", {},
      draw("svg", {width: 18, height: 16, "aria-hidden": "true", "class": "key"}, mark), words);
    const items = Object.keys(MARKS).filter((look) => looks.has(look))
      .map((look) => item(MARKS[look](9, 8), MARK_WORDS[look]));
    if (deferred.some(({from, to}) => to - from > SECOND)) {
      items.push(item(draw("rect", {
        "class": "hold tone-amber", x: 1, y: 3, width: 16, height: 10, rx: 3}), "deferred"));
    }
    return make("ul", {"class": "marks"}, items);
  }

  table() {
    const rows = this.wakes.map((wake) => [
      makeTime(wake.accepted_at), makeState(wake.state),
      make("span", {}, ...sentence(wake.decision.message)),
      make("span", {}, answerWords(wake)),
      wake.launched_at ? makeTime(wake.launched_at) : "–",
      makeWakeLink(wake.id, `day-${wake.id}`),
    ]);
    return make("details", {"data-key": `table-${this.key}`},
      make("summary", {}, `The same as a table: ${plural(rows.length, "wake")}`),
      makeTable(`${this.title}: wakes of the last 24 hours`, [
        {title: "Accepted"}, {title: "State"}, {title: "Decision", wide: true},
        {title: "Answer", told: true}, {title: "Launched", told: true}, {title: "Wake"},
      ], rows, {key: `rows-${this.key}`, isStacked: true}));
  }
}

/** What APNs said of a wake, in short; or why it was not asked. */
function answerWords(wake) {
  const last = wake.attempts.at(-1);
  if (last) {
    const status = last.status ? `${last.status} ` : "";
    const tries = wake.attempts.length > 1 ? `, try ${wake.attempts.length}` : "";
    return `${status}${last.reason ?? last.result}${tries}`;
  }
  if (!wake.outcome) return "not yet";
  return reasonOf(wake.outcome) || (STATE_WORDS[wake.outcome.state] ?? wake.outcome.state);
}
