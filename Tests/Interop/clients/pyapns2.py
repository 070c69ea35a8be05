#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: apns2==0.7.2 PyJWT==1.7.1 cryptography==3.4.8
"""PyAPNs2: synchronous, over hyper, with its own count of streams."""

import collections
import collections.abc

# hyper was written before Python 3.10 took these names away.
for name in ["Iterable", "Mapping", "MutableMapping", "MutableSet"]:
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))

import hyper.tls
import interop
from apns2 import client, errors, payload
from apns2.credentials import TokenCredentials

hyper.tls.cert_loc = interop.CA
client.APNsClient.LIVE_SERVER = interop.HOST
client.APNsClient.DEFAULT_PORT = interop.PORT

report = interop.Report("apns2", "hyper", "h2")
push = payload.Payload(content_available=True)


def connect(key):
    return client.APNsClient(TokenCredentials(key, interop.KEY_ID, interop.TEAM_ID))


def send(apns, device):
    try:
        apns.send_notification(
            device, push, topic=interop.TOPIC, priority=client.NotificationPriority.Delayed)
        return "Success"
    except errors.APNsException as error:
        return type(error).__name__


apns = connect(interop.KEY)
report.check("200", send(apns, interop.DEVICE), "Success")
report.check("400", send(apns, "no-token"), "BadDeviceToken")
batch = [client.Notification(f"{n:064x}", push) for n in range(300)]
results = apns.send_notification_batch(batch, interop.TOPIC, client.NotificationPriority.Delayed)
report.check("300 in a batch", (len(results), set(results.values())), (300, {"Success"}))
report.check("403", send(connect(interop.OTHER_KEY), interop.DEVICE), "InvalidProviderToken")
report.end()
