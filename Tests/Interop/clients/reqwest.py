#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: pyreqwest==0.15.1
"""reqwest, over hyper and rustls: the HTTP/2 that most programs in Rust send with."""

import asyncio
import pathlib

import interop
from pyreqwest.client import ClientBuilder


async def main(report):
    authority = pathlib.Path(interop.CA).read_bytes()
    base = f"https://{interop.HOST}:{interop.PORT}/3/device/"
    # Otherwise it offers HTTP/1.1 alone.
    builder = ClientBuilder().add_root_certificate_pem(authority).http2_prior_knowledge()
    async with builder.build() as client:
        async def push(device, body=interop.BODY, headers=interop.headers()):
            request = client.post(base + device).headers(headers).body_bytes(body).build()
            answer = await request.send()
            return answer.status, await answer.text()

        report.check("200", await push(interop.DEVICE), (200, ""))
        answers = await asyncio.gather(*(push(f"{n:064x}") for n in range(500)))
        report.check("500 at once", {status for status, _ in answers}, {200})
        report.check("400", await push("no-token"), (400, '{"reason":"BadDeviceToken"}'))
        report.check("413", (await push(interop.DEVICE, body=b"x" * 5000))[0], 413)
        forged = interop.headers(interop.FORGED_TOKEN)
        report.check("403", await push(interop.DEVICE, headers=forged),
                     (403, '{"reason":"InvalidProviderToken"}'))


report = interop.Report("pyreqwest")
asyncio.run(main(report))
report.end()
