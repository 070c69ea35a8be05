#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Both transports against servers that nobody here wrote, and against more than a hundred scripted
# ones that misbehave. Ends with 0 if no outcome is wrong. Takes some four minutes.
#
#     servers.sh [FIXTURE]    the client process; .build/debug/TransportFixture unless it is named
#
# Needs the packages of the group "test" in Deploy/dependencies.txt.
#
# limit: 900
set -u
here=$(cd "$(dirname "$0")" && pwd)
fixture=${1:-$here/../../../.build/debug/TransportFixture}
if [ ! -x "$fixture" ]; then
    echo "There is no $fixture: build it with 'swift build --product TransportFixture'."
    exit 77
fi
# Debian's Python, whose packages they are.
python=/usr/bin/python3
status=0
# They import what stands beside them.
unset PYTHONSAFEPATH
"$python" "$here/run.py" "$fixture" || status=1
"$python" "$here/polite.py" "$fixture" || status=1
exit $status
