// SPDX-License-Identifier: Apache-2.0
//
// The page's life: the key, the readings at intervals, the stream, what stands in the way, and the
// switch of colours.
"use strict";

/** After an outcome the figures are read again so soon, in milliseconds. */
const EVENT_PAUSE = 2 * SECOND;
/** While no stream is open, the lists are read so often. */
const LIST_PAUSE = 15 * SECOND;
const THEME_NAME = "rouse.theme";

const readings = new History();
const lists = new OutcomeLists();
const lookUp = new LookUp();

const page = {
  timer: null,
  dueAt: 0,
  readAt: 0,
  listedAt: 0,
  isReading: false,
  /** Whether what is read now is not what is asked for any more. */
  isOutdated: false,
  streamState: "closed",
  unreachableSince: null,
  notices: new Map(),
  needsCommand: true,
  /** The app that the page is narrowed to, {app, environment}; null for all. */
  chosen: null,
  /** Whether the gateway's own readings are to be read, because the page has a gap. */
  needsHistory: true,
};

const stream = new OutcomeStream({
  onOutcomes(outcomes) {
    lists.add(outcomes.map(entryOf));
    schedule(Math.max(0, page.readAt + EVENT_PAUSE - Date.now()));
  },
  onState(state) {
    // What ended while the stream was away is in the lists only.
    if (state === "open" && page.streamState === "closed" && lists.isLoaded) page.listedAt = 0;
    page.streamState = state;
    showLiveness();
  },
});

// MARK: Readings

/** Has the next reading happen in so many milliseconds at the latest. */
function schedule(pause) {
  const dueAt = Date.now() + pause;
  if (page.timer !== null && page.dueAt <= dueAt) return;
  clearTimeout(page.timer);
  page.dueAt = dueAt;
  page.timer = setTimeout(read, pause);
}

async function read() {
  page.timer = null;
  if (page.isReading || document.hidden) return;
  page.isReading = true;
  let pause = SAMPLE_INTERVAL;
  try {
    await readOnce();
    page.unreachableSince = null;
    notice("trouble", null);
  } catch (error) {
    pause = error instanceof GatewayProblem ? meet(error) : meetFault(error);
  } finally {
    page.isReading = false;
    page.readAt = Date.now();
    if (page.isOutdated && pause !== null) pause = 0;
    page.isOutdated = false;
  }
  showLiveness();
  if (pause !== null) schedule(pause);
}

async function readOnce() {
  const {chosen} = page;
  // A key that is missing or refused is found out by one request.
  const [readiness, {apps}] = await Promise.all([askReadiness(), askJSON("v1/apps")]);
  const [stats, text, {endpoints}, app] = await Promise.all([
    askJSON("v1/stats"), askText("metrics"), askJSON("v1/webhooks"),
    chosen && apps.some(isChosen) ? askApp(chosen) : null]);
  letIn();
  // Another app was chosen meanwhile: its reading follows.
  if (chosen !== page.chosen) return;
  const isCounted = !app || app.counted_by_name;
  if (noteCounted(isCounted)) readings.clear();
  const sample = sampleOf(parseMetrics(text), stats, session.now(), isCounted ? chosen : NO_APP);
  const shown = app ? statsOfApp(app, sample) : stats;
  sample.depth = shown.unended;
  // The readings that an event hastens are not drawn: a chart's points keep their distance.
  const isDue = !readings.latest || sample.at - readings.latest.at > SAMPLE_INTERVAL * 0.8;
  if (isDue && readings.add(sample)) {
    notice("restart", {tone: "info", title: "The gateway was started anew.",
      words: ["Charts and percentiles begin again; the counts go on."]});
  }
  if (isDue && page.needsHistory) await readHistory();
  showReadiness(readiness, apps);
  showTiles(shown, sample);
  showChoice(apps);
  showApps(apps.filter(isChosen));
  showWebhooks(endpoints);
  showStore(stats.store);
  // There is none left when another app was chosen meanwhile.
  if (isDue && readings.latest) showCharts(readings, session.now());
  showFirstWake(stats, apps);
  await Promise.all([readLists(), lookUp.refresh()]);
}

/** An app with what waits for it. */
function askApp({app, environment}) {
  return askJSON(`v1/apps/${app}?environment=${environment}`);
}

