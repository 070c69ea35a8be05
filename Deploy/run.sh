#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing, builds Rouse, and starts a gateway that needs no configuration: embedded
# store, embedded APNs simulator, a key made on the spot. It prints commands to paste.
# Whatever follows is passed on to `rouse serve --dev`, for example: Deploy/run.sh --listen 127.0.0.1:9090
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

Deploy/dependencies.sh build
echo "Building a release. The first time that takes minutes: it compiles the packages below Rouse too." >&2
swift build --configuration release --product rouse >&2
exec "$(swift build --configuration release --show-bin-path)/rouse" serve --dev "$@"
