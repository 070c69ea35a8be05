# SPDX-License-Identifier: Apache-2.0
"""The examples, each language against the same gateway. Run by test.sh."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).parent
ROUSE = os.environ["ROUSE"]
APP = "com.example.app"
KEY = hashlib.sha256(b"a key of the examples' tests").hexdigest()
SIGNING_KEY = b"32 bytes that only the tests use"
SECRET = "whsec_" + base64.b64encode(SIGNING_KEY).decode()
PATIENCE_SECONDS = 20


class Program:
    """A program that runs until the tests end, and the lines that it has printed."""

    def __init__(self, command, **environment):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True,
            env={**clean_environment(), **environment})
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def wait_for(self, part):
        """The first line from now on that has this part; the lines before it are dropped."""
        end = time.monotonic() + PATIENCE_SECONDS
        dropped = []
        while True:
            try:
                line = self.lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"waited for {part!r}, got {dropped}") from None
            if line is None:
                raise AssertionError(f"ended before {part!r}, after {dropped}")
            if part in line:
                return line
            dropped.append(line)

    def printed(self):
        """The lines that are there now."""
        lines = []
        while not self.lines.empty():
            lines.append(self.lines.get())
        return lines

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()


def clean_environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith("ROUSE_") and not name.lower().endswith("_proxy")}


def json_of(program):
    """The first JSON document that a program prints, on one line or several."""
    text = ""
    while True:
        text += program.wait_for("")
        try:
            return json.loads(text)
        except ValueError:
            pass


class Bench:
    """The simulator, the gateway, and a receiver for each language."""

    def __init__(self, languages):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.programs = []
        self.receivers = {}
        try:
            for language in languages:
                receiver = self.start(
                    language.receiver(self.path), WEBHOOK_SECRET=SECRET, PORT="0")
                self.receivers[language] = receiver, receiver.wait_for("Listening").split()[-1]
            self.simulator = json_of(self.start([
                ROUSE, "apns-simulator", "--folder", str(self.path), "--control-port", "0",
                "--json"]))
            (self.path / "rouse.yaml").write_text(self.configuration(), encoding="utf-8")
            (self.path / "webhook-secret").write_text(SECRET, encoding="utf-8")
            gateway = self.start([ROUSE, "serve", "--config", str(self.path / "rouse.yaml")])
            self.address = "http://" + gateway.wait_for("Ready").split()[-1].rstrip(".")
        except BaseException:
            self.stop()
            raise

    def start(self, command, **environment):
        self.programs.append(Program(command, **environment))
        return self.programs[-1]

    def stop(self):
        for program in reversed(self.programs):
            program.stop()
        self.folder.cleanup()

    def configuration(self):
        return json.dumps({
            "listen": "127.0.0.1:0", "store": "wakes.sqlite", "log-level": "warning",
            "api-keys": [{
                "name": "backend", "sha256": hashlib.sha256(KEY.encode()).hexdigest(),
                "scopes": ["wake", "read"]}],
            "webhooks": [{"url": url, "secret-file": "webhook-secret"}
                         for _, url in self.receivers.values()],
            "apps": [{
                "bundle-id": APP, "environment": "sandbox",
                "team-id": self.simulator["team_id"], "key-id": self.simulator["key_id"],
                "key-file": self.simulator["key_path"],
                "server": {
                    "host": self.simulator["host"], "port": self.simulator["port"],
                    "ca-file": "ca.pem"}}],
            "transport": {"proxy": "none"},
        })

    def get(self, path):
        request = urllib.request.Request(
            self.address + path, headers={"Authorization": f"Bearer {KEY}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def fault(self, **fault):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.simulator['control_port']}/faults", method="POST",
            data=json.dumps(fault).encode(), headers={"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=10).close()


class Unsteady(http.server.ThreadingHTTPServer):
    """A way to the gateway that answers 503 first, then loses an answer, and then works."""

    def __init__(self, gateway):
        super().__init__(("127.0.0.1", 0), UnsteadyHandler)
        self.gateway, self.keys = gateway, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class UnsteadyHandler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.keys.append(self.headers["Idempotency-Key"])
        if len(self.server.keys) == 1:
            self.answer(503, b'{"status":503,"code":"unavailable","title":"Later"}')
            return
        request = urllib.request.Request(
            self.server.gateway + self.path, body, dict(self.headers.items()))
        with urllib.request.urlopen(request, timeout=10) as answer:
            status, text = answer.status, answer.read()
        if len(self.server.keys) > 2:
            self.answer(status, text)
        # Otherwise the connection is closed without an answer, although the wake was accepted.

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Retry-After", "1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Language:
    """What every language's examples do. A subclass says how they are started."""

    tool = None

    @classmethod
    def prepare(cls, folder):
        """Compiles what has to be compiled."""

    @classmethod
    def setUpClass(cls):
        if cls not in available():
            raise unittest.SkipTest(f"{cls.tool} is not installed")
        cls.bench = shared_bench()
        cls.receiver, cls.url = cls.bench.receivers[cls]

    def token(self):
        return hashlib.sha256(f"{type(self)} {time.time_ns()}".encode()).hexdigest()

    def wake(self, *tokens, **environment):
        return subprocess.run(
            [*self.sender(self.bench.path), *tokens], capture_output=True, text=True, timeout=60,
            env={**clean_environment(), "ROUSE_GATEWAY": self.bench.address,
                 "ROUSE_API_KEY": KEY, "ROUSE_APP": APP, **environment}, check=False)

    def test_a_wake_is_sent_and_every_receiver_hears_of_it(self):
        done = self.wake(self.token())
        self.assertEqual(done.returncode, 0, done.stderr)
        identifier, _, words = done.stdout.strip().partition(" ")
        self.assertEqual(words, "Accepted by APNs; delivery is not confirmed.")
        wake = self.bench.get(f"/v1/wakes/{identifier}")
        self.assertEqual((wake["state"], wake["app"]), ("sent", APP))
        for receiver, _ in self.bench.receivers.values():
            receiver.wait_for(f"outcome {identifier} sent")

    def test_what_is_refused_is_explained(self):
        for token, environment, words in (
                ("no-token", {}, r"^400 invalid-field: device_token "),
                (self.token(), {"ROUSE_API_KEY": "wrong"}, r"^401 unauthorized: "),
                (self.token(), {"ROUSE_APP": "com.example.none"}, r"^404 unknown-app: ")):
            done = self.wake(token, **environment)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, words)
            self.assertNotIn(KEY, done.stderr)

    def test_without_a_token_or_a_gateway_it_says_so_in_a_line(self):
        for done, code, words in (
                (self.wake(), 64, r"^usage: .* DEVICE_TOKEN\n$"),
                (self.wake(self.token(), ROUSE_GATEWAY="http://127.0.0.1:1"), 69, r"^[^\n]+\n$")):
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertRegex(done.stderr, words)

    def test_a_wake_is_asked_for_again_and_is_one(self):
        way = Unsteady(self.bench.address)
        token = self.token()
        done = self.wake(token, ROUSE_GATEWAY=way.address)
        way.shutdown()
        way.server_close()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(way.keys), 3)
        self.assertEqual(len(set(way.keys)), 1)
        recent = self.bench.get(f"/v1/devices/{token}")["queues"][0]["recent"]
        self.assertEqual([wake["id"] for wake in recent], [done.stdout.split()[0]])

    def test_a_dead_token_is_told(self):
        token = self.token()
        self.bench.fault(kind="reject", reason="Unregistered", deviceToken=token)
        done = self.wake(token)
        self.assertEqual(done.returncode, 0, done.stderr)
        for receiver, _ in self.bench.receivers.values():
            receiver.wait_for(f"token-dead {token}")

    def post(self, body, *, identifier="msg_1", age=0, signatures=None, key=SIGNING_KEY):
        """Posts to the receiver as the gateway does; returns the status."""
        timestamp = str(int(time.time()) - age)
        digest = hmac.new(key, f"{identifier}.{timestamp}.".encode() + body, hashlib.sha256)
        signature = "v1," + base64.b64encode(digest.digest()).decode()
        request = urllib.request.Request(self.url, body, {
            "Content-Type": "application/json", "webhook-id": identifier,
            "webhook-timestamp": timestamp,
            "webhook-signature": signature if signatures is None else signatures(signature)})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def test_only_what_the_gateway_signed_is_taken_and_once(self):
        identifier = f"event-{time.time_ns()}"
        body = json.dumps({"events": [{
            "id": identifier, "type": "outcome",
            "wake": {"id": identifier, "state": "sent"}}]}).encode()
        self.assertEqual(self.post(body, key=b"another key of 32 bytes or so..."), 401)
        self.assertEqual(self.post(body, age=301), 401)
        self.assertEqual(self.post(body, age=-310), 401)
        for signatures in (
                lambda right: "", lambda right: right[:-4], lambda right: right.replace("v1,", "v2,"),
                lambda right: "v1,", lambda right: "v1,ä", lambda right: right.swapcase()):
            self.assertEqual(self.post(body, signatures=signatures), 401, signatures("v1,right"))
        self.assertNotIn(identifier, " ".join(self.receiver.printed()))
        # While a secret is replaced there are two signatures.
        self.assertEqual(self.post(body, signatures=lambda right: f"v1,AAAA {right}"), 204)
        self.receiver.wait_for(f"outcome {identifier} sent")
        self.assertEqual(self.post(body, identifier="msg_2"), 204)
        self.assertNotIn(identifier, " ".join(self.receiver.printed()))


