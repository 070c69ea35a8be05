# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the parties in Go share: golang.org/x/net as Debian has it, without any module proxy.
set -euo pipefail

# run FOLDER: builds a program of this folder and runs it.
run() {
    GOCACHE=${INTEROP_CACHE}/go GOPATH=/usr/share/gocode GO111MODULE=off GOPROXY=off GOFLAGS='' \
        go build -o "${INTEROP_WORK}/program" "$(dirname "${BASH_SOURCE[0]}")/$1/main.go"
    "${INTEROP_WORK}/program"
}
