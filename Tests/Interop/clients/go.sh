#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: go
# file: /usr/share/gocode/src/golang.org/x/net/http2
# golang.org/x/net/http2.
source "$(dirname "${BASH_SOURCE[0]}")/../lib/go.sh"

run go
