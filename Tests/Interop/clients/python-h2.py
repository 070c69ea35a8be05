#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: h2==4.4.1
"""python-h2: the protocol without I/O, with all its checks of what the server sends."""

import socket
import ssl

import interop
from h2 import config, connection, events, settings

report = interop.Report("h2")


class Connection:
    """One connection; `protocols` is what ALPN offers."""

    def __init__(self, protocols=("h2",)):
        tls = ssl.create_default_context(cafile=interop.CA)
        if protocols:
            tls.set_alpn_protocols(list(protocols))
        self.socket = tls.wrap_socket(
            socket.create_connection((interop.HOST, interop.PORT), timeout=10),
            server_hostname=interop.HOST)
        self.h2 = connection.H2Connection(
            config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.answers = {}
        self.ended = set()
        self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def read(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        for event in self.h2.receive_data(data):
            if isinstance(event, events.ResponseReceived):
                self.answers[event.stream_id] = (dict(event.headers), b"")
            elif isinstance(event, events.DataReceived):
                head, body = self.answers[event.stream_id]
                self.answers[event.stream_id] = (head, body + event.data)
            elif isinstance(event, (events.StreamEnded, events.StreamReset)):
                self.ended.add(event.stream_id)
            elif isinstance(event, events.ConnectionTerminated):
                raise ConnectionError(f"GOAWAY {event.error_code} {event.additional_data}")
        self.flush()

    def send(self, device, fields=None, body=interop.BODY):
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(
            stream,
            [(":method", "POST"), (":scheme", "https"), (":authority", interop.HOST),
             (":path", f"/3/device/{device}"), *(fields or interop.headers().items())])
        self.h2.send_data(stream, body, end_stream=True)
        self.flush()
        return stream

    def answer(self, stream):
        while stream not in self.ended:
            self.read()
        head, body = self.answers[stream]
        return head[":status"], body

    def push(self, *arguments, **options):
        return self.answer(self.send(*arguments, **options))


one = Connection()
report.check("200", one.push(interop.DEVICE), ("200", b""))
streams = [one.send(f"{n:064x}") for n in range(500)]
report.check("500 in flight", {one.answer(stream) for stream in streams}, {("200", b"")})
report.check("400", one.push("no-token"), ("400", b'{"reason":"BadDeviceToken"}'))
fields = list(interop.headers().items())
split = fields + [("cookie", "a=1"), ("cookie", "b=2")]
report.check("split cookies", one.push(interop.DEVICE, split)[0], "200")
twice = fields + [("apns-topic", interop.TOPIC)]
report.check("duplicates", one.push(interop.DEVICE, twice)[1], b'{"reason":"DuplicateHeaders"}')
large = fields + [("x-large", "x" * 12000)]
report.check("431", one.push(interop.DEVICE, large)[0], "431")
report.check("200 after 431", one.push(interop.DEVICE)[0], "200")
one.h2.ping(b"12345678")
one.flush()
report.check("200 after PING", one.push(interop.DEVICE)[0], "200")

# With a window of 5 bytes a refusal comes in pieces.
small = Connection()
small.h2.update_settings({settings.SettingCodes.INITIAL_WINDOW_SIZE: 5})
small.flush()
stream = small.send("no-token")
while len(small.answers.get(stream, ("", b""))[1]) < 5:
    small.read()
report.check("small window", stream in small.ended, False)
small.h2.increment_flow_control_window(100, stream)
small.flush()
report.check("small window", small.answer(stream)[1], b'{"reason":"BadDeviceToken"}')

report.check("no ALPN", Connection(protocols=()).push(interop.DEVICE)[0], "200")
forged = list(interop.headers(interop.FORGED_TOKEN).items())
report.check(
    "403", Connection().push(interop.DEVICE, forged)[1], b'{"reason":"InvalidProviderToken"}')
report.end()
