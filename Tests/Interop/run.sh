#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs Rouse beside software that nobody here wrote: clients of theirs against `rouse apns-simulator`,
# servers of theirs against Rouse's own client, and callers of theirs against `rouse serve`. Ends with
# a table, and with 0 when all is well.
#
#   Tests/Interop/run.sh [--all] [ROUSE [PARTY...]]
#
# ROUSE is a built program, otherwise the one on the PATH; PARTY is a name in the table, without one
# all are run. A party whose packages are missing is left out; with --all the Debian packages are
# installed first, and a party that is left out counts as failed unless it needs a checkout that
# nobody named; with CI=true so does one whose packages cannot be installed from PyPI.
# INTEROP_CACHE names a folder that keeps what is installed from PyPI from one run to the next.
#
# A party is an executable file in clients/, servers/ or callers/. It ends with 0 for good and with 77 where
# something is missing; the last line of its output stands in the table. Its head says what it needs:
#
#   # command: NAME...    programs
#   # file: PATH...       files or folders
#   # checkout: NAME      a variable that names a folder with software that neither Debian nor PyPI has
#   # perl: MODULE...     modules of Perl
#   # ruby: FEATURE...    what Ruby requires
#   # pip: PACKAGE...     packages of PyPI, installed into a folder for this party alone
#   # limit: SECONDS      how long it may take, where that is more than others may
#
# Clients find in the environment: INTEROP_PORT and INTEROP_CA of the simulator, on localhost;
# INTEROP_KEY, INTEROP_KEY_ID and INTEROP_TEAM_ID of the key that it knows; INTEROP_OTHER_KEY, which
# it does not know; INTEROP_CERTIFICATE, a client certificate with its key; INTEROP_TOKEN and
# INTEROP_FORGED_TOKEN, provider tokens of the two keys. Servers find INTEROP_ROUSE, the program,
# INTEROP_SERVER_CERTIFICATE and INTEROP_SERVER_KEY for localhost with the authority
# INTEROP_SERVER_CA, and the keys and tokens. Callers find the URLs INTEROP_GATEWAY, with TLS by the
# authority INTEROP_GATEWAY_CA, and INTEROP_GATEWAY_PLAIN, without: two gateways that send to the
# simulator for com.example.app; their API key INTEROP_GATEWAY_KEY; and INTEROP_DEVICES, the first 48
# digits of device tokens that no other party has. Each has INTEROP_WORK, an empty folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# In seconds, for one party.
limit=${INTEROP_LIMIT:-180}
all=
if [[ ${1:-} == --all ]]; then
    all=1
    shift
    "${here}/../../Deploy/dependencies.sh" test interop
