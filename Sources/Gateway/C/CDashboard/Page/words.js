// SPDX-License-Identifier: Apache-2.0
//
// Numbers, times and the gateway's words, as people read them.
"use strict";

const WHOLE = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
const COMPACT = new Intl.NumberFormat("en", {notation: "compact", maximumSignificantDigits: 3});
const SIGNIFICANT = new Intl.NumberFormat("en", {maximumSignificantDigits: 3});
const CLOCK = new Intl.DateTimeFormat("en-GB", {hour: "2-digit", minute: "2-digit"});
const CLOCK_SECONDS = new Intl.DateTimeFormat(
  "en-GB", {hour: "2-digit", minute: "2-digit", second: "2-digit"});
const DAY_CLOCK = new Intl.DateTimeFormat(
  "en-GB", {day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"});

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 12,345; from a million on 1.23M. */
function countWords(number) {
  return Math.abs(number) < 1e6 ? WHOLE.format(number) : COMPACT.format(number);
}

/** A number with three digits that count. */
function figure(number) {
  return Math.abs(number) >= 1e4 ? COMPACT.format(number) : SIGNIFICANT.format(number);
}

/** "1 wake", "2 wakes". */
function plural(count, noun, nouns = noun + "s") {
  return `${countWords(count)} ${count === 1 ? noun : nouns}`;
}

/** A duration: 830 µs, 12.4 ms, 1.2 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. */
function durationWords(milliseconds) {
  const size = Math.abs(milliseconds);
  if (size === 0) return "0 s";
  if (size < 1) return `${SIGNIFICANT.format(milliseconds * 1000)} µs`;
  if (size < SECOND) return `${SIGNIFICANT.format(milliseconds)} ms`;
  if (size < 10 * SECOND) return `${SIGNIFICANT.format(milliseconds / SECOND)} s`;
  if (size < MINUTE) return `${Math.round(milliseconds / SECOND)} s`;
  const parts = size < HOUR ? [[MINUTE, "min"], [SECOND, "s"]]
    : size < DAY ? [[HOUR, "h"], [MINUTE, "min"]] : [[DAY, "d"], [HOUR, "h"]];
  const small = Math.round(milliseconds / parts[1][0]);
  const ratio = parts[0][0] / parts[1][0];
  const rest = small % ratio;
  return `${Math.trunc(small / ratio)} ${parts[0][1]}` + (rest ? ` ${rest} ${parts[1][1]}` : "");
}

/** A duration to the second, where it has one. */
function ageWords(milliseconds) {
  return durationWords(
    milliseconds < SECOND ? milliseconds : Math.round(milliseconds / SECOND) * SECOND);
}

/** A point of time: the clock today, the date before; UTC to the millisecond in its title. */
function makeTime(text, {seconds = true} = {}) {
  const at = new Date(text);
  const isNear = Math.abs(at - Date.now()) < 12 * HOUR;
  const words = isNear ? (seconds ? CLOCK_SECONDS : CLOCK).format(at) : DAY_CLOCK.format(at);
  return make("time", {datetime: text, title: text}, words);
}

/** The word for each decision, and its colour's name in the style, in the order of the charts. */
const DECISIONS = [
  ["send", "sent at once", "blue"],
  ["deferred", "deferred", "amber"],
  ["coalesced", "merged", "teal"],
  ["same-call", "same call", "sky"],
  ["suppressed", "suppressed", "purple"],
  ["expired", "expired", "grey"],
];

/** The same for the states in which wakes end. */
const OUTCOMES = [
  ["sent", "sent", "blue"],
  ["coalesced", "merged", "teal"],
  ["superseded", "superseded", "sky"],
  ["suppressed", "suppressed", "purple"],
  ["expired", "expired", "grey"],
  ["cancelled", "cancelled", "ink"],
  ["rejected", "rejected", "red"],
  ["undeliverable", "undeliverable", "plum"],
  ["failed", "failed", "amber"],
  ["damaged", "damaged", "red"],
];

/** How each state looks in a list: a tone, and a sign for those who see no colour. */
const STATE_LOOKS = {
  pending: ["amber", "◷"], claimed: ["blue", "→"], sent: ["blue", "✓"],
  coalesced: ["teal", "⤵"], superseded: ["sky", "↻"], suppressed: ["purple", "⊘"],
  expired: ["grey", "⌛"],
  rejected: ["red", "✕"], undeliverable: ["plum", "✝"], failed: ["amber", "!"],
  cancelled: ["ink", "–"], damaged: ["red", "⚠"],
};

const STATE_WORDS = {claimed: "on its way", coalesced: "merged"};

/** A state as a chip: sign and word. */
function makeState(state) {
  const [tone, sign] = STATE_LOOKS[state] ?? ["grey", "?"];
  return make("span", {"class": `state tone-${tone}`},
    make("span", {"aria-hidden": "true", "class": "sign"}, sign), " ", STATE_WORDS[state] ?? state);
}

/** "background" and "VoIP", as Apple writes them. */
function kindWords(kind) {
  return kind === "voip" ? "VoIP" : kind;
}
