#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# h2spec --strict: its 147 cases of RFC 7540 and RFC 7541.
source "$(dirname "${BASH_SOURCE[0]}")/../lib/h2spec.sh"

# What may fail, each with its reason.
# - Streams that depend on themselves: RFC 9113 §5.3 has done away with priorities, and APNs
#   disregards PRIORITY frames (facts §1.3).
expected="Sends HEADERS frame that depends on itself
Sends PRIORITY frame that depend on itself"
echo "h2spec --strict: $(judge "${expected}" --port "${INTEROP_PORT}" --tls --insecure)"
