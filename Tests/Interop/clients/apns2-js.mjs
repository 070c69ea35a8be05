#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// command: node
// checkout: APNS2_JS
// apns2 for JavaScript, on undici: APNS2_JS names a checkout that is built, with its packages.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { env } = process;
const require = createRequire(join(env.APNS2_JS, 'package.json'));
const { version } = require('./package.json');
const { ApnsClient, Notification } = require('./dist/cjs/index.js');
const { Pool } = require('undici');

function check(name, found, wanted) {
  if (found === wanted) return;
  console.error(`${name}: ${found} instead of ${wanted}`);
  process.exit(1);
}

function open(key) {
  const client = new ApnsClient({
    team: env.INTEROP_TEAM_ID, keyId: env.INTEROP_KEY_ID, signingKey: readFileSync(key),
    defaultTopic: 'com.example.app', host: 'localhost',
  });
  // It goes to port 443 always: its pool again, with the same settings and the simulator's port.
  client.client.close();
  client.client = new Pool(`https://localhost:${env.INTEROP_PORT}`, {
    connections: 32, pipelining: 1, allowH2: true, maxConcurrentStreams: 100,
    connect: { ca: readFileSync(env.INTEROP_CA) },
  });
  return client;
}

const settings = { type: 'background', priority: 5, contentAvailable: true };

async function push(client, token, data) {
  try {
    await client.send(new Notification(token, { ...settings, data }));
    return 'sent';
  } catch (error) {
    return `${error.statusCode} ${error.reason}`;
  }
}

setTimeout(() => { console.error('no answer within 60 s'); process.exit(1); }, 60000).unref();
const good = open(env.INTEROP_KEY);
check('200', await push(good, 'abcdef'), 'sent');
const many = await good.sendMany(
  Array.from({ length: 500 }, (_, n) => new Notification(`ab${1000 + n}`, settings)));
check('500 at once', many.filter((one) => one.error).length, 0);
check('400', await push(good, 'abc'), '400 BadDeviceToken');
check('413', await push(good, 'abcdef', { x: 'x'.repeat(5000) }), '413 PayloadTooLarge');
check('403', await push(open(env.INTEROP_OTHER_KEY), 'abcdef'), '403 InvalidProviderToken');
console.log(`apns2 ${version} for JavaScript: 200, 500 at once, 400, 413, 403`);
process.exit(0);
