#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# command: caddy
# Caddy, whose HTTP/2 is golang.org/x/net's.
import collections
import json
import subprocess

import sending

CONFIGURATION = """
{{
    admin off
    auto_https off
    storage file_system {work}/storage
    grace_period 5s
    servers {{
        protocols h1 h2
    }}
}}
https://127.0.0.1:{port} {{
    bind 127.0.0.1
    tls {certificate} {key}
    log {{
        output file {log}
        format json
    }}
    respond /3/device/bad0* `{{"reason":"BadDeviceToken"}}` 400
    respond /3/device/dead* `{{"reason":"Unregistered","timestamp":1700000000000}}` 410
    respond 200
}}
"""


class Caddy(sending.Server):
    def command(self):
        return ["caddy", "run", "--adapter", "caddyfile", "--config", self.file(
            "Caddyfile", CONFIGURATION.format(
                work=self.work, port=self.port, log=self.log, certificate=sending.CERTIFICATE,
                key=sending.KEY))]

    def processed(self):
        return collections.Counter(
            json.loads(line)["request"]["headers"]["Apns-Id"][0]
            for line in self.log.read_text().splitlines())


version = subprocess.run(["caddy", "version"], capture_output=True, text=True).stdout
sending.main(f"Caddy {version.split()[0]}", Caddy)
