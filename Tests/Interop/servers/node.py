#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# command: node
# node's http2, which is nghttp2: lib/node/server.mjs refuses streams, answers before the body has
# come, and ends each connection after 50 requests.
import pathlib
import subprocess

import sending


class Node(sending.Server):
    accepted = ["aa", "ea", "fe"]

    def command(self):
        return ["node", str(pathlib.Path(__file__).parents[1] / "lib/node/server.mjs")]


version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
sending.main("node " + version.strip(), Node)
