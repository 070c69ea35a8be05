#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Looks for misuse of memory in the transports, in the client and in their C shims. Builds the
# fixture with the address sanitizer; stresses both transports, and clients over each, against
# nghttpd, and HTTP/2 sessions with frames that are half right. Ends with 0 if nothing was found.
# (Valgrind 3.19, which Debian 12 has, crashes in itself under a Swift program; valgrind.sh runs it
# on the C targets alone.)
#
#     Tests/APNs/TransportFixture/address-sanitizer.sh [SCRATCH-DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/../../.."
scratch=${1:-.build-asan}
build() {
    swift build --sanitize=address --product TransportFixture --scratch-path "$scratch" "$@"
}
# The linker says of each symbol of the sanitizer, some 200, that it keeps it to itself.
build 2>&1 | { grep -v 'warning: Cannot export local symbol' || true; }
fixture=$(build --show-bin-path)/TransportFixture

. Tests/APNs/TransportFixture/server.sh
await_server "$fixture"
export ASAN_OPTIONS="exitcode=66 detect_stack_use_after_return=1 strict_string_checks=1"
for seed in 1 2 3 4 5 6; do
    "$fixture" frames - 0 - count=100 "seed=$seed"
done
for native in 0 1; do
    for seed in 1 2; do
        # shellcheck disable=SC2086 # Three words.
        "$fixture" stress $reach "native=$native" count=6000 threads=4 connections=3 "seed=$seed"
    done
    # shellcheck disable=SC2086
    "$fixture" client $reach "native=$native" count=6000 threads=2 connections=3 seed=1
done
echo "The address sanitizer found nothing."
