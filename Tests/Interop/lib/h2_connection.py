# SPDX-License-Identifier: Apache-2.0
"""A connection on python-h2, which checks every frame of the server."""

import socket
import ssl

from h2 import config, connection, events


class Connection:
    """One connection; over TLS with the authority `ca`, where `protocols` is what ALPN offers."""

    def __init__(self, host, port, ca=None, protocols=("h2",)):
        self.socket = socket.create_connection((host, port), timeout=10)
        self.host, self.scheme = host, "https" if ca else "http"
        if ca:
            tls = ssl.create_default_context(cafile=ca)
            if protocols:
                tls.set_alpn_protocols(list(protocols))
            self.socket = tls.wrap_socket(self.socket, server_hostname=host)
        self.h2 = connection.H2Connection(
            config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()
        # By stream: the fields of the answer and its body so far; who ended it, and how.
        self.answers, self.informed, self.ended, self.resets = {}, {}, set(), {}
        self.pings = 0
        self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def read(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        for event in self.h2.receive_data(data):
            match event:
                case events.InformationalResponseReceived():
                    self.informed[event.stream_id] = dict(event.headers)[":status"]
                case events.ResponseReceived():
                    self.answers[event.stream_id] = (dict(event.headers), b"")
                case events.DataReceived():
                    head, body = self.answers[event.stream_id]
                    self.answers[event.stream_id] = (head, body + event.data)
                    # Streams keep their windows, which are larger than any answer here.
                    if event.flow_controlled_length:
                        self.h2.increment_flow_control_window(event.flow_controlled_length)
                case events.StreamReset():
                    self.ended.add(event.stream_id)
                    self.resets[event.stream_id] = int(event.error_code)
                case events.StreamEnded():
                    self.ended.add(event.stream_id)
                case events.PingAckReceived():
                    self.pings += 1
                case events.ConnectionTerminated():
                    raise ConnectionError(f"GOAWAY {event.error_code} {event.additional_data}")
        self.flush()

    def head(self, method, path, fields, ends=False):
        """Begins a request."""
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(
            stream,
            [(":method", method), (":scheme", self.scheme), (":authority", self.host),
             (":path", path), *fields], end_stream=ends)
        self.flush()
        return stream

    def data(self, stream, body, ends=True):
        """Sends a body as the server's windows let it, and no more of it than is asked for."""
        while body and stream not in self.ended:
            count = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if count:
                self.h2.send_data(stream, body[:count])
                body = body[count:]
                self.flush()
            else:
                self.read()
        if ends and stream not in self.ended:
            self.h2.end_stream(stream)
            self.flush()

    def send(self, method, path, fields, body=None):
        stream = self.head(method, path, fields, ends=body is None)
        if body is not None:
            self.data(stream, body)
        return stream

    def answer(self, stream):
        """The status of an answer, and its body."""
        while stream not in self.ended:
            self.read()
        head, body = self.answers.get(stream, ({}, b""))
        return head.get(":status"), body
