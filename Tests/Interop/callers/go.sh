#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: go
# file: /usr/share/gocode/src/golang.org/x/net/http2
# net/http by ALPN, and golang.org/x/net/http2 with prior knowledge.
source "$(dirname "${BASH_SOURCE[0]}")/../lib/go.sh"

run go-caller