/** Reads what the gateway kept of the last hour, before this page was opened or seen again. */
async function readHistory() {
  const chosen = page.chosen;
  const kept = await askJSON("v1/history" + (chosen ? `?${appQuery(chosen)}` : ""));
  if (chosen !== page.chosen) return;
  page.needsHistory = false;
  readings.fill(samplesOf(kept, chosen));
}

async function readLists() {
  // No event tells of wakes that wait.
  if (page.streamState === "open" && page.listedAt > 0 && !lists.isOfWaiting) return;
  if (Date.now() - page.listedAt < LIST_PAUSE) return;
  page.listedAt = Date.now();
  await lists.load();
}

/** The gateway answered: the figures are shown, and followed. */
function letIn() {
  byID("sign-in").hidden = true;
  byID("key-error").textContent = "";
  byID("forget").hidden = session.key === null;
  document.body.classList.remove("stale");
  if (byID("figures").hidden) {
    byID("figures").hidden = false;
    announce("The gateway's figures are shown.");
    followHash();
  }
  stream.start();
}

/** What comes of a problem; returns the pause until the next reading, null for none. */
function meet(error) {
  switch (error.kind) {
  case "key":
    askForKey(session.key === null ? "" : `${error.message} Try another.`);
    return null;
  case "scope":
    askForKey(error.code === "app-not-allowed"
      ? `${error.message} This page shows all apps, and needs a key that is for all of them.`
      : `${error.message} This page needs a key with the scope read.`);
    return null;
  case "unreachable":
    page.unreachableSince ??= Date.now();
    document.body.classList.add("stale");
    showReadinessWord("bad", "Not reached");
    notice("trouble", {
      tone: "bad", title: error.message,
      words: [byID("figures").hidden
        ? "Is it running? On its machine, systemctl status rouse tells. "
        : "What is shown is from before ", byID("figures").hidden ? ""
        : CLOCK_SECONDS.format(page.unreachableSince), byID("figures").hidden ? "" : ". ",
      "This page asks again every five seconds."],
    });
    return SAMPLE_INTERVAL;
  case "busy":
    notice("trouble", {
      tone: "warn", title: "The gateway asks for a pause.", words: [error.message],
    });
    return Math.max(SAMPLE_INTERVAL, (error.retrySeconds ?? 0) * SECOND);
  default:
    document.body.classList.add("stale");
    notice("trouble", {
      tone: "bad", title: "The gateway cannot tell its figures.", words: [error.message],
    });
    return SAMPLE_INTERVAL;
  }
}

/** A fault of the page itself is told, and the next reading tried. */
function meetFault(error) {
  console.error(error);
  notice("trouble", {
    tone: "bad", title: "This page has a fault.",
    words: [`${error.message}. Loading it again may help; the gateway is not concerned.`],
  });
  return SAMPLE_INTERVAL;
}

// MARK: Narrowing

/** Whether the page shows this app. */
function isChosen({app, environment}) {
  return page.chosen === null
    || (app === page.chosen.app && environment === page.chosen.environment);
}

/** The apps to choose from; one that is not configured any more is left. */
function showChoice(apps) {
  const place = byID("app-choice");
  byID("choice").hidden = apps.length < 2;
  renderIfChanged(place, apps.map(({app, environment}) => [app, environment]), () => {
    const {value} = place;
    fill(place, make("option", {value: ""}, "All apps"), apps.map(({app, environment}) => make(
      "option", {value: `${app} ${environment}`}, `${app} (${environment})`)));
    place.value = value;
    if (place.selectedIndex >= 0) return;
    place.value = "";
    chooseApp();
  });
}

function chooseApp() {
  const [app, environment] = byID("app-choice").value.split(" ");
  page.chosen = app ? {app, environment} : null;
  byID("choice-help").hidden = page.chosen === null;
  readings.clear();
  page.needsHistory = true;
  chooseState();
}

function chooseState() {
  lists.narrow(page.chosen, byID("state-choice").value);
  page.listedAt = 0;
  page.isOutdated = page.isReading;
  schedule(0);
}

// MARK: Changes

/** Changes something, if the person means it, and reads anew. What is refused is told. */
async function change(word, question, run) {
  if (question !== null && !window.confirm(question)) return;
  try {
    await run();
    notice("change", null);
    announce(`It is ${word}.`);
    schedule(0);
  } catch (error) {
    if (!(error instanceof GatewayProblem)) throw error;
    notice("change", {
      tone: "warn", title: `It was not ${word}.`, words: [error.kind === "scope"
        ? `${error.message} Sign out, and sign in with a key that may.` : error.message],
    });
  }
}

