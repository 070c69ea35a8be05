# SPDX-License-Identifier: Apache-2.0
"""A gateway with two apps and an APNs simulator, as the dashboard's tests need them."""

import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

SHOP = "com.example.shop"
CHAT = "com.example.chat"
# Keys are made up here and die with the folder.
KEYS = {"reader": ["read"], "backend": ["wake", "device"], "chief": ["admin"]}
START_SECONDS = 20


def secret(name):
    return hashlib.sha256(f"{name} of the dashboard's tests".encode()).hexdigest()


class Bench:
    """Starts both programs, and ends them when the block ends."""

    def __init__(self, rouse, listen="127.0.0.1:0"):
        self.rouse = rouse
        self.listen = listen
        self.processes = []
        self.base = None

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        try:
            self.start_simulator()
            self.start_gateway()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(timeout=15)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            if process.stdout:
                process.stdout.close()
        self.folder.cleanup()

    def start(self, arguments, log, **options):
        with open(log, "ab") as errors:
            process = subprocess.Popen(
                [self.rouse, *arguments], stdout=subprocess.PIPE, stderr=errors, text=True,
                **options)
        self.processes.append(process)
        return process

    def start_simulator(self):
        process = self.start(
            ["apns-simulator", "--folder", str(self.path), "--control-port", "0", "--json"],
            self.path / "simulator.log")
        text = ""
        for line in process.stdout:
            text += line
            try:
                self.simulator = json.loads(text)
                break
            except ValueError:
                pass  # It goes on in the next line.
        else:
            raise RuntimeError((self.path / "simulator.log").read_text(encoding="utf-8"))

    def configuration(self):
        apps = "".join(
            f"""
  - bundle-id: {app}
    environment: sandbox
    team-id: {self.simulator["team_id"]}
    key-file: AuthKey_{self.simulator["key_id"]}.p8
    server:
      host: {self.simulator["host"]}
      port: {self.simulator["port"]}
      ca-file: ca.pem""" for app in (SHOP, CHAT))
        keys = "".join(
            f"""
  - name: {name}
    sha256: {hashlib.sha256(secret(name).encode()).hexdigest()}
    scopes: [{", ".join(scopes)}]""" for name, scopes in KEYS.items())
        return (f"listen: {self.listen}\nstore: wakes.sqlite\nlog-level: warning\n"
                f"api-keys:{keys}\napps:{apps}\ntransport:\n  proxy: none\n")

    def start_gateway(self):
        """Starts the gateway, or starts it again at the same address."""
        path = self.path / "rouse.yaml"
        path.write_text(self.configuration(), encoding="utf-8")
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("ROUSE_")}
        self.gateway = self.start(
            ["serve", "--config", str(path)], self.path / "gateway.log", env=environment)
        self.said = []
        for line in self.gateway.stdout:
            self.said.append(line.rstrip("\n"))
            if line.startswith("Ready"):
                self.listen = line.split()[-1].rstrip(".")
                break
        else:
            raise RuntimeError((self.path / "gateway.log").read_text(encoding="utf-8"))
        self.base = self.page = f"http://{self.listen}/"

    def stop_gateway(self):
        self.gateway.terminate()
        self.gateway.wait(timeout=15)

    # What a backend, an app and APNs do.

    def ask(self, method, path, body=None, key="backend"):
        """The status and JSON of a route."""
        request = urllib.request.Request(
            self.base + path, method=method,
            data=None if body is None else json.dumps(body).encode())
        request.add_header("Authorization", f"Bearer {secret(key)}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as answer:
            return answer.code, json.loads(answer.read() or b"null")

    def metric(self, name, *labels):
        """The sum of a metric's series that have these labels."""
        request = urllib.request.Request(self.base + "metrics")
        request.add_header("Authorization", f"Bearer {secret('reader')}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return sum(
            int(line.split()[-1]) for line in lines
            if line.startswith(name + "{") and all(label in line for label in labels))

    def wake(self, token, app=SHOP, **more):
        """Asks for a background wake; returns its id."""
        body = {"kind": "background", "app": app, "device_token": token,
                "payload": {"aps": {"content-available": 1}}, **more}
        status, answer = self.ask("POST", "v1/wakes", body)
        if status != 202:
            raise RuntimeError(f"{status}: {answer}")
        return answer["id"]

    def call(self, token, number, app=CHAT):
        """Asks for a VoIP wake; returns its id."""
        return self.wake(token, app, kind="voip", payload={
            "callUUID": f"00000000-0000-4000-8000-{number:012x}", "handle": "Ann"})

    def confirm(self, wake):
        """The app was launched by this wake."""
        return self.ask("POST", "v1/receipts", {"id": wake})

    def fault(self, **fault):
        """Has the simulator do something wrong."""
        port = self.simulator["control_port"]
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/faults", method="POST", data=json.dumps(fault).encode())
        urllib.request.urlopen(request, timeout=10).close()

    def mend(self):
        """Has the simulator do everything right again."""
        port = self.simulator["control_port"]
        request = urllib.request.Request(f"http://127.0.0.1:{port}/faults", method="DELETE")
        urllib.request.urlopen(request, timeout=10).close()

    def wait_for(self, wake, *states):
        """Waits until a wake has one of these states; returns its record."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            _, record = self.ask("GET", f"v1/wakes/{wake}", key="reader")
            if record.get("state") in states:
                return record
            time.sleep(0.05)
        raise RuntimeError(f"wake {wake} is {record}, not {states}")


def token(number):
    """A device token that no device has."""
    return hashlib.sha256(f"device {number}".encode()).hexdigest()
