// SPDX-License-Identifier: Apache-2.0
//
// Asks the gateway, with the key that the person typed. The key is kept in this tab's session and
// in no address; it can be forgotten at any time.
"use strict";

/** How long an answer may take, in milliseconds. */
const ANSWER_TIMEOUT = 10 * SECOND;
const KEY_NAME = "rouse.key";

/** An answer that is none of the expected ones. `kind` is what the page does about it. */
class GatewayProblem extends Error {
  /**
   * `kind`: "key" (none, or refused), "scope", "input", "absent", "busy", "trouble" or
   * "unreachable".
   */
  constructor(kind, message, {code, retrySeconds} = {}) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.retrySeconds = retrySeconds;
  }
}

const session = {
  /** The key; null where none is asked for, or none is known yet. */
  key: null,
  /** How far the gateway's clock is ahead of this machine's, in milliseconds. */
  clockLead: 0,

  /** Takes the key of this tab's session. */
  recall() {
    try {
      this.key = sessionStorage.getItem(KEY_NAME);
    } catch {
      this.key = null;
    }
  },

  /** Keeps a key for this tab; null to forget it. */
  keep(key) {
    this.key = key;
    try {
      if (key === null) sessionStorage.removeItem(KEY_NAME);
      else sessionStorage.setItem(KEY_NAME, key);
    } catch {
      // Storage is switched off: the key lives as long as the page.
    }
  },

  /** The gateway's present time, in milliseconds since the epoch. */
  now() {
    return Date.now() + this.clockLead;
  },
};

/** What is wrong with a key before anybody is asked; null when it can be shown to the gateway. */
function faultOfKey(key) {
  if (key === "") return "Type the key.";
  // What a header may hold: the browser refuses to send anything else.
  return /^[\x21-\x7e]+$/.test(key)
    ? null : "This is no API key: it has spaces or letters that a key never has.";
}

/** One request, a POST if it has a body. Resolves with the response, or throws a GatewayProblem. */
async function ask(path, {
  accept = "application/json", signal, body, method = body === undefined ? "GET" : "POST",
} = {}) {
  const headers = {Accept: accept};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (session.key !== null) headers.Authorization = `Bearer ${session.key}`;
  let response;
  try {
    response = await fetch(path, {
      method, body: JSON.stringify(body), headers,
      cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
      signal: signal ?? AbortSignal.timeout(ANSWER_TIMEOUT),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    const words = error.name === "TimeoutError"
      ? "The gateway did not answer within ten seconds." : "The gateway cannot be reached.";
    throw new GatewayProblem("unreachable", words);
  }
  noteClock(response);
  if (response.ok) return response;
  throw await problemOf(response);
}

/** JSON of a route. A 503 of /readyz is an answer like any other. */
async function askJSON(path, options) {
  try {
    return await (await ask(path, options)).json();
  } catch (error) {
    if (error instanceof GatewayProblem) throw error;
    throw new GatewayProblem("trouble", "The gateway's answer broke off.");
  }
}

/** The query that narrows a route to an app in its environment. */
function appQuery({app, environment}) {
  return new URLSearchParams({app, environment}).toString();
}

/** What a route finds for a body, which holds what is to be in no address: a device token. */
function lookUpJSON(path, body) {
  return askJSON(path, {body});
}

/** Changes something: for keys with the scope that the route asks for. */
function act(method, path) {
  return ask(path, {method});
}

/** The text of a route. */
async function askText(path) {
  try {
    return await (await ask(path, {accept: "text/plain"})).text();
  } catch (error) {
    if (error instanceof GatewayProblem) throw error;
    throw new GatewayProblem("trouble", "The gateway's answer broke off.");
  }
}

/** Whether the gateway is ready, and if not, why: open to everybody. */
async function askReadiness() {
  let response;
  try {
    response = await fetch("readyz", {
      cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(ANSWER_TIMEOUT),
    });
    return await response.json();
  } catch {
    throw new GatewayProblem("unreachable", "The gateway cannot be reached.");
  }
}

/** The Date field has whole seconds; a difference within two of them is not told from none. */
function noteClock(response) {
  const at = Date.parse(response.headers.get("Date") ?? "");
  if (Number.isNaN(at)) return;
  const lead = at + SECOND / 2 - Date.now();
  session.clockLead = Math.abs(lead) > 2 * SECOND ? lead : 0;
}

/** Reads a problem document (RFC 9457), and tells what kind of problem it is. */
async function problemOf(response) {
  let detail = "";
  let code = "";
  try {
    const problem = await response.json();
    detail = String(problem.detail ?? problem.title ?? "");
    code = String(problem.code ?? "");
  } catch {
    // Whatever stands between may answer with something else.
  }
  const retrySeconds = Number(response.headers.get("Retry-After")) || undefined;
  const kinds = {
    400: "input", 401: "key", 403: "scope", 404: "absent", 429: "busy",
  };
  return new GatewayProblem(
    kinds[response.status] ?? "trouble", detail || `The gateway answered ${response.status}.`,
    {code, retrySeconds});
}
