#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the fixture, which depends on the transports, the client and little else, with the thread
# sanitizer, and stresses both transports, and clients over each, against nghttpd. Ends with 0 if the
# sanitizer saw no race and every check held.
#
#     Tests/APNs/TransportFixture/thread-sanitizer.sh [SCRATCH-DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/../../.."
scratch=${1:-.build-tsan}
# With THREAD_SANITIZER, StateLock is a lock that the sanitizer knows.
build() {
    swift build --sanitize=thread -Xswiftc -DTHREAD_SANITIZER --product TransportFixture \
        --scratch-path "$scratch" "$@"
}
# The linker says of each symbol of the sanitizer, some 200, that it keeps it to itself.
build 2>&1 | { grep -v 'warning: Cannot export local symbol' || true; }
fixture=$(build --show-bin-path)/TransportFixture

. Tests/APNs/TransportFixture/server.sh
await_server "$fixture"
export TSAN_OPTIONS="halt_on_error=0 exitcode=66 second_deadlock_stack=1"
for native in 0 1; do
    for seed in 1 2 3; do
        # shellcheck disable=SC2086 # Three words.
        "$fixture" stress $reach "native=$native" count=4000 threads=4 connections=3 "seed=$seed"
    done
    # shellcheck disable=SC2086
    "$fixture" hammer $reach "native=$native" count=1500 threads=4
    for seed in 1 2; do
        # shellcheck disable=SC2086
        "$fixture" client $reach "native=$native" count=4000 threads=2 connections=3 "seed=$seed"
    done
done
echo "No race was seen."
