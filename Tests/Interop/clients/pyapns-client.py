#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: pyapns-client==2.0.6
"""pyapns-client: synchronous over httpx; its provider tokens have an iat with a fraction."""

import ssl

import interop
from pyapns_client import APNSClient, IOSNotification, IOSPayload, exceptions

report = interop.Report("pyapns-client", "httpx", "h2")
APNSClient.BASE_URLS["local"] = f"https://{interop.HOST}:{interop.PORT}"


def send(key, device):
    client = APNSClient(
        mode="local", root_cert_path=ssl.create_default_context(cafile=interop.CA),
        auth_key_path=key, auth_key_id=interop.KEY_ID, team_id=interop.TEAM_ID)
    try:
        client.push(
            notification=IOSNotification(
                payload=IOSPayload(content_available=True), topic=interop.TOPIC, priority="5"),
            device_token=device)
        return True
    except exceptions.APNSException as error:
        return type(error).__name__.removesuffix("Exception")
    finally:
        client.close()


report.check("200", send(interop.KEY, interop.DEVICE))
report.check("400", send(interop.KEY, "no-token"), "BadDeviceToken")
report.check("403", send(interop.OTHER_KEY, interop.DEVICE), "InvalidProviderToken")
report.end()
