# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the callers from a shell share.
set -euo pipefail

work=${INTEROP_WORK}
no_wake=00000000-0000-7000-8000-000000000000

# wake NUMBER: the body of a request for a wake; each number is another device.
wake() {
    printf '{"kind":"background","app":"com.example.app","ttl_seconds":3600,'
    printf '"device_token":"%s%016x",' "${INTEROP_DEVICES}" "$1"
    printf '"payload":{"aps":{"content-available":1},"version":%d}}' "$1"
}

# is NAME FOUND WANTED
is() {
    [[ $2 == "$3" ]] || { echo "$1: '$2' instead of '$3'" >&2; exit 1; }
}

# has NAME TEXT OUTPUT
has() {
    grep --quiet --fixed-strings -- "$2" <<<"$3" || { echo "$1: no '$2' in: $3" >&2; exit 1; }
}

# member NAME JSON: a member that is a text or a number.
member() { sed -n "s/^{\(.*,\)*\"$1\":\"*\([^\",}]*\).*/\2/p" <<<"$2"; }

# accepted GATEWAY: how many wakes it has accepted.
accepted() {
    member accepted "$(curl --silent --show-error --cacert "${INTEROP_GATEWAY_CA}" --max-time 20 \
        --header "authorization: Bearer ${INTEROP_GATEWAY_KEY}" "$1/v1/stats")"
}
