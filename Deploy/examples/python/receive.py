# SPDX-License-Identifier: Apache-2.0
"""Receives Rouse's webhooks and checks their signatures. Python 3.8 or later, nothing else.

    python3 receive.py

WEBHOOK_SECRET is the text that the gateway has in `secret-file`, PORT the port on this machine; 0
lets the system choose. A server of your own takes `verified` and `Events`.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import time

MAXIMUM_BYTES = 1 << 20
# How old, or how far ahead, a request may be. Older ones may be somebody's copy.
TOLERANCE_SECONDS = 300


def key_of(secret):
    """The key that a secret stands for (Standard Webhooks 1.0)."""
    secret = secret.strip()
    return base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()


def verified(headers, body, key, now):
    """Returns whether a request comes from the gateway, whole and just now."""
    identifier, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{identifier}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # There may be several, while a secret is replaced. The comparison takes the same time for all.
    return any(hmac.compare_digest(expected.encode(), given.encode())
               for given in headers.get("webhook-signature", "").split())


class Events:
    """Takes each event once. An event can come twice, so yours go into a table with a unique id."""

    def __init__(self):
        self.seen = set()

    def take(self, event):
        if event["id"] in self.seen:
            return
        self.seen.add(event["id"])
        if event["type"] == "outcome":
            wake = event["wake"]
            print("outcome", wake["id"], wake["state"], flush=True)
        elif event["type"] == "token-dead":
            # Delete the token, unless the app has uploaded it again since.
            print("token-dead", event["feedback"]["device_token"], flush=True)
        else:
            print(event["type"], flush=True)


class Handler(http.server.BaseHTTPRequestHandler):
    key = key_of(os.environ.get("WEBHOOK_SECRET", ""))
    events = Events()

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAXIMUM_BYTES:
            return self.answer(413)
        body = self.rfile.read(length)
        if not verified(self.headers, body, self.key, time.time()):
            return self.answer(401)
        for event in json.loads(body)["events"]:
            self.events.take(event)
        # Any 2xx means that all were taken; anything else brings them again.
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    if len(Handler.key) < 16:
        raise SystemExit("WEBHOOK_SECRET: fewer than 16 bytes; give the gateway's secret")
    port = int(os.environ.get("PORT", "9000"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"Listening on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
