#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# h2spec --strict: its 147 cases of RFC 7540 and RFC 7541, with TLS and without at the same time.
source "$(dirname "${BASH_SOURCE[0]}")/../lib/h2spec.sh"

# What may fail, each with its reason.
# - A second HEADERS frame on a stream that the caller has ended: swift-nio-http2 answers it with
#   PROTOCOL_ERROR where RFC 9113 §5.1 has STREAM_CLOSED, and the stream is reset all the same.
expected="half closed (remote): Sends a HEADERS frame"
# - Without TLS, what is no connection preface is taken for HTTP/1.1, and is refused in that.
plain="${expected}
Sends invalid connection preface"

# A connection that has failed is closed two seconds later, which is as long as h2spec waits unless
# it is told otherwise.
options=(--path /healthz --timeout 3)
judge "${plain}" --port "${INTEROP_GATEWAY_PLAIN##*:}" "${options[@]}" >"${INTEROP_WORK}/plain" &
job=$!
tls=$(judge "${expected}" --port "${INTEROP_GATEWAY##*:}" "${options[@]}" --tls --insecure)
wait "${job}"
echo "h2spec --strict, h2: ${tls}; h2c: $(cat "${INTEROP_WORK}/plain")"
