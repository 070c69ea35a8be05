# SPDX-License-Identifier: Apache-2.0
"""What the callers in Python share: where the gateways are, and what each of them checks."""

import asyncio
import json
import os
import re
import sys
from dataclasses import dataclass

GATEWAY = os.environ["INTEROP_GATEWAY"]
PLAIN = os.environ["INTEROP_GATEWAY_PLAIN"]
CA = os.environ["INTEROP_GATEWAY_CA"]
KEY = os.environ["INTEROP_GATEWAY_KEY"]
DEVICES = os.environ["INTEROP_DEVICES"]
NO_WAKE = "00000000-0000-7000-8000-000000000000"
ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def wake(number, **others):
    """The body of a request for a wake; each number is another device."""
    return json.dumps({
        "kind": "background", "app": "com.example.app", "ttl_seconds": 3600,
        "device_token": f"{DEVICES}{number:016x}",
        "payload": {"aps": {"content-available": 1}, "version": number}, **others}).encode()


def fields(key=KEY):
    """The header fields of a request with a body."""
    return {"authorization": f"Bearer {key}", "content-type": "application/json"}


@dataclass
class Answer:
    """An answer, with the names of its header fields in lower case."""

    status: int
    headers: dict
    body: bytes

    @property
    def problem(self):
        """Status and code of a problem document, if it is one."""
        if self.headers.get("content-type") != "application/problem+json":
            return self
        document = json.loads(self.body)
        return (self.status, document["code"]) if document["status"] == self.status else self


async def check(report, name, call, count=500):
    """Sends wakes one by one and many at once, and what is refused, and asks what became of them.

    `call(method, path, body, key)` gives an `Answer`.
    """
    wrong = []

    def compare(what, found, wanted):
        if found != wanted:
            print(f"{name}: {what}: {found!r} instead of {wanted!r}", file=sys.stderr)
            wrong.append(what)

    async def get(path):
        return json.loads((await call("GET", path, None, KEY)).body)

    async def accepted():
        return (await get("/v1/stats"))["accepted"]

    before = await accepted()
    one = await call("POST", "/v1/wakes?wait=outcome", wake(0), KEY)
    found = json.loads(one.body)
    compare("200", (one.status, one.headers.get("location"), found.get("state")),
            (200, f"/v1/wakes/{found.get('id')}", "sent"))
    again = await get(f"/v1/wakes/{found.get('id')}")
    compare("found", (again.get("id"), again.get("state")), (found.get("id"), "sent"))

    numbers = range(1, count + 1)
    answers = await asyncio.gather(
        *(call("POST", "/v1/wakes", wake(number), KEY) for number in numbers))
    ids = {json.loads(answer.body).get("id", "") for answer in answers}
    compare(f"{count} at once",
            ({answer.status for answer in answers}, len(ids), all(map(ID.fullmatch, ids))),
            ({202}, count, True))
    some = set(sorted(ids)[::count // 20])
    known = await asyncio.gather(*(get(f"/v1/wakes/{each}") for each in some))
    compare("found", {each.get("id") for each in known}, some)

    for path, body, key, problem in (
            ("/v1/wakes", b"{", KEY, (400, "malformed-body")),
            ("/v1/wakes", wake(0, kind="none"), KEY, (400, "invalid-field")),
            ("/v1/wakes", wake(0), "wrong", (401, "unauthorized")),
            (f"/v1/wakes/{NO_WAKE}", None, KEY, (404, "not-found")),
            ("/v1/wakes", b" " * 1_000_000, KEY, (413, "body-too-large"))):
        answer = await call("POST" if body else "GET", path, body, key)
        compare(problem[0], answer.problem, problem)
    compare("counted", await accepted() - before, count + 1)
    report.check(f"{name} (200, {count} at once, 400, 401, 404, 413)", wrong, [])
