#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing and passes the tests. Whatever follows is passed on to `swift test`, for
# example: Deploy/test.sh --filter PayloadRules
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

Deploy/dependencies.sh build test

step() { printf '\n== %s\n' "$*" >&2; }

step "Format"
swift format lint --strict --recursive --parallel Sources Tests Package.swift

step "Build"
# An import that Package.swift does not declare is an error: the rooms have walls.
build=(--explicit-target-dependency-import-check error)
swift build --build-tests "${build[@]}"

if [[ $# -gt 0 ]]; then
    step "Tests: $*"
    exec swift test --skip-build "${build[@]}" "$@"
fi

# Room by room, each in a process of its own: servers and clocks of one do not disturb another.
failed=()
for suite in Tests/*Tests; do
    room=$(basename "${suite}")
    step "${room}"
    swift test --skip-build "${build[@]}" --filter "^${room}\\." || failed+=("${room}")
done

step "The transports under the thread sanitizer"
Tests/TransportFixture/thread-sanitizer.sh || failed+=("thread sanitizer")

step "The transports under the address sanitizer"
Tests/TransportFixture/address-sanitizer.sh || failed+=("address sanitizer")

step "The transports' C targets under valgrind"
Tests/TransportFixture/valgrind.sh || failed+=("valgrind")

step "Deploy/run.sh as a new user runs it"
Deploy/smoke.sh || failed+=("Deploy/run.sh")

step "The shipped scenarios against what the wake budget promises"
Deploy/scenarios/check.sh || failed+=("scenarios")

if [[ ${#failed[@]} -gt 0 ]]; then
    step "Failed: ${failed[*]}"
    exit 1
fi
