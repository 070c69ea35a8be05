#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compiles the documentation catalogs of all rooms, and fails when a link in one of them leads nowhere:
#
#   swift build && Deploy/docc.sh [FOLDER]
#
# With FOLDER the documentation is left there, one archive per room, for `docc process-archive` or a
# web server. It needs a debug build beside it, and nothing but the Swift toolchain.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
output=${1:-${work}/archives}
modules=$(swift build --show-bin-path)/Modules
target=$(swiftc -print-target-info | sed -n 's/.*"unversionedTriple": "\([^"]*\)".*/\1/p' | head -n 1)

# Swift modules that use C cannot be read without its module maps: those that the build has made,
# those of system libraries, and those that packages bring along.
maps=()
for map in "$(dirname "${modules}")"/*.build/module.modulemap; do
    [[ ${map} == *-tool.build/* ]] || maps+=(-Xcc "-fmodule-map-file=${map}")
done
for map in Sources/*/module.modulemap .build/checkouts/*/Sources/{*,*/include}/module.modulemap; do
    [[ ${map} == *SQLCipher* ]] || maps+=(-I "$(dirname "${map}")")
done

# A link into another room is shown as code, because each room is documented by itself: that is no
# fault. Everything else that docc remarks on is.
rooms=$(find Sources -mindepth 1 -maxdepth 1 -type d -printf '%f|' | sed 's/|$//')
failed=0
mkdir -p "${output}"
for catalog in Sources/*/*.docc; do
    room=$(basename "${catalog}" .docc)
    mkdir -p "${work}/${room}"
    swift-symbolgraph-extract -module-name "${room}" -target "${target}" -I "${modules}" \
        "${maps[@]}" -minimum-access-level public -output-dir "${work}/${room}"
    docc convert "${catalog}" --additional-symbol-graph-dir "${work}/${room}" \
        --fallback-display-name "${room}" --fallback-bundle-identifier "rouse.${room}" \
        --output-path "${output}/${room}.doccarchive" >"${work}/log" 2>&1 || failed=1
    if grep -E '^(warning|error): ' "${work}/log" | grep -Ev "^warning: '(${rooms})' doesn't exist" >"${work}/faults"
    then
        sed "s/^/${room}: /" "${work}/faults" >&2
        failed=1
    fi
done
exit "${failed}"
