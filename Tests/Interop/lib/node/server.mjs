// SPDX-License-Identifier: Apache-2.0
// The server of the party servers/node.py. By the first digits of a device token it refuses, answers
// before the body has come, or refuses the stream at first; each connection ends after 50 requests.
import { appendFileSync, readFileSync } from 'node:fs';
import { constants, createSecureServer } from 'node:http2';

const { env } = process;
const answers = {
  bad0: [400, '{"reason":"BadDeviceToken"}'],
  dead: [410, '{"reason":"Unregistered","timestamp":1700000000000}'],
};
const refused = new Set();
const sessions = new Set();
const server = createSecureServer({
  cert: readFileSync(env.INTEROP_SERVER_CERTIFICATE), key: readFileSync(env.INTEROP_SERVER_KEY),
});

server.on('session', (session) => {
  let streams = 0;
  sessions.add(session);
  session.on('close', () => sessions.delete(session));
  session.on('stream', (stream) => {
    streams += 1;
    // GOAWAY; what is under way is answered, and the connection closed.
    if (streams === 50) stream.on('close', () => session.close());
  });
});

server.on('stream', (stream, headers) => {
  const token = headers[':path'].split('/').pop();
  const id = headers['apns-id'];
  stream.on('error', () => {});
  if (token.startsWith('fe') && !refused.has(id)) {
    refused.add(id);
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
    return;
  }
  const answer = () => {
    const [status, body] = answers[token.slice(0, 4)] ?? [200, ''];
    appendFileSync(env.INTEROP_LOG, `${id} ${status}\n`);
    stream.respond({ ':status': status, 'apns-id': id });
    stream.end(body);
  };
  if (token.startsWith('ea')) {
    answer();
    stream.close(constants.NGHTTP2_NO_ERROR);
  } else {
    stream.on('end', answer).resume();
  }
});

process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  for (const session of sessions) session.close();
});
server.listen(Number(env.INTEROP_SERVER_PORT), '127.0.0.1');
