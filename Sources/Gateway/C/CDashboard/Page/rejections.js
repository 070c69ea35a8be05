// SPDX-License-Identifier: Apache-2.0
//
// The latest wakes, all that ended or those of one state, and the latest rejections, gathered by
// their reason. Both are of one app if one is chosen.
"use strict";

/** How many rejections are gathered. */
const REJECTION_COUNT = 200;
/** How many outcomes are listed. */
const FEED_COUNT = 12;
/** How often the lists are drawn anew at most, whatever comes, in milliseconds. */
const LIST_INTERVAL = 500;
/** How many pages of the list are read for the latest rejections; each looks at many wakes. */
const REJECTION_PAGES = 3;
const REJECTION_STATES = ["rejected", "undeliverable", "failed"];

/** Words for the causes of a failure that APNs gave no reason for. */
function reasonOf(outcome) {
  return outcome.reason ?? outcome.cause ?? outcome.suppression ?? "";
}

/** A wake as the lists keep it, from an event of its end or from its record. */
function entryOf(wake) {
  const {id, app, environment, kind, outcome, waiting} = wake;
  return {
    id, app, environment, kind, outcome, waiting, state: wake.state ?? outcome.state,
    at: wake.at ?? wake.ended_at ?? wake.accepted_at,
  };
}

class OutcomeLists {
  constructor() {
    this.rejections = new Map();
    this.latest = new Map();
    this.isLoaded = false;
    /** Whether there are no rejections but those that were read. */
    this.isWhole = false;
    this.timer = null;
    this.app = null;
    this.state = "";
    /** Counts the times that the lists were narrowed: an answer to an earlier question is late. */
    this.turn = 0;
    for (const event of ["pointerleave", "focusout"]) {
      // Only then does the place no longer match.
      byID("feed-list").addEventListener(event, () => setTimeout(() => this.draw()));
    }
  }

  /** Begins anew with the wakes of an app, null for all, and of a state, "" for all that ended. */
  narrow(app, state) {
    this.app = app;
    this.state = state;
    this.turn += 1;
    this.latest.clear();
    this.rejections.clear();
    this.isLoaded = false;
  }

  /** Whether the list shows wakes that have not ended, of which no event tells. */
  get isOfWaiting() {
    return this.state !== "" && !OUTCOMES.some(([state]) => state === this.state);
  }

  /** Reads what ended before the page was opened, or while no stream was open. */
  async load() {
    const {turn} = this;
    const states = this.state || OUTCOMES.map(([state]) => state).join(",");
    const app = this.app ? `&${appQuery(this.app)}` : "";
    const [latest, rejections] = await Promise.all([
      this.pages(`v1/wakes?limit=${FEED_COUNT}&state=${states}${app}`, FEED_COUNT),
      this.pages(`v1/wakes?limit=${REJECTION_COUNT}&state=${REJECTION_STATES.join(",")}${app}`,
        REJECTION_COUNT),
    ]);
    if (turn !== this.turn) return;
    if (this.isOfWaiting) this.latest.clear();
    this.isLoaded = true;
    this.isWhole = rejections.isWhole;
    this.add([...latest.wakes, ...rejections.wakes].map(entryOf));
    this.draw();
  }

  /** Wakes of a list, page by page, until there are enough; `isWhole` when there are no more. */
  async pages(path, count) {
    const wakes = [];
    let cursor = "";
    for (let page = 0; page < REJECTION_PAGES && wakes.length < count; page += 1) {
      const answer = await askJSON(path + cursor);
      wakes.push(...answer.wakes);
      if (!answer.next) return {wakes, isWhole: true};
      cursor = `&cursor=${encodeURIComponent(answer.next)}`;
    }
    return {wakes, isWhole: false};
  }

  /** Takes outcomes, as they happen. */
  add(entries) {
    for (const entry of entries) {
      if (this.app
        && (entry.app !== this.app.app || entry.environment !== this.app.environment)) continue;
      const isListed = this.state ? entry.state === this.state : entry.outcome !== undefined;
      if (isListed) this.latest.set(entry.id, entry);
      else this.latest.delete(entry.id);
      if (REJECTION_STATES.includes(entry.state)) this.rejections.set(entry.id, entry);
    }
    this.latest = OutcomeLists.newest(this.latest, FEED_COUNT);
    this.rejections = OutcomeLists.newest(this.rejections, REJECTION_COUNT);
    if (this.timer === null) {
      this.timer = setTimeout(() => {
        this.timer = null;
        this.draw();
      }, LIST_INTERVAL);
    }
  }

  static newest(entries, count) {
    if (entries.size <= count) return entries;
    const sorted = [...entries.values()].sort((left, right) => (left.at < right.at ? 1 : -1));
    return new Map(sorted.slice(0, count).map((entry) => [entry.id, entry]));
  }

