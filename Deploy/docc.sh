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

# Where the headers of C targets are: Swift modules that import them cannot be read without.
includes=()
for header in Sources/*/include; do includes+=(-I "${header}"); done
for map in Sources/*/module.modulemap; do includes+=(-I "$(dirname "${map}")"); done
for map in .build/checkouts/*/Sources/*/include; do includes+=(-I "${map}"); done

failed=0
mkdir -p "${output}"
for catalog in Sources/*/*.docc; do
    room=$(basename "${catalog}" .docc)
    mkdir -p "${work}/${room}"
    swift-symbolgraph-extract -module-name "${room}" -target "${target}" -I "${modules}" \
        "${includes[@]}" -minimum-access-level public -output-dir "${work}/${room}"
    if ! docc convert "${catalog}" --additional-symbol-graph-dir "${work}/${room}" \
        --fallback-display-name "${room}" --fallback-bundle-identifier "rouse.${room}" \
        --output-path "${output}/${room}.doccarchive" --warnings-as-errors \
        >"${work}/${room}.log" 2>&1; then
        sed "s/^/${room}: /" "${work}/${room}.log" >&2
        failed=1
    fi
done
exit "${failed}"
