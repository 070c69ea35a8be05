#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: nghttp
# nghttp: sends PRIORITY frames of its own accord, pads frames, continues headers.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
printf '{"aps":{"content-available":1}}' >"${work}/body"

# push TOKEN PATH OPTION…: all frames that came and went.
push() {
    local token=$1 path=$2
    shift 2
    nghttp --verbose --no-verify-peer --timeout=20 --data="${work}/body" \
        --header="authorization: bearer ${token}" --header="apns-topic: com.example.app" \
        --header="apns-push-type: background" --header="apns-priority: 5" "$@" \
        "https://localhost:${INTEROP_PORT}/3/device/${path}"
}

# has NAME TEXT OUTPUT
has() {
    grep --quiet --fixed-strings -- "$2" <<<"$3" || { echo "$1: no '$2' in: $3" >&2; exit 1; }
}

has 200 ":status: 200" "$(push "${INTEROP_TOKEN}" abcdef)"
has padded ":status: 200" "$(push "${INTEROP_TOKEN}" abcdef --padding=200)"
# It fills the header list with far more than APNs' 8000 bytes.
has continuation ":status: 431" "$(push "${INTEROP_TOKEN}" abcdef --continuation)"
has 400 '{"reason":"BadDeviceToken"}' "$(push "${INTEROP_TOKEN}" no-token)"
has 403 '{"reason":"InvalidProviderToken"}' "$(push "${INTEROP_FORGED_TOKEN}" abcdef)"
echo "$(nghttp --version): 200, padding, CONTINUATION (431), 400, 403"
