#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: java javac
# java.net.http.HttpClient: HTTP/2 by ALPN. Without TLS it offers an upgrade, which the gateway does
# not take.
set -euo pipefail

java "$(dirname "${BASH_SOURCE[0]}")/../lib/java/Call.java"
