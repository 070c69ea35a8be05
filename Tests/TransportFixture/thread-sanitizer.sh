#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the fixture, which depends on the transport and little else, with the thread sanitizer, and
# stresses it against nghttpd. Ends with 0 if the sanitizer saw no race and every check held.
#
#     Tests/CurlTransportFixture/thread-sanitizer.sh [SCRATCH-DIRECTORY]
set -eu
cd "$(dirname "$0")/../.."
scratch=${1:-.build-tsan}
# With THREAD_SANITIZER, StateLock and Tally use a lock that the sanitizer knows.
swift build --sanitize=thread -Xswiftc -DTHREAD_SANITIZER --product CurlTransportFixture \
    --scratch-path "$scratch"
fixture=$(swift build --sanitize=thread -Xswiftc -DTHREAD_SANITIZER --scratch-path "$scratch" \
    --show-bin-path)/CurlTransportFixture

work=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null || :; fi; rm -rf "$work"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
zeros=$(printf '%064d' 0)
mkdir -p "$work/www/3/device"
: >"$work/www/3/device/$zeros"
port=${ROUSE_TEST_PORT:-28443}
nghttpd -a 127.0.0.1 -d "$work/www" "$port" "$work/key.pem" "$work/cert.pem" >"$work/log" 2>&1 &
server=$!
until "$fixture" send 127.0.0.1 "$port" "$work/cert.pem" count=1 window=2 | grep -q status-200; do
    kill -0 "$server"
done
for seed in 1 2 3; do
    TSAN_OPTIONS="halt_on_error=0 exitcode=66 second_deadlock_stack=1" \
        "$fixture" stress 127.0.0.1 "$port" "$work/cert.pem" \
        count=4000 threads=4 connections=3 "seed=$seed"
done
TSAN_OPTIONS="exitcode=66" "$fixture" hammer 127.0.0.1 "$port" "$work/cert.pem" count=1500 threads=4
echo "No race was seen."
