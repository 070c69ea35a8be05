// SPDX-License-Identifier: Apache-2.0
//
// Receives Rouse's webhooks and checks their signatures. Node 18 or later, nothing else.
//
//     node receive.mjs
//
// WEBHOOK_SECRET is the text that the gateway has in `secret-file`, PORT the port on this machine; 0
// lets the system choose. A server of your own takes `isVerified` and `take`.

import {createHmac, timingSafeEqual} from "node:crypto";
import {createServer} from "node:http";

const MAXIMUM_BYTES = 1 << 20;
// How old, or how far ahead, a request may be. Older ones may be somebody's copy.
const TOLERANCE_SECONDS = 300;

/** The key that a secret stands for (Standard Webhooks 1.0). */
function keyOf(secret) {
  const text = secret.trim();
  return text.startsWith("whsec_") ? Buffer.from(text.slice(6), "base64") : Buffer.from(text);
}

/** Returns whether a request comes from the gateway, whole and just now. */
function isVerified(headers, body, key, now) {
  const {"webhook-id": id = "", "webhook-timestamp": timestamp = ""} = headers;
  if (!/^\d+$/.test(timestamp) || Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) {
    return false;
  }
  const digest = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  const expected = Buffer.from(`v1,${digest.toString("base64")}`);
  // There may be several, while a secret is replaced. The comparison takes the same time for all.
  return (headers["webhook-signature"] ?? "").split(" ").map((given) => Buffer.from(given)).some(
    (given) => given.length === expected.length && timingSafeEqual(given, expected));
}

const seen = new Set();

/** Takes each event once. An event can come twice, so yours go into a table with a unique id. */
function take(event) {
  if (seen.has(event.id)) return;
  seen.add(event.id);
  if (event.type === "outcome") {
    console.log("outcome", event.wake.id, event.wake.state);
  } else if (event.type === "token-dead") {
    // Delete the token, unless the app has uploaded it again since.
    console.log("token-dead", event.feedback.device_token);
  } else {
    console.log(event.type);
  }
}

const key = keyOf(process.env.WEBHOOK_SECRET ?? "");
if (key.length < 16) {
  console.error("WEBHOOK_SECRET: fewer than 16 bytes; give the gateway's secret");
  process.exit(1);
}

const server = createServer(async (request, response) => {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAXIMUM_BYTES) {
      response.writeHead(413, {Connection: "close"}).end();
      return;
    }
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  if (!isVerified(request.headers, body, key, Date.now() / 1000)) {
    response.writeHead(401).end();
    return;
  }
  for (const event of JSON.parse(body).events) take(event);
  // Any 2xx means that all were taken; anything else brings them again.
  response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 9000), "127.0.0.1", () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}/`);
});
