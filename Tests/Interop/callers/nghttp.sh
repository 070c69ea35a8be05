#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: nghttp curl
# nghttp: sends PRIORITY frames of its own accord, pads frames, continues headers, sends trailers,
# has small windows, and many requests on one connection.
source "$(dirname "${BASH_SOURCE[0]}")/../lib/calling.sh"

# call PATH OPTION…: all frames that came and went, with the gateway `base` and the key `key`.
call() {
    local path=$1
    shift
    nghttp --verbose --no-verify-peer --timeout=20 --header="authorization: Bearer ${key}" \
        --header="content-type: application/json" "$@" "${base}${path}"
}

calls() {
    local name=$1 base=$2 key=${INTEROP_GATEWAY_KEY} before
    before=$(accepted "${base}")
    post() { wake "$1" >"${work}/body"; call /v1/wakes --data="${work}/body" "${@:2}"; }
    has "${name} 202" ":status: 202" "$(post 1)"
    has "${name} padded" ":status: 202" "$(post 2 --padding=200)"
    has "${name} trailers" ":status: 202" "$(post 3 --trailer='x-trailer: 1')"
    has "${name} 100" ":status: 202" "$(post 4 --expect-continue)"
    has "${name} windows" '"accepted":' \
        "$(call /v1/stats --window-bits=4 --connection-window-bits=4)"
    has "${name} no table" ":status: 200" "$(call /v1/stats --header-table-size=0)"
    # It fills the header list with more than the gateway takes, before it has seen the limit.
    call /v1/stats --continuation 2>&1 | grep --quiet 'recv GOAWAY\|:status: 431' || {
        echo "${name} continuation: neither 431 nor GOAWAY" >&2
        exit 1
    }
    is "${name} at once" 100 "$(call /v1/stats --multiply=100 | grep -c ':status: 200')"
    printf '{' >"${work}/body"
    has "${name} 400" '"code":"malformed-body"' "$(call /v1/wakes --data="${work}/body")"
    has "${name} 404" '"code":"not-found"' "$(call "/v1/wakes/${no_wake}")"
    head -c 1000000 /dev/zero >"${work}/body"
    has "${name} 413" '"code":"body-too-large"' "$(call /v1/wakes --data="${work}/body")"
    key=wrong
    has "${name} 401" '"code":"unauthorized"' "$(call /v1/wakes --data="${work}/body")"
    is "${name} counted" $(($(accepted "${base}") - before)) 4
}
calls h2 "${INTEROP_GATEWAY}"
calls h2c "${INTEROP_GATEWAY_PLAIN}"
echo "$(nghttp --version): h2 and h2c: 202, padding, trailers, 100, small windows, CONTINUATION," \
    "100 at once, 400, 401, 404, 413"
