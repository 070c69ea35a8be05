#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What RFC 9113 and RFC 7541 ask of a server, frame by frame: the ground that h2spec covers, for
where h2spec cannot be had. One connection a case; the section of the RFC stands before its name."""

import pathlib
import socket
import ssl
import struct
import sys

import interop
from frames import *  # noqa: F403

SECONDS = 5
REQUEST = [(":method", "POST"), (":scheme", "https"), (":authority", interop.HOST),
           (":path", f"/3/device/{interop.DEVICE}")]
FIELDS = list(interop.headers().items())
PROBE = b"probe..."


class Wire:
    """One connection, with the frames that came as they are. The preface is sent."""

    def __init__(self, preface=PREFACE + settings()):
        tls = ssl.create_default_context(cafile=interop.CA)
        tls.set_alpn_protocols(["h2"])
        plain = socket.create_connection((interop.HOST, interop.PORT), timeout=SECONDS)
        self.tls = tls.wrap_socket(plain, server_hostname=interop.HOST)
        self.unread = b""
        self.send(preface)

    def send(self, data):
        try:
            self.tls.sendall(data)
        except OSError:
            pass  # a server may be quick to close; what it said is read all the same

    def frames(self):
        """Each as (kind, flags, stream, payload), until the connection ends."""
        while True:
            while len(self.unread) >= 9:
                length = int.from_bytes(self.unread[:3], "big")
                if len(self.unread) < 9 + length:
                    break
                kind, flags, stream = struct.unpack(">BBI", self.unread[3:9])
                payload, self.unread = self.unread[9:9 + length], self.unread[9 + length:]
                if kind == SETTINGS and not flags & ACK:
                    self.send(frame(SETTINGS, ACK))
                yield kind, flags, stream, payload
            try:
                data = self.tls.recv(65536)
            except (OSError, ssl.SSLError):
                return  # reset, or nothing was said for too long
            if not data:
                return
            self.unread += data

    def outcome(self, stream=1):
        """What becomes of a stream, or of the whole connection."""
        status = "answered"
        for kind, flags, on, payload in self.frames():
            if kind == GOAWAY:
                return "connection", struct.unpack(">I", payload[4:8])[0]
            if kind == RST_STREAM and on == stream:
                return "stream", struct.unpack(">I", payload)[0]
            if kind == HEADERS and on == stream:
                status = "200" if payload[:1] == b"\x88" or payload[1:2] == b"\x88" else "answered"
            if kind in (HEADERS, DATA) and on == stream and flags & END_STREAM:
                return (status,)
        return ("closed",)

    def await_frame(self, wanted):
        for found in self.frames():
            if found[0] == wanted:
                return found
        raise ConnectionError("the connection ended")


def block(fields):
    return b"".join(literal(*field) for field in fields)


def head(stream=1, flags=END_HEADERS, pseudo=REQUEST, fields=FIELDS, more=b""):
    return frame(HEADERS, flags, stream, block([*pseudo, *fields]) + more)


def body(stream=1, data=interop.BODY, flags=END_STREAM):
    return frame(DATA, flags, stream, data)


def push(stream=1):
    return head(stream) + body(stream)


CASES = []


def case(name, said, *wanted, stream=1):
    """`said` is what the client says behind its preface, `wanted` what may come of `stream`."""
    CASES.append((name, said, wanted, stream))


def connection_error(name, said, *codes):
    case(name, said, *[("connection", code) for code in codes])


def stream_error(name, said, *codes, stream=1):
    """RFC 9113 §5.4.2 lets a server take an error of a stream as one of the connection."""
    case(name, said, *[(level, code) for level in ("stream", "connection") for code in codes],
         stream=stream)


def answered(name, said, stream=1):
    case(name, said, ("200",), stream=stream)


def malformed(name, pseudo=None, fields=None, rest=b""):
    stream_error(name, head(flags=END_HEADERS | (0 if rest else END_STREAM),
                            pseudo=REQUEST if pseudo is None else pseudo,
                            fields=FIELDS if fields is None else fields) + rest, PROTOCOL_ERROR)


def replaced(name, value):
    return [(n, value if n == name else v) for n, v in REQUEST]


def without(name):
    return [field for field in REQUEST if field[0] != name]


# What a server takes.

whole = block([*REQUEST, *FIELDS])
answered("§8.1 a request", push())
answered("§8.1 a second request", push() + push(3), stream=3)
answered("§6.1 a body in two frames", head() + body(data=interop.BODY[:9], flags=0)
         + body(data=interop.BODY[9:]))
answered("§6.1 a body with padding", head() + body(
    data=b"\x05" + interop.BODY + bytes(5), flags=END_STREAM | PADDED))
answered("§6.2 header fields with padding", frame(
    HEADERS, END_HEADERS | PADDED, 1, b"\x05" + whole + bytes(5)) + body())
answered("§6.2 header fields with a priority", frame(
    HEADERS, END_HEADERS | PRIORITIZED, 1, bytes(4) + b"\x0f" + whole) + body())
answered("§6.10 a CONTINUATION", frame(HEADERS, 0, 1, whole[:50]) + frame(
    CONTINUATION, END_HEADERS, 1, whole[50:]) + body())
answered("§6.10 three of them, one empty", frame(HEADERS, 0, 1, whole[:50]) + frame(
    CONTINUATION, 0, 1, whole[50:90]) + frame(CONTINUATION, 0, 1) + frame(
    CONTINUATION, END_HEADERS, 1, whole[90:]) + body())
answered("§8.1 trailers", head() + body(flags=0) + frame(
    HEADERS, END_HEADERS | END_STREAM, 1, literal("x-trailer", "1")))
answered("§5.3 a PRIORITY before the stream", frame(PRIORITY, 0, 1, bytes(4) + b"\0") + push())
answered("§5.3 a PRIORITY with all its weight", frame(
    PRIORITY, 0, 1, b"\x80\0\0\0\xff") + push())
answered("§5.3 a PRIORITY for a stream above", frame(PRIORITY, 0, 9, bytes(4) + b"\0") + push())
answered("§5.3 a PRIORITY behind the request", push() + frame(PRIORITY, 0, 1, bytes(4) + b"\0"))
# Priorities are gone (RFC 9113 §5.3), and APNs disregards PRIORITY frames.
answered("§5.3 a stream that depends on itself", frame(
    HEADERS, END_HEADERS | PRIORITIZED, 1, struct.pack(">IB", 1, 15) + whole) + body())
answered("§5.3 a PRIORITY on itself", frame(PRIORITY, 0, 1, struct.pack(">IB", 1, 15)) + push())
answered("§5.1 a WINDOW_UPDATE behind the request", push() + window_update(1, 100))
answered("§5.1 a RST_STREAM behind the request", push() + reset(1, CANCEL) + push(3), stream=3)
answered("§7 a RST_STREAM with an unknown code", push() + reset(1, 0xff) + push(3), stream=3)
answered("§4.1 a frame of unknown type", frame(0x16, 0, 0, bytes(8)) + push())
answered("§4.1 flags that nobody knows", frame(PING, 0xfe, 0, bytes(8)) + push())
answered("§4.1 the reserved bit", frame(PING, 0, 0x80000000, bytes(8)) + push())
answered("§6.5.2 unknown settings", settings(xff=1) + push())
answered("§6.5 three windows in one SETTINGS", frame(SETTINGS, payload=b"".join(
    struct.pack(">HI", 4, n) for n in (100, 1, 65535))) + push())
answered("§6.7 a PING that is an answer", frame(PING, ACK, 0, bytes(8)) + push())
answered("§6.9 a larger window", window_update(0, 1000) + push() + window_update(1, 1))
answered("§6.2 no fields but those needed", head(fields=FIELDS[:2]) + body())
case("§4.2 a frame of 16 384 bytes", head() + body(data=bytes(16384)), ("answered",))
case("§8.3.1 GET", head(flags=END_HEADERS | END_STREAM, pseudo=replaced(":method", "GET")),
     ("answered",))
case("§8.3.1 HEAD", head(flags=END_HEADERS | END_STREAM, pseudo=replaced(":method", "HEAD")),
     ("answered",))

# HPACK: each kind of a field.

for _name, _field in [
        ("indexed", b"\x84"),
        ("indexed name, added to the table", b"\x44" + text("/3/device/ab")),
        ("indexed name, not added", b"\x04" + text("/3/device/ab")),
        ("indexed name, never to be added", b"\x14" + text("/3/device/ab")),
        ("a new name, added to the table", b"\x44\x01/\x40" + text("x-new") + text("1")),
        ("a new name, not added", b"\x44\x01/\0" + text("x-new") + text("1")),
        ("a new name, never to be added", b"\x44\x01/\x10" + text("x-new") + text("1")),
        # "www.example.com" of RFC 7541 §C.4.1 as a user-agent.
        ("a value in Huffman coding", b"\x44\x01/\x0f\x2b\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90"
         b"\xf4\xff"),
]:
    case("HPACK §6 " + _name, frame(HEADERS, END_HEADERS | END_STREAM, 1,
                                    b"\x83\x87\x01" + text("x") + _field), ("answered",))
answered("HPACK §6.3 a smaller table", frame(HEADERS, END_HEADERS, 1, b"\x20" + whole) + body())
answered("HPACK §6.3 two changes of the table", frame(
    HEADERS, END_HEADERS, 1, b"\x20\x3f\xe1\x1f" + whole) + body())
for _name, _field in [
        ("§2.3.3 an index that no table has", b"\xff\x7f"),
        ("§2.3.3 a name of an index that no table has", b"\x7f\x7f\x01x"),
        ("§4.2 a change of the table behind a field", b"\x3f\xe1\x1f"),
        ("§5.2 Huffman coding with more than seven bits over", b"\0\x01a\x82\x1f\xff"),
        ("§5.2 Huffman coding filled up with zeros", b"\0\x01a\x81\x18"),
        ("§5.2 Huffman coding with its end in it", b"\0\x01a\x84\xff\xff\xff\xff"),
        ("§6.1 the index 0", b"\x80"),
        ("§6.2 a literal that is cut off", b"\0\x09a"),
]:
    connection_error("HPACK " + _name, head(more=_field), COMPRESSION_ERROR)
connection_error("HPACK §6.3 a table larger than allowed", frame(
    HEADERS, END_HEADERS, 1, b"\x3f\xe1\xff\x03" + whole), COMPRESSION_ERROR)

# Frames that are wrong by themselves.

connection_error("§4.2 DATA over 16 384 bytes", head() + body(data=bytes(16385)), FRAME_SIZE_ERROR)
connection_error("§4.2 HEADERS over 16 384 bytes", frame(
    HEADERS, END_HEADERS, 1, whole + bytes(16384)), FRAME_SIZE_ERROR)
for _name, _kind, _size in [("DATA", DATA, 0), ("HEADERS", HEADERS, 9), ("PRIORITY", PRIORITY, 5),
                            ("RST_STREAM", RST_STREAM, 4), ("CONTINUATION", CONTINUATION, 9)]:
    connection_error("§6 %s on stream 0" % _name, frame(_kind, 0, 0, bytes(_size)), PROTOCOL_ERROR)
for _name, _kind, _size in [("SETTINGS", SETTINGS, 6), ("PING", PING, 8), ("GOAWAY", GOAWAY, 8)]:
    connection_error("§6 %s on a stream" % _name, frame(_kind, 0, 1, bytes(_size)), PROTOCOL_ERROR)
connection_error("§6.1 more padding than DATA", head() + body(
    data=b"\xff{}", flags=END_STREAM | PADDED), PROTOCOL_ERROR)
connection_error("§6.2 more padding than HEADERS", frame(
    HEADERS, END_HEADERS | PADDED, 1, b"\xff" + whole[:20]), PROTOCOL_ERROR)
stream_error("§6.3 a PRIORITY of four bytes", head() + frame(PRIORITY, 0, 1, bytes(4)),
             FRAME_SIZE_ERROR)
connection_error("§6.4 a RST_STREAM of three bytes", head() + frame(RST_STREAM, 0, 1, bytes(3)),
                 FRAME_SIZE_ERROR)
connection_error("§6.5 SETTINGS of three bytes", frame(SETTINGS, payload=bytes(3)),
                 FRAME_SIZE_ERROR)
connection_error("§6.5 an acknowledgement with settings", frame(SETTINGS, ACK, 0, bytes(6)),
                 FRAME_SIZE_ERROR)
connection_error("§6.5.2 ENABLE_PUSH 2", settings(push=2), PROTOCOL_ERROR)
connection_error("§6.5.2 a window of 2^31", settings(window=1 << 31), FLOW_CONTROL_ERROR)
connection_error("§6.5.2 frames of 16 383 bytes", settings(frame=16383), PROTOCOL_ERROR)
connection_error("§6.5.2 frames of 2^24 bytes", settings(frame=1 << 24), PROTOCOL_ERROR)
connection_error("§6.7 a PING of six bytes", frame(PING, 0, 0, bytes(6)), FRAME_SIZE_ERROR)
connection_error("§6.9 a WINDOW_UPDATE of three bytes", frame(WINDOW_UPDATE, 0, 0, bytes(3)),
                 FRAME_SIZE_ERROR)
connection_error("§6.9 a window larger by 0", window_update(0, 0), PROTOCOL_ERROR)
stream_error("§6.9 a stream's window larger by 0", head() + window_update(1, 0), PROTOCOL_ERROR)
connection_error("§6.9.1 a window over 2^31", window_update(0, 0x7fffffff), FLOW_CONTROL_ERROR)
stream_error("§6.9.1 a stream's window over 2^31", head() + window_update(1, 0x7fffffff),
             FLOW_CONTROL_ERROR)
connection_error("§8.4 PUSH_PROMISE", head() + frame(
    PUSH_PROMISE, END_HEADERS, 1, bytes(4) + whole), PROTOCOL_ERROR)

# Frames at the wrong time.

for _name, _frame in [("DATA", body()), ("RST_STREAM", reset(1, CANCEL)),
                      ("WINDOW_UPDATE", window_update(1, 1)),
                      ("CONTINUATION", frame(CONTINUATION, END_HEADERS, 1, whole))]:
    connection_error("§5.1 %s on an idle stream" % _name, _frame, PROTOCOL_ERROR)
_open = frame(HEADERS, 0, 1, whole)
for _name, _frame in [("PRIORITY", frame(PRIORITY, 0, 1, bytes(5))), ("HEADERS", head(3)),
                      ("an unknown frame", frame(0x16, 0, 0, bytes(8))), ("DATA", body()),
                      ("CONTINUATION of another stream", frame(CONTINUATION, END_HEADERS, 3))]:
    connection_error("§4.3 %s inside a header block" % _name, _open + _frame, PROTOCOL_ERROR)
# While its answer waits for a larger window, a stream is half-closed by the client.
_held = settings(window=0) + head(pseudo=replaced(":path", "/3/device/no-token")) + body()
for _name, _before in [("HEADERS", head()), ("DATA", head() + body(flags=0)), ("the end", _held),
                       ("RST_STREAM", head() + reset(1, CANCEL))]:
    connection_error("§6.10 a CONTINUATION behind " + _name, _before + frame(
        CONTINUATION, END_HEADERS, 1, literal("a", "b")), PROTOCOL_ERROR)
stream_error("§5.1 DATA behind the end of the request", _held + body(), STREAM_CLOSED)
stream_error("§5.1 HEADERS behind the end of the request", _held + head(), STREAM_CLOSED)
stream_error("§5.1 DATA behind RST_STREAM", head() + reset(1, CANCEL) + body(), STREAM_CLOSED)
stream_error("§5.1 HEADERS behind RST_STREAM", head() + reset(1, CANCEL) + head(), STREAM_CLOSED)
connection_error("§5.1.1 a stream of even number", head(2), PROTOCOL_ERROR)
connection_error("§5.1.1 a stream below the last", push(5) + head(3), PROTOCOL_ERROR)
stream_error("§5.1.2 a stream over the limit", head() + head(3), REFUSED_STREAM, PROTOCOL_ERROR,
             stream=3)
malformed("§8.1 HEADERS in the middle without an end", rest=body(flags=0) + frame(
    HEADERS, END_HEADERS, 1, literal("x-trailer", "1")))

# Requests that are malformed (§8.2, §8.3): their stream is reset.

malformed("§8.2.1 a name in upper case", fields=[*FIELDS, ("X-Upper", "1")])
malformed("§8.2.1 a name with a space", fields=[*FIELDS, ("x y", "1")])
case("§8.2.1 an empty name", head(fields=[*FIELDS, ("", "1")]) + body(),
     ("stream", PROTOCOL_ERROR))
for _name, _value in [("a line feed", "a\nb"), ("a carriage return", "a\rb"), ("a zero byte", "a\0b"),
                      ("a space in front", " a"), ("a tab at its end", "a\t")]:
    malformed("§8.2.1 a value with " + _name, fields=[*FIELDS, ("x-value", _value)])
malformed("§8.2.2 connection", fields=[*FIELDS, ("connection", "keep-alive")])
malformed("§8.2.2 te: gzip", fields=[*FIELDS, ("te", "trailers, deflate")])
malformed("§8.3 an unknown pseudo-field", pseudo=[*REQUEST, (":test", "1")])
malformed("§8.3 a pseudo-field of answers", pseudo=[*REQUEST, (":status", "200")])
malformed("§8.3 a pseudo-field behind a field", pseudo=[("x-first", "1"), *REQUEST])
for _name, _field in [("a pseudo-field", (":method", "POST")), ("connection", ("connection", "close")),
                      ("a name in upper case", ("X-Upper", "1"))]:
    malformed("§8.1 %s in trailers" % _name, rest=body(flags=0) + frame(
        HEADERS, END_HEADERS | END_STREAM, 1, literal(*_field)))
malformed("§8.3.1 an empty :path", pseudo=replaced(":path", ""))
for _name in (":method", ":scheme", ":path"):
    malformed("§8.3.1 no " + _name, pseudo=without(_name))
    malformed("§8.3.1 two " + _name, pseudo=[
        *REQUEST, (_name, dict(REQUEST)[_name])])
malformed("§8.1.1 a body longer than content-length",
          fields=[*FIELDS, ("content-length", "1")], rest=body())
malformed("§8.1.1 two frames shorter than content-length",
          fields=[*FIELDS, ("content-length", "99")], rest=body(flags=0) + body())
malformed("§8.1.1 a content-length with a sign",
          fields=[*FIELDS, ("content-length", f"+{len(interop.BODY)}")], rest=body())


def main():
    report = interop.Report()
    for name, said, wanted, stream in CASES:
        wire = Wire()
        wire.send(said)
        found = wire.outcome(stream)
        wire.tls.close()
        report.check(name, found if found not in wanted else wanted, wanted)

    wire = Wire(preface=b"INVALID CONNECTION PREFACE\r\n\r\n")
    report.check("§3.4 no preface", wire.outcome() in [("connection", PROTOCOL_ERROR), ("closed",)])
    wire = Wire()
    report.check("§6.5.3 SETTINGS are acknowledged",
                 [f[1] for f in (wire.await_frame(SETTINGS), wire.await_frame(SETTINGS))], [0, ACK])
    wire.send(frame(PING, 0, 0, PROBE))
    report.check("§6.7 a PING is answered", wire.await_frame(PING)[1:], (ACK, 0, PROBE))

    # A refusal of 27 bytes through a window of one byte, and of what SETTINGS give and take.
    refused = head(pseudo=replaced(":path", "/3/device/no-token")) + body()
    wire = Wire(preface=PREFACE + settings(window=1))
    wire.send(refused)
    report.check("§6.9.1 a window of one byte", wire.await_frame(DATA)[3], b"{")
    wire.send(settings(window=4))
    report.check("§6.9.2 SETTINGS open a window", wire.await_frame(DATA)[3], b'"re')
    wire.send(settings(window=2) + window_update(1, 2) + frame(PING, 0, 0, PROBE))
    report.check("§6.9.2 a window below 0", wire.await_frame(PING)[1], ACK)
    wire.send(window_update(1, 3))
    report.check("§6.9.2 and above again", wire.await_frame(DATA)[3], b"aso")
    wire.send(window_update(1, 100))
    report.check("§6.9.1 a window for all", wire.outcome(), ("answered",))

    count = len(report.passed) + len(report.failed)
    report.names = [f"{len(report.passed)} of {count} cases"]
    manual = pathlib.Path(__file__).parents[3] / "Deploy/manual/interoperability.md"
    report.check("the manual's number", f"| {count} cases of RFC 9113" in manual.read_text())
    for name in report.failed:
        print("failed:", name, file=sys.stderr)
    report.passed = ["RFC 9113, RFC 7541"]
    report.end()


main()
