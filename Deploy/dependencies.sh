#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages of dependencies.txt that are missing.
#   dependencies.sh build          to build and run
#   dependencies.sh build test     to pass the tests too
#   dependencies.sh test interop   to run every party of Tests/Interop
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
groups=("${@:-build}")

if ! command -v swift >/dev/null; then
    echo "Swift is not installed. Rouse needs Swift 6.2 or later: https://www.swift.org/install/linux/" >&2
    exit 69
fi

wanted=()
while read -r group package _; do
    [[ -z ${group} || ${group} == \#* ]] && continue
    for asked in "${groups[@]}"; do
        [[ ${group} == "${asked}" ]] && wanted+=("${package}")
    done
done <"${here}/dependencies.txt"

if ! command -v dpkg-query >/dev/null; then
    echo "This is not a Debian system, so nothing was installed. Rouse needs the equivalents of:" >&2
    printf '    %s\n' "${wanted[@]}" >&2
    exit 0
fi

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "${package}" 2>/dev/null || true)
    [[ ${status} == installed ]] || missing+=("${package}")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
        echo "These packages are missing, and only root can install them:" >&2
        echo "    apt-get install ${missing[*]}" >&2
        exit 77
    fi
    # sudo clears the environment, and a question that nobody answers never ends.
    as_root=(sudo DEBIAN_FRONTEND=noninteractive)
fi

echo "Installing: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq >&2
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
