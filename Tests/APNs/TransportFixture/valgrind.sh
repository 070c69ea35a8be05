#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Looks with valgrind for misuse of memory, leaks and open descriptors in the C targets for crypto
# and TLS and of the transports, and in how they use OpenSSL, nghttp2 and libcurl. Valgrind 3.19,
# which Debian 12 has, crashes in itself under a Swift program; so a program in C (the folder
# Valgrind) calls what Swift calls: sessions against a peer in memory, keys and certificates, TLS
# with OpenSSL's client, connections to nghttpd, and the same by libcurl. Ends with 0 if nothing was
# found.
#
#     Tests/APNs/TransportFixture/valgrind.sh
set -eu
cd "$(dirname "$0")/../../.."
for tool in valgrind clang nghttpd openssl; do
    if ! command -v "$tool" >/dev/null; then
        echo "There is no $tool. Deploy/dependencies.sh build test installs what is missing;" \
            "clang comes with Swift." >&2
        exit 69
    fi
done

. Tests/APNs/TransportFixture/server.sh

# Another certificate, with its key: plain, locked, and both in an archive.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
    -subj /CN=stranger -keyout "$work/other.key" -out "$work/other.pem" 2>/dev/null
openssl ec -in "$work/other.key" -aes128 -passout pass:password -out "$work/locked.key" 2>/dev/null
openssl pkcs12 -export -in "$work/other.pem" -inkey "$work/other.key" -passout pass:password \
    -out "$work/other.p12"

# A server that speaks HTTP/1.1 alone.
openssl s_server -accept "127.0.0.1:$((port + 1))" -key "$work/key.pem" -cert "$work/cert.pem" \
    -alpn http/1.1 -www -quiet >"$work/other.log" 2>&1 &
other=$!
trap 'kill "$server" "$other" 2>/dev/null || :; rm -rf "$work"' EXIT

# The C targets as they are, but for allocations that can be made to fail.
flags="-g -gdwarf-4 -O1 -Wall -Wextra -Werror -I Tests/APNs/TransportFixture/Valgrind"
for target in Core/C/CCryptoShims Core/C/CServerTLS APNs/C/CHTTP2Shims APNs/C/CCurlShims \
    APNs/C/CNghttp2ResetGuard Gateway/C/CCurlCalls; do
    flags="$flags -I Sources/$target/include"
    for source in "Sources/$target"/*.c; do
        # shellcheck disable=SC2086 # Words.
        clang $flags -include Scarce.h -c "$source" -o "$work/$(basename "$source" .c).o"
    done
done
# shellcheck disable=SC2086
clang $flags Tests/APNs/TransportFixture/Valgrind/*.c "$work"/*.o -lcurl -lnghttp2 -lssl \
    -lcrypto -o "$work/program"

status=0
# In that folder, because a socket is made where the program runs.
cd "$work"
valgrind --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,possible \
    --track-fds=yes --num-callers=30 --log-file="$work/valgrind" "$work/program" "$port" \
    "$((port + 1))" "$work/cert.pem" "$work/other.pem" "$work/other.key" "$work/locked.key" \
    "$work/other.p12" || status=$?
# A descriptor that was left open is told there, and is no error to valgrind 3.19.
opened=$(grep -A1 'Open .*file descriptor\|Open .*socket' "$work/valgrind" |
    grep -c '^==[0-9]*==    at ' || :)
if [ "$status" -ne 0 ] || [ "$opened" -ne 0 ]; then
    cat "$work/valgrind" >&2
    echo "Valgrind: FAILED (status $status, $opened descriptors left open)." >&2
    exit 1
fi
grep 'ERROR SUMMARY\|definitely lost\|possibly lost\|no leaks' "$work/valgrind" || :
echo "Valgrind found nothing."
