# SPDX-License-Identifier: Apache-2.0
"""What each server party does: `rouse push` and a running `rouse serve` send to a server that nobody
here wrote, on both transports at the same time. The server writes down what it has processed, and
that must be what Rouse says of each push:

  push      each one has the server's answer
  serve     each wake and call has it, one time each
  down      what is asked for while the server is down is sent when it is back, one time each
  restarted under load: every wake is sent; a call is sent or its fate is unknown, and never
            processed twice; a wake that is processed twice had an attempt of unknown fate

libcurl before 8.19 cannot tell everything of connections that end (servers/README.md, which also has
how much that may be), so the fate of its pushes may be unknown at other times too. Afterwards
`rouse audit-store` counts.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request

ROUSE = os.environ["INTEROP_ROUSE"]
CERTIFICATE = os.environ["INTEROP_SERVER_CERTIFICATE"]
KEY = os.environ["INTEROP_SERVER_KEY"]
CA = os.environ["INTEROP_SERVER_CA"]
WORK = pathlib.Path(os.environ["INTEROP_WORK"])
APP = "com.example.app"
CREDENTIAL = ["--key", os.environ["INTEROP_KEY"], "--key-id", os.environ["INTEROP_KEY_ID"],
              "--team-id", os.environ["INTEROP_TEAM_ID"]]
# Which answer a device token gets, by its first digits.
BAD, DEAD = "bad0", "dead"
REFUSALS = {BAD: (400, "BadDeviceToken"), DEAD: (410, "Unregistered")}
# In seconds: longer than a push that a server leaves unanswered may take, and its repetition.
PATIENCE = 90


class Server:
    """A server in a process of its own, which appends "APNS-ID STATUS" to `log` for each push that
    it has processed. A party says with what it is started."""

    refusals = REFUSALS
    # First digits of device tokens that are answered 200, each in a way of its own.
    accepted = ["aa"]
    stop_signal = signal.SIGTERM
    environment = {}
    # Whether a client meets the provider tokens of those before it, until the server is restarted.
    keeps_tokens = False

    def __init__(self, work):
        self.work, self.process = work, None
        work.mkdir(mode=0o755)
        work.parent.chmod(0o755)
        self.log = work / "log"
        self.log.touch(mode=0o666)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        (work / "both.pem").write_bytes(
            pathlib.Path(CERTIFICATE).read_bytes() + pathlib.Path(KEY).read_bytes())

    def file(self, name, text):
        path = self.work / name
        path.write_text(text)
        return str(path)

    def command(self):
        """The program and its arguments."""
        raise NotImplementedError

    def start(self):
        with open(self.work / "output", "ab") as output:
            self.process = subprocess.Popen(
                self.command(), stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                cwd=self.work, start_new_session=True, env=os.environ | {
                    "INTEROP_LOG": str(self.log), "INTEROP_SERVER_PORT": str(self.port),
                } | self.environment)
        until(lambda: self.is_listening(), "the server does not listen", 60)

    def is_listening(self):
        if self.process.poll() is not None:
            raise AssertionError("the server ended: " + self.output())
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def stop(self):
        """In order, if it can be had within three seconds."""
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def output(self):
        return (self.work / "output").read_text(errors="replace")[-600:]

    def processed(self):
        """How often each push was processed, by its apns-id."""
        return collections.Counter(
            line.split()[0].lower() for line in self.log.read_text().splitlines() if line.strip())


class Gateway:
    """`rouse serve` with one app behind a server."""

    def __init__(self, work, server, transport):
        self.config = work / "rouse.yaml"
        self.config.write_text(f"""
listen: 127.0.0.1:0
store: wakes.sqlite
store-durability: system
log-level: warning
budget:
  hourly-sends: 12  # an attempt of unknown fate counts
