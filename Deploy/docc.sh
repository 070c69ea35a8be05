#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compiles the documentation catalogs of all modules, and fails when a link in one of them leads nowhere:
#
#   swift build && Deploy/docc.sh [FOLDER]
#
# With FOLDER the documentation is left there, one archive per module, for `docc process-archive` or a
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
for map in Sources/*/C/*/module.modulemap .build/checkouts/*/Sources/{*,*/include}/module.modulemap; do
    [[ ${map} == *SQLCipher* ]] || maps+=(-I "$(dirname "${map}")")
done

# A link into another module is shown as code, because each module is documented by itself: that is
# no fault. Everything else that docc remarks on is.
names=$(find Sources -mindepth 2 -maxdepth 2 -type d -printf '%f|' | sed 's/|$//')
failed=0
mkdir -p "${output}"
for catalog in Sources/*/*/*.docc; do
    module=$(basename "${catalog}" .docc)
    mkdir -p "${work}/${module}"
    swift-symbolgraph-extract -module-name "${module}" -target "${target}" -I "${modules}" \
        "${maps[@]}" -minimum-access-level public -output-dir "${work}/${module}"
    docc convert "${catalog}" --additional-symbol-graph-dir "${work}/${module}" \
        --fallback-display-name "${module}" --fallback-bundle-identifier "rouse.${module}" \
        --output-path "${output}/${module}.doccarchive" >"${work}/log" 2>&1 || failed=1
    if grep -E '^(warning|error): ' "${work}/log" | grep -Ev "^warning: '(${names})' doesn't exist" >"${work}/faults"
    then
        sed "s/^/${module}: /" "${work}/faults" >&2
        failed=1
    fi
done
exit "${failed}"
