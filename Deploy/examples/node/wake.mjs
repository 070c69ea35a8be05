// SPDX-License-Identifier: Apache-2.0
//
// Wakes an app on one device, and prints what became of it. Node 18 or later, nothing else.
//
//     node wake.mjs DEVICE_TOKEN
//
// ROUSE_GATEWAY is the gateway's URL, ROUSE_API_KEY a key with the scope wake, ROUSE_APP the app's
// bundle id. With `rouse serve --dev` none of them is needed.

import {randomUUID} from "node:crypto";
import {setTimeout as pause} from "node:timers/promises";

const GATEWAY = process.env.ROUSE_GATEWAY ?? "http://127.0.0.1:8080";
const APP = process.env.ROUSE_APP ?? "com.example.demo";
const MAXIMUM_TRIES = 5;

/** Asks for a silent push; returns the wake, with its outcome where there was one in time. */
export async function wake(deviceToken, data, ttlSeconds = 3600) {
  const ref = randomUUID();
  const headers = {"Content-Type": "application/json"};
  // The key makes trying again safe: it is one wake, however often it is asked for.
  headers["Idempotency-Key"] = ref;
  if (process.env.ROUSE_API_KEY) {
    headers.Authorization = `Bearer ${process.env.ROUSE_API_KEY.trim()}`;
  }
  const body = JSON.stringify({
    kind: "background", app: APP, device_token: deviceToken, ref, ttl_seconds: ttlSeconds,
    // A hint and no content. The app's receipt names the wake by the ref.
    payload: {aps: {"content-available": 1}, ref, ...data},
  });
  for (let left = MAXIMUM_TRIES - 1; ; left -= 1) {
    let seconds = 1;
    try {
      const answer = await fetch(`${GATEWAY}/v1/wakes?wait=outcome&timeout=10`, {
        method: "POST", headers, body, signal: AbortSignal.timeout(30_000),
      });
      if (answer.ok) return await answer.json();
      if (![429, 503].includes(answer.status) || left === 0) {
        throw new Refused(explain(answer.status, await answer.json()));
      }
      seconds = Number(answer.headers.get("Retry-After") ?? 1);
    } catch (error) {
      // No connection, or it broke: the wake may be on disk, or not.
      if (error instanceof Refused || left === 0) throw error;
    }
    await pause(seconds * 1000);
  }
}

/** The gateway does not take this wake. Asking again would not help. */
export class Refused extends Error {}

/** What a problem document (RFC 9457) says. */
function explain(status, problem) {
  const lines = [`${status} ${problem.code}: ${problem.detail ?? problem.title}`];
  for (const finding of problem.diagnostics ?? []) {
    lines.push(`  ${finding.rule} ${finding.message}. ${finding.fix}`);
  }
  return lines.join("\n");
}

if (process.argv.length !== 3) {
  console.error("usage: node wake.mjs DEVICE_TOKEN");
  process.exit(64);
}
try {
  const answer = await wake(process.argv[2], {version: 7});
  console.log(answer.id, answer.outcome?.explanation ?? answer.decision.message);
} catch (error) {
  const isRefused = error instanceof Refused;
  console.error(isRefused ? error.message : `${GATEWAY} gave no answer: ${error.message}`);
  process.exitCode = isRefused ? 1 : 69;
}