// MARK: The key

function askForKey(words) {
  stream.stop();
  page.streamState = "closed";
  session.keep(null);
  lookUp.close();
  byID("forget").hidden = true;
  byID("figures").hidden = true;
  byID("sign-in").hidden = false;
  setText(byID("key-error"), words);
  notice("trouble", null);
  byID("key").value = "";
  byID("key").focus();
}

function useKey(event) {
  event.preventDefault();
  const key = byID("key").value.trim();
  const fault = faultOfKey(key);
  setText(byID("key-error"), fault ?? "");
  if (fault) return;
  session.keep(key);
  schedule(0);
}

function forgetKey() {
  askForKey("");
  for (const key of [...page.notices.keys()]) notice(key, null);
  // What the key showed goes with it.
  location.reload();
}

// MARK: What stands in the way

function showReadinessWord(tone, words) {
  const pill = byID("readiness");
  pill.dataset.tone = tone;
  setText(pill, words);
  // Among many tabs, one that needs somebody says so.
  document.title = tone === "good" ? "Rouse" : `${words} · Rouse`;
}

function showReadiness(readiness, apps) {
  const held = troubledQueues(apps);
  const isReady = readiness.status === "ready";
  showReadinessWord(isReady ? "good" : "bad", isReady ? "Ready" : "Not ready");
  // Such a queue is among the reasons too; it is told once.
  const others = readiness.reasons.filter(
    (reason) => !held.some(({queue}) => reason.endsWith(queue.message)));
  notice("readiness", others.length ? {
    tone: "bad", title: "The gateway is not ready.",
    words: others.flatMap((text) => [...sentence(text), " "]),
  } : null);
  notice("warnings", readiness.warnings.length ? {
    tone: "warn", title: "Somebody should look at this.",
    words: readiness.warnings.flatMap((text) => [...sentence(text), " "]),
  } : null);
  for (const key of [...page.notices.keys()].filter((key) => key.startsWith("held "))) {
    if (!held.some((each) => heldKey(each) === key)) notice(key, null);
  }
  for (const each of held) {
    const {app, queue} = each;
    notice(heldKey(each), {
      tone: "bad",
      title: `${app.app} (${app.environment}), ${kindWords(queue.kind)}: ${queue.state}`,
      words: [...sentence(queue.message), " ", make("a", {href: "#apps"}, "More under Apps"), "."],
      about: [queue.message],
    });
  }
}

function heldKey({app, queue}) {
  return `held ${app.app} ${app.environment} ${queue.kind}`;
}

/** Puts up, changes or takes away a notice. `about` says when it has changed. */
function notice(key, content) {
  if (content === null) {
    if (!page.notices.delete(key)) return;
  } else {
    page.notices.set(key, content);
  }
  const textOf = (words) => words.map((word) => word.textContent ?? word);
  const shown = [...page.notices.values()].map(
    ({tone, title, words, about}) => [tone, title, about ?? textOf(words)]);
  renderIfChanged(byID("notices"), shown, () => fill(byID("notices"), [...page.notices].map(
    ([name, {tone, title, words}]) => make(
      "div", {"class": "notice", "data-tone": tone, "data-notice": name},
      make("p", {}, make("strong", {}, title), " ", words)))));
}

function showLiveness() {
  const isIn = !byID("figures").hidden;
  const isReached = page.unreachableSince === null;
  const [tone, words] = !isReached ? ["bad", "Trying again"]
    : !isIn ? ["quiet", "Not connected"]
      : page.streamState === "open" ? ["good", "Live"] : ["warn", "Every 5 s"];
  byID("liveness").dataset.tone = tone;
  setText(byID("liveness-words"), isIn && isReached
    ? `${words} · ${CLOCK_SECONDS.format(session.now())}` : words);
}

// MARK: The first wake

function showFirstWake(stats, apps) {
  const isFirst = stats.accepted === 0 && apps.length > 0;
  byID("first-wake").hidden = !isFirst;
  if (!isFirst || !page.needsCommand) return;
  page.needsCommand = false;
  byID("first-wake-key").hidden = session.key === null;
  setText(byID("first-wake-command"), firstWakeCommand(apps));
}

