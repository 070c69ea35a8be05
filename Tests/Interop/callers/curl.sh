#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: curl
# curl: each version of HTTP with TLS and without, refusals, uploads that are refused early, and
# batches.
source "$(dirname "${BASH_SOURCE[0]}")/../lib/calling.sh"

type=application/json
# call OPTION…: body, version and status of an answer of the gateway `base`, with the key `key`.
call() {
    curl --silent --show-error "${version}" --cacert "${INTEROP_GATEWAY_CA}" --max-time 30 \
        --header "authorization: Bearer ${key}" --header "content-type: ${type}" \
        --write-out ' %{http_version} %{response_code}' "$@"
}

# problem NUMBER CODE FOUND
problem() {
    has "${name} $1" "\"code\":\"$2\"" "$3"
    is "${name} $1" "${3##* }" "$1"
}

items=5000
for n in $(seq "${items}"); do wake $((n + 100)); echo; done \
    | sed "s/}}\$/,\"filler\":\"$(printf 'x%.0s' {1..400})\"}}/" >"${work}/batch.ndjson"
head -c 5000000 /dev/zero >"${work}/large"

number=0
calls() {
    local name=$1 base=$2 version=$3 digits=$4 key=${INTEROP_GATEWAY_KEY}
    local before answer id
    before=$(accepted "${base}")
    answer=$(call --data "$(wake $((number += 1)))" "${base}/v1/wakes")
    is "${name} 202" "${answer##*\} }" "${digits} 202"
    id=$(member id "${answer}")
    has "${name} found" "\"id\":\"${id}\"" "$(call "${base}/v1/wakes/${id}")"
    answer=$(call --header 'expect: 100-continue' --dump-header "${work}/head" \
        --data "$(wake $((number += 1)))" "${base}/v1/wakes")
    is "${name} 100" "${answer##*\} }" "${digits} 202"
    has "${name} 100" " 100" "$(head -n 1 "${work}/head")"
    answer=$(call --head "${base}/v1/stats")
    has "${name} HEAD" "application/json" "${answer}"
    is "${name} HEAD" "${answer##*$'\n'}" " ${digits} 200"
    # Two requests on one connection. curl 7.88 fails at that with prior knowledge, whatever the
    # server.
    if [[ ${name} != h2c ]]; then
        is "${name} again" "$(call --output /dev/null --output /dev/null \
            --write-out '%{num_connects} ' "${base}/healthz" "${base}/v1/stats")" "1 0 "
    fi

    problem 400 malformed-body "$(call --data '{' "${base}/v1/wakes")"
    problem 404 not-found "$(call "${base}/v1/wakes/${no_wake}")"
    problem 413 body-too-large "$(call --data-binary "@${work}/large" "${base}/v1/wakes")"
    problem 413 body-too-large \
        "$(call --request POST --upload-file - "${base}/v1/wakes" <"${work}/large")"
    key=wrong
    problem 401 unauthorized "$(call --data "$(wake 0)" "${base}/v1/wakes")"
    problem 401 unauthorized "$(call --data-binary "@${work}/large" "${base}/v1/wakes")"
    is "${name} counted" $(($(accepted "${base}") - before)) 2
}
calls h2 "${INTEROP_GATEWAY}" --http2 2
calls TLS "${INTEROP_GATEWAY}" --http1.1 1.1
calls h2c "${INTEROP_GATEWAY_PLAIN}" --http2-prior-knowledge 2
calls plain "${INTEROP_GATEWAY_PLAIN}" --http1.1 1.1

# The gateway leaves the offer of an upgrade alone.
version=--http2 key=${INTEROP_GATEWAY_KEY}
answer=$(call --data "$(wake $((number += 1)))" "${INTEROP_GATEWAY_PLAIN}/v1/wakes")
is upgrade "${answer##*\} }" "1.1 202"

batch() {
    local name=$1 base=$2 version=$3 key=${INTEROP_GATEWAY_KEY} type=application/x-ndjson
    local before answer
    before=$(accepted "${base}")
    answer=$(call --data-binary "@${work}/batch.ndjson" "${base}/v1/wakes/batch")
    is "${name} batch" "$(member accepted "${answer}") ${answer##* }" "${items} 200"
    is "${name} batch" $(($(accepted "${base}") - before)) "${items}"
}
batch h2 "${INTEROP_GATEWAY}" --http2
batch h2c "${INTEROP_GATEWAY_PLAIN}" --http2-prior-knowledge
echo "$(curl --version | head -n 1 | cut -d ' ' -f 1,2): h2, h2c and HTTP/1.1: 202, 100, HEAD," \
    "400, 401, 404, 413, batches of ${items}"
