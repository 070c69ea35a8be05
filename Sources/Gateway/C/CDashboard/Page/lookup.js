// SPDX-License-Identifier: Apache-2.0
//
// The look-up: a device, by its token or the digest that logs have, with its budget, what waits for
// it, why, and its last day; or a wake with its life, by its id or by the name that its caller gave
// it. What is looked at stays current while it is open. Device tokens go in bodies: proxies log
// addresses.
"use strict";

const WAKE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DEVICE_TOKEN = /^([0-9a-f]{2}){1,256}$/i;
/** A day of a device that has more wakes than this is told in part. */
const DAY_PAGE = 500;
const DAY_PAGES = 4;
const REF = /^[A-Za-z0-9._-]{1,64}$/;
const DIGEST = /^(?:device#)?([0-9a-f]{8})$/i;
/**
 * Wakes have no index of names and digests: so many pages, of thousands of wakes each, are looked
 * through at a time, the newest first. Who wants to goes on from there.
 */
const SEARCH_PAGES = 20;
const REF_COUNT = 20;

/** What somebody typed: {kind: "wake", "device", "digest" or "ref", value}, or {fault} in words. */
function subjectOf(text) {
  const value = text.trim();
  if (WAKE_ID.test(value)) return {kind: "wake", value: value.toLowerCase()};
  if (value.startsWith("device#") && DIGEST.test(value)) {
    return {kind: "digest", value: DIGEST.exec(value)[1].toLowerCase()};
  }
  // The form in which old code prints a token: <740f4707 bebcf74f …>.
  const digits = value.replace(/[<>\s]/g, "");
  if (digits === "") return {fault: "Type a device token, or the id or the ref of a wake."};
  if (DEVICE_TOKEN.test(digits)) return {kind: "device", value: digits.toLowerCase()};
  if (/^[0-9a-f]{32,}$/i.test(digits) && digits.length % 2 === 1) {
    return {fault: `A device token has an even number of digits; this one has ${digits.length}, so `
      + "it was probably cut."};
  }
  if (REF.test(value)) return {kind: "ref", value};
  return {fault: "This is none of them: a device token is hexadecimal, its digest looks like "
    + "device#27f88cc3, a wake's id like 01a1ff95-bde0-7334-a3d8-1bab30d661a4, and a ref has "
    + "letters, digits, dots, _ and -."};
}

class LookUp {
  constructor() {
    this.subject = null;
    this.turn = 0;
    this.place = byID("look-up-answer");
  }

  /** Looks up what was typed or linked to. The device token is put into no address of the page. */
  async open(subject) {
    this.subject = subject;
    byID("look-up-clear").hidden = false;
    this.place.setAttribute("aria-busy", "true");
    await this.refresh();
    this.place.removeAttribute("aria-busy");
    if (this.place.childElementCount) this.place.focus({preventScroll: true});
  }

  close() {
    this.subject = null;
    this.turn += 1;
    byID("look-up-clear").hidden = true;
    byID("look-up-more").hidden = true;
    setText(byID("look-up-error"), "");
    renderIfChanged(this.place, null, () => fill(this.place));
    leaveWakeAddress();
  }

  /** Goes on with a search where it ended. */
  searchOn() {
    byID("look-up-more").hidden = true;
    return this.open({...this.subject, isMissing: false});
  }

  /** Asks again about what is open; nothing when nothing is. */
  async refresh() {
    // A search that found nothing is not repeated with each reading of the page.
    if (this.subject === null || this.subject.isMissing) return;
    const turn = ++this.turn;
    const {kind, value} = this.subject;
    try {
      const answer = await this.askAbout(kind, value);
      if (turn !== this.turn) return;
      byID("look-up-more").hidden = true;
      setText(byID("look-up-error"), "");
      // The drawing of a day moves on with the minutes.
      const minute = Math.floor(session.now() / MINUTE);
      renderIfChanged(this.place, [this.subject, answer, minute], () => fill(
        this.place, {
          wake: makeWake, device: makeDevice, digest: makeDevice, ref: makeNamed,
        }[kind](answer)));
    } catch (error) {
      if (turn !== this.turn) return;
      if (!(error instanceof GatewayProblem)) throw error;
      const {searchedTo} = error;
      if (error.kind === "absent" && (kind === "ref" || kind === "digest")) {
        Object.assign(this.subject, {isMissing: true, cursor: searchedTo});
      }
      byID("look-up-more").hidden = !searchedTo;
      setText(byID("look-up-error"), faultWords(error, kind));
      // A gateway that is away for a moment does not take away what is shown of before.
      if (error.kind !== "unreachable") renderIfChanged(this.place, null, () => fill(this.place));
    }
  }

  askAbout(kind, value) {
    switch (kind) {
    case "wake": return askJSON(`v1/wakes/${value}`);
    case "ref": return this.askNamed(value);
    case "digest": return this.askDigest(value);
    default: return this.askToken(value);
    }
  }

  /** The newest wakes of a name. */
  async askNamed(ref) {
    const wakes = await this.search({ref}, REF_COUNT);
    return {ref, wakes};
  }

  /** The newest wakes with a property that has no index; up to `count`, and at least one. */
  async search(property, count) {
    const wakes = [];
    const body = {...property, limit: count, cursor: this.subject.cursor};
    for (let page = 0; page < SEARCH_PAGES; page += 1) {
      const answer = await lookUpJSON("v1/wakes/lookup", body);
      wakes.push(...answer.wakes);
      body.cursor = answer.next;
      if (!answer.next || wakes.length >= count) break;
    }
    if (wakes.length > 0) return wakes;
    throw Object.assign(new GatewayProblem("absent", ""), {searchedTo: body.cursor});
  }

  /** A device by its token; eight digits, of which no token has so few, are a digest too. */
  async askToken(token) {
    try {
      return await this.askDevice({device_token: token});
    } catch (error) {
      if (error.kind !== "absent" || !DIGEST.test(token)) throw error;
      return this.askDigest(token);
    }
  }

  /** A device by the digest of its token: by a wake of it, which is looked for once. */
  async askDigest(digest) {
    const {subject} = this;
    if (!subject.wake) {
      const [wake] = await this.search({device: `device#${digest}`}, 1);
      subject.wake = wake.id;
    }
    return this.askDevice({wake: subject.wake});
  }

  /** The queues of a device that is named by its token or by a wake, each with its last day. */
  async askDevice(name) {
    const since = new Date(session.now() - DAY).toISOString();
    const [device, wakes] = await Promise.all([
      lookUpJSON("v1/devices/lookup", name), this.askDay(name, since)]);
    return {
      queues: device.queues.map((queue) => ({
        ...queue,
        day: wakes.list.filter(({app, environment, kind}) => app === queue.app
          && environment === queue.environment && kind === queue.kind),
      })),
      isWhole: wakes.isWhole,
    };
  }

  async askDay(name, since) {
    const list = [];
    const body = {...name, limit: DAY_PAGE};
    for (let page = 0; page < DAY_PAGES; page += 1) {
      const answer = await lookUpJSON("v1/wakes/lookup", body);
      list.push(...answer.wakes.filter(({accepted_at: at}) => at >= since));
      const oldest = answer.wakes.at(-1)?.accepted_at;
      if (!answer.next || (oldest && oldest < since)) return {list, isWhole: true};
      body.cursor = answer.next;
    }
    return {list, isWhole: false};
  }
}

/** The address no longer names a wake. */
function leaveWakeAddress() {
  if (location.hash.startsWith("#wake=")) history.replaceState(null, "", "#look-up");
}

/** When the wake of a cursor was accepted: an id begins with that. */
function cursorTime(cursor) {
  return DAY_CLOCK.format(parseInt(cursor.slice(0, 13).replace("-", ""), 16));
}

function faultWords(error, kind) {
  if (error.kind !== "absent") return error.message;
  const which = error.searchedTo
    ? `accepted since ${cursorTime(error.searchedTo)}` : "that is kept";
  if (kind === "ref") return `No wake ${which} has this ref, and it is no device token and no id.`;
  if (kind === "digest") {
    return `No wake ${which} is for a device with this digest. Its token finds it at once.`;
  }
  return kind === "wake"
    ? "No wake has this id: it was never accepted here, or ended so long ago that it was removed."
    : "Unknown device token. Was it sent to another gateway, or is it "
      + "that of another installation? A reinstallation or a restore brings a new one.";
}

/** The wakes of a name: one in whole, several as a list. */
function makeNamed({ref, wakes}) {
  if (wakes.length === 1) return makeWake(wakes[0]);
  return makeTable(`The newest wakes with the ref ${ref}`, [
    {title: "Accepted"}, {title: "State"}, {title: "App"}, {title: "Push"}, {title: "Wake"},
  ], wakes.map(({id, app, kind, state, accepted_at: at}) => [
    makeTime(at), makeState(state), make("span", {"class": "breakable"}, app), kindWords(kind),
    makeWakeLink(id, `named-${id}`),
  ]), {isStacked: true});
}

// MARK: Device

function makeDevice({queues, isWhole}) {
  return [
    ...queues.map(makeDeviceQueue),
    isWhole ? null : make("p", {"class": "help"},
      `More than ${countWords(DAY_PAGE * DAY_PAGES)} wakes in a day: the oldest are not drawn.`),
  ];
}

function makeDeviceQueue(queue, index) {
  const title = `${queue.app}, ${queue.environment}, ${kindWords(queue.kind)}`;
  const timeline = new DayTimeline(queue.day, {
    now: session.now(), title, key: `queue-${index}`,
    nextSend: queue.next_send ? Date.parse(queue.next_send) : null,
  });
  return make("article", {"class": "queue", "aria-label": title},
    make("h3", {}, make("span", {"class": "breakable"}, queue.app), " ",
      make("span", {"class": "aside"}, `${queue.environment} · ${kindWords(queue.kind)}`)),
    queueChips(queue),
    make("div", {"class": "queue-body"},
      make("div", {}, make("h4", {}, "Why, in words"),
        make("ul", {"class": "sentences"}, queue.explanation.map(
          (text) => make("li", {}, ...sentence(text))))),
      make("div", {}, make("h4", {}, "Budget"), ...budgetMeters(queue)),
      make("div", {}, make("h4", {}, "Pending"), ...pendingWords(queue))),
    make("h4", {}, "The last day"),
    queue.day.length ? timeline.element
      : make("p", {"class": "empty"}, "No wake was accepted in the last 24 hours."));
}

function queueChips(queue) {
  const chips = [];
  const add = (tone, ...words) => chips.push(
    make("span", {"class": `state tone-${tone}`}, words));
  if (queue.dead_since) {
    add("plum", "✝ dead for APNs since ", makeTime(queue.dead_since));
  }
  for (const {reason, until} of queue.budget.rules) {
    add("amber", `◷ ${reason.replaceAll("-", " ")} until `, makeTime(until, {seconds: false}));
  }
  if (queue.last_receipt_at) {
    add("green", "◆ last receipt ", makeTime(queue.last_receipt_at));
  }
  if (queue.registered_at) {
    add("grey", "registered ", makeTime(queue.registered_at));
  }
  return chips.length ? make("p", {"class": "chips"}, chips) : null;
}

/** How much of each window is used. */
function budgetMeters({budget, kind}) {
  const unit = kind === "voip" ? "calls" : "sends";
  const meters = [
    budget.hourly ? meter(`${unit} in 60 minutes`, budget.hourly) : null,
    budget.burst ? meter("pushes in a row", budget.burst) : null,
    budget.daily ? meter(`${unit} in 24 hours`, budget.daily) : null,
  ];
  const facts = [];
  if (budget.spacing_seconds) {
    facts.push(`At least ${durationWords(budget.spacing_seconds * SECOND)} between sends.`);
  }
  if (budget.unconfirmed_sends) {
    facts.push(`${plural(budget.unconfirmed_sends, "send")} in a row not confirmed by a receipt.`);
  }
  if (budget.in_flight) facts.push(`${plural(budget.in_flight, "send")} without an outcome.`);
  return [...meters, facts.length ? make("p", {"class": "help"}, facts.join(" ")) : null];
}

function meter(words, {used, limit, left, opens}) {
  const share = limit > 0 ? Math.min(1, used / limit) : 1;
  const tone = left > 0 ? "blue" : "amber";
  return make("div", {"class": "meter"},
    make("p", {}, make("span", {}, words),
      make("strong", {"class": "number"}, `${used} of ${limit}`)),
    draw("svg", {
      "class": "share thin", viewBox: "0 0 100 10", preserveAspectRatio: "none",
      // The words above say the same.
      "aria-hidden": "true",
    }, draw("rect", {"class": "rest", x: 0, y: 0, width: 100, height: 10}),
    draw("rect", {"class": `bar tone-${tone}`, x: 0, y: 0, width: share * 100, height: 10})),
    left === 0 && opens
      ? make("p", {"class": "help"}, "Room again at ", makeTime(opens), ".") : null);
}

function pendingWords({pending}) {
  if (!pending) return [make("p", {"class": "empty"}, "Nothing waits for this device.")];
  return [
    make("p", {}, makeState(pending.state), " ",
      makeWakeLink(pending.id, `pending-${pending.id}`)),
    make("p", {}, ...sentence(pending.waiting.message)),
    make("p", {"class": "help"}, "Deadline ", makeTime(pending.deadline), "."),
  ];
}

// MARK: Wake

function makeWake(wake) {
  return make("article", {"class": "queue", "aria-label": `Wake ${wake.id}`},
    make("h3", {}, makeState(wake.state), " ", make("span", {"class": "breakable"}, wake.app), " ",
      make("span", {"class": "aside"},
        `${wake.environment} · ${kindWords(wake.kind)} · `
          + (wake.kind === "background" ? wake.urgency : `priority ${wake.priority}`))),
    make("p", {"class": "verdict"}, ...verdictOf(wake)),
    wake.state === "pending" ? make("p", {"class": "tools"}, cancelButton(wake)) : null,
    make("div", {"class": "queue-body two"},
      make("div", {}, make("h4", {}, "Timeline"), make("ol", {"class": "life"}, lifeOf(wake).map(
        ({at, words, more, tone}) => make("li", {"class": `tone-${tone}`},
          make("span", {"class": "when"}, makeTime(at)),
          make("span", {}, words, more ? make("span", {"class": "help"}, " ", more) : null))))),
      make("div", {}, make("h4", {}, "Names"), make("dl", {"class": "names"}, namesOf(wake).map(
        ([name, value]) => [
          make("dt", {}, name), make("dd", {"class": "mono breakable"}, value)])))));
}

/** Cancels a wake that waits: for a key with the scope wake. */
function cancelButton({id}) {
  return make("button", {
    type: "button", "class": "quiet", "data-key": `cancel-${id}`,
    onclick: () => change("cancelled", "Cancel this wake? It is not sent then.",
      () => act("DELETE", `v1/wakes/${id}`)),
  }, "Cancel");
}

function verdictOf(wake) {
  if (wake.outcome) {
    const carried = wake.carrier_outcome
      ? [" The wake that carries it: ", ...sentence(wake.carrier_outcome.explanation)] : [];
    return [...sentence(wake.outcome.explanation), ...carried];
  }
  const {message, reasons} = wake.waiting;
  return [message, ...reasons.map((reason) => reason.message)].flatMap(
    (text) => [...sentence(text), " "]);
}

const ATTEMPT_WORDS = {
  accepted: "Taken", refused: "Refused", unanswered: "No answer", abandoned: "Left behind",
};

/** The status and reason of an attempt, if it was answered. */
function answerOf({status, reason}) {
  return status ? `: ${status}${reason ? ` ${reason}` : ""}` : "";
}

/** What happened to a wake, and what is to come, in the order of time. */
function lifeOf(wake) {
  const asked = Date.parse(wake.accepted_at);
  const life = [{
    at: wake.accepted_at, tone: "blue", words: "Accepted.", more: sentence(wake.decision.message),
  }];
  for (const [index, attempt] of wake.attempts.entries()) {
    const took = durationWords(Date.parse(attempt.ended_at) - Date.parse(attempt.started_at));
    const tries = wake.attempts.length > 1 ? ` (try ${index + 1})` : "";
    const waited = index === 0 ? Date.parse(attempt.started_at) - asked : 0;
    life.push({
      at: attempt.started_at, tone: "blue",
      words: `Sent to APNs${tries}${waited > SECOND ? `, after ${durationWords(waited)}` : ""}.`,
    }, {
      at: attempt.ended_at, tone: attempt.result === "accepted" ? "blue" : "red",
      words: `${ATTEMPT_WORDS[attempt.result]} after ${took}${answerOf(attempt)}.`,
      more: attempt.explanation ? sentence(attempt.explanation) : null,
    });
  }
  if (wake.ended_at && wake.state !== "sent") {
    const words = `Ended: ${STATE_WORDS[wake.state] ?? wake.state}.`;
    life.push({at: wake.ended_at, tone: "grey", words});
  }
  if (wake.launched_at) {
    const took = durationWords(Date.parse(wake.launched_at) - asked);
    life.push({
      at: wake.launched_at, tone: "green",
      words: `Launched the app, ${took} after it was accepted.`,
    });
  }
  if (wake.waiting) {
    const {earliest, message, will_expire: willExpire} = wake.waiting;
    const more = sentence(message);
    if (!willExpire) {
      const words = wake.due_at ? "At the earliest." : "Still waiting.";
      life.push({at: earliest, tone: "amber", words, more});
    }
    life.push({
      at: wake.deadline, tone: "grey", words: "Deadline.", more: willExpire ? more : null,
    });
  }
  return life;
}

function namesOf(wake) {
  const names = [
    ["Wake", wake.id], ["apns-id", wake.apns_id], ["apns-unique-id", wake.outcome?.apns_unique_id],
    ["Device (digest)", make("button", {
      type: "button", "class": "quiet", "data-key": "device", onclick: () => {
        leaveWakeAddress();
        byID("subject").value = wake.device;
        lookUp.open({...subjectOf(wake.device), wake: wake.id});
      },
    }, wake.device)],
    ["Carried by", wake.carried_by && makeWakeLink(wake.carried_by, "carrier", wake.carried_by)],
  ];
  return names.filter(([, value]) => value);
}
