#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: granian==2.8.7
# Granian, whose HTTP/2 is that of hyper, in Rust.
import sys
from importlib import metadata

import sending


class Granian(sending.Server):
    def command(self):
        return [sys.executable, "-m", "granian", "--interface", "asgi", "--http", "2", "--host",
                "127.0.0.1", "--port", str(self.port), "--ssl-certificate", sending.CERTIFICATE,
                "--ssl-keyfile", sending.KEY, "--no-ws", "--workers-kill-timeout", "2",
                "asgi_apns:app"]


sending.main("granian " + metadata.version("granian"), Granian)
