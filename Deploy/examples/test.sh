#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs every example against a real gateway with the APNs simulator behind it.
#
#   Deploy/examples/test.sh ROUSE [TEST…]
#
# ROUSE is a built program; a TEST is a name such as Go. A language that is not installed is left out,
# and said; in CI it fails.
set -euo pipefail

if [[ ! -x ${1:-} ]]; then
    echo "usage: Deploy/examples/test.sh ROUSE [TEST…]" >&2
    exit 64
fi
# Before the folder changes: a path may be relative.
ROUSE=$(realpath "$1")
export ROUSE
shift
cd "$(dirname "${BASH_SOURCE[0]}")"
PYTHONDONTWRITEBYTECODE=1 python3 test.py "$@"