apps:
  - bundle-id: {APP}
    environment: sandbox
    team-id: {os.environ["INTEROP_TEAM_ID"]}
    key-file: {os.environ["INTEROP_KEY"]}
    key-id: {os.environ["INTEROP_KEY_ID"]}
    server: {{ host: 127.0.0.1, port: {server.port}, ca-file: {CA} }}
transport:
  kind: {transport}
  proxy: none
""")
        made = subprocess.run(
            [ROUSE, "keys", "create", "--config", self.config, "--name", "interop", "--scope",
             "admin", "--requests-per-second", "100000"], capture_output=True, check=True, text=True)
        self.key = made.stdout.strip()
        self.said = work / "gateway"
        with open(self.said, "wb") as output:
            self.process = subprocess.Popen(
                [ROUSE, "serve", "--config", self.config], stdout=output, stderr=output)
        until(lambda: "listens on" in self.said.read_text(), "the gateway does not start", 60)
        self.address = self.said.read_text().split("listens on ")[1].split()[0].rstrip(".")

    def call(self, path, body=None):
        request = urllib.request.Request(
            f"http://{self.address}{path}", json.dumps(body).encode() if body else None,
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def send(self, tokens):
        """Asks for wakes and calls to (kind, token); gives their ids and tokens."""
        answer = self.call("/v1/wakes/batch", [
            {"kind": kind, "app": APP, "device_token": token,
             "payload": {"aps": {"content-available": 1}} if kind == "background" else {"id": 1}}
            for kind, token in tokens])
        if answer["accepted"] != len(tokens):
            raise AssertionError(f"the gateway refused wakes: {answer}"[:600])
        return {item["wake"]["id"]: token for item, (_, token) in zip(answer["items"], tokens)}

    def outcomes(self, ids):
        """What became of all these, once they have ended."""
        until(lambda: not self.call("/v1/wakes?limit=1&state=pending,claimed")["wakes"],
              lambda: "wakes do not end, such as "
              + str(self.call("/v1/wakes?limit=1&state=pending,claimed")["wakes"]), PATIENCE)
        found, cursor = {}, ""
        while not ids.keys() <= found.keys():
            page = self.call("/v1/wakes?limit=1000" + cursor)
            found |= {wake["id"]: wake for wake in page["wakes"]}
            if "next" not in page:
                break
            cursor = "&cursor=" + page["next"]
        return {key: found[key] for key in ids}

    def end(self):
        self.process.terminate()
        code = self.process.wait(30)
        if code:
            raise AssertionError(f"the gateway ended with {code}: " + self.said.read_text()[-600:])
        subprocess.run([ROUSE, "audit-store", str(self.config.parent / "wakes.sqlite")], check=True,
                       capture_output=True)


def until(holds, words, seconds):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(words if isinstance(words, str) else words())
        time.sleep(0.05)


def push(server, transport, *options, refusal=None):
    """One `rouse push`, and its apns-id; None if libcurl lost the answer."""
    done = subprocess.run(
        [ROUSE, "push", "--json", "--sandbox", "--host", "127.0.0.1", "--port", str(server.port),
         "--ca", CA, *CREDENTIAL, "--bundle-id", APP, "--proxy", "none", "--transport", transport,
         *options], capture_output=True, text=True, timeout=60)
    said = json.loads(done.stdout or "{}")
    wanted = (1, *refusal) if refusal else (0, 200, None)
    found = (done.returncode, said.get("status"), said.get("reason"))
    if found == (69, None, None) and transport == "curl":
        return None
    if found != wanted:
        raise AssertionError(f"push gave {found} instead of {wanted}: {done.stderr}")
    return said["apns_id"]


class Judge:
    """Compares what the gateway says with what the server has processed."""

    def __init__(self, server, transport):
        self.server, self.is_exact, self.unknown = server, transport == "native", 0
        self.wrong = []

    def judge(self, part, wakes, outcomes, is_quiet=True):
        processed = self.server.processed()
        unknown = 0
        for key, token in wakes.items():
            wake, times = outcomes[key], processed[key]
            refusal = self.server.refusals.get(token[:4])
            outcome = wake.get("outcome", {})
            attempts = wake.get("attempts", [])
            is_unknown = any(attempt.get("certainty") == "unknown" for attempt in attempts)
            unknown += is_unknown
            wanted = ("status", *refusal) if refusal else ("sent", 200, None)
            found = ("status" if refusal else wake["state"], outcome.get("status"),
                     outcome.get("reason"))
            # What was refused for a time is repeated.
            answered = sum("status" in attempt for attempt in attempts)
            is_right = found == wanted and times == answered
            if is_unknown and wake["kind"] == "background":
                is_right = found == wanted and answered <= times <= len(attempts)
            elif is_unknown:
                is_right = wake["state"] == "failed" and times <= 1
            if not is_right:
                self.wrong.append(f"{part}: processed {times} times, {wake}")
        if is_quiet and self.is_exact and unknown:
            self.wrong.append(f"{part}: {unknown} of {len(wakes)} pushes of unknown fate")
        self.unknown += unknown


def run(make, transport, counts):
    server = make(WORK / transport)
    judge, pushed, number = Judge(server, transport), {}, 0

    def tokens(wakes, calls, refused=0):
        nonlocal number
        chosen = []
        for kind, count in (("background", wakes), ("voip", calls)):
            for n in range(count):
                number += 1
                first = server.accepted[n % len(server.accepted)]
                chosen.append((kind, f"{first}{number:062x}"))
            for first in list(server.refusals) * refused:
                number += 1
                chosen.append((kind, f"{first}{number:060x}"))
        return chosen

    server.start()
    gateway = None
    try:
        for option, firsts in (("--background", server.accepted[:1]),
                               ("--voip", [*server.accepted, *server.refusals])):
            for first in firsts:
                name = push(server, transport, option, first + "0" * (64 - len(first)),
                            refusal=server.refusals.get(first))
                if name:
                    pushed[name] = first
        if server.keeps_tokens:
            server.stop()
            server.start()
        gateway = Gateway(server.work, server, transport)
        wakes = gateway.send(tokens(*counts, refused=3))
        first_outcomes = gateway.outcomes(wakes)
        server.stop()
        judge.judge("serve", wakes, first_outcomes)
        processed = server.processed()
        judge.wrong += [f"push {first}: processed {processed[name]} times"
                        for name, first in pushed.items() if processed[name] != 1]

        late = gateway.send(tokens(100, 50))
        time.sleep(1)
        server.start()
        late_outcomes = gateway.outcomes(late)
        loaded = gateway.send(tokens(*counts))
        server.stop()
        server.start()
        loaded_outcomes = gateway.outcomes(loaded)
    finally:
        if gateway:
            gateway.end()
        server.stop()
    judge.judge("down", late, late_outcomes)
    judge.judge("restarted under load", loaded, loaded_outcomes, is_quiet=False)
    return len(pushed) + len(wakes) + len(late) + len(loaded), judge.unknown, judge.wrong


def main(name, make, counts=(300, 150)):
    """`make(folder)` is the server; `counts` is how many wakes and calls are sent at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [(transport, pool.submit(run, make, transport, counts))
                for transport in ("native", "curl")]
    words, wrong = [], []
    for transport, future in runs:
        try:
            count, unknown, found = future.result()
            words.append(f"{count} pushes on {transport}"
                         + (f" ({unknown} of unknown fate)" if unknown else ""))
            wrong += [f"{transport}: {line}" for line in found]
        except Exception as error:
            wrong.append(f"{transport}: {type(error).__name__}: {error}")
    for line in wrong[:20]:
        print(line[:1500], file=sys.stderr)
    print(f"{name}: " + ", ".join(words) + (f"; {len(wrong)} wrong" if wrong else ""), flush=True)
    os._exit(1 if wrong else 0)