  sorted(entries) {
    return [...entries.values()].sort((left, right) => (left.at < right.at ? 1 : -1));
  }

  /** Rejections by reason, the latest first. */
  byReason() {
    const groups = new Map();
    for (const entry of this.sorted(this.rejections)) {
      const key = `${entry.outcome.state} ${reasonOf(entry.outcome)}`;
      if (!groups.has(key)) groups.set(key, {latest: entry, count: 0, apps: new Set()});
      const group = groups.get(key);
      group.count += 1;
      group.apps.add(`${entry.app} (${entry.environment})`);
    }
    return [...groups.values()];
  }

  // MARK: Drawing

  draw() {
    if (!this.isLoaded) return;
    this.drawRejections();
    this.drawFeed();
  }

  drawRejections() {
    const groups = this.byReason();
    const place = byID("rejection-list");
    const shown = groups.map(({latest, count, apps}) => [latest, count, [...apps]]);
    setText(byID("rejections-lead"), this.rejections.size >= REJECTION_COUNT
      ? `By Apple's reason, with what to do; of the latest ${REJECTION_COUNT}`
      : "By Apple's reason, with what to do");
    renderIfChanged(place, [shown, this.isWhole], () => fill(place, groups.length
      ? make("ul", {"class": "reasons"}, groups.map((group) => this.makeReason(group)))
      : make("p", {"class": "empty"}, this.isWhole
        ? "None: no wake in the counts has ended with a refusal by APNs."
        : "None among the thousands of wakes that were accepted last.")));
  }

  makeReason({latest, count, apps}) {
    const {outcome} = latest;
    return make("li", {},
      make("p", {"class": "reason-head"},
        make("strong", {"class": "breakable"}, reasonOf(outcome) || outcome.state), " ",
        outcome.status ? make("span", {"class": "code"}, String(outcome.status)) : null, " ",
        makeState(outcome.state),
        make("span", {"class": "times"}, count === 1 ? "once" : `${countWords(count)} times`)),
      make("p", {}, ...sentence(outcome.explanation)),
      make("p", {"class": "help"}, "Last ", makeTime(latest.at), ` for ${[...apps].join(", ")}. `,
        makeWakeLink(latest.id, `reason-${reasonOf(outcome)}`, "Look at that wake")));
  }

  /** A list that moves while somebody is in it takes the row away that was meant. */
  drawFeed() {
    const place = byID("feed-list");
    const isHeld = place.matches(":hover") || place.matches(":focus-within");
    setText(byID("feed-lead"), isHeld ? "Held while you are in the list"
      : this.isOfWaiting ? "The latest that were accepted" : "As they happen");
    if (isHeld) return;
    const entries = this.sorted(this.latest);
    const word = STATE_WORDS[this.state] ?? this.state;
    renderIfChanged(place, [entries, word], () => fill(place, entries.length ? [
      makeTable("The latest wakes", [
        {title: "At"}, {title: "State"}, {title: "App"}, {title: "Push"}, {title: "Wake"},
      ], entries.map(({id, app, kind, at, state, outcome, waiting}) => [
        makeTime(at),
        make("span", {title: outcome ? outcome.explanation : waiting?.message}, makeState(state),
          " ", make("span", {"class": "breakable"}, outcome ? reasonOf(outcome)
            : waiting ? waitingWords(waiting) : "")),
        make("span", {"class": "breakable"}, app), kindWords(kind), makeWakeLink(id, `feed-${id}`),
      ]), {isStacked: true}),
    ] : make("p", {"class": "empty"}, this.state
      ? `No wake that is ${word} is among the thousands that were accepted last.`
      : "No wake has ended yet.")));
  }
}

/** Until when a wake waits, or what it waits for where nobody knows when that ends. */
function waitingWords({earliest, open_ended: isOpenEnded, reasons}) {
  return isOpenEnded
    ? reasons.map(({reason}) => reason.replaceAll("-", " ")).join(", ")
    : ["until ", makeTime(earliest)];
}

/** Requests that never became wakes, by the reason that their callers were told. */
function showRefused({refused}) {
  const parts = Object.entries(refused).filter(([, count]) => count > 0)
    .sort(([, left], [, right]) => right - left)
    .map(([reason, count]) => `${reason} ${countWords(count)}`);
  setText(byID("refused"), parts.length
    ? `Requests that were refused before they became wakes, since the start: ${parts.join(", ")}.`
    : "");
}

/** A link that looks up a wake: its id is no secret, and may stand in the address. */
function makeWakeLink(id, key, words) {
  return make("a", {
    href: `#wake=${id}`, title: id, "data-key": key, "class": words ? null : "mono",
    "aria-label": words ? null : `Look up wake ${id}`,
  }, words ?? `…${id.slice(-8)}`);
}
