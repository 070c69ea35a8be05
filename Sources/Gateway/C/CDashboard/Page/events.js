// SPDX-License-Identifier: Apache-2.0
//
// Outcomes as they happen: server-sent events, read by fetch because an EventSource cannot show a
// key. Comes back by itself, later each time; while it is away, the page asks at intervals.
"use strict";

/** Without a byte for so long, a stream is dead: the gateway writes one every 15 seconds. */
const STREAM_SILENCE = 40 * SECOND;
const FIRST_PAUSE = SECOND;
const LONGEST_PAUSE = 30 * SECOND;
/** No event is longer; what is, comes from something else than a gateway. */
const EVENT_LENGTH = 65_536;

/** Takes a text/event-stream (WHATWG HTML §9.2.6) piece by piece and gives its events. */
class EventParser {
  constructor() {
    this.rest = "";
    /** The id that a reader who comes back has to send; "" before the first. */
    this.lastID = "";
  }

  /** The events that end in this piece: {name, data}. */
  take(piece) {
    const blocks = (this.rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    this.rest = blocks.pop();
    if (this.rest.length > EVENT_LENGTH) throw new Error("an event without an end");
    return blocks.map((block) => this.read(block)).filter((event) => event.data !== "");
  }

  read(block) {
    const event = {name: "message", data: ""};
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon <= 0) continue;
      const value = line.slice(colon + 1).replace(/^ /, "");
      if (line.slice(0, colon) === "event") event.name = value;
      if (line.slice(0, colon) === "id") this.lastID = value;
      if (line.slice(0, colon) === "data") event.data += (event.data ? "\n" : "") + value;
    }
    return event;
  }
}

/**
 * Follows /v1/events until it is stopped, and goes on where it was when it comes back. `onOutcomes`
 * gets outcomes in lists, `onState` "open" or "closed".
 */
class OutcomeStream {
  constructor({onOutcomes, onState}) {
    this.onOutcomes = onOutcomes;
    this.onState = onState;
    this.abort = null;
    this.pause = FIRST_PAUSE;
    this.lastID = "";
  }

  start() {
    if (this.abort) return;
    this.abort = new AbortController();
    this.follow(this.abort.signal);
  }

  stop() {
    this.abort?.abort();
    this.abort = null;
    this.pause = FIRST_PAUSE;
    // Who stops it reads the lists again.
    this.lastID = "";
  }

  async follow(signal) {
    while (!signal.aborted) {
      let wait = this.pause;
      try {
        await this.read(signal);
      } catch (error) {
        if (signal.aborted) return;
        // A key that may not read will not be let in by asking again; the page says why.
        if (error instanceof GatewayProblem && ["key", "scope"].includes(error.kind)) {
          this.onState("closed");
          return;
        }
        wait = Math.max(wait, (error.retrySeconds ?? 0) * SECOND);
      }
      if (signal.aborted) return;
      this.onState("closed");
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
      // Many pages that lost one gateway do not come back in step.
      const jitter = wait * 0.3 * Math.random();
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, wait + jitter);
        signal.addEventListener("abort", () => {
          clearTimeout(timer);
          resolve();
        }, {once: true});
      });
    }
  }

  /** One connection, from the request to its end. */
  async read(signal) {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), STREAM_SILENCE);
    try {
      const response = await ask(this.lastID ? `v1/events?after=${this.lastID}` : "v1/events", {
        accept: "text/event-stream", signal: AbortSignal.any([signal, silence.signal]),
      });
      this.pause = FIRST_PAUSE;
      this.onState("open");
      const reader = response.body.getReader();
      const decoder = new TextDecoder();
      const parser = new EventParser();
      for (;;) {
        const {done, value} = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), STREAM_SILENCE);
        const events = parser.take(decoder.decode(value, {stream: true}));
        if (signal.aborted) return;
        this.lastID = parser.lastID || this.lastID;
        this.deliver(events);
      }
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  deliver(events) {
    const outcomes = [];
    for (const event of events) {
      if (event.name === "outcome") outcomes.push(JSON.parse(event.data));
    }
    if (outcomes.length) this.onOutcomes(outcomes);
  }
}
