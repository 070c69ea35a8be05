# SPDX-License-Identifier: Apache-2.0
"""What servers do that they should not, and polite ends of connections beside it. In each case the
client's first connection meets the script, later ones a good server. `outcome` is what the first
push must come to: "accepted", "400" and so on, "unknown", "not-sent", or one of two, as in
"accepted or unknown". A case with `repeats` meets so many connections in a row."""

import struct
import time

from peer import *  # noqa: F403

CASES = []


class Case:
    def __init__(self, name, script, outcome, repeats, raw, timeout, curl):
        self.name, self.script, self.repeats = name, script, repeats
        self.outcomes = {"native": outcome, "curl": curl or outcome}
        self.raw, self.timeout = raw, timeout

    def run(self, peer):
        if peer.number <= self.repeats:
            self.script(peer)
        else:
            peer.polite()

    def run_raw(self, plain, number):
        return number <= self.repeats and self.raw(plain)


def case(name, outcome, repeats=1, timeout=1500, curl=None):
    """A script that gets the connection before anything was said."""
    def add(script):
        CASES.append(Case(name, script, outcome, repeats, None, timeout, curl))
        return script
    return add


def before_tls(name, outcome="not-sent", repeats=1, timeout=1500, curl=None):
    """A script that gets the plain socket before TLS."""
    def add(script):
        def take(plain):
            script(plain)
            return True
        CASES.append(Case(name, None, outcome, repeats, take, timeout, curl))
        return script
    return add


def reply(name, outcome, make, curl=None):
    """A server that has read a push and then says what `make(peer, request)` gives, then listens."""
    @case(name, outcome, curl=curl)
    def script(peer):
        peer.send(settings(streams=100))
        request = peer.await_whole()
        said = make(peer, request)
        if said:
            peer.send(said)
        peer.listen()


def header_block(name, payload, outcome="unknown", flags=END_HEADERS | END_STREAM, curl=None):
    reply(name, outcome, lambda peer, request: frame(HEADERS, flags, request.stream, payload),
          curl=curl)


def accepted_then(name, make, outcome="accepted", curl=None):
    """200 without the end of its stream, and then `make(stream)`."""
    def said(peer, request):
        if outcome == "accepted":
            peer.record.note("answered", request.number, 200)
        return frame(HEADERS, END_HEADERS, request.stream, status(200)) + make(request.stream)
    reply(name, outcome, said, curl=curl)


# MARK: Before anything was sent

@before_tls("closes before TLS")
def _(plain):
    plain.close()


@before_tls("speaks plain HTTP")
def _(plain):
    plain.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    plain.recv(4096)
    plain.close()


@before_tls("refuses TLS with an alert")
def _(plain):
    plain.recv(4096)
    plain.sendall(b"\x15\x03\x03\x00\x02\x02\x28")
    plain.close()


@before_tls("closes in the middle of the handshake")
def _(plain):
    plain.recv(4096)
    plain.close()


@before_tls("answers the handshake with noise")
def _(plain):
    plain.recv(4096)
    plain.sendall(bytes(range(256)) * 4)
    plain.close()


@before_tls("never answers the handshake", "not-sent", timeout=1200)
def _(plain):
    time.sleep(2)
    plain.close()


# The native transport has sent nothing before the server's SETTINGS. libcurl has.

@case("closes before SETTINGS", "not-sent", curl="unknown")
def _(peer):
    peer.close()


@case("resets the socket before SETTINGS", "not-sent", curl="unknown or not-sent")
def _(peer):
    peer.close(abruptly=True)


@case("sends no SETTINGS and falls silent", "not-sent", curl="unknown")
def _(peer):
    peer.listen()


@case("speaks HTTP/1.1 in TLS", "not-sent", curl="unknown")
def _(peer):
    peer.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    peer.listen()


@case("answers before SETTINGS", "not-sent", curl="unknown")
def _(peer):
    peer.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, status(200)))
    peer.listen()


@case("SETTINGS of five bytes", "not-sent", curl="unknown")
def _(peer):
    peer.send(frame(SETTINGS, payload=b"\0\3\0\0\0"))
    peer.listen()


@case("SETTINGS with a window of 2^31", "not-sent", curl="unknown")
def _(peer):
    peer.send(settings(window=1 << 31))
    peer.listen()


@case("SETTINGS with frames of one byte", "not-sent", curl="unknown")
def _(peer):
    peer.send(settings(frame=1))
    peer.listen()


@case("SETTINGS with unknown entries", "accepted")
def _(peer):
    peer.send(settings(xff=1, x4242=7))
    peer.answer(peer.await_whole())
    peer.listen()


@case("SETTINGS acknowledged twice", "unknown")
def _(peer):
    peer.send(settings())
    peer.await_whole()
    peer.send(frame(SETTINGS, ACK))
    peer.listen()


@case("GOAWAY as the first word behind SETTINGS", "accepted")
def _(peer):
    peer.last_served = 0
    peer.send(settings(), goaway(0))
    peer.listen()


@case("no stream is allowed at first, then one", "accepted")
def _(peer):
    peer.send(settings(streams=0))
    time.sleep(0.2)
    peer.send(settings(streams=1))
    peer.answer(peer.await_whole())
    peer.listen()


