#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What action.yml runs. The inputs are variables: ROUSE_PAYLOADS, ROUSE_PROJECT, ROUSE_SENDS,
# ROUSE_STRICT, ROUSE_SARIF, ROUSE.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)

# The program that was named, or is there, or can be built from the action's own repository.
find_rouse() {
    if [[ -n ${ROUSE:-} ]]; then
        printf '%s\n' "${ROUSE}"
    elif command -v rouse; then
        :
    else
        echo "::group::Build rouse" >&2
        (cd "${root}" && Deploy/dependencies.sh build && swift build --configuration release --product rouse) >&2
        echo "::endgroup::" >&2
        printf '%s/rouse\n' "$(cd "${root}" && swift build --configuration release --show-bin-path)"
    fi
}

# The lines of an input, without blanks around them and without empty ones.
lines() { sed -e 's/^[[:space:]]*//' -e 's/[[:space:]]*$//' -e '/^$/d' <<<"$1"; }

mapfile -t payloads < <(lines "${ROUSE_PAYLOADS:-}")
mapfile -t project < <(lines "${ROUSE_PROJECT:-}")
if [[ ${#payloads[@]} -eq 0 && ${#project[@]} -eq 0 ]]; then
    echo "::error title=Rouse::There is nothing to check. Set payloads, project, or both."
    exit 64
fi

rouse=$(find_rouse)
options=()
[[ ${ROUSE_STRICT:-false} == true ]] && options+=(--strict)
status=0

# Runs a command and keeps the worst exit code.
check() {
    local code=0
    "${rouse}" "$@" || code=$?
    if [[ ${code} -gt ${status} ]]; then status=${code}; fi
}

if [[ ${#payloads[@]} -gt 0 ]]; then
    check validate --format github "${options[@]}" -- "${payloads[@]}"
    if [[ -n ${ROUSE_SARIF:-} ]]; then
        # The same findings again: they have failed the step already.
        "${rouse}" validate --format sarif -- "${payloads[@]}" >"${ROUSE_SARIF}" || true
    fi
fi
if [[ ${#project[@]} -gt 0 ]]; then
    [[ -n ${ROUSE_SENDS:-} ]] && options+=(--sends "${ROUSE_SENDS}")
    check audit --format github "${options[@]}" -- "${project[@]}"
fi

echo "status=${status}" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "${status}"
