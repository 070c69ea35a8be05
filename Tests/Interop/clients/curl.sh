#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: curl
# curl: one connection for several pushes, a refusal, a body that is too large, another key.
set -euo pipefail

base=https://localhost:${INTEROP_PORT}/3/device/
device=$(printf '0123456789abcdef%.0s' 1 2 3 4)

# push TOKEN BODY URL…: the statuses of the answers, and the body of the last one.
push() {
    local token=$1 body=$2
    shift 2
    curl --silent --show-error --http2 --cacert "${INTEROP_CA}" --max-time 20 \
        --header "authorization: bearer ${token}" --header "apns-topic: com.example.app" \
        --header "apns-push-type: background" --header "apns-priority: 5" \
        --data "${body}" --write-out '%{http_version} %{response_code} %{num_connects}\n' "$@"
}

# is NAME FOUND WANTED
is() {
    [[ $2 == "$3" ]] || { echo "$1: '$2' instead of '$3'" >&2; exit 1; }
}

good='{"aps":{"content-available":1}}'
is 200 "$(push "${INTEROP_TOKEN}" "${good}" "${base}${device}" "${base}ab")" $'2 200 1\n2 200 0'
is 400 "$(push "${INTEROP_TOKEN}" "${good}" "${base}no-token")" '{"reason":"BadDeviceToken"}2 400 1'
is 413 "$(push "${INTEROP_TOKEN}" "$(printf 'x%.0s' {1..5000})" "${base}ab")" \
    '{"reason":"PayloadTooLarge"}2 413 1'
is 403 "$(push "${INTEROP_FORGED_TOKEN}" "${good}" "${base}ab")" \
    '{"reason":"InvalidProviderToken"}2 403 1'
echo "$(curl --version | head -1 | cut -d ' ' -f 1,2): 200, 400, 413, 403"
