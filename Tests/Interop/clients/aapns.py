#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: aapns==23.7
"""aapns: asyncio with connections of its own over h2, client certificates only."""

import asyncio

import interop
from aapns import errors
from aapns.api import Server
from aapns.config import Priority
from aapns.models import Alert, Notification


async def send(client, device):
    try:
        return bool(await client.send_notification(
            device, Notification(alert=Alert(body="hello")), topic=interop.TOPIC,
            priority=Priority.normal))
    except errors.APNSError as error:
        return type(error).__name__


async def main(report):
    server = Server(
        client_cert_path=interop.CERTIFICATE, host=interop.HOST, port=interop.PORT,
        ca_file=interop.CA)
    client = await server.create_client()
    report.check("200", await send(client, interop.DEVICE))
    results = await asyncio.gather(*(send(client, f"{n:064x}") for n in range(300)))
    report.check("300 at once", set(results), {True})
    report.check("400", await send(client, "no-token"), "BadDeviceToken")
    await client.close()


report = interop.Report("aapns", "h2")
asyncio.run(main(report))
report.end()
