# SPDX-License-Identifier: Apache-2.0
"""Compares what the documents name with the program: commands, options, routes, members, metrics.

    python3 Deploy/names.py ROUSE

ROUSE is a built program, which is asked for its help, its OpenAPI document and its metrics.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).parent.parent
ROUSE = os.path.realpath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
# Names of somebody else's interfaces, and of the past.
OTHERS = {"CHANGELOG.md", "facts.md"}
# The simulator's control endpoint and the reader's own server are no routes of the gateway;
# Deploy/ci/simulator.py looks at the first.
OTHER_ROUTES = ("/3/device/", "/push/", "/pushes", "/counters", "/faults", "/devices", "/clock",
                "/goaway", "/connections", "/channels", "/ca.pem")
# Members of payloads in examples: an app's own.
OTHER_MEMBERS = {"version", "priority", "aps", "alert", "badge", "sound", "timestamp", "event",
                 "score"}
# PostgreSQL's, PgBouncer's and Patroni's own settings, functions and programs, and tables of the
# shared store.
OTHER_SETTINGS = {
    "synchronous_commit", "synchronous_standby_names", "full_page_writes", "lock_timeout",
    "statement_timeout", "plan_cache_mode", "max_prepared_statements", "max_connections",
    "server_login_retry", "shared_buffers", "max_wal_size", "checkpoint_timeout", "pg_amcheck", "wake_default",
    "temp_file_limit",
    "synchronous_mode", "synchronous_mode_strict", "pg_basebackup", "pg_dump",
}


def documents():
    for path in [ROOT / "README.md", *sorted(ROOT.glob("Deploy/**/*.md"))]:
        if path.name not in OTHERS:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def options(command, path=()):
    """The options of each command, by its words."""
    names = {("--" if name["kind"] == "long" else "-") + name["name"]
             for argument in command.get("arguments", []) for name in argument.get("names") or []}
    found = {" ".join(path): names}
    for inner in command.get("subcommands", []):
        found.update(options(inner, (*path, inner["commandName"])))
    return found


def members(document):
    """The names of everything that a request or an answer may hold."""
    if isinstance(document, list):
        return set().union(*map(members, document))
    if not isinstance(document, dict):
        return set()
    found = set(document["properties"]) if isinstance(document.get("properties"), dict) else set()
    if "in" in document and "name" in document:
        found.add(document["name"])
    return found.union(*map(members, document.values()))


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = subprocess.run(
            [ROUSE, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout
        cls.options = options(json.loads(text)["command"])
        gateway = subprocess.Popen(
            [ROUSE, "serve", "--dev", "--listen", "127.0.0.1:0", "--log-level", "error"],
            stdout=subprocess.PIPE, text=True,
            env={name: value for name, value in os.environ.items()
                 if not name.startswith("ROUSE_")})
        try:
            for line in gateway.stdout:
                found = re.search(r"listens on (http://[0-9.:]+)", line)
                if found:
                    break
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(found[1] + "/openapi.json", timeout=10) as answer:
                api = json.load(answer)
        finally:
            gateway.terminate()
            gateway.wait(timeout=30)
            gateway.stdout.close()
        cls.routes = {f"{method.upper()} {path}" for path, methods in api["paths"].items()
                      for method in methods}
        cls.members = members(api) | OTHER_MEMBERS
        table = ROOT / "Sources/Gateway/AdminAPI/Metrics/Metric.swift"
        cls.metrics = set(re.findall(r'"(rouse_[a-z0-9_]+)"', table.read_text(encoding="utf-8")))

    def fail_with(self, findings, least, count):
        self.assertGreater(count, least, "the documents were not understood")
        self.assertEqual(findings, [])

    def test_options(self):
        findings, count = [], 0
        for path, text in documents():
            for match in re.finditer(
                    r"(?<![\w/.-])rouse ((?:[a-z-]+ ){1,2})([^\n`|#]*)", text.replace("\\\n", " ")):
                words = match[1].split()
                command = next((" ".join(words[:length]) for length in (2, 1)
                                if " ".join(words[:length]) in self.options), None)
                if command is None:
                    continue
                known = self.options[command] | {"--help", "--version"}
                for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", match[2]):
                    count += 1
                    if option not in known:
                        findings.append(f"{path}: rouse {command} has no {option}")
        self.fail_with(findings, 60, count)

    def test_routes(self):
        plain = {re.sub(r"\{[^}]*\}", "{}", route) for route in self.routes}
        findings, count = [], 0
        for path, text in documents():
            for method, route in re.findall(
                    r"\b(GET|POST|PUT|PATCH|DELETE) (/[A-Za-z0-9_{}/.…-]*)", text):
                if route.startswith(OTHER_ROUTES):
                    continue
                count += 1
                form = re.sub(r"\{[^}]*\}|com\.example\.\w+|…", "{}", route.rstrip("."))
                if f"{method} {form}" not in plain:
                    findings.append(f"{path}: there is no {method} {route}")
        self.fail_with(findings, 12, count)

    def test_members(self):
        findings, count = [], 0
        for path, text in documents():
            if path.name == "simulator.md":
                continue
            blocks = re.findall(r"```[a-z]*\n(.*?)```", text, re.DOTALL)
            used = {name for block in blocks if "/v1/" in block or '"decision"' in block
                    for name in re.findall(r'"([a-z_]+)" ?:', block)}
            # Outside of blocks, a name with an underscore between backticks.
            rest = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
            used |= set(re.findall(r'`"?([a-z]+_[a-z_]+)"?(?::[^`]*)?`', rest))
            for name in sorted(used):
                count += 1
                if not name.startswith("rouse_") and name not in self.members | OTHER_SETTINGS \
                        | {"node_modules"}:
                    findings.append(f"{path}: no request or answer has {name}")
        self.fail_with(findings, 60, count)

    def test_the_number_of_rules(self):
        listed = subprocess.run([ROUSE, "rules"], capture_output=True, text=True, check=True).stdout
        count = re.search(r"(\d+) rules about pushes", listed)[1]
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"(\d+) rules, each", text), [count])

    def test_metrics(self):
        findings, count = [], 0
        for path, text in documents():
            for name in sorted(set(re.findall(r"\brouse_[a-z0-9_]+", text))):
                count += 1
                if {name, re.sub(r"_(bucket|count|sum)$", "", name)}.isdisjoint(self.metrics):
                    findings.append(f"{path}: there is no metric {name}")
        self.fail_with(findings, 30, count)


if __name__ == "__main__":
    if not ROUSE:
        sys.exit("usage: python3 Deploy/names.py ROUSE")
    unittest.main()
