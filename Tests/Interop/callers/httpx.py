#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: httpx[http2]==0.28.1
"""httpx: asyncio, over h2, with a pool that shares one connection."""

import asyncio
import ssl

import calling
import httpx
import interop


async def main(report):
    tls = ssl.create_default_context(cafile=calling.CA)
    # Without TLS it speaks HTTP/2 only if HTTP/1.1 is off.
    for name, base, count, http1 in (
            ("h2", calling.GATEWAY, 200, True), ("h2c", calling.PLAIN, 50, False)):
        versions = set()
        async with httpx.AsyncClient(
                http2=True, http1=http1, verify=tls, timeout=20) as client:
            async def call(method, path, body, key):
                answer = await client.request(
                    method, base + path, content=body, headers=calling.fields(key))
                versions.add(answer.http_version)
                return calling.Answer(answer.status_code, answer.headers, answer.content)

            await calling.check(report, name, call, count)
        report.check(f"{name} alone", versions, {"HTTP/2"})


report = interop.Report("httpx", "h2")
asyncio.run(main(report))
report.end()
