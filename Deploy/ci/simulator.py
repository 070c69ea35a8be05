# SPDX-License-Identifier: Apache-2.0
"""The APNs simulator as a service of other people's CI: the manual's commands and both examples.

    python3 Deploy/ci/simulator.py ROUSE

ROUSE is a built program. What the services start is started here, and what their jobs run is run,
with the ports that the system chose in place of the examples' own.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).parent.parent.parent
ROUSE = os.path.realpath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
DEPLOY = ROOT / "Deploy"

# What stands for somebody's tests: a push that is accepted, and one to a dead token.
RUN_TESTS = """#!/usr/bin/env bash
push() {
    "$ROUSE" push --sandbox --bundle-id com.example.app --key key.p8 --key-id LOCALKEY01 \\
        --team-id LOCALTEAM1 --host "$APNS_HOST" --port "$APNS_PORT" --ca "$APNS_CA" --proxy none "$1"
}
push 00ff && ! push dead
"""


class Service:
    """The simulator as a service starts it, but on ports that are free."""

    def __init__(self, arguments, folder):
        at = {name: arguments.index(f"--{name}") + 1 for name in ("host", "port", "control-port")}
        self.host = arguments[at["host"]]
        arguments = list(arguments)
        arguments[at["port"]] = arguments[at["control-port"]] = "0"
        if not is_local(self.host):
            arguments[at["host"]] = self.host = "localhost"
        self.process = subprocess.Popen(
            [ROUSE, *arguments, "--json"], stdout=subprocess.PIPE, text=True, cwd=folder)
        text = ""
        for line in self.process.stdout:
            text += line
            try:
                self.ready = json.loads(text)
                break
            except ValueError:
                pass
        else:
            raise AssertionError(f"no ready line: {text}")

    def get(self, path):
        address = f"http://{self.reachable}:{self.ready['control_port']}{path}"
        with urllib.request.urlopen(address, timeout=10) as answer:
            return json.load(answer)

    @property
    def reachable(self):
        return "localhost" if self.host == "0.0.0.0" else self.host

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()


def is_local(host):
    """Whether a name, such as a service's alias, is one of this machine."""
    try:
        with socket.create_server((host, 0)):
            return True
    except OSError:
        return False


class Simulator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, arguments):
        service = Service(arguments, self.folder)
        self.addCleanup(service.stop)
        return service

    def run_script(self, script, service, **environment):
        """Runs the lines of a job, with the service's ports; returns what they print."""
        for name in ("localhost", "apns"):
            for port, ready in (("2198", "control_port"), ("2197", "port")):
                script = script.replace(
                    f"{name}:{port}", f"{service.reachable}:{service.ready[ready]}")
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script], cwd=self.folder, text=True,
            capture_output=True, timeout=60, check=False,
            env={**os.environ, "ROUSE": ROUSE, "no_proxy": "*", **environment})
        self.assertEqual(done.returncode, 0, script + done.stdout + done.stderr)
        return done.stdout

    def run_job(self, scripts, service):
        """Runs a job's scripts in order; the last shows what arrived."""
        (self.folder / "run-tests").write_text(RUN_TESTS, encoding="utf-8")
        (self.folder / "run-tests").chmod(0o755)
        subprocess.run(
            "openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt >key.p8",
            shell=True, cwd=self.folder, check=True)
        self.assertEqual(sum("./run-tests" in script for script in scripts), 1)
        for script in scripts:
            printed = self.run_script(
                script, service, APNS_HOST=service.reachable, APNS_PORT=str(service.ready["port"]),
                APNS_CA="apns-ca.pem")
        pushes = json.loads(printed)
        self.assertEqual(
            [(push["status"], push.get("reason")) for push in pushes],
            [(200, None), (410, "Unregistered")])

    def test_the_service_on_github(self):
        text = (DEPLOY / "ci/github/simulator.yml").read_text(encoding="utf-8")
        # GitHub gives a service no command of its own: it is the image's.
        dockerfile = (DEPLOY / "docker/Dockerfile").read_text(encoding="utf-8")
        command = re.search(r"AS apns-simulator\n(?:.*\n)*?CMD (\[[^\]]*\])", dockerfile)
        service = self.start(json.loads(command[1].replace("\\\n", "")))
        self.run_job(blocks(text, "run: |"), service)

    def test_the_service_on_gitlab(self):
        text = (DEPLOY / "ci/gitlab/simulator.yml").read_text(encoding="utf-8")
        command = re.search(r"command: \[([^\]]*)\]", text)[1].replace('"', "").split(", ")
        alias = re.search(r"alias: (\w+)", text)[1]
        self.assertEqual(command[command.index("--host") + 1], alias)
        self.run_job(blocks(text, "- |")[1:], self.start(command))

    def test_the_certificate_is_for_the_name_of_the_service(self):
        host = socket.gethostname()
        if not is_local(host):
            self.skipTest("this machine does not know its own name")
        service = self.start(
            ["apns-simulator", "--host", host, "--port", "0", "--control-port", "0"])
        self.run_script(
            f"curl -fsS http://{host}:{service.ready['control_port']}/ca.pem -o ca.pem; "
            f"openssl s_client -connect {host}:{service.ready['port']} -alpn h2 -CAfile ca.pem "
            f"-verify_return_error -verify_hostname {host} </dev/null >/dev/null", service)

    def test_the_commands_of_the_manual(self):
        text = (DEPLOY / "manual/simulator.md").read_text(encoding="utf-8")
        start = re.search(r"rouse (apns-simulator .*)", text)[1].split()
        service = self.start(start)
        commands = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
        self.assertGreater(commands.count("curl "), 10)
        self.run_script(commands, service)
        self.assertEqual([device["token"] for device in service.get("/devices")], ["00aa"])

    def test_the_manual_names_every_route(self):
        source = (ROOT / "Sources/Simulation/APNsSimulator/Control/ControlRouter.swift").read_text(
            encoding="utf-8")
        text = (DEPLOY / "manual/simulator.md").read_text(encoding="utf-8")
        routes = re.findall(r'case \("([A-Z]+)", "(/[a-z.]+)"\)', source)
        self.assertGreater(len(routes), 8)
        for method, path in routes:
            self.assertIn(f"`{method} {path}`", text)


def blocks(text, head):
    """The block scalars of a YAML file whose line ends with these characters."""
    found = []
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if not line.endswith(head):
            continue
        indent = len(line) - len(line.lstrip())
        body = []
        for next_line in lines[index + 1:]:
            if next_line.strip() and len(next_line) - len(next_line.lstrip()) <= indent:
                break
            body.append(next_line)
        found.append(textwrap.dedent("\n".join(body)))
    return found


if __name__ == "__main__":
    if not ROUSE:
        sys.exit("usage: python3 Deploy/ci/simulator.py ROUSE")
    unittest.main(verbosity=2)
