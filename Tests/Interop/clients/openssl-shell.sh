#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command: curl openssl
# The way of Apple's documentation for the shell: openssl signs the provider token, which makes the
# signature DER, and curl sends it.
set -euo pipefail

base64url() { openssl base64 -A | tr -- '+/' '-_' | tr -d =; }

# token KEY
token() {
    local header claims
    header=$(printf '{ "alg": "ES256", "kid": "%s" }' "${INTEROP_KEY_ID}" | base64url)
    claims=$(printf '{ "iss": "%s", "iat": %d }' "${INTEROP_TEAM_ID}" "$(date +%s)" | base64url)
    printf '%s.%s.%s' "${header}" "${claims}" \
        "$(printf '%s.%s' "${header}" "${claims}" | openssl dgst -binary -sha256 -sign "$1" | base64url)"
}

# push KEY
push() {
    curl --silent --show-error --http2 --cacert "${INTEROP_CA}" --max-time 20 \
        --header "authorization: bearer $(token "$1")" --header "apns-topic: com.example.app" \
        --header "apns-push-type: alert" --data '{"aps":{"alert":"test"}}' \
        --write-out '%{response_code}' "https://localhost:${INTEROP_PORT}/3/device/abcdef"
}

good=$(push "${INTEROP_KEY}")
other=$(push "${INTEROP_OTHER_KEY}")
if [[ ${good} != 200 || ${other} != '{"reason":"InvalidProviderToken"}403' ]]; then
    echo "the right key: ${good}; another key: ${other}" >&2
    exit 1
fi
echo "$(openssl version | cut -d ' ' -f 1,2): 200, 403, both signed in DER"
