#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: aioapns==4.0
"""aioapns: asyncio, a pool of connections, provider tokens by PyJWT."""

import asyncio
import ssl
from pathlib import Path

import interop
from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsBaseClientProtocol, APNsKeyConnectionPool


def client(key):
    return APNs(
        key=Path(key).read_text(), key_id=interop.KEY_ID, team_id=interop.TEAM_ID,
        topic=interop.TOPIC, ssl_context=ssl.create_default_context(cafile=interop.CA))


def request(token):
    return NotificationRequest(
        device_token=token, message={"aps": {"content-available": 1}}, priority=5,
        push_type=PushType.BACKGROUND)


async def main(report):
    apns = client(interop.KEY)
    result = await apns.send_notification(request(interop.DEVICE))
    report.check("200", result.status, "200")
    results = await asyncio.gather(
        *(apns.send_notification(request(f"{n:064x}")) for n in range(300)))
    report.check("300 at once", {result.status for result in results}, {"200"})
    result = await apns.send_notification(request("no-token"))
    report.check("400", result.description, "BadDeviceToken")
    other = client(interop.OTHER_KEY)
    result = await other.send_notification(request(interop.DEVICE))
    report.check("403", result.description, "InvalidProviderToken")


# It knows Apple's hosts alone.
for pool in [APNsKeyConnectionPool, *APNsBaseClientProtocol.__subclasses__(), APNsBaseClientProtocol]:
    for kind in [pool, *pool.__subclasses__()]:
        if hasattr(kind, "APNS_SERVER"):
            kind.APNS_SERVER = interop.HOST
        if hasattr(kind, "APNS_PORT"):
            kind.APNS_PORT = interop.PORT

report = interop.Report("aioapns", "h2")
asyncio.run(main(report))
report.end()
