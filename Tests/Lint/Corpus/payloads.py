#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `rouse validate` finds in a folder of payloads with what people judged.

    payloads.py ROUSE FOLDER [PART]

PART is one of the table's: seen, fresh, second, third and so on to thirty-third, thirty-sixth,
thirty-eighth, fortieth, forty-second, forty-fourth and forty-sixth. FOLDER holds the payloads of
payloads.tsv as they were found, each in a file that begins with its id; nothing is fetched. Prints
precision per rule, what was missed against the table, what nobody judged yet, and time and memory.
Findings of one rule at one place of a file count once.
"""

import collections
import csv
import json
import os
import resource
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def rows(part):
    with open(os.path.join(HERE, "payloads.tsv"), encoding="utf-8") as table:
        lines = [line for line in table if not line.startswith("#")]
    for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        if part in (None, row["part"]):
            yield row


def verdicts(row):
    """The verdicts of a row: (rule, pointer) to right, wrong or repeated."""
    found = {}
    for entry in filter(None, row["verdicts"].split(" ")):
        place, verdict = entry.rsplit("=", 1)
        rule, _, pointer = place.replace("%20", " ").partition("@")
        found[(rule, pointer)] = verdict
    return found


def findings(rouse, path, row):
    arguments = [rouse, "validate", "--no-config", "--format", "json"]
    arguments += ["--now", "2026-11-23T12:00:00Z"]
    if row["kind"] == "voip":
        arguments += ["--push-type", "voip"]
    run = subprocess.run(arguments + [path], capture_output=True, text=True)
    for file in json.loads(run.stdout)["files"]:
        for found in file["diagnostics"]:
            if found["severity"] != "note":
                yield found["rule"], found["severity"], found["pointer"], found["line"]


def main():
    rouse, folder = sys.argv[1:3]
    part = sys.argv[3] if len(sys.argv) > 3 else None
    files = {name.split(".")[0]: os.path.join(folder, name) for name in os.listdir(folder)}
    counts = collections.defaultdict(collections.Counter)
    missed, unjudged, absent = [], [], 0
    start = time.monotonic()
    for row in rows(part):
        if row["id"] not in files:
            absent += 1
            continue
        judged = verdicts(row)
        seen = set()
        found = dict.fromkeys(findings(rouse, files[row["id"]], row))
        for rule, severity, pointer, _ in found:
            verdict = judged.get((rule, pointer))
            seen.add((rule, pointer))
            counts[(rule, severity)][verdict or "unjudged"] += 1
            if verdict is None:
                unjudged.append(f"{row['id']} {rule} {pointer}")
        for place, verdict in judged.items():
            if verdict == "right" and place not in seen:
                missed.append(f"{row['id']} {place[0]} {place[1]}")
    total = collections.defaultdict(collections.Counter)
    for (rule, severity), count in sorted(counts.items()):
        total[severity].update(count)
        print(f"{rule} {severity:8}", *(f"{count[k]:4} {k}" for k in sorted(count)))
    for severity, count in sorted(total.items()):
        judged = sum(count.values()) - count["unjudged"]
        share = count["right"] / max(1, judged)
        print(f"{severity}s: {count['right']} of {judged} right ({share:.1%})")
    print(*(f"missed: {line}" for line in missed), sep="\n")
    print(*(f"unjudged: {line}" for line in unjudged), sep="\n")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.monotonic() - start
    print(f"{seconds:.1f} s, at most {usage.ru_maxrss // 1024} MB; {absent} not in the folder")


if __name__ == "__main__":
    main()
