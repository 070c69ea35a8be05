# SPDX-License-Identifier: Apache-2.0
"""What servers do that they should not, as cases.py: to whole connections, and to several in a
row."""

import socket
import struct
import time

from cases import before_tls, case, reply
from peer import *  # noqa: F403


def garbage(name, make, outcome="unknown", curl=None):
    reply(name, outcome, lambda peer, request: make(request.stream), curl=curl)


garbage("a window over 2^31 on the stream", lambda stream: frame(
    WINDOW_UPDATE, 0, stream, struct.pack(">I", (1 << 31) - 1)))
garbage("a window over 2^31 on the connection", lambda stream: frame(
    WINDOW_UPDATE, 0, 0, struct.pack(">I", (1 << 31) - 1)))
garbage("WINDOW_UPDATE of 0", lambda stream: frame(WINDOW_UPDATE, 0, stream, bytes(4)))
garbage("PUSH_PROMISE", lambda stream: frame(
    PUSH_PROMISE, END_HEADERS, stream, struct.pack(">I", 2) + status(200)))
garbage("HEADERS on stream 0", lambda stream: frame(
    HEADERS, END_HEADERS | END_STREAM, 0, status(200)))
garbage("HEADERS on a stream that is not open", lambda stream: frame(
    HEADERS, END_HEADERS | END_STREAM, stream + 2, status(200)))
garbage("HEADERS on an even stream", lambda stream: frame(
    HEADERS, END_HEADERS | END_STREAM, 2, status(200)))
garbage("a frame of 2^24 bytes", lambda stream: b"\xff\xff\xff\0\0" + struct.pack(">I", stream))
garbage("a PING of three bytes", lambda stream: frame(PING, payload=b"abc"))
garbage("RST_STREAM of three bytes", lambda stream: frame(RST_STREAM, 0, stream, b"abc"))
garbage("CONTINUATION without HEADERS", lambda stream: frame(
    CONTINUATION, END_HEADERS, stream, status(200)))
garbage("padding longer than the frame", lambda stream: frame(
    HEADERS, END_HEADERS | END_STREAM | PADDED, stream, b"\xff" + status(200)))
garbage("half a frame, and silence", lambda stream: frame(PING, payload=bytes(8))[:12])
garbage("frames of an unknown kind, and silence", lambda stream: frame(0xfa, 0xff, stream, b"x") * 9)


garbage("SETTINGS on a stream", lambda stream: frame(SETTINGS, 0, stream, bytes(6)))
garbage("SETTINGS acknowledged with settings", lambda stream: frame(SETTINGS, ACK, 0, bytes(6)))
garbage("WINDOW_UPDATE of three bytes", lambda stream: frame(WINDOW_UPDATE, 0, stream, b"abc"))
garbage("RST_STREAM on stream 0", lambda stream: reset(0, CANCEL))
garbage("DATA on a stream that is not open", lambda stream: frame(DATA, 0, stream + 2, b"{}"))
garbage("GOAWAY of seven bytes", lambda stream: frame(GOAWAY, payload=bytes(7)))
garbage("GOAWAY on a stream", lambda stream: frame(GOAWAY, 0, stream, bytes(8)))
garbage("a second GOAWAY that covers more than the first", lambda stream: goaway(
    stream) + goaway(stream + 2))


def flood(name, make):
    def pour(peer, request):
        while True:
            peer.send(make(request.stream) * 200)
    reply("a flood of " + name, "unknown", pour)


flood("PING", lambda stream: frame(PING, payload=bytes(8)))
flood("SETTINGS", lambda stream: settings(streams=100))
flood("empty DATA", lambda stream: frame(DATA, 0, stream))
flood("RST_STREAM of streams that nobody has", lambda stream: reset(stream + 1000, CANCEL))


@case("closes behind the request", "unknown")
def _(peer):
    peer.send(settings())
    peer.await_whole()
    peer.close()


@case("resets the socket behind the request", "unknown")
def _(peer):
    peer.send(settings())
    peer.await_whole()
    peer.close(abruptly=True)


@case("never answers", "unknown")
def _(peer):
    peer.send(settings())
    peer.listen()


@case("GOAWAY that covers the push, which is answered", "accepted")
def _(peer):
    peer.send(settings())
    request = peer.await_whole()
    peer.send(goaway(request.stream))
    time.sleep(0.1)
    peer.answer(request)
    peer.listen()


@case("two GOAWAYs, the second of which covers the push", "accepted")
def _(peer):
    peer.send(settings())
    request = peer.await_whole()
    peer.send(goaway((1 << 31) - 1))
    time.sleep(0.1)
    peer.send(goaway(request.stream))
    peer.answer(request)
    peer.listen()


@case("GOAWAY in two steps, behind an answer", "accepted")
def _(peer):
    peer.send(settings())
    request = peer.await_whole()
    peer.answer(request)
    second = peer.await_whole()
    peer.send(goaway((1 << 31) - 1))
    time.sleep(0.1)
    peer.answer(second)
    peer.send(goaway(second.stream))
    peer.listen()


@case("GOAWAY that leaves the push out", "accepted")
def _(peer):
    peer.send(settings())
    peer.refuse(peer.await_whole())
    peer.send(goaway(0, words=b'{"reason":"Shutdown"}'))
    peer.listen()


@case("GOAWAY with an error, and a reason with ESC in it", "unknown")
def _(peer):
    peer.send(settings())
    request = peer.await_whole()
    peer.send(goaway(request.stream, PROTOCOL_ERROR, b'{"reason":"\x1b[31mNo\x07"}'))
    peer.close()


@case("GOAWAY twice, and closed without an answer", "unknown")
def _(peer):
    peer.send(settings())
    request = peer.await_whole()
    peer.send(goaway(request.stream), goaway(request.stream))
    peer.close()


@case("an answer byte by byte", "accepted")
def _(peer):
    peer.send(settings())
    request = peer.await_whole()
    peer.record.note("answered", request.number, 200)
    for byte in frame(HEADERS, END_HEADERS | END_STREAM, request.stream, status(200)):
        peer.send(bytes([byte]))
        time.sleep(0.01)
    peer.listen()


@case("closes TLS in order behind the request, and keeps the socket", "unknown")
def _(peer):
    peer.send(settings())
    peer.await_whole()
    peer.tls.settimeout(5)
    peer.tls.unwrap()
    time.sleep(5)


# MARK: Several failures in a row: a push waits for the first good connection

@before_tls("eight handshakes fail", "accepted", repeats=8, timeout=20000, curl="accepted")
def _(plain):
    plain.recv(4096)
    plain.close()


@before_tls("two handshakes are never answered", "accepted", repeats=2, timeout=15000)
def _(plain):
    time.sleep(20)
    plain.close()


@case("eight connections close before SETTINGS", "accepted", repeats=8, timeout=20000,
      curl="unknown")
def _(peer):
    peer.close()


@case("five connections say GOAWAY before any answer", "accepted", repeats=5, timeout=20000)
def _(peer):
    peer.send(settings(), goaway(0))
    peer.refuse(peer.await_whole())
    peer.listen()


@before_tls("six sockets are reset in the handshake", "accepted", repeats=6, timeout=20000)
def _(plain):
    plain.recv(4096)
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    plain.close()


@case("six connections begin with SETTINGS of five bytes", "accepted", repeats=6, timeout=20000,
      curl="unknown")
def _(peer):
    peer.send(frame(SETTINGS, payload=b"\0\3\0\0\0"))
    peer.listen()
