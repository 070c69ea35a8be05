#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: httpx[http2]==0.28.1
"""httpx: asyncio, over h2, with a pool that shares one connection."""

import asyncio
import ssl

import httpx
import interop


async def main(report):
    tls = ssl.create_default_context(cafile=interop.CA)
    base = f"https://{interop.HOST}:{interop.PORT}/3/device/"
    async with httpx.AsyncClient(http2=True, http1=False, verify=tls) as client:
        async def push(device, body=interop.BODY, headers=interop.headers()):
            return await client.post(base + device, content=body, headers=headers)

        answer = await push(interop.DEVICE)
        report.check("200", (answer.status_code, len(answer.headers["apns-id"])), (200, 36))
        answers = await asyncio.gather(*(push(f"{n:064x}") for n in range(300)))
        report.check("300 at once", {answer.status_code for answer in answers}, {200})
        report.check("400", (await push("no-token")).json(), {"reason": "BadDeviceToken"})
        large = await push(interop.DEVICE, body=b"x" * 5000)
        report.check("413", large.status_code, 413)
        cookies = interop.headers() | {"cookie": "a=1; b=2; c=3"}
        report.check("cookies", (await push(interop.DEVICE, headers=cookies)).status_code, 200)
    async with httpx.AsyncClient(http2=True, verify=tls) as client:
        answer = await client.post(
            base + interop.DEVICE, content=interop.BODY,
            headers=interop.headers(interop.FORGED_TOKEN))
        report.check("403", answer.text, '{"reason":"InvalidProviderToken"}')


report = interop.Report("httpx", "h2")
asyncio.run(main(report))
report.end()
