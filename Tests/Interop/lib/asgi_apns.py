# SPDX-License-Identifier: Apache-2.0
"""An ASGI application that answers as APNs does, for the servers written in Python and Rust."""

import os

ANSWERS = {
    "bad0": (400, b'{"reason":"BadDeviceToken"}'),
    "dead": (410, b'{"reason":"Unregistered","timestamp":1700000000000}'),
}


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    token = scope["path"].rpartition("/")[2]
    # Not before the body has come: Hypercorn loses its connection over such an answer.
    while (await receive()).get("more_body"):
        pass
    status, body = ANSWERS.get(token[:4], (200, b""))
    name = dict(scope["headers"])[b"apns-id"].decode()
    with open(os.environ["INTEROP_LOG"], "a") as log:
        log.write(f"{name} {status}\n")
    await send({"type": "http.response.start", "status": status,
                "headers": [(b"apns-id", name.encode())]})
    await send({"type": "http.response.body", "body": body})
