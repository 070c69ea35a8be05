#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// command: node
// node's http2, with provider tokens that it signs itself, in both forms of a signature. Clients for
// APNs in JavaScript stand on this module.
import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';

const { env } = process;
const passed = [];
const failed = [];

function check(name, found, wanted) {
  (found === wanted ? passed : failed).push(name);
  if (found !== wanted) console.error(`${name}: ${found} instead of ${wanted}`);
}

function token(path, dsaEncoding) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'ES256', kid: env.INTEROP_KEY_ID })}.`
    + part({ iss: env.INTEROP_TEAM_ID, iat: Math.floor(Date.now() / 1000) });
  const key = { key: createPrivateKey(readFileSync(path)), dsaEncoding };
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

function open() {
  const session = connect(`https://localhost:${env.INTEROP_PORT}`, { ca: readFileSync(env.INTEROP_CA) });
  session.on('error', (error) => failed.push(`connection: ${error.message}`));
  session.on('goaway', (code) => failed.push(`GOAWAY ${code}`));
  return session;
}

function push(session, device, jwt, body = '{"aps":{"content-available":1}}') {
  return new Promise((resolve) => {
    const stream = session.request({
      ':method': 'POST', ':path': `/3/device/${device}`, authorization: `bearer ${jwt}`,
      'apns-topic': 'com.example.app', 'apns-push-type': 'background', 'apns-priority': '5',
      // node sends each as a field of its own.
      cookie: ['a=1', 'b=2'],
    });
    let answer = '';
    stream.setEncoding('utf8');
    stream.on('response', (headers) => { answer = `${headers[':status']} `; });
    stream.on('data', (text) => { answer += text; });
    stream.on('error', (error) => resolve(error.code));
    stream.on('end', () => resolve(answer));
    stream.end(body);
  });
}

const raw = token(env.INTEROP_KEY, 'ieee-p1363');
const session = open();
check('200', await push(session, 'abcdef', raw), '200 ');
const many = await Promise.all(Array.from({ length: 500 }, (_, n) => push(session, `ab${1000 + n}`, raw)));
check('500 at once', [...new Set(many)].join(), '200 ');
check('400', await push(session, 'no-token', raw), '400 {"reason":"BadDeviceToken"}');
check('413', await push(session, 'abcdef', raw, 'x'.repeat(5000)), '413 {"reason":"PayloadTooLarge"}');
check('DER', await push(open(), 'abcdef', token(env.INTEROP_KEY, 'der')), '200 ');
check('403', await push(open(), 'abcdef', token(env.INTEROP_OTHER_KEY, 'der')), '403 {"reason":"InvalidProviderToken"}');
console.log(`node ${process.versions.node}, nghttp2 ${process.versions.nghttp2}: ${passed.join(', ')}`
  + (failed.length ? `; failed: ${failed.join(', ')}` : ''));
process.exit(failed.length ? 1 : 0);
