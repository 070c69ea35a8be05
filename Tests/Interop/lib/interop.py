# SPDX-License-Identifier: Apache-2.0
"""What the Python parties share: where the simulator is, and how a party reports."""

import os
import sys
from importlib import metadata

HOST = "localhost"
PORT = int(os.environ["INTEROP_PORT"])
CA = os.environ["INTEROP_CA"]
KEY = os.environ["INTEROP_KEY"]
OTHER_KEY = os.environ["INTEROP_OTHER_KEY"]
KEY_ID = os.environ["INTEROP_KEY_ID"]
TEAM_ID = os.environ["INTEROP_TEAM_ID"]
CERTIFICATE = os.environ["INTEROP_CERTIFICATE"]
TOKEN = os.environ["INTEROP_TOKEN"]
FORGED_TOKEN = os.environ["INTEROP_FORGED_TOKEN"]
TOPIC = "com.example.app"
DEVICE = "0123456789abcdef" * 4
BODY = b'{"aps":{"content-available":1}}'


def headers(token=TOKEN, **others):
    """The header fields of a good background push, in their order."""
    fields = {
        "authorization": f"bearer {token}",
        "apns-topic": TOPIC,
        "apns-push-type": "background",
        "apns-priority": "5",
    }
    fields.update({name.replace("_", "-"): value for name, value in others.items()})
    return fields


class Report:
    """Collects the checks of one party; the last line of its output is what the table shows."""

    def __init__(self, *packages):
        self.names = [f"{package} {metadata.version(package)}" for package in packages]
        self.passed = []
        self.failed = []

    def check(self, name, found, wanted=True):
        (self.passed if found == wanted else self.failed).append(name)
        if found != wanted:
            print(f"{name}: {found!r} instead of {wanted!r}", file=sys.stderr)

    def end(self):
        failed = f"; failed: {', '.join(self.failed)}" if self.failed else ""
        print(f"{', '.join(self.names)}: {', '.join(self.passed)}{failed}", flush=True)
        # Clients that keep threads or loops of their own are not waited for.
        os._exit(1 if self.failed or not self.passed else 0)
