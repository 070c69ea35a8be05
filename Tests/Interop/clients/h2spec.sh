#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# h2spec --strict: its 147 cases of RFC 7540 and RFC 7541. H2SPEC names a built program, or
# H2SPEC_SOURCE the sources of github.com/summerwind/h2spec, which Debian's Go builds with Debian's
# packages alone.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
h2spec=${H2SPEC:-$(command -v h2spec || true)}
if [[ -z ${h2spec} ]]; then
    if [[ -z ${H2SPEC_SOURCE:-} ]] || ! command -v go >/dev/null; then
        echo "no checkout; name a built h2spec in H2SPEC, or its sources in H2SPEC_SOURCE"
        exit 77
    fi
    h2spec=${work}/h2spec
    mkdir -p "${work}/src/github.com/summerwind"
    cp -r "${H2SPEC_SOURCE}" "${work}/src/github.com/summerwind/h2spec"
    (cd "${work}/src/github.com/summerwind/h2spec" && GOCACHE=${INTEROP_CACHE:-${work}}/go \
        GOPATH=${work}:/usr/share/gocode GO111MODULE=off GOPROXY=off GOFLAGS='' \
        go build -o "${h2spec}" ./cmd/h2spec)
fi

# What may fail, each with its reason.
# - Streams that depend on themselves: RFC 9113 §5.3 has done away with priorities, and APNs
#   disregards PRIORITY frames (facts §1.3).
expected="Sends HEADERS frame that depends on itself
Sends PRIORITY frame that depend on itself"

status=0
"${h2spec}" --host 127.0.0.1 --port "${INTEROP_PORT}" --tls --insecure --strict \
    >"${work}/out" 2>&1 || status=$?
summary=$(tail -n 1 "${work}/out")
failed=$(sed -n '/^Failures:/,$ s/^ *× [0-9]*: //p' "${work}/out" | sort)
if [[ ! ${summary} =~ ^[0-9]+\ tests || ${status} -gt 1 || ${failed} != "$(sort <<<"${expected}")" ]]; then
    sed -n '/^Failures:/,$p' "${work}/out" >&2
    tail -n 3 "${work}/out" >&2
    exit 1
fi
echo "h2spec --strict: ${summary}"
