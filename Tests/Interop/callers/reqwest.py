#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pip: pyreqwest==0.15.1
"""reqwest, over hyper and rustls: the HTTP/2 that most programs in Rust call with."""

import asyncio
import pathlib

import calling
import interop
from pyreqwest.client import ClientBuilder


async def main(report):
    authority = pathlib.Path(calling.CA).read_bytes()
    for name, base, count in (("h2", calling.GATEWAY, 500), ("h2c", calling.PLAIN, 100)):
        builder = ClientBuilder().add_root_certificate_pem(authority).http2_prior_knowledge()
        versions = set()
        async with builder.build() as client:
            async def call(method, path, body, key):
                request = client.request(method, base + path).headers(calling.fields(key))
                if body is not None:
                    request = request.body_bytes(body)
                answer = await request.build().send()
                versions.add(str(answer.version))
                return calling.Answer(
                    answer.status, dict(answer.headers), bytes(await answer.bytes()))

            await calling.check(report, name, call, count)
        report.check(f"{name} alone", versions, {"HTTP/2.0"})


report = interop.Report("pyreqwest")
asyncio.run(main(report))
report.end()