/** A line for a shell. Environment and key only where they are needed. */
function firstWakeCommand(apps) {
  const {app, environment, queues} = apps[0];
  const isVoIP = !queues.some(({kind}) => kind === "background");
  const body = {
    kind: isVoIP ? "voip" : "background", app,
    ...(apps.filter((each) => each.app === app).length > 1 ? {environment} : {}),
    device_token: "0".repeat(64),
    payload: isVoIP ? {callUUID: "5bb1f6a4-7c36-4f6e-9a52-2c9f0cb3d1ad", handle: "Ann"}
      : {aps: {"content-available": 1}},
  };
  const key = session.key === null ? "" : " \\\n  -H \"Authorization: Bearer $ROUSE_API_KEY\"";
  return `curl -sS ${new URL("v1/wakes", location.href).href.split("#")[0]} \\\n`
    + `  -H 'Content-Type: application/json'${key} \\\n  -d '${JSON.stringify(body)}'`;
}

async function copyCommand() {
  const place = byID("first-wake-command");
  try {
    await navigator.clipboard.writeText(place.textContent);
    setText(byID("copied"), "Copied.");
  } catch {
    // Without a secure origin there is no clipboard to write to.
    getSelection().selectAllChildren(place);
    setText(byID("copied"), "Selected: copy it with the keyboard.");
  }
}

// MARK: Looking up

function lookUpTyped(event) {
  event.preventDefault();
  const subject = subjectOf(byID("subject").value);
  setText(byID("look-up-error"), subject.fault ?? "");
  if (subject.fault) {
    byID("subject").focus();
    return;
  }
  if (subject.kind === "wake" && location.hash !== `#wake=${subject.value}`) {
    location.hash = `wake=${subject.value}`;
    return;
  }
  if (subject.kind !== "wake") leaveWakeAddress();
  lookUp.open(subject);
}

/** A link to a wake, from this page or from elsewhere. */
function followHash() {
  const match = /^#wake=(.+)$/.exec(location.hash);
  if (!match || byID("figures").hidden) return;
  const subject = subjectOf(decodeURIComponent(match[1]));
  if (subject.kind !== "wake") return;
  byID("subject").value = subject.value;
  lookUp.open(subject);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  byID("look-up").scrollIntoView({behavior: calm ? "auto" : "smooth", block: "start"});
}

// MARK: Colours

function showTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  byID("theme").value = theme;
}

function storedTheme() {
  try {
    const theme = localStorage.getItem(THEME_NAME);
    return ["light", "dark"].includes(theme) ? theme : "system";
  } catch {
    return "system";
  }
}

function chooseTheme() {
  const theme = byID("theme").value;
  showTheme(theme);
  try {
    localStorage.setItem(THEME_NAME, theme);
  } catch {
    // Storage is switched off: the choice lives as long as the page.
  }
}

// MARK: Beginning

/** A page that nobody sees asks nothing. */
function noteVisibility() {
  if (document.hidden) {
    page.needsHistory = true;
    clearTimeout(page.timer);
    page.timer = null;
    stream.stop();
  } else if (byID("sign-in").hidden) {
    page.streamState = "closed";
    schedule(0);
  }
}

showTheme(storedTheme());
makeTiles();
makeCharts();
byID("key-form").addEventListener("submit", useKey);
byID("forget").addEventListener("click", forgetKey);
byID("look-up-form").addEventListener("submit", lookUpTyped);
byID("look-up-clear").addEventListener("click", () => {
  lookUp.close();
  byID("subject").value = "";
  byID("subject").focus();
});
byID("look-up-more").addEventListener("click", () => lookUp.searchOn());
byID("copy-command").addEventListener("click", copyCommand);
byID("theme").addEventListener("change", chooseTheme);
fill(byID("state-choice"), make("option", {value: ""}, "All that ended"),
  Object.keys(STATE_LOOKS).map((state) => make(
    "option", {value: state}, STATE_WORDS[state] ?? state)));
byID("app-choice").addEventListener("change", chooseApp);
byID("state-choice").addEventListener("change", chooseState);
document.addEventListener("visibilitychange", noteVisibility);
window.addEventListener("hashchange", followHash);
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "this machine";
setText(byID("zone"), /^(Etc\/)?(UTC|GMT|Universal|Zulu)$/.test(zone)
  ? "Times are in UTC." : `Times are those of ${zone}; their titles have them in UTC.`);
session.recall();
schedule(0);
