#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: java
# checkout: PUSHY
# pushy on netty, without ALPN: PUSHY names a folder with its classes and the jars that it needs.
set -euo pipefail

java -cp "${PUSHY}:${PUSHY}/*" "$(dirname "${BASH_SOURCE[0]}")/../lib/java/Pushy.java" 2>"${INTEROP_WORK}/log" \
    || { cat "${INTEROP_WORK}/log" >&2; exit 1; }
