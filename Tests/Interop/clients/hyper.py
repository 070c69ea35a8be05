#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: hyper==0.7.0
"""hyper: synchronous, the oldest HTTP/2 client for Python."""

import collections
import collections.abc

# It was written before Python 3.10 took these names away.
for name in ["Iterable", "Mapping", "MutableMapping", "MutableSet"]:
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))

import hyper
import interop
from hyper.tls import init_context

report = interop.Report("hyper", "h2")


def connect():
    return hyper.HTTP20Connection(
        interop.HOST, interop.PORT, secure=True, force_proto="h2",
        ssl_context=init_context(cert_path=interop.CA))


def push(connection, device, token=interop.TOKEN, body=interop.BODY):
    stream = connection.request(
        "POST", f"/3/device/{device}", body=body, headers=interop.headers(token))
    answer = connection.get_response(stream)
    return answer.status, answer.read()


connection = connect()
report.check("200", push(connection, interop.DEVICE), (200, b""))
report.check("400", push(connection, "no-token"), (400, b'{"reason":"BadDeviceToken"}'))
report.check("413", push(connection, interop.DEVICE, body=b"x" * 5000)[0], 413)
streams = [
    connection.request(
        "POST", f"/3/device/{n:064x}", body=interop.BODY, headers=interop.headers())
    for n in range(100)
]
statuses = {connection.get_response(stream).status for stream in streams}
report.check("100 in flight", statuses, {200})
report.check(
    "403", push(connect(), interop.DEVICE, interop.FORGED_TOKEN),
    (403, b'{"reason":"InvalidProviderToken"}'))
report.end()
