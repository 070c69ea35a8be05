#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tries the integrations of this folder for real, as far as that goes without the services:
#
#   Deploy/ci/test.sh [ROUSE]
#
# ROUSE is a built program; otherwise the one on the PATH. It needs python3 with venv, git and a
# package index with pre-commit and check-jsonschema, which it installs into a temporary folder.
# Not part of Deploy/test.sh.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rouse=$(realpath "${1:-$(command -v rouse || echo /nonexistent)}")
[[ -x ${rouse} ]] || { echo "Name a built rouse: Deploy/ci/test.sh .build/debug/rouse" >&2; exit 64; }

work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
export PRE_COMMIT_HOME=${work}/pre-commit-home ROUSE=${rouse}
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
failed=0

# check WORDS WANTED COMMAND…: the exit code must be the wanted one; the output is kept.
check() {
    local words=$1 wanted=$2 code=0
    shift 2
    "$@" >"${work}/out" 2>&1 || code=$?
    if [[ ${code} -eq ${wanted} ]]; then
        echo "passed: ${words}"
    else
        echo "FAILED: ${words}: ended with ${code} instead of ${wanted}"
        cat "${work}/out"
        failed=1
    fi
}

# says WORDS TEXT: the last output must hold the text.
says() {
    if grep --quiet --fixed-strings -- "$2" "${work}/out"; then
        echo "passed: $1"
    else
        echo "FAILED: $1: the output lacks: $2"
        cat "${work}/out"
        failed=1
    fi
}

python3 -m venv "${work}/venv"
"${work}/venv/bin/pip" --quiet --disable-pip-version-check install pre-commit check-jsonschema
tools=${work}/venv/bin

echo "== Schemas"
check "action.yml is a GitHub action" 0 \
    "${tools}/check-jsonschema" --builtin-schema vendor.github-actions "${root}/Deploy/ci/github/action.yml"
check "rouse.yml is a GitLab configuration" 0 \
    "${tools}/check-jsonschema" --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci "${root}/Deploy/ci/gitlab/rouse.yml"
check "simulator.yml is a GitHub workflow" 0 \
    "${tools}/check-jsonschema" --builtin-schema vendor.github-workflows "${root}/Deploy/ci/github/simulator.yml"
check "simulator.yml is a GitLab configuration" 0 \
    "${tools}/check-jsonschema" --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci "${root}/Deploy/ci/gitlab/simulator.yml"
check ".pre-commit-hooks.yaml is a list of hooks" 0 \
    "${tools}/pre-commit" validate-manifest "${root}/.pre-commit-hooks.yaml"

# A repository with an app and payloads, good and bad.
app=${work}/app
mkdir -p "${app}/App" "${app}/Payloads"
git -C "${app}" init --quiet
git -C "${app}" config user.name test
git -C "${app}" config user.email test@example.com
echo '{"aps":{"content-available":1},"version":7}' >"${app}/Payloads/good.json"
plist() {
    printf '<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">\n<dict>\n%s\n</dict>\n</plist>\n' "$1"
}
plist '<key>UIBackgroundModes</key><array><string>remote-notification</string></array>' >"${app}/App/Info.plist"
plist '<key>aps-environment</key><string>development</string>' >"${app}/App/App.entitlements"

echo "== GitHub action"
github() {
    (cd "${app}" && env ROUSE_PAYLOADS="$1" ROUSE_PROJECT="$2" ROUSE_SENDS="$3" \
        ROUSE_SARIF="${work}/rouse.sarif" GITHUB_OUTPUT="${work}/github-output" \
        "${root}/Deploy/ci/github/run.sh")
}
check "good payloads and a good app pass" 0 github $'\n  Payloads \n' App background
check "its output is the status" 0 grep --quiet '^status=0$' "${work}/github-output"
check "the SARIF file is JSON" 0 python3 -m json.tool "${work}/rouse.sarif"
check "an app that lacks the mode fails" 1 github "" App voip
says "as an annotation" "::error file=App/Info.plist"
check "nothing to check is wrong usage" 64 github "" "" ""
check "a path that is not there is no input" 66 github "" Missing ""
echo '{"aps":{"content_available":1}}' >"${app}/Payloads/bad.json"
check "a bad payload fails" 1 github Payloads "" ""
says "as an annotation" "::error file=Payloads/bad.json"
rm "${app}/Payloads/bad.json"

echo "== GitLab scripts"
gitlab() {
    # The line of the script, as the job runs it.
    local line
    line=$(sed -n "s/^    - \(rouse $1 .*\)/\1/p" "${root}/Deploy/ci/gitlab/rouse.yml")
    (cd "${app}" && PATH="$(dirname "${rouse}"):${PATH}" ROUSE_OPTIONS="" ROUSE_PAYLOADS=Payloads \
        ROUSE_PROJECT=App ROUSE_SENDS=voip bash -euo pipefail -c "${line}")
}
check "the payloads' job passes" 0 gitlab validate
check "its report is JSON" 0 python3 -m json.tool "${app}/gl-rouse-payloads.json"
check "the app's job fails" 1 gitlab audit
check "its report has fingerprints" 0 grep --quiet '"fingerprint"' "${app}/gl-rouse-app.json"

echo "== pre-commit"
# The hooks as the working tree has them, in a repository of their own.
hooks=${work}/hooks
mkdir -p "${hooks}/Deploy/ci"
cp "${root}/.pre-commit-hooks.yaml" "${hooks}"
cp -r "${root}/Deploy/ci/pre-commit" "${hooks}/Deploy/ci"
git -C "${hooks}" init --quiet
git -C "${hooks}" add --all
git -C "${hooks}" -c user.name=test -c user.email=test@example.com commit --quiet --message hooks
cat >"${app}/.pre-commit-config.yaml" <<CONFIG
repos:
  - repo: ${hooks}
    rev: $(git -C "${hooks}" rev-parse HEAD)
    hooks:
      - id: rouse-validate
      - id: rouse-audit
        args: [--sends, background, App]
CONFIG
commit() { (cd "${app}" && git add --all && git commit --message "$1"); }
(cd "${app}" && "${tools}/pre-commit" install >/dev/null)
check "a good commit goes through" 0 commit good
says "and both hooks have run" "rouse audit"
echo '{"aps":{"content-available":1},"version":NaN}' >"${app}/Payloads/bad.json"
check "a bad payload stops a commit" 1 commit bad
says "with the rule" "G007"
rm "${app}/Payloads/bad.json"
plist '<key>UIBackgroundModes</key><array><string>fetch</string></array>' >"${app}/App/Info.plist"
check "a bad Info.plist stops a commit" 1 commit bad
says "with the rule" "CF001"
ROUSE=/nonexistent check "without rouse the hook says so" 1 commit bad
says "and how to get it" "Build it with"

exit "${failed}"
