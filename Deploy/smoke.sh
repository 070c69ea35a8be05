#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Does what the README tells a new user to do: starts Deploy/run.sh, pastes the commands that it
# prints, reads the outcome, and stops it with SIGTERM. Fails where a new user would be let down.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
gateway=
finish() {
    [[ -n ${gateway} ]] && kill -KILL "${gateway}" 2>/dev/null || true
    rm -rf "${folder}"
}
trap finish EXIT

give_up() {
    echo "smoke test: $*" >&2
    sed 's/^/    /' "${folder}/output" >&2
    exit 1
}

# Whatever the port, so that a gateway that runs on this machine already is in nobody's way.
Deploy/run.sh --listen 127.0.0.1:0 >"${folder}/output" 2>"${folder}/log" &
gateway=$!
for ((second = 0; second < 1800; second++)); do
    grep -q '^Stop it with' "${folder}/output" && break
    if ! kill -0 "${gateway}" 2>/dev/null; then
        tail -n 40 "${folder}/log" >&2
        give_up "Deploy/run.sh ended before the gateway was ready"
    fi
    sleep 1
done

mapfile -t commands < <(grep '^curl ' "${folder}/output")
[[ ${#commands[@]} -eq 3 ]] || give_up "not three commands to paste"
for index in 0 1; do
    answer=$(bash -c "${commands[index]}")
    [[ ${answer} == *'"accepted_at"'* ]] || give_up "command $((index + 1)) was answered: ${answer}"
done
for ((try = 0; try < 300; try++)); do
    answer=$(bash -c "${commands[2]}")
    [[ ${answer} == *'"state":"sent"'* ]] && break
    sleep 0.1
done
[[ ${answer} == *'"state":"sent"'* ]] || give_up "the wake was not sent: ${answer}"

kill -TERM "${gateway}"
wait "${gateway}" || give_up "after SIGTERM the gateway ended with status $?"
gateway=
echo "A release build started, took two wakes, sent them, and ended at SIGTERM." >&2
