#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes scanner, rules and repairs with libFuzzer, guided by coverage, for so many seconds (600 by
# default). What is found stays in the folder that is printed. Further words go to libFuzzer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

seconds=${1:-600}
shift || true
folder=${FUZZ_FOLDER:-.build-fuzz}
mkdir -p "${folder}/corpus"

flags=(
    -O -swift-version 6 -package-name rouse -parse-as-library -sanitize=fuzzer -enable-testing
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -I "${folder}"
)

# A module and its object file, instrumented for coverage.
module() {
    local name
    name=$(basename "$1")
    find "Sources/$1" -name '*.swift' -print0 | xargs -0 swiftc "${flags[@]}" \
        -whole-module-optimization -module-name "${name}" -emit-module \
        -emit-module-path "${folder}/${name}.swiftmodule" -emit-object -o "${folder}/${name}.o"
}

printf 'Building in %s\n' "${folder}" >&2
module Core/WakeModel
module Core/StrictJSON
module Lint/PayloadRules
swiftc "${flags[@]}" -module-name PayloadRulesFuzz Tests/Lint/PayloadRulesFuzz/FuzzTarget.swift \
    "${folder}/WakeModel.o" "${folder}/StrictJSON.o" "${folder}/PayloadRules.o" -o "${folder}/fuzz"

# Seeds: one payload of each kind, each behind a byte that chooses the push type.
seed() { printf '%b' "$2" >"${folder}/corpus/$1"; }
seed background '\x01{"aps":{"content-available":1},"v":7,"type":"sync","a":[1,{"b":"c"}],"t":true}'
seed alert '\x00{"aps":{"alert":{"title-loc-key":"%@","title-loc-args":["a"]},"badge":1,"sound":{"critical":1,"volume":0.5}}}'
seed voip '\x02{"callUUID":"6f1c9d5e","handle":"Ann","timestamp":1795255200,"event":"ringing"}'
seed liveactivity '\x07{"aps":{"timestamp":1795255200,"event":"start","attributes":{},"attributes-type":"T","content-state":{"a_b":"2026-11-21T09:34:00Z"}}}'
seed escapes '\x80{"aps":{"content_available":true},"n":"\\u00e9\\ud83d\\ude00\\n","m":-1.5e10,"z":null}'
seed headers '\x81/3/device/a5\ncom.example.app\n5\n1795255260\n123e4567-e89b-42d3-a456-426614174000\nYWJj.YWJj.YWJj\n'

printf 'Fuzzing for %s seconds\n' "${seconds}" >&2
"${folder}/fuzz" "${folder}/corpus" -max_total_time="${seconds}" -max_len=6000 -timeout=10 \
    -dict=Tests/Lint/PayloadRulesFuzz/push.dict -artifact_prefix="${folder}/" -print_final_stats=1 "$@"
