#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# command: java javac
# checkout: PUSHY
# The mock of APNs that pushy brings, on netty: PUSHY names a folder with pushy's classes, the jars
# that it needs, and libnetty_tcnative.so, without which Debian's netty has no ALPN.
import os
import pathlib
import subprocess

import sending

LIBRARIES = "{0}:{0}/*".format(os.environ["PUSHY"])
CLASSES = sending.WORK / "classes"


class Pushy(sending.Server):
    def command(self):
        return ["java", "-Djava.library.path=" + os.environ["PUSHY"], "-cp",
                f"{CLASSES}:{LIBRARIES}", "PushyServer"]


subprocess.run(
    ["javac", "-cp", LIBRARIES, "-d", CLASSES,
     pathlib.Path(__file__).parents[1] / "lib/java/PushyServer.java"], check=True)
sending.main("pushy's mock of APNs", Pushy)
