#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: java javac
# java.net.http.HttpClient, which offers ALPN h2 and http/1.1.
set -euo pipefail

java "$(dirname "${BASH_SOURCE[0]}")/../lib/java/Push.java"
