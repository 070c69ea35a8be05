#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Drives schemathesis with the gateway's own OpenAPI document against a running gateway: no 500, no
# hang, no answer that the document does not allow, no request of its form that is refused, no way
# past the API key.
#
#   Deploy/ci/openapi.sh [ROUSE [EXAMPLES]]
#   OPENAPI_SECONDS=600 Deploy/ci/openapi.sh ROUSE
#
# ROUSE is a built program, otherwise the one on the PATH; EXAMPLES is how many requests are tried
# for each operation and kind of check (50). With OPENAPI_SECONDS fuzzing and walks along links are
# repeated until so many seconds are over. Needs curl, openssl, and schemathesis: what SCHEMATHESIS
# names, or from PyPI into a temporary folder, for which Debian has the package python3-venv. The
# gateway has a store, one key with the scope admin and a simulator for APNs; all of it is gone
# afterwards.
set -euo pipefail

rouse=$(realpath "${1:-$(command -v rouse || echo /nonexistent)}")
examples=${2:-50}
version=4.32.5
if [[ ! -x ${rouse} ]]; then
    echo "usage: Deploy/ci/openapi.sh ROUSE [EXAMPLES]" >&2
    exit 64
fi

work=$(mktemp -d)
gateway=
simulator=
end() {
    if [[ -n ${gateway} ]]; then kill "${gateway}" 2>/dev/null || true; fi
    if [[ -n ${simulator} ]]; then kill "${simulator}" 2>/dev/null || true; fi
    wait
    rm -rf "${work}"
}
trap end EXIT

schemathesis=${SCHEMATHESIS:-${work}/venv/bin/schemathesis}
if [[ -z ${SCHEMATHESIS:-} ]]; then
    # Of one version: a newer one may check more, and is taken on purpose.
    if ! python3 -m venv "${work}/venv" || ! "${work}/venv/bin/pip" --quiet --retries 2 \
        --disable-pip-version-check install "schemathesis==${version}"; then
        echo "openapi.sh: schemathesis ${version} cannot be installed from PyPI. Name an installed" \
            "one in SCHEMATHESIS." >&2
        exit 69
    fi
fi

cd "${work}"
"${rouse}" apns-simulator --folder apns --json >ready 2>warnings &
simulator=$!
for _ in $(seq 300); do
    if grep -q '}$' ready; then break; fi
    sleep 0.1
done
cat >rouse.yaml <<YAML
listen: 127.0.0.1:0
store: wakes.sqlite
log-level: warning
apps:
  - bundle-id: com.example.app
    environment: sandbox
    team-id: LOCALTEAM1
    key-file: apns/AuthKey_LOCALKEY01.p8
    server: { host: 127.0.0.1, port: $(sed -n 's/.*"port":\([0-9]*\).*/\1/p' ready), ca-file: apns/ca.pem }
transport:
  proxy: none
YAML
key=$("${rouse}" keys create --config rouse.yaml --name openapi --scope admin \
    --requests-per-second 100000 2>/dev/null)
"${rouse}" serve --config rouse.yaml >out 2>err &
gateway=$!
for _ in $(seq 300); do
    if grep -q Ready out; then break; fi
    sleep 0.1
done
address=$(grep -o '127\.0\.0\.1:[0-9]*' out | head -1)

# The document cannot say which apps this one gateway is configured for: that is added here, so that
# wakes are taken and their ids are there to be asked for.
#
# A stream of events is asked to end, and a wait for an outcome too: what would be long, or has no
# end, lasts a second. What is no number is sent as it is.
cat >hooks.py <<'PYTHON'
import json
import re

import schemathesis

APP = "com.example.app"


def configure(value):
    """Writes this gateway's app in the place of any app."""
    for item in value if isinstance(value, list) else value.values():
        if isinstance(item, (dict, list)):
            configure(item)
    if not isinstance(value, dict):
        return
    if value.get("in") == "path" and value.get("name") == "topic":
        value["schema"] = {"type": "string", "enum": [APP]}
    if value.get("in") == "query" and value.get("name") == "app":
        value["schema"] = {"type": "string", "enum": [APP]}
    if value.get("in") == "query" and value.get("name") == "environment":
        value["schema"]["enum"] = ["sandbox"]
    members = value.get("properties", {})
    if "pattern" in members.get("app", {}):
        members["app"] = {"type": "string", "enum": [APP]}
    if "enum" in members.get("environment", {}):
        members["environment"]["enum"] = ["sandbox"]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    configure(raw_schema)
    for name in ("WakeRequest", "MulticastRequest"):
        wake = raw_schema["components"]["schemas"][name]
        # With users too there are more cases than can be multiplied out; and these are not known.
        if wake["properties"].pop("user", None):
            wake["allOf"] = [rule for rule in wake["allOf"] if "user" not in str(rule.get("oneOf"))]
            wake["required"].append("device_token")
        # The kinds, each with a suffix of its own: if this one, then so, else the next.
        variant = wake["allOf"][0]
        while variant:
            members = variant["then"]["properties"]
            suffix = re.sub(r".*\{1,255\}|[\\\\+$]", "", members["topic"]["pattern"])
            members["topic"] = {"enum": [APP + (suffix if suffix.startswith(".") else "")]}
            variant = variant.get("else")


@schemathesis.hook
def filter_body(context, body):
    """Leaves out payloads that are too large: that limit is in bytes too."""
    payload = body.get("payload") if isinstance(body, dict) else None
    return not isinstance(payload, dict) or len(json.dumps(payload)) <= 4096


@schemathesis.hook
def before_call(context, case, kwargs):
    # The limit of a collapse id is in bytes, of which a schema knows nothing.
    if isinstance(case.body, dict) and isinstance(case.body.get("collapse_id"), str):
        text = case.body["collapse_id"]
        case.body = {**case.body, "collapse_id": re.sub("[^\\0-\\x7f]", "x", text)}
    query = case.query or {}
    if case.operation.path == "/v1/events":
        name, most = "seconds", 86400
    elif "wait" in query:
        name, most = "timeout", 60
    else:
        return
    seconds = str(query.get(name, most))
    if seconds.isdecimal() and 1 <= int(seconds) <= most:
        case.query = {**query, name: 1}
PYTHON

# Its own list of what may answer a request against the document, and 413: a batch with too many
# items is too large, whatever is in it.
cat >schemathesis.toml <<'TOML'
[checks]
negative_data_rejection.expected-statuses = [
    "400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx",
]
TOML

# Left out is the check that what was deleted is gone: a wake that was cancelled can be asked for.
failed=0
PYTHONPATH=${work} SCHEMATHESIS_HOOKS=hooks \
    "${schemathesis}" run "http://${address}/openapi.json" \
    --header "Authorization: Bearer ${key}" --request-timeout 8 \
    --checks all \
    --exclude-checks use_after_free \
    --max-examples "${examples}" ${OPENAPI_SECONDS:+--max-time "${OPENAPI_SECONDS}"} \
    --continue-on-failure --no-color || failed=1

# The gateway is still there, and goes when it is told.
curl --silent --show-error --fail --max-time 5 "http://${address}/healthz" >/dev/null || failed=1
kill -TERM "${gateway}"
wait "${gateway}" || failed=1
gateway=
if grep -i -E 'fatal|precondition|crash' err; then failed=1; fi
exit "${failed}"
