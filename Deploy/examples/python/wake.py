# SPDX-License-Identifier: Apache-2.0
"""Wakes an app on one device, and prints what became of it. Python 3.8 or later, nothing else.

    python3 wake.py DEVICE_TOKEN

ROUSE_GATEWAY is the gateway's URL, ROUSE_API_KEY a key with the scope wake, ROUSE_APP the app's
bundle id. With `rouse serve --dev` none of them is needed.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

GATEWAY = os.environ.get("ROUSE_GATEWAY", "http://127.0.0.1:8080")
APP = os.environ.get("ROUSE_APP", "com.example.demo")
MAXIMUM_TRIES = 5


class Refused(Exception):
    """The gateway does not take this wake. Asking again would not help."""


def wake(device_token, data, ttl_seconds=3600):
    """Asks for a silent push; returns the wake, with its outcome where there was one in time."""
    ref = str(uuid.uuid4())
    body = {
        "kind": "background", "app": APP, "device_token": device_token,
        "ref": ref, "ttl_seconds": ttl_seconds,
        # A hint and no content. The app's receipt names the wake by the ref.
        "payload": {"aps": {"content-available": 1}, "ref": ref, **data},
    }
    request = urllib.request.Request(
        f"{GATEWAY}/v1/wakes?wait=outcome&timeout=10", data=json.dumps(body).encode(),
        # The key makes trying again safe: it is one wake, however often it is asked for.
        headers={"Content-Type": "application/json", "Idempotency-Key": ref})
    if os.environ.get("ROUSE_API_KEY"):
        request.add_header("Authorization", f"Bearer {os.environ['ROUSE_API_KEY'].strip()}")
    for left in reversed(range(MAXIMUM_TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503) or not left:
                raise Refused(explain(error)) from None
            pause = int(error.headers.get("Retry-After", 1))
        except OSError:  # No connection, or it broke: the wake may be on disk, or not.
            if not left:
                raise
            pause = 1
        time.sleep(pause)


def explain(error):
    """What a problem document (RFC 9457) says."""
    problem = json.load(error)
    lines = [f"{error.code} {problem['code']}: {problem.get('detail') or problem['title']}"]
    for finding in problem.get("diagnostics", []):
        lines.append(f"  {finding['rule']} {finding['message']}. {finding['fix']}")
    return "\n".join(lines)


def main():
    if len(sys.argv) != 2:
        print("usage: python3 wake.py DEVICE_TOKEN", file=sys.stderr)
        sys.exit(64)
    try:
        answer = wake(sys.argv[1], {"version": 7})
    except Refused as refusal:
        sys.exit(str(refusal))
    except OSError as error:
        print(f"{GATEWAY} gave no answer: {error}", file=sys.stderr)
        sys.exit(69)
    print(answer["id"], answer.get("outcome", {}).get("explanation") or answer["decision"]["message"])


if __name__ == "__main__":
    main()
