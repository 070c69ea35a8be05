#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Looks for misuse of memory in the transports and in their C shims. Builds the fixture with the
# address sanitizer; stresses both transports against nghttpd, and HTTP/2 sessions with frames that
# are half right; then does a little of the same under valgrind, which also sees what is read before
# it is written, inside of libssl and nghttp2 too. Ends with 0 if nothing was found.
#
#     Tests/TransportFixture/address-sanitizer.sh [SCRATCH-DIRECTORY]
set -eu
cd "$(dirname "$0")/../.."
scratch=${1:-.build-asan}
build() {
    swift build --sanitize=address --product TransportFixture --scratch-path "$scratch" "$@"
}
build
fixture=$(build --show-bin-path)/TransportFixture

. Tests/TransportFixture/server.sh
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
done
echo "The address sanitizer found nothing."

command -v valgrind >/dev/null || exit 0
swift build --product TransportFixture
# Valgrind 3.19 cannot read the debug information that Swift 6 writes.
fixture=$work/TransportFixture
strip --strip-debug -o "$fixture" "$(swift build --show-bin-path)/TransportFixture"
check() {
    valgrind --quiet --error-exitcode=66 --leak-check=full --show-leak-kinds=definite \
        --errors-for-leak-kinds=definite \
        "$fixture" "$@"
}
check frames - 0 - count=20 seed=7
# shellcheck disable=SC2086
check send $reach native=1 count=2000 window=200 timeout=60000
echo "Valgrind found nothing."