class Python(Language, unittest.TestCase):
    tool = "python3"

    @staticmethod
    def sender(_):
        return ["python3", str(HERE / "python/wake.py")]

    @staticmethod
    def receiver(_):
        return ["python3", str(HERE / "python/receive.py")]


class Node(Language, unittest.TestCase):
    tool = "node"

    @staticmethod
    def sender(_):
        return ["node", str(HERE / "node/wake.mjs")]

    @staticmethod
    def receiver(_):
        return ["node", str(HERE / "node/receive.mjs")]


class Go(Language, unittest.TestCase):
    tool = "go"

    @staticmethod
    def built(folder, name):
        program = folder / name
        if not program.exists():
            subprocess.run(
                ["go", "build", "-o", str(program), str(HERE / f"go/{name}/main.go")], check=True)
        return [str(program)]

    @classmethod
    def sender(cls, folder):
        return cls.built(folder, "wake")

    @classmethod
    def receiver(cls, folder):
        return cls.built(folder, "receive")


class TheManual(unittest.TestCase):
    def test_the_command_of_the_readme_works(self):
        """The README's one curl, with the gateway's address, key and app for those in it."""
        readme = (HERE.parent.parent / "README.md").read_text(encoding="utf-8")
        block = re.search(r"```sh\n(curl [^`]*/v1/wakes[^`]*)```", readme)
        self.assertIsNotNone(block, "the README has no block of sh that begins with curl")
        bench = shared_bench()
        command = block[1].replace("http://127.0.0.1:8080", bench.address)
        command = command.replace("com.example.demo", APP)
        command = command.replace("curl ", f"curl -H 'Authorization: Bearer {KEY}' ", 1)
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, timeout=30, check=False,
            env=clean_environment())
        self.assertEqual(json.loads(done.stdout).get("state"), "sent", done.stdout + done.stderr)


def available():
    return [language for language in (Python, Node, Go) if shutil.which(language.tool)]


BENCH = []


def shared_bench():
    if not BENCH:
        BENCH.append(Bench(available()))
    return BENCH[0]


def tearDownModule():
    for bench in BENCH:
        bench.stop()


if __name__ == "__main__":
    if os.environ.get("CI") and len(available()) != 3:
        raise SystemExit("error: python3, node and go are needed in CI")
    unittest.main(verbosity=2)
