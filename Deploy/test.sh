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
# An import that Package.swift does not declare is an error.
build=(--explicit-target-dependency-import-check error)
swift build --build-tests "${build[@]}"

if [[ $# -gt 0 ]]; then
    step "Tests: $*"
    exec swift test --skip-build "${build[@]}" "$@"
fi

# Each part in a process of its own: servers and clocks of one do not disturb another. What a part
# printed is kept until the end, where a log that was cut at its front still says what failed.
printed=$(mktemp -d)
# shellcheck disable=SC2046 # Process ids.
trap 'kill $(jobs -pr) 2>/dev/null || true; rm -rf "${printed}"' EXIT
failed=()
unsteady=()

# A part that fails is run once more, alone, since many of them measure what a busy machine may make
# late. What passes only then is named at the end.
again() {
    local name=$1
    local log=${printed}/${name//\//-}
    shift
    mv "${log}" "${log}.first"
    step "${name}, once more"
    if run "${log}" "$@"; then unsteady+=("${name}"); else failed+=("${name}"); fi
}

# 77: something that the part needs cannot be had here, and it said so.
run() { "${@:2}" 2>&1 | tee "$1" || [[ $? -eq 77 ]]; }

part() {
    step "$1"
    run "${printed}/${1//\//-}" "${@:2}" || again "$@"
}

# The suites that only compute take what those of the transports, which wait for servers and
# clocks, leave of the processors. `swift test` would let one wait for another.
tests=$(swift build --show-bin-path)/rousePackageTests.xctest
suite() {
    # All tests of a suite begin at once. Those of the commands start programs and servers, which
    # would have to wait for those of hundreds of others.
    if [[ $1 == RouseCommandTests ]]; then
        local -x SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
    fi
    "${tests}" --testing-library swift-testing --filter "^$1\."
}
computing=(
    TidyTests WakeBudgetTests PayloadRulesTests PayloadLintTests AppAuditTests DeviceModelTests
    WakeSimulationTests
)
printf '\n== At low priority: %s, and the release build\n' "${computing[*]}" >&2
for name in "${computing[@]}"; do
    nice -n 19 "${tests}" --testing-library swift-testing --filter "^${name}\." \
        >"${printed}/${name}" 2>&1 && : >"${printed}/${name}.passed"
done &
computed=$!
# The release build, which Deploy/run.sh asks for far below, takes what these leave.
chrt --idle 0 swift build --configuration release --product rouse >"${printed}/release" 2>&1 &
released=$!
late=()
for path in Tests/APNs/*Tests; do
    name=$(basename "${path}")
    step "${name}"
    run "${printed}/${name}" suite "${name}" || late+=("${name}")
done
wait "${computed}" || true
for name in "${computing[@]}"; do
    step "${name}"
    cat "${printed}/${name}"
    [[ -e ${printed}/${name}.passed ]] || late+=("${name}")
done
for name in "${late[@]}"; do again "${name}" suite "${name}"; done
for path in Tests/*/*Tests; do
    name=$(basename "${path}")
    [[ -e ${printed}/${name} ]] || part "${name}" suite "${name}"
done

part "The transports and the client under the thread sanitizer" \
    Tests/APNs/TransportFixture/thread-sanitizer.sh
part "The transports and the client under the address sanitizer" \
    Tests/APNs/TransportFixture/address-sanitizer.sh
part "The transports' C targets under valgrind" Tests/APNs/TransportFixture/valgrind.sh
part "Beside the software of others" Tests/Interop/run.sh .build/debug/rouse
part "The names in the documents against the program" python3 -B Deploy/names.py .build/debug/rouse
part "The examples against a gateway" Deploy/examples/test.sh .build/debug/rouse
part "A generated client against a gateway" Deploy/ci/client.sh .build/debug/rouse
part "The APNs simulator as a service of other people's CI" \
    python3 -B Deploy/ci/simulator.py .build/debug/rouse
part "The alert rules against their tests" promtool test rules Deploy/prometheus/alerts.test.yaml
part "The manifests and the chart for Kubernetes" Deploy/kubernetes/test.sh .build/debug/rouse
# Deploy/run.sh builds what is missing, so that a build that failed says there why.
wait "${released}" || tail -n 40 "${printed}/release" >&2
part "Deploy/run.sh as a new user runs it" Deploy/smoke.sh
part "The shipped scenarios against what the wake budget promises" Deploy/scenarios/check.sh

# Shows what a log says of failures.
show() {
    grep -E '✘|error:|Fatal error|ERROR:|Sanitizer:|MISSED|FAILED|WRONG|smoke test:' "$1" |
        tail -n 40 >&2 || tail -n 20 "$1" >&2
}

for name in "${unsteady[@]}"; do
    step "Passed only when run again: ${name}"
    show "${printed}/${name//\//-}.first"
done
for name in "${failed[@]}"; do
    step "Failed twice: ${name}"
    show "${printed}/${name//\//-}"
done
[[ ${#failed[@]} -eq 0 ]]
