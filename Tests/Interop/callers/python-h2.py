#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: h2==4.4.1
"""python-h2: the protocol without I/O, with all its checks of what the gateway sends."""

import asyncio
import json
import time
from urllib.parse import urlsplit

import calling
import frames
import h2_connection
import interop
from h2 import settings

report = interop.Report("h2")
passed = []


def compare(name, found, wanted):
    """Reports what failed by its name, and what passed all together."""
    if found == wanted:
        passed.append(name)
    else:
        report.check(name, found, wanted)


def connect(base, **options):
    url = urlsplit(base)
    return h2_connection.Connection(
        url.hostname, url.port, calling.CA if url.scheme == "https" else None, **options)


def fields(*others, key=calling.KEY):
    return [*calling.fields(key).items(), *others]


def status(connection, method, path, more=(), body=None):
    return connection.answer(connection.send(method, path, fields(*more), body))[0]


async def check(name, base):
    """The checks of all callers, with as many in flight as the gateway allows."""
    connection = connect(base)

    async def call(method, path, body, key):
        stream = connection.send(method, path, fields(key=key), body)
        while stream not in connection.ended:
            await asyncio.sleep(0)
            if stream not in connection.ended:
                connection.read()
        head, content = connection.answers[stream]
        return calling.Answer(int(head[":status"]), head, content)

    await calling.check(report, name, call, 200)


def check_requests(name, base):
    """Requests in every form that the protocol allows."""
    connection = connect(base)
    wakes = iter(range(1000, 2000))

    stream = connection.head("POST", "/v1/wakes", fields())
    for byte in calling.wake(next(wakes)):
        connection.h2.send_data(stream, bytes([byte]), pad_length=byte)
    connection.data(stream, b"")
    compare(f"{name} padded bytes", connection.answer(stream)[0], "202")

    stream = connection.head("POST", "/v1/wakes", fields())
    connection.data(stream, calling.wake(next(wakes)), ends=False)
    connection.h2.send_headers(stream, [("x-trailer", "1")], end_stream=True)
    connection.flush()
    compare(f"{name} trailers", connection.answer(stream)[0], "202")

    body = calling.wake(next(wakes))
    length = ("content-length", str(len(body)))
    stream = connection.head("POST", "/v1/wakes", fields(length, ("expect", "100-continue")))
    while stream not in connection.informed:
        connection.read()
    connection.data(stream, body)
    compare(f"{name} 100", (connection.informed[stream], connection.answer(stream)[0]),
            ("100", "202"))

    stream = connection.send("HEAD", "/v1/stats", fields())
    connection.answer(stream)
    head, content = connection.answers[stream]
    compare(f"{name} HEAD", (head[":status"], int(head["content-length"]) > 0, content),
            ("200", True, b""))

    compare(f"{name} 431", status(connection, "GET", "/v1/stats", [("x", "x" * 12000)]), "431")
    stream = connection.head("POST", "/v1/wakes", fields())
    connection.h2.reset_stream(stream, frames.CANCEL)
    connection.h2.ping(b"12345678")
    connection.flush()
    compare(f"{name} after a reset", status(connection, "GET", "/v1/stats"), "200")
    compare(f"{name} PING", connection.pings, 1)


def check_windows(name, base):
    """Answers in pieces, to a caller whose table of header fields is empty."""
    connection = connect(base)
    connection.h2.update_settings({
        settings.SettingCodes.INITIAL_WINDOW_SIZE: 5,
        settings.SettingCodes.HEADER_TABLE_SIZE: 0})
    connection.flush()
    for _ in range(2):
        stream = connection.send("GET", "/v1/stats", fields())
        while len(connection.answers.get(stream, ("", b""))[1]) < 5:
            connection.read()
        waits = stream not in connection.ended
        connection.h2.increment_flow_control_window(10_000, stream)
        connection.flush()
        compare(f"{name} small windows",
                (waits, "accepted" in json.loads(connection.answer(stream)[1])), (True, True))


def check_refused(name, base):
    """Uploads that are refused before their end are reset soon; what was under way is ignored."""
    connection = connect(base)
    begin = time.monotonic()
    streams = [
        connection.head("POST", "/v1/wakes", fields(("content-length", "1000000")))
        for _ in range(60)]
    compare(
        f"{name} 60 refused", {connection.answer(stream)[0] for stream in streams}, {"413"})
    while len(connection.resets) < len(streams):
        connection.read()
    compare(f"{name} NO_ERROR", set(connection.resets.values()), {frames.NO_ERROR})
    seconds = time.monotonic() - begin
    compare(f"{name} reset within 4 s", seconds < 4 or seconds, True)
    connection.socket.sendall(
        b"".join(frames.frame(frames.DATA, 0, stream, b"x") for stream in streams))
    try:
        found = status(connection, "GET", "/v1/stats")
    except ConnectionError as error:
        found = str(error)
    compare(f"{name} after frames under way", found, "200")


def check_burst(name, base):
    """The requests that RFC 9113 recommends to allow before the first SETTINGS are answered."""
    connection = connect(base)
    streams = [connection.send("GET", "/v1/stats", fields()) for _ in range(100)]
    found = {connection.answer(stream)[0] for stream in streams}
    compare(f"{name} burst", found, {"200"})


for name, base in (("h2", calling.GATEWAY), ("h2c", calling.PLAIN)):
    asyncio.run(check(name, base))
    check_requests(name, base)
    check_windows(name, base)
check_refused("h2", calling.GATEWAY)
check_burst("h2", calling.GATEWAY)
report.check(f"{len(passed)} more", len(passed) > 0)
report.end()
