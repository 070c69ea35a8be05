# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the parties with h2spec share. H2SPEC names a built program, or H2SPEC_SOURCE the sources of
# github.com/summerwind/h2spec, which Debian's Go builds with Debian's packages alone.
set -euo pipefail

h2spec=${H2SPEC:-$(command -v h2spec || true)}
if [[ -z ${h2spec} ]]; then
    if [[ -z ${H2SPEC_SOURCE:-} ]] || ! command -v go >/dev/null; then
        echo "no checkout; name a built h2spec in H2SPEC, or its sources in H2SPEC_SOURCE"
        exit 77
    fi
    h2spec=${INTEROP_WORK}/h2spec
    mkdir -p "${INTEROP_WORK}/src/github.com/summerwind"
    cp -r "${H2SPEC_SOURCE}" "${INTEROP_WORK}/src/github.com/summerwind/h2spec"
    (cd "${INTEROP_WORK}/src/github.com/summerwind/h2spec" && GOCACHE=${INTEROP_CACHE}/go \
        GOPATH=${INTEROP_WORK}:/usr/share/gocode GO111MODULE=off GOPROXY=off GOFLAGS='' \
        go build -o "${h2spec}" ./cmd/h2spec)
fi

# judge CASES OPTION…: runs all cases. Only CASES may fail, one on a line. Prints the counts.
judge() {
    local cases=$1 out status=0 summary failed
    shift
    out=$(mktemp -p "${INTEROP_WORK}")
    "${h2spec}" --host 127.0.0.1 --strict "$@" >"${out}" 2>&1 || status=$?
    summary=$(tail -n 1 "${out}")
    failed=$(sed -n '/^Failures:/,$ s/^ *× [0-9]*: //p' "${out}" \
        | grep --line-regexp --fixed-strings --invert-match -- "${cases}" || true)
    if [[ ! ${summary} =~ ^[0-9]+\ tests || ${status} -gt 1 || -n ${failed} ]]; then
        sed -n '/^Failures:/,$p' "${out}" >&2
        tail -n 3 "${out}" >&2
        return 1
    fi
    echo "${summary}"
}
