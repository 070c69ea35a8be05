#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Generates a client in Python from the gateway's own OpenAPI document, with openapi-python-client,
# and uses it against a running gateway: nobody here wrote what it sends and how it reads answers.
#
#   Deploy/ci/client.sh ROUSE
#
# ROUSE is a built program. Needs python3-venv, and PyPI; without either it ends with 69, in CI too.
set -euo pipefail

if [[ ! -x ${1:-} ]]; then
    echo "usage: Deploy/ci/client.sh ROUSE" >&2
    exit 64
fi
rouse=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
version=0.29.1

work=$(mktemp -d)
gateway=
end() {
    if [[ -n ${gateway} ]]; then kill "${gateway}" 2>/dev/null || true; fi
    wait
    rm -rf "${work}"
}
trap end EXIT

if ! python3 -m venv "${work}/venv" || ! "${work}/venv/bin/pip" --quiet --retries 2 \
    --disable-pip-version-check install "openapi-python-client==${version}"; then
    echo "client.sh: openapi-python-client ${version} cannot be installed from PyPI." >&2
    exit 69
fi
PATH=${work}/venv/bin:${PATH}

cd "${work}"
"${rouse}" serve --dev --listen 127.0.0.1:0 >out 2>err &
gateway=$!
for _ in $(seq 300); do
    if grep -q 'Stop it' out; then break; fi
    sleep 0.1
done
address=$(grep -o '127\.0\.0\.1:[0-9]*' out | head -1)

curl --silent --show-error --fail --max-time 10 "http://${address}/openapi.json" >openapi.json
openapi-python-client generate --path openapi.json --output-path rouse_client --meta none \
    >generated 2>&1 || { cat generated >&2; exit 1; }
# A warning says that something of the document was left out. The lines of a batch are text of their
# own media type, which this generator does not know; the array beside it is the same.
if grep -E '^(WARNING|Unable|Cannot|Skipping)' generated |
    grep -v -e 'POST /v1/wakes/batch' -e 'Skipping Integration'; then
    cat generated >&2
    exit 1
fi
PYTHONPATH=${work} PYTHONDONTWRITEBYTECODE=1 python3 "${here}/client.py" "http://${address}"
