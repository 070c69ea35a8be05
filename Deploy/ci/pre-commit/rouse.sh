#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What pre-commit runs: finds `rouse` and passes everything on. See .pre-commit-hooks.yaml.
set -euo pipefail

rouse=${ROUSE:-$(command -v rouse || true)}
if [[ -z ${rouse} || ! -x ${rouse} ]]; then
    echo "rouse is not on the PATH, and ROUSE names no program. Build it with" >&2
    echo "'swift build --configuration release --product rouse' and say where it is." >&2
    exit 69
fi
exec "${rouse}" "$@"
