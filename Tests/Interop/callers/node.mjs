#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// command: node
// node's http2: many wakes over one session, resets, an event stream, and a caller without a key.
import { readFileSync } from 'node:fs';
import { connect, constants } from 'node:http2';

const { env } = process;
const passed = new Set();
const failed = [];

function check(name, found, wanted) {
  if (found === wanted) passed.add(name);
  else failed.push(name);
  if (found !== wanted) console.error(`${name}: ${found} instead of ${wanted}`);
}

function open(base) {
  const session = connect(base, { ca: readFileSync(env.INTEROP_GATEWAY_CA) });
  session.on('error', (error) => failed.push(`connection: ${error.message}`));
  session.on('goaway', (code) => failed.push(`GOAWAY ${code}`));
  return session;
}

function wake(number) {
  return JSON.stringify({
    kind: 'background', app: 'com.example.app', ttl_seconds: 3600,
    device_token: env.INTEROP_DEVICES + number.toString(16).padStart(16, '0'),
    payload: { aps: { 'content-available': 1 }, version: number },
  });
}

function request(session, method, path, key = env.INTEROP_GATEWAY_KEY) {
  return session.request({
    ':method': method, ':path': path, authorization: `Bearer ${key}`,
    'content-type': 'application/json',
  });
}

// The status of an answer and its JSON, or the code of the failure.
function call(session, method, path, body, key) {
  return new Promise((resolve) => {
    const stream = request(session, method, path, key);
    let status = 0;
    let text = '';
    stream.setEncoding('utf8');
    stream.on('response', (headers) => { status = headers[':status']; });
    stream.on('data', (part) => { text += part; });
    stream.on('error', (error) => resolve({ status: error.code, content: {} }));
    stream.on('end', () => resolve({ status, content: text ? JSON.parse(text) : {} }));
    stream.end(body);
  });
}

const atOnce = (count, one) => Promise.all(Array.from({ length: count }, (_, n) => one(n)));
const stats = async (session) => (await call(session, 'GET', '/v1/stats')).content;

async function calls(name, base) {
  const session = open(base);
  const { accepted } = await stats(session);

  // The stream of events says what became of a wake.
  const events = request(session, 'GET', '/v1/events');
  let text = '';
  events.setEncoding('utf8');
  events.end();
  await new Promise((resolve) => { events.once('data', resolve); });
  events.on('data', (part) => { text += part; });
  const one = await call(session, 'POST', '/v1/wakes', wake(0));
  check('202', one.status, 202);
  for (let n = 0; n < 100 && !text.includes(one.content.id); n += 1) {
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  check('events', text.includes(one.content.id), true);
  check('streams of events', (await stats(session)).event_streams, 1);
  events.close(constants.NGHTTP2_CANCEL);
  let left = 1;
  for (let n = 0; n < 40 && left; n += 1) left = (await stats(session)).event_streams;
  check('events closed', left, 0);
  const found = await call(session, 'GET', `/v1/wakes/${one.content.id}`);
  check('found', `${found.content.id} ${found.content.state}`, `${one.content.id} sent`);

  const many = await atOnce(500, (n) => call(session, 'POST', '/v1/wakes', wake(n + 1)));
  check('500 at once', [...new Set(many.map((answer) => answer.status))].join(), '202');
  check('ids', new Set(many.map((answer) => answer.content.id)).size, 500);

  // Whether a wake whose request is reset was taken is open, so that these ask for nothing.
  const resets = await atOnce(50, () => new Promise((resolve) => {
    const stream = request(session, 'POST', '/v1/wakes');
    stream.on('close', () => resolve(stream.rstCode));
    stream.on('error', () => {});
    stream.close(constants.NGHTTP2_CANCEL);
  }));
  check('resets', [...new Set(resets)].join(), `${constants.NGHTTP2_CANCEL}`);

  const problem = async (status, code, ...request) => {
    const answer = await call(session, ...request);
    check(`${status}`, `${answer.status} ${answer.content.status} ${answer.content.code}`,
      `${status} ${status} ${code}`);
  };
  await problem(400, 'malformed-body', 'POST', '/v1/wakes', '{');
  await problem(401, 'unauthorized', 'POST', '/v1/wakes', wake(0), 'wrong');
  await problem(404, 'not-found', 'GET', '/v1/wakes/00000000-0000-7000-8000-000000000000');
  await problem(413, 'body-too-large', 'POST', '/v1/wakes', ' '.repeat(60_000).repeat(2));
  check('counted', (await stats(session)).accepted - accepted, 501);
  session.close();

  // Beyond eight requests at a time the gateway refuses those without a key, and keeps the
  // connection.
  const stranger = open(base);
  const refused = await atOnce(100, (n) => call(stranger, 'POST', '/v1/wakes', wake(n), 'wrong'));
  const statuses = [...new Set(refused.map((answer) => answer.status))].sort().join();
  check('100 without a key', statuses.replace(',ERR_HTTP2_STREAM_ERROR', ''), '401');
  const next = stranger.destroyed ? { status: 'no session' }
    : await call(stranger, 'POST', '/v1/wakes', wake(0), 'wrong');
  check('401 after it', next.status, 401);
  stranger.close();
}

for (const [name, base] of [['h2', env.INTEROP_GATEWAY], ['h2c', env.INTEROP_GATEWAY_PLAIN]]) {
  const before = failed.length;
  await calls(name, base);
  if (failed.length > before) console.error(`the failures above are with ${name}`);
}
console.log(`node ${process.versions.node}, h2 and h2c: ${[...passed].join(', ')}`
  + (failed.length ? `; failed: ${failed.join(', ')}` : ''));
process.exit(failed.length ? 1 : 0);