fi
rouse=$(realpath "${1:-$(command -v rouse || echo /nonexistent)}")
[[ $# -eq 0 ]] || shift
if [[ ! -x ${rouse} ]]; then
    echo "usage: Tests/Interop/run.sh [--all] ROUSE [PARTY...]" >&2
    exit 64
fi

work=$(mktemp -d)
simulator=
# The process of each gateway, by its name.
declare -A gateways=()
end() {
    for job in ${simulator} "${gateways[@]}"; do kill "${job}" 2>/dev/null || true; done
    wait
    rm -rf "${work}"
}
trap end EXIT
export INTEROP_CACHE=${INTEROP_CACHE:-${work}/cache}
mkdir -p "${INTEROP_CACHE}" "${work}/parties"

# A certificate authority for the servers, and a client certificate that is its own authority.
cd "${work}"
umask 077
{
    curve=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
    openssl req -x509 "${curve[@]}" -days 30 -subj '/CN=Interop client' -keyout client.key -out client.pem
    openssl req -x509 "${curve[@]}" -days 30 -subj '/CN=Interop server CA' -keyout ca.key -out ca.pem
    openssl req "${curve[@]}" -subj '/CN=localhost' -keyout server.key -out server.csr
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -out server.pem \
        -extfile <(echo 'subjectAltName=DNS:localhost,IP:127.0.0.1')
    openssl ecparam -name prime256v1 -genkey -noout \
        | openssl pkcs8 -topk8 -nocrypt -out AuthKey_OTHERKEY12.p8
} 2>openssl.log || { cat openssl.log >&2; exit 70; }
cat client.key >>client.pem

"${rouse}" apns-simulator --folder "${work}/simulator" --client-ca "${work}/client.pem" --json \
    >ready 2>warnings &
simulator=$!
for _ in $(seq 300); do
    if grep -q '}$' ready; then break; fi
    sleep 0.1
done
export INTEROP_WORK INTEROP_PORT INTEROP_CA INTEROP_KEY INTEROP_KEY_ID INTEROP_TEAM_ID \
    INTEROP_OTHER_KEY INTEROP_CERTIFICATE INTEROP_TOKEN INTEROP_FORGED_TOKEN INTEROP_ROUSE \
    INTEROP_SERVER_CERTIFICATE INTEROP_SERVER_KEY INTEROP_SERVER_CA INTEROP_GATEWAY \
    INTEROP_GATEWAY_PLAIN INTEROP_GATEWAY_CA INTEROP_GATEWAY_KEY INTEROP_DEVICES
INTEROP_PORT=$(sed -n 's/.*"port":\([0-9]*\).*/\1/p' ready)
if [[ -z ${INTEROP_PORT} ]]; then
    echo "The simulator did not start:" >&2
    cat warnings >&2
    exit 69
fi
INTEROP_CA=${work}/simulator/ca.pem
INTEROP_KEY_ID=LOCALKEY01
INTEROP_TEAM_ID=LOCALTEAM1
INTEROP_KEY=${work}/simulator/AuthKey_${INTEROP_KEY_ID}.p8
INTEROP_OTHER_KEY=${work}/AuthKey_OTHERKEY12.p8
INTEROP_CERTIFICATE=${work}/client.pem
INTEROP_ROUSE=${rouse}
INTEROP_SERVER_CERTIFICATE=${work}/server.pem
INTEROP_SERVER_KEY=${work}/server.key
INTEROP_SERVER_CA=${work}/ca.pem
token() { "${rouse}" token --key "$1" --key-id "${INTEROP_KEY_ID}" --team-id "${INTEROP_TEAM_ID}"; }
INTEROP_TOKEN=$(token "${INTEROP_KEY}")
INTEROP_FORGED_TOKEN=$(token "${INTEROP_OTHER_KEY}")

INTEROP_GATEWAY_CA=${work}/ca.pem
INTEROP_GATEWAY_KEY=$(openssl rand -hex 32)

# serve NAME SCHEME OPTION…: starts a gateway, and sets `url`.
serve() {
    local name=$1 scheme=$2
    shift 2
    cat >"${name}.yaml" <<END
listen: 127.0.0.1:0
store: ${name}/wakes.sqlite
api-keys:
  - name: interop
    sha256: $(printf %s "${INTEROP_GATEWAY_KEY}" | sha256sum | cut -d ' ' -f 1)
apps:
  - bundle-id: com.example.app
    environment: sandbox
    team-id: ${INTEROP_TEAM_ID}
    key-file: ${INTEROP_KEY}
    server:
      host: localhost
      port: ${INTEROP_PORT}
      ca-file: ${INTEROP_CA}
END
    mkdir "${name}"
    "${rouse}" serve --config "${name}.yaml" --log-format json "$@" >"${name}.log" 2>&1 &
    gateways[${name}]=$!
    for _ in $(seq 300); do
        url=$(grep -o "${scheme}://127.0.0.1:[0-9]*" "${name}.log" || true)
        if [[ -n ${url} ]]; then return; fi
        sleep 0.1
    done
    echo "The gateway ${name} did not start:" >&2
    cat "${name}.log" >&2
    exit 69
}

# start_gateways: unless they run.
start_gateways() {
    if [[ ${#gateways[@]} -gt 0 ]]; then return; fi
    serve tls https --tls-certificate "${work}/server.pem" --tls-key "${work}/server.key"
    INTEROP_GATEWAY=${url}
    serve plain http
    INTEROP_GATEWAY_PLAIN=${url}
}

# stop_gateways: each must end with 0, with no error in its log, and its store must be right.
stop_gateways() {
    local name status
    for name in "${!gateways[@]}"; do
        status=0
        kill "${gateways[${name}]}" || true
        wait "${gateways[${name}]}" || status=$?
        if [[ ${status} -ne 0 ]] || grep -E '"level":"(error|critical)"' "${name}.log" >&2; then
            failed=1
            echo "The gateway ${name} ended with ${status}:" >&2
            tail -n 20 "${name}.log" >&2
        fi
        "${rouse}" audit-store "${name}/wakes.sqlite" >audit 2>&1 || { failed=1; cat audit >&2; }
    done
    gateways=()
}

# needs FILE KIND: what the head of a party names after the word.
needs() { sed -n "1,12s/^\(#\|\/\/\) $2: //p" "$1"; }

# missing FILE: what a party lacks, in words; nothing where it lacks nothing.
missing() {
    local name
    for name in $(needs "$1" command); do
        command -v "${name}" >/dev/null || { echo "${name} is not installed"; return; }
    done
    for name in $(needs "$1" file); do
        [[ -e ${name} ]] || { echo "${name} is not there"; return; }
    done
    for name in $(needs "$1" checkout); do
        [[ -d ${!name:-} ]] || { echo "no checkout; name its folder in ${name}"; return; }
    done
    for name in $(needs "$1" perl); do
        perl -M"${name}" -e 1 2>/dev/null || { echo "Perl's ${name} is not installed"; return; }
    done
    for name in $(needs "$1" ruby); do
        ruby -r"${name}" -e 1 2>/dev/null || { echo "Ruby's ${name} is not installed"; return; }
    done
}

# start FILE: runs a party.
start() {
    local packages python=python3
    read -ra packages <<<"$(needs "$1" pip)"
    if [[ ${#packages[@]} -gt 0 ]]; then
        local name="${packages[*]}" venv
        venv=${INTEROP_CACHE}/${name//[^A-Za-z0-9.=]/-}
        if [[ ! -e ${venv}/complete ]]; then
            rm -rf "${venv}"
            if ! python3 -m venv "${venv}" >"${venv}.log" 2>&1 || ! "${venv}/bin/pip" --quiet --retries 2 \
                --timeout 10 --disable-pip-version-check install "${packages[@]}" >>"${venv}.log" 2>&1; then
                tail -n 3 "${venv}.log" >&2
                echo "${packages[*]} cannot be installed from PyPI"
                return 77
            fi
            touch "${venv}/complete"
        fi
        python=${venv}/bin/python
    fi
    # Without the safe path, a script that is called like its package would import itself.
    export PYTHONPATH=${here}/lib PYTHONDONTWRITEBYTECODE=1 PYTHONSAFEPATH=1
    local own
    own=$(needs "$1" limit)
    if [[ $1 == *.py ]]; then
        timeout "${own:-${limit}}" "${python}" "$1"
    else
        timeout "${own:-${limit}}" "$1"
    fi
}

failed=0
table=()
run() {
    local file=$1 name result status=0 reason
    name=$(basename "$(dirname "${file}")")/$(basename "${file%.*}")
    INTEROP_WORK=${work}/parties/${name//\//-}
    mkdir -p "${INTEROP_WORK}"
    INTEROP_DEVICES=$(printf %s "${name}" | sha256sum | cut -c 1-48)
    local out=${INTEROP_WORK}.out err=${INTEROP_WORK}.err started=${SECONDS}
    reason=$(missing "${file}")
    if [[ -n ${reason} ]]; then
        status=77
        echo "${reason}" >"${out}"
    else
        if [[ ${name} == callers/* ]]; then start_gateways; fi
        start "${file}" >"${out}" 2>"${err}" || status=$?
    fi
    case ${status} in
        0) result=passed ;;
        77) result="left out" ;;
        124) result="too slow" ;;
        *) result=FAILED ;;
    esac
    # What needs a checkout cannot be installed. In CI nothing is left out for want of PyPI, or
    # many parties would be without anybody's notice.
    if [[ ${status} -eq 77 && (-z ${all} || $(tail -n 1 "${out}") == "no checkout"*) &&
        !(${CI:-} == true && $(tail -n 1 "${out}") == *"cannot be installed from PyPI") ]]; then
        :
    elif [[ ${status} -ne 0 ]]; then
        failed=1
        echo "== ${name} ended with ${status}" >&2
        tail -n 60 "${out}" "${err}" >&2 2>/dev/null || true
    fi
    table+=("$(printf '%-24s %-9s %3d s  %s' "${name}" "${result}" $((SECONDS - started)) \
        "$(tail -n 1 "${out}" | cut -c 1-140)")")
    echo "${table[-1]}"
}

shopt -s nullglob
for file in "${here}"/clients/* "${here}"/servers/* "${here}"/callers/*; do
    [[ -f ${file} && -x ${file} ]] || continue
    name=$(basename "${file%.*}")
    if [[ $# -gt 0 ]]; then
        for asked in "$@"; do
            if [[ ${asked} == "${name}" || ${asked} == */"${name}" && ${file} == *"/${asked}".* ]]; then
                run "${file}"
            fi
        done
    else
        run "${file}"
    fi
done

stop_gateways
if ! kill -0 "${simulator}" 2>/dev/null; then
    failed=1
    echo "The simulator ended by itself:" >&2
    cat warnings >&2
fi
if [[ ${#table[@]} -eq 0 ]]; then
    echo "There is no such party." >&2
    exit 64
fi
exit "${failed}"
