# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the sanitizers' scripts: a directory `$work`, nghttpd on `$port` with `$work/cert.pem`,
# and both gone at the end. Sets `reach`, the arguments that lead a fixture there.

work=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null || :; fi; rm -rf "$work"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
mkdir -p "$work/www/3/device"
: >"$work/www/3/device/$(printf '%064d' 0)"
port=${ROUSE_TEST_PORT:-28443}
nghttpd -a 127.0.0.1 -d "$work/www" "$port" "$work/key.pem" "$work/cert.pem" >"$work/log" 2>&1 &
server=$!
reach="127.0.0.1 $port $work/cert.pem"

# Returns once it answers the fixture that is given.
await_server() {
    # What a sanitizer says of it comes up again under stress; here only the answer counts.
    # shellcheck disable=SC2086 # Three words.
    until { "$1" send $reach native=1 count=1 window=2 || :; } | grep -q status-200; do
        kill -0 "$server"
    done
}
