#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// command: node
// checkout: NODE_APN
// node-apn, of parse-community or the older one: NODE_APN names a checkout with its packages.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { env } = process;
const require = createRequire(join(env.NODE_APN, 'package.json'));
const { version } = require('./package.json');
const apn = require(env.NODE_APN);

function check(name, found, wanted) {
  if (found === wanted) return;
  console.error(`${name}: ${found} instead of ${wanted}`);
  process.exit(1);
}

function provider(key) {
  return new apn.Provider({
    token: { key, keyId: env.INTEROP_KEY_ID, teamId: env.INTEROP_TEAM_ID },
    address: 'localhost', port: Number(env.INTEROP_PORT), ca: [env.INTEROP_CA], production: false,
  });
}

async function push(to, tokens, payload = {}) {
  const note = new apn.Notification({ payload });
  Object.assign(note, { topic: 'com.example.app', pushType: 'background', contentAvailable: 1, priority: 5 });
  const { sent, failed } = await to.send(note, tokens);
  const reasons = failed.map((one) => (one.response
    ? `${one.status} ${one.response.reason}` : String(one.error)));
  return [`${sent.length} sent`, ...new Set(reasons)].join(', ');
}

setTimeout(() => { console.error('no answer within 60 s'); process.exit(1); }, 60000).unref();
const good = provider(env.INTEROP_KEY);
const other = provider(env.INTEROP_OTHER_KEY);
check('200', await push(good, 'abcdef'), '1 sent');
check('500 at once', await push(good, Array.from({ length: 500 }, (_, n) => `ab${1000 + n}`)), '500 sent');
check('400', await push(good, 'abc'), '0 sent, 400 BadDeviceToken');
check('413', await push(good, 'abcdef', { x: 'x'.repeat(5000) }), '0 sent, 413 PayloadTooLarge');
check('403', await push(other, 'abcdef'), '0 sent, 403 InvalidProviderToken');
await good.shutdown();
await other.shutdown();
console.log(`node-apn ${version}: 200, 500 at once, 400, 413, 403`);
process.exit(0);
