#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Audits a folder of checkouts and compares what is found with the verdicts of people.

    corpus.py FOLDER [--rouse PATH] [--set NAME] [--list]
    corpus.py --by-rule

FOLDER holds the checkouts that projects.tsv names, each at its commit, in a folder of that name.
A name with a slash is that of a folder of a checkout, which is audited alone.
Nothing is fetched. A checkout that is not there, or at another commit, is said and left out.
Prints the precision for each rule and severity, the faults of the table that were missed, the
findings that nobody has judged, and the time and the greatest memory of each audit.
--by-rule prints the verdicts of findings.tsv for each rule instead, as a table of the README.
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


def by_rule():
    counts = defaultdict(Counter)
    for row in table("findings.tsv"):
        if row["severity"] != "note":
            counts[row["rule"]][row["audit"], row["verdict"]] += 1
    print("| rule | before: right / wrong | first: right / wrong, missed | after: the same |")
    print("|---|---|---|---|")
    for rule, count in sorted(counts.items()):
        cells = []
        for audit in ("before", "first", "after"):
            right, wrong, missed = (
                count[audit, word] for word in ("right", "wrong", "missed"))
            cell = f"{right} / {wrong}" + (f", {missed}" if missed else "")
            cells.append(cell if right or wrong or missed else "")
        if any(cells):
            print(f"| {rule} | {' | '.join(cells)} |")


def newest_verdicts():
    """The verdicts `after` all, or those of the `first` sight of a project that has no others."""
    rows = table("findings.tsv")
    again = {row["project"] for row in rows if row["audit"] == "after"}
    return {
        (row["project"], row["rule"], row["file"], row["line"]): row["verdict"]
        for row in rows if row["audit"] == ("after" if row["project"] in again else "first")
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--by-rule", action="store_true")
    parser.add_argument("--rouse", default="rouse")
    parser.add_argument("--set", dest="part", choices=SETS)
    parser.add_argument("--list", action="store_true", help="print each finding with its verdict")
    options = parser.parse_args()
    if options.by_rule:
        by_rule()
        return
    if not options.folder:
        parser.error("name the folder of checkouts")
    verdicts = newest_verdicts()
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
                verdict = verdicts.get(key, "unjudged")
                # A fault that is told as a note alone is still missed.
                if (found["severity"], verdict) != ("note", "missed"):
                    seen.add(key)
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
