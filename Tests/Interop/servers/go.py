#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# command: go
# Go's net/http: lib/go-server answers some requests without reading their body, and ends each
# connection after 50 requests.
import os
import pathlib
import subprocess

import sending

PROGRAM = sending.WORK / "server"


class Go(sending.Server):
    accepted = ["aa", "ea"]

    def command(self):
        return [str(PROGRAM)]


subprocess.run(
    ["go", "build", "-o", PROGRAM,
     pathlib.Path(__file__).parents[1] / "lib/go-server/main.go"],
    env=os.environ | {"GOCACHE": os.environ["INTEROP_CACHE"] + "/go", "GO111MODULE": "off",
                      "GOPROXY": "off", "GOFLAGS": ""}, check=True)
version = subprocess.run(["go", "version"], capture_output=True, text=True).stdout
sending.main("Go's net/http " + version.split()[2], Go)
