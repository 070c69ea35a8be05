# SPDX-License-Identifier: Apache-2.0
"""Runs a client process (Tests/APNs/TransportFixture) on each transport against each server in cases.py,
and judges what it says of each push by what the server had and said:

  accepted   only after a complete answer in which nothing is wrong
  not sent   only if the server did not have the push, and never after it was answered
  one end    each push has one, in its time, and no push is processed twice
  afterwards the next pushes get through: the last of them at the latest, and those before it are
             accepted or certainly not sent

Beside that, each case names what the first push must come to. Prints a table; ends with 0 if nothing
was wrong.

    run.py FIXTURE [--transport native|curl] [--only TEXT] [--jobs N] [--verbose]
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import cases  # noqa: E402
import connection_cases  # noqa: E402, F401
import peer  # noqa: E402

# What a loaded machine may add to a push's time, in milliseconds. libcurl reads a flood for half a
# second of its thread's time before it is stopped.
SLACK = 4000
LATER = 15000


def make_certificate(directory):
    certificate, key = directory / "cert.pem", directory / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def run_client(fixture, transport, server, certificate, *values):
    """The outcomes by number, (label, milliseconds), and the client's complaints."""
    command = [fixture, "outcomes", "127.0.0.1", str(server.port), str(certificate),
               "native=%d" % (transport == "native"), *values]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return {}, ["the client hangs"]
    outcomes, complaints = {}, []
    for line in done.stdout.splitlines():
        words = line.split()
        if words and words[0] == "outcome":
            outcomes[int(words[1])] = (words[2], int(words[3]))
        elif line.startswith(("FAILED", "error")):
            complaints.append(line)
    if done.returncode != 0 and not complaints:
        complaints.append("the client ended with %d: %s" % (
            done.returncode, done.stderr.strip()[-300:]))
    return outcomes, complaints


def contradictions(outcomes, record):
    """Where the client's word is not what happened."""
    found = []
    for number, (label, _) in outcomes.items():
        whole, answered = record.whole.get(number, 0), record.answered.get(number, set())
        if label.startswith("status-") and int(label[7:]) not in answered:
            found.append("push %d: %s without such an answer" % (number, label))
        if label.endswith("-not-sent") and (whole > 0 or answered):
            found.append("push %d: %s, but the server had it" % (number, label))
        if whole > 1:
            found.append("push %d was processed %d times" % (number, whole))
    return found


def outcome_class(label):
    if label == "status-200":
        return "accepted"
    if label.startswith("status-"):
        return label[7:]
    return "not-sent" if label.endswith("-not-sent") else "unknown"


def judge(case, transport, fixture, certificate, key):
    """What is wrong, and what became of the first push."""
    count = case.repeats + 2
    server = peer.Server(certificate, key, case.run, case.run_raw if case.raw else None)
    try:
        outcomes, wrong = run_client(
            fixture, transport, server, certificate, "count=%d" % count,
            "timeout=%d" % case.timeout, "later=%d" % LATER, "urgent=%d" % (case.repeats > 1))
    finally:
        server.end()
    wrong += contradictions(outcomes, server.record)
    for number in range(1, count + 1):
        limit = case.timeout if number == 1 else LATER
        if number not in outcomes:
            wrong.append("push %d has no outcome" % number)
        elif outcomes[number][1] > limit + SLACK:
            wrong.append("push %d took %d ms of %d" % (number, outcomes[number][1], limit))
    first = outcomes.get(1, ("none", 0))[0]
    expected = case.outcomes[transport]
    if outcome_class(first) not in expected.split(" or "):
        wrong.append("the first push is %s instead of %s" % (first, expected))
    if count in outcomes and outcomes[count][0] != "status-200":
        wrong.append("the last push is %s" % outcomes[count][0])
    if case.repeats == 1 and outcome_class(outcomes.get(2, ("none",))[0]) == "unknown":
        wrong.append("the second push is %s" % outcomes[2][0])
    return wrong, first


def miscounted(count):
    """The documents that name another number of scripted servers."""
    here = pathlib.Path(__file__).parent
    found = []
    for path in (here / "README.md", here.parents[2] / "Deploy/manual/interoperability.md"):
        numbers = re.findall(r"(\d+) scripted servers", path.read_text())
        if not numbers or set(numbers) != {str(count)}:
            found.append("%s says %s scripted servers, not %d" % (path.name, numbers, count))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fixture")
    parser.add_argument("--transport", choices=["native", "curl"])
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    options = parser.parse_args()
    transports = [options.transport] if options.transport else ["native", "curl"]
    chosen = [case for case in cases.CASES if options.only in case.name]
    found = miscounted(len(cases.CASES))
    with tempfile.TemporaryDirectory() as name:
        certificate, key = make_certificate(pathlib.Path(name))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = {(case.name, transport): pool.submit(
                judge, case, transport, options.fixture, certificate, key)
                for case in chosen for transport in transports}
            print("%-58s" % "what the server does", *("%-28s" % t for t in transports))
            for case in chosen:
                results = [runs[case.name, transport].result() for transport in transports]
                print("%-58s" % case.name, *("%-28s" % first for _, first in results), flush=True)
                for transport, (wrong, _) in zip(transports, results):
                    found += ["%s on %s: %s" % (case.name, transport, words) for words in wrong]
    # At the end, where a log that was cut at its front still has it.
    for words in found:
        print("WRONG: " + words)
    print("%d servers, %d transports, %d wrong" % (len(chosen), len(transports), len(found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
