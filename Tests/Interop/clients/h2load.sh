#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: h2load
# h2load: 5000 pushes over ten connections. It opens as many streams as it was told at once and does
# not begin with one, so some are refused at first; it counts these as failed and goes on.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
printf '{"aps":{"content-available":1}}' >"${work}/body"

# load CONCURRENCY
load() {
    h2load --requests=5000 --clients=10 --max-concurrent-streams="$1" --data="${work}/body" \
        --connection-active-timeout=60 \
        --header="authorization: bearer ${INTEROP_TOKEN}" --header="apns-topic: com.example.app" \
        --header="apns-push-type: background" --header="apns-priority: 5" \
        "https://localhost:${INTEROP_PORT}/3/device/abcdef"
}

output=$(load 1)
if ! grep --quiet 'status codes: 5000 2xx, 0 3xx, 0 4xx, 0 5xx' <<<"${output}"; then
    echo "${output}" >&2
    exit 1
fi
output=$(load 100)
accepted=$(sed -n 's/^status codes: \([0-9]*\) 2xx, 0 3xx, 0 4xx, 0 5xx$/\1/p' <<<"${output}")
# At most the first 100 streams of each connection, less the one that may be open.
if [[ -z ${accepted} || ${accepted} -lt $((5000 - 10 * 99)) ]]; then
    echo "${output}" >&2
    exit 1
fi
echo "$(h2load --version): 5000 one by one, ${accepted} of 5000 with 100 streams at once"
