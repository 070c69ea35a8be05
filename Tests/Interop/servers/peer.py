# SPDX-License-Identifier: Apache-2.0
"""A TLS server on raw sockets that says whatever its script wants, frame by frame, and keeps a record
of what it was sent and of what it answered. Header blocks are decoded with hpack (Debian:
python3-hpack, which python3-h2 brings); everything else is bytes."""

import pathlib
import socket
import ssl
import struct
import sys
import threading

import hpack

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lib"))

from frames import *  # noqa: F403, E402

STATUS = {200: b"\x88", 400: b"\x8c", 404: b"\x8d", 500: b"\x8e"}


class Gone(Exception):
    """The client closed the connection."""


def status(code):
    return STATUS.get(code) or literal(":status", str(code))


class Request:
    """One push: `number` is the end of its apns-id."""

    def __init__(self, stream, fields):
        self.stream = stream
        self.fields = dict(fields)
        self.number = int(self.fields.get("apns-id", "0")[-12:], 16)
        self.body = b""


class Record:
    """What happened to each push at this server. One lock for all connections."""

    def __init__(self):
        self.lock = threading.Lock()
        self.whole = {}     # how often a push came whole and was not refused
        self.begun = {}     # how often its header fields came
        self.answered = {}  # the statuses that it was sent, complete and right
        self.connections = 0

    def note(self, table, number, value=1):
        with self.lock:
            known = getattr(self, table)
            if table == "answered":
                known.setdefault(number, set()).add(value)
            else:
                known[number] = known.get(number, 0) + value


class Peer:
    """One connection, as its script sees it."""

    def __init__(self, tls, number, record):
        self.tls, self.number, self.record = tls, number, record
        self.decoder = hpack.Decoder()
        self.unread = b""
        self.open = {}
        self.has_preface = False
        self.requests = 0
        self.last_served = 0x7fffffff  # what comes above it is read, and not processed

    # What it says.

    def send(self, *parts):
        try:
            self.tls.sendall(b"".join(parts))
        except (OSError, ValueError) as error:
            raise Gone from error

    def answer(self, request, code=200, body=b"", fields=b"", counts=True):
        """A complete answer."""
        if counts:
            self.record.note("answered", request.number, code)
        head = status(code) + fields
        if not body:
            self.send(frame(HEADERS, END_HEADERS | END_STREAM, request.stream, head))
        else:
            self.send(frame(HEADERS, END_HEADERS, request.stream, head),
                      frame(DATA, END_STREAM, request.stream, body))

    def block(self, request, payload, counts=None, flags=END_HEADERS | END_STREAM):
        """HEADERS with any payload. `counts` is the status, if that is an answer."""
        if counts:
            self.record.note("answered", request.number, counts)
        self.send(frame(HEADERS, flags, request.stream, payload))

    def refuse(self, *requests):
        """Says nothing, but records that these were not processed."""
        for request in requests:
            self.record.note("whole", request.number, -1)

    # What it hears.

    def read(self, count):
        while len(self.unread) < count:
            try:
                more = self.tls.recv(65536)
            except (OSError, ValueError) as error:
                raise Gone from error
            if not more:
                raise Gone
            self.unread += more
        taken, self.unread = self.unread[:count], self.unread[count:]
        return taken

    def next_frame(self):
        if not self.has_preface:
            self.read(24)
            self.has_preface = True
        head = self.read(9)
        length = int.from_bytes(head[:3], "big")
        return head[3], head[4], int.from_bytes(head[5:9], "big"), self.read(length)

    def events(self):
        """("head", request), ("whole", request), ("reset", stream) as they come. Acknowledges
        SETTINGS and PING, and gives credit for what it reads."""
        while True:
            kind, flags, stream, payload = self.next_frame()
            if kind == HEADERS:
                request = Request(stream, self.decoder.decode(payload))
                self.open[stream] = request
                self.requests += 1
                self.record.note("begun", request.number)
                yield "head", request
            elif kind == DATA:
                if payload:
                    credit = struct.pack(">I", len(payload))
                    self.send(frame(WINDOW_UPDATE, payload=credit))
                if stream in self.open:
                    self.open[stream].body += payload
            elif kind == SETTINGS and not flags & ACK:
                self.send(frame(SETTINGS, ACK))
            elif kind == PING and not flags & ACK:
                self.send(frame(PING, ACK, payload=payload))
            elif kind == RST_STREAM:
                yield "reset", stream
            if kind in (DATA, HEADERS) and flags & END_STREAM and stream in self.open:
                request = self.open.pop(stream)
                if stream <= self.last_served:
                    self.record.note("whole", request.number)
                yield "whole", request

    def await_whole(self):
        for event, request in self.events():
            if event == "whole":
                return request

    def await_head(self):
        for event, request in self.events():
            if event == "head":
                return request

    def listen(self):
        """Until the client is gone: accepts every push but the first, as a good server does."""
        for event, request in self.events():
            if event == "head" and request.number > 1:
                # The script may have left the client with a small window.
                self.send(frame(WINDOW_UPDATE, 0, request.stream, struct.pack(">I", 60000)))
            if event == "whole" and request.number > 1:
                self.answer(request)

    def polite(self):
        """Accepts every push, as a good server does."""
        self.send(settings(streams=100))
        for event, request in self.events():
            if event == "whole":
                self.answer(request)

    def close(self, abruptly=False):
        """Closes the socket: with an RST if abruptly."""
        try:
            if abruptly:
                self.tls.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.tls.close()
            else:
                self.tls.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        raise Gone


def end_listener(listener, acceptor):
    """Closes it when the thread that accepts has ended: one that is about to call accept would meet
    whatever gets the number of the descriptor next, which may be another server's listener."""
    listener.shutdown(socket.SHUT_RDWR)
    acceptor.join()
    listener.close()


class Server:
    """Runs `script(peer)` on each connection, in a thread of its own. `raw` is given the plain
    socket first and may return True to take the connection for itself."""

    def __init__(self, certificate, key, script, raw=None):
        self.record = Record()
        self.script, self.raw = script, raw
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def accept(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            with self.record.lock:
                self.record.connections += 1
                number = self.record.connections
            threading.Thread(target=self.serve, args=(plain, number), daemon=True).start()

    def serve(self, plain, number):
        try:
            plain.settimeout(60)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.raw and self.raw(plain, number):
                return
            with self.context.wrap_socket(plain, server_side=True) as tls:
                self.script(Peer(tls, number, self.record))
        except (Gone, OSError, ValueError, hpack.HPACKError):
            pass
        finally:
            plain.close()

    def end(self):
        end_listener(self.listener, self.acceptor)
