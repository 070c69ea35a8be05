#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: h2==4.4.1
"""python-h2: the protocol without I/O, with all its checks of what the server sends."""

import h2_connection
import interop
from h2 import settings

report = interop.Report("h2")


class Connection(h2_connection.Connection):
    """A connection to the simulator."""

    def __init__(self, **options):
        super().__init__(interop.HOST, interop.PORT, interop.CA, **options)

    def send(self, device, fields=None, body=interop.BODY):
        return super().send(
            "POST", f"/3/device/{device}", fields or interop.headers().items(), body)

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
