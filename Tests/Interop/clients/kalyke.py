#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: kalyke-apns==1.5.0
"""kalyke: asyncio over httpx; its provider tokens have an iat that is a text."""

import asyncio
import os

import interop

os.environ["SSL_CERT_FILE"] = interop.CA

from kalyke import ApnsClient, ApnsConfig, ApnsPushType, ApnsPriority, exceptions


class Client(ApnsClient):
    # It knows Apple's hosts alone.
    _base_url = f"https://{interop.HOST}:{interop.PORT}"


def client(key):
    return Client(
        use_sandbox=True, team_id=interop.TEAM_ID, auth_key_id=interop.KEY_ID,
        auth_key_filepath=key)


async def send(apns, device):
    config = ApnsConfig(
        topic=interop.TOPIC, push_type=ApnsPushType.BACKGROUND,
        priority=ApnsPriority.POWER_CONSIDERATIONS_OVER_ALL_OTHER_FACTORS)
    try:
        return bool(await apns.send_message(
            device_token=device, payload={"aps": {"content-available": 1}}, apns_config=config))
    except exceptions.ApnsProviderException as error:
        return type(error).__name__


async def main(report):
    apns = client(interop.KEY)
    report.check("200", await send(apns, interop.DEVICE))
    report.check("400", await send(apns, "no-token"), "BadDeviceToken")
    report.check(
        "403", await send(client(interop.OTHER_KEY), interop.DEVICE), "InvalidProviderToken")


report = interop.Report("kalyke-apns", "h2")
asyncio.run(main(report))
report.end()
