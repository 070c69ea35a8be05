#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Audits a folder of checkouts and compares what is found with the verdicts of people.

    corpus.py FOLDER [--rouse PATH] [--set NAME] [--list]

FOLDER holds the checkouts that projects.tsv names, each at its commit, in a folder of that name.
Nothing is fetched. A checkout that is not there, or at another commit, is said and left out.
Prints the precision for each rule and severity, the faults of the table that were missed, the
findings that nobody has judged, and the time and the greatest memory of each audit.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))


def table(name):
    with open(os.path.join(HERE, name), newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


# In the order in which they came.
SETS = list(dict.fromkeys(project["set"] for project in table("projects.tsv")))


def audit(rouse, folder, project):
    arguments = [rouse, "audit", "--no-config", "--format", "json"]
    if project["sends"]:
        arguments += ["--sends", project["sends"]]
    start = time.monotonic()
    process = subprocess.Popen(
        arguments + ["."], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    return os.waitstatus_to_exitcode(status), output, seconds, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--rouse", default="rouse")
    parser.add_argument("--set", dest="part", choices=SETS)
    parser.add_argument("--list", action="store_true", help="print each finding with its verdict")
    options = parser.parse_args()
    verdicts = {
        (row["project"], row["rule"], row["file"], row["line"]): row["verdict"]
        for row in table("findings.tsv") if row["audit"] == "after"
    }
    counts = defaultdict(Counter)
    severities = defaultdict(Counter)
    seen = set()
    missed = []
    for project in table("projects.tsv"):
        name = project["project"]
        folder = os.path.join(options.folder, name)
        if options.part and project["set"] != options.part:
            continue
        if not os.path.isdir(folder):
            print(f"{name}: no checkout", file=sys.stderr)
            continue
        status, output, seconds, megabytes = audit(options.rouse, folder, project)
        print(f"{name}: exit {status}, {seconds:.2f} s, {megabytes:.0f} MB")
        try:
            document = json.loads(output)
        except ValueError:
            print(f"{name}: no report", file=sys.stderr)
            continue
        for file in document.get("files", []):
            for found in file["diagnostics"]:
                key = (name, found["rule"], file["path"], str(found["line"]))
                seen.add(key)
                verdict = verdicts.get(key, "unjudged")
                counts[found["rule"]][verdict] += 1
                severities[found["severity"]][verdict] += 1
                if options.list or verdict == "unjudged":
                    print("  " + "\t".join((verdict, found["severity"]) + key[1:]
                                           + (found["message"],)))
        for problem in document.get("problems", []):
            print(f"  not read: {problem['path']}: {problem['message']}")
        missed += [key for key, verdict in verdicts.items()
                   if key[0] == name and verdict in ("right", "missed") and key not in seen]
    for title, groups in (("rule", counts), ("severity", severities)):
        print(f"\n{title}\tright\trepeated\twrong\tunjudged\tprecision")
        for name in sorted(groups):
            count = groups[name]
            judged = count["right"] + count["repeated"] + count["wrong"]
            share = f"{100 * count['right'] / judged:.0f} %" if judged else "-"
            print(f"{name}\t{count['right']}\t{count['repeated']}\t{count['wrong']}"
                  f"\t{count['unjudged']}\t{share}")
    print(f"\nmissed: {len(missed)}")
    for key in missed:
        print("  " + " ".join(key))


if __name__ == "__main__":
    main()