# MARK: Header blocks (RFC 9113 §8.2, §8.3)

reply("HEADERS cut after three bytes, and closed", "unknown", lambda peer, request: (
    peer.send(frame(HEADERS, END_HEADERS | END_STREAM, request.stream,
                    status(200) + literal("apns-id", "x" * 40))[:12]), peer.close()))
reply("HEADERS cut after three bytes, and silence", "unknown", lambda peer, request: frame(
    HEADERS, END_HEADERS | END_STREAM, request.stream,
    status(200) + literal("apns-id", "x" * 40))[:12])


def endless_continuation(peer, request):
    peer.send(frame(HEADERS, END_STREAM, request.stream, status(200)))
    while True:
        peer.send(frame(CONTINUATION, 0, request.stream, literal("a", "b")) * 50)


reply("CONTINUATION without end", "unknown", endless_continuation)
reply("CONTINUATION that never comes", "unknown", lambda peer, request: frame(
    HEADERS, END_STREAM, request.stream, status(200)))
reply("a PING inside a header block", "unknown", lambda peer, request: frame(
    HEADERS, END_STREAM, request.stream, status(200)) + frame(PING, payload=bytes(8)) + frame(
    CONTINUATION, END_HEADERS, request.stream, literal("a", "b")))
header_block("two :status", status(200) + status(200))
header_block("two :status that differ", status(200) + status(400))
header_block("no :status", literal("date", "now"))
header_block("an empty header block", b"")
header_block(":status behind a field", literal("date", "now") + status(200))
header_block("a pseudo-header of requests", status(200) + b"\x83")
header_block("an unknown pseudo-header", status(200) + literal(":reason", "OK"))
header_block(":status of two digits", literal(":status", "20"))
header_block(":status of four digits", literal(":status", "2000"))
header_block(":status with a sign", literal(":status", "+20"))
header_block(":status that is no number", literal(":status", "abc"))
header_block("an empty :status", literal(":status", ""))
header_block(":status 099", literal(":status", "099"))
header_block(":status 101", literal(":status", "101"))
header_block(":status behind a space", literal(":status", " 200"))
header_block("a field name with a colon", status(200) + literal("a:b", "c"))
header_block("the index 0", b"\x80")
header_block("the end of Huffman coding in a value", status(200) + b"\0\x01a\x84\xff\xff\xff\xff")
header_block("an upper-case field name", status(200) + literal("Date", "now"))
header_block("a field name with a space", status(200) + literal("a b", "c"))
header_block("a field name with DEL", status(200) + literal("a\x7f", "c"))
header_block("a field name beyond ASCII", status(200) + literal("\xe9", "c"))
header_block("an empty field name", status(200) + literal("", "c"))
header_block("a value with a line feed", status(200) + literal("apns-id", "a\nb"))
header_block("a value with a zero byte", status(200) + literal("apns-id", "a\0b"))
header_block("a value that begins with a space", status(200) + literal("date", " now"))
header_block("a value that ends with a tab", status(200) + literal("x", "now\t"))
for _name in ("connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"):
    header_block("a field " + _name, status(200) + literal(_name, "close"))
header_block("te: gzip", status(200) + literal("te", "gzip"))
header_block("content-length twice",
             status(200) + literal("content-length", "0") + literal("content-length", "0"))
for _length in ("", "-0", "+0", "18446744073709551616"):
    header_block("content-length that is no length: '%s'" % _length,
                 status(200) + literal("content-length", _length))
header_block("content-length without a body", status(200) + literal("content-length", "9"))
header_block("an index that no table has", status(200) + b"\xff\x7f")
header_block("a literal that is cut off", status(200) + b"\0\x09a")
header_block("a change of the table's size behind a field", status(200) + b"\x3f\xe1\x1f")
header_block("a table larger than allowed", b"\x3f\xe1\xff\x03" + status(200))
reply("a header list of 20 KB", "unknown", lambda peer, request: frame(
    HEADERS, END_STREAM, request.stream, status(200)) + b"".join(
    frame(CONTINUATION, END_HEADERS if n == 19 else 0, request.stream,
          b"".join(literal("x%d" % m, "v" * 100) for m in range(10))) for n in range(20)))


@case("HEADERS in padding and priority, over three frames", "accepted")
def _(peer):
    peer.send(settings())
    request = peer.await_whole()
    peer.record.note("answered", request.number, 200)
    padded = b"\x04" + struct.pack(">IB", 0, 16) + status(200) + bytes(4)
    peer.send(frame(HEADERS, END_STREAM | PADDED | 0x20, request.stream, padded),
              frame(CONTINUATION, 0, request.stream, literal("a", "b")),
              frame(CONTINUATION, END_HEADERS, request.stream))
    peer.listen()


@case("200 in Huffman coding, with a value beyond ASCII", "accepted")
def _(peer):
    peer.send(settings())
    request = peer.await_whole()
    peer.block(request, b"\x08\x82\x10\x01" + literal("date", "\xe9"), counts=200)
    peer.listen()


