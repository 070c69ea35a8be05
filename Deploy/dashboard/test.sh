#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Looks at the dashboard of a real gateway in a real Chromium: keys, figures that follow, look-ups,
# troubles, both themes, phone and keyboard.
#
#   Deploy/dashboard/test.sh [--pictures FOLDER] ROUSE [TEST…]
#
# ROUSE is a built program; a TEST is a name such as Trouble. Needs Debian's chromium and
# chromium-driver, and Selenium: Debian's python3-selenium, or from PyPI into a temporary folder.
set -euo pipefail

if [[ ${1:-} == --pictures ]]; then
    mkdir -p "$2"
    PICTURES=$(realpath "$2")
    export PICTURES
    shift 2
fi
if [[ ! -x ${1:-} ]]; then
    echo "usage: Deploy/dashboard/test.sh [--pictures FOLDER] ROUSE [TEST…]" >&2
    exit 64
fi
ROUSE=$(realpath "$1")
export ROUSE
shift
# Only now: paths may be relative.
cd "$(dirname "${BASH_SOURCE[0]}")"
for tool in chromium chromedriver; do
    if ! command -v "${tool}" >/dev/null; then
        echo "error: there is no ${tool}. apt-get install chromium chromium-driver" >&2
        exit 69
    fi
done

work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
python=/usr/bin/python3
if ! "${python}" -c 'import selenium' 2>/dev/null; then
    python3 -m venv "${work}/venv"
    "${work}/venv/bin/pip" --quiet --disable-pip-version-check install selenium
    python=${work}/venv/bin/python
fi
PYTHONDONTWRITEBYTECODE=1 "${python}" test.py "$@"
