#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Holds the shipped scenarios to what the wake budget promises, on devices as the reference knows
# them and on devices whose hidden numbers are drawn at random: at most half of the pushes that
# sending everything needs, 95 % of those that an able device got launch the app, and data at most
# 5 % staler. Needs a release build of `rouse`, which Deploy/run.sh makes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rouse=.build/release/rouse
if [[ ! -x ${rouse} ]]; then
    echo "error: ${rouse} is missing. Build it: swift build -c release --product rouse" >&2
    exit 66
fi
status=0
for scenario in chat-app news-morning-burst weather-hourly iot-alarm; do
    for model in standard drawn; do
        "${rouse}" simulate "Deploy/scenarios/${scenario}.yaml" --json --model "${model}" |
            python3 -c '
import json, sys

policies = json.load(sys.stdin)["scenarios"][0]["policies"]
totals = {policy["name"]: policy["total"] for policy in policies}
rouse, everything = totals["rouse"], totals["everything"]
pushes = rouse["sent"] / everything["sent"]
age = rouse["mean_age_ms"] / everything["mean_age_ms"]
reached = rouse["reached_share"]
holds = pushes <= 0.5 and age <= 1.05 and reached >= 0.95
print(f"{sys.argv[1]:20} {sys.argv[2]:9} pushes {pushes:.3f}  reached {reached:.4f}  age {age:.4f}",
      "" if holds else "  MISSED")
sys.exit(0 if holds else 1)
' "${scenario}" "${model}" || status=1
    done
done
exit "${status}"
