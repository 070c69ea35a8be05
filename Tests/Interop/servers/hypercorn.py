#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: hypercorn==0.18.0
# Hypercorn, whose HTTP/2 is python-h2's.
import signal
import sys
from importlib import metadata

import sending


class Hypercorn(sending.Server):
    stop_signal = signal.SIGKILL  # in order, it answers 500 to what is under way

    def command(self):
        return [sys.executable, "-m", "hypercorn", "--config", self.file(
            "hypercorn.toml", f"""
bind = "127.0.0.1:{self.port}"
certfile = "{sending.CERTIFICATE}"
keyfile = "{sending.KEY}"
workers = 0
"""), "asgi_apns:app"]


sending.main("hypercorn " + metadata.version("hypercorn"), Hypercorn)
