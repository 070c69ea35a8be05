#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: h2load curl
# h2load: 10 000 wakes over four connections with 100 streams each, and 1000 without TLS;
# none fails.
source "$(dirname "${BASH_SOURCE[0]}")/../lib/calling.sh"

wake 1 >"${work}/body"

# load REQUESTS GATEWAY
load() {
    local before output
    before=$(accepted "$2")
    output=$(h2load --requests="$1" --clients=4 --max-concurrent-streams=100 \
        --data="${work}/body" --connection-active-timeout=60 \
        --header="authorization: Bearer ${INTEROP_GATEWAY_KEY}" \
        --header='content-type: application/json' "$2/v1/wakes")
    if ! grep --quiet "status codes: $1 2xx, 0 3xx, 0 4xx, 0 5xx" <<<"${output}" \
        || ! grep --quiet ' 0 failed, 0 errored, 0 timeout' <<<"${output}"; then
        echo "${output}" >&2
        exit 1
    fi
    is counted $(($(accepted "$2") - before)) "$1"
    sed -n 's/^finished in .*, \([0-9.]*\) req.*/\1/p' <<<"${output}"
}
tls=$(load 10000 "${INTEROP_GATEWAY}")
plain=$(load 1000 "${INTEROP_GATEWAY_PLAIN}")
echo "$(h2load --version): 11000, 400 at once, none failed; a second: ${tls} h2, ${plain} h2c"