@case("103 before the answer", "accepted")
def _(peer):
    peer.send(settings())
    request = peer.await_whole()
    peer.send(frame(HEADERS, END_HEADERS, request.stream, status(103) + literal("apns-id", "no")))
    peer.answer(request)
    peer.listen()


header_block("103 that ends the stream", status(103))
header_block("103 and nothing more", status(103), flags=END_HEADERS)

# MARK: Bodies, trailers, ends

reply("DATA before HEADERS", "unknown",
      lambda peer, request: frame(DATA, END_STREAM, request.stream, b"{}"))
reply("103, then DATA", "unknown", lambda peer, request: frame(
    HEADERS, END_HEADERS, request.stream, status(103)) + frame(
    DATA, END_STREAM, request.stream, b"{}"))
for _length in (1, 9):
    reply("content-length %d before a body of two" % _length, "unknown",
          lambda peer, request, length=_length: frame(
              HEADERS, END_HEADERS, request.stream,
              status(200) + literal("content-length", str(length))) + frame(
              DATA, END_STREAM, request.stream, b"{}"))
reply("a body of 5 KB", "unknown", lambda peer, request: frame(
    HEADERS, END_HEADERS, request.stream, status(400)) + frame(
    DATA, END_STREAM, request.stream, b"x" * 5000))
reply("a refusal whose body never ends", "400", lambda peer, request: (
    peer.record.note("answered", request.number, 400), frame(
        HEADERS, END_HEADERS, request.stream, status(400)) + frame(
        DATA, 0, request.stream, b'{"reason":"BadDeviceToken"}'))[1])
accepted_then("200 whose stream never ends", lambda stream: b"")
accepted_then("200, then RST_STREAM INTERNAL_ERROR", lambda stream: reset(stream, INTERNAL_ERROR),
              curl="accepted or unknown")
# Who says REFUSED_STREAM or leaves a stream out has not processed it, whatever else was said. Then
# to send it again is no wrong, and not to, because 200 came, is none either.
reply("200, then RST_STREAM REFUSED_STREAM", "accepted", lambda peer, request: (
    peer.record.note("answered", request.number, 200), peer.refuse(request), frame(
        HEADERS, END_HEADERS, request.stream, status(200)) + reset(
        request.stream, REFUSED_STREAM))[2])
reply("200, then a GOAWAY that does not cover it", "accepted", lambda peer, request: (
    peer.record.note("answered", request.number, 200), peer.refuse(request), frame(
        HEADERS, END_HEADERS, request.stream, status(200)) + goaway(0))[2])
accepted_then("200, then a second HEADERS without an end", lambda stream: frame(
    HEADERS, END_HEADERS, stream, literal("a", "b")), "unknown")
accepted_then("200, then 400", lambda stream: frame(
    HEADERS, END_HEADERS | END_STREAM, stream, status(400)), "unknown")
accepted_then("200, then trailers with :status", lambda stream: frame(
    HEADERS, END_HEADERS | END_STREAM, stream, status(200)), "unknown")
accepted_then("200, then trailers with an upper-case name", lambda stream: frame(
    HEADERS, END_HEADERS | END_STREAM, stream, literal("Date", "now")), "unknown")
accepted_then("200, then trailers", lambda stream: frame(
    HEADERS, END_HEADERS | END_STREAM, stream, literal("apns-id", "no")))
reply("200, then the socket closes", "accepted", lambda peer, request: (
    peer.record.note("answered", request.number, 200),
    peer.send(frame(HEADERS, END_HEADERS, request.stream, status(200))), time.sleep(0.05),
    peer.close()))
for _code, _name in ((NO_ERROR, "NO_ERROR"), (PROTOCOL_ERROR, "PROTOCOL_ERROR"),
                     (CANCEL, "CANCEL"), (ENHANCE_YOUR_CALM, "ENHANCE_YOUR_CALM")):
    reply("RST_STREAM " + _name, "unknown",
          lambda peer, request, code=_code: reset(request.stream, code))


@case("REFUSED_STREAM behind the whole request", "accepted")
def _(peer):
    peer.send(settings(streams=100))
    request = peer.await_whole()
    peer.refuse(request)
    peer.send(reset(request.stream, REFUSED_STREAM))
    for event, request in peer.events():
        if event == "whole":
            peer.answer(request)


@case("an answer before the body has come, and the rest reset", "400", curl="400 or unknown")
def _(peer):
    peer.send(settings(window=5))
    request = peer.await_head()
    peer.record.note("answered", request.number, 400)
    peer.send(frame(HEADERS, END_HEADERS | END_STREAM, request.stream, status(400)),
              reset(request.stream, NO_ERROR))
    peer.listen()


@case("a window of 0 that never opens", "unknown")
def _(peer):
    peer.send(settings(window=0))
    peer.listen()


@case("a window that opens byte by byte", "accepted")
def _(peer):
    peer.send(settings(window=1))
    for event, request in peer.events():
        if event == "whole":
            peer.answer(request)
            peer.listen()
        elif event == "head":
            for _ in range(100):
                peer.send(frame(WINDOW_UPDATE, 0, request.stream, struct.pack(">I", 1)))
