#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: go
# file: /usr/share/gocode/src/golang.org/x/net/http2
# golang.org/x/net/http2 as Debian has it, without any module proxy.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
GOCACHE=${INTEROP_CACHE:-${work}}/go GOPATH=/usr/share/gocode GO111MODULE=off GOPROXY=off GOFLAGS='' \
    go build -o "${work}/push" "$(dirname "${BASH_SOURCE[0]}")/../lib/go/main.go"
"${work}/push"
