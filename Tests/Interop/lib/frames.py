# SPDX-License-Identifier: Apache-2.0
"""The frames of HTTP/2 (RFC 9113 §6) and the fields of HPACK (RFC 7541) as bytes, right or wrong."""

import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, \
    CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITIZED = 1, 1, 4, 8, 0x20
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, \
    FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, \
    ENHANCE_YOUR_CALM, INADEQUATE_SECURITY, HTTP_1_1_REQUIRED = range(14)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + \
        struct.pack(">I", stream) + payload


def text(value, encoding="utf-8"):
    """A string of HPACK without Huffman coding."""
    value = value.encode(encoding)
    length, more = len(value), []
    if length < 127:
        return bytes([length]) + value
    length -= 127
    while length >= 128:
        more.append(length & 127 | 128)
        length >>= 7
    return bytes([127, *more, length]) + value


def literal(name, value):
    """A field as a literal without indexing."""
    return b"\0" + text(name) + text(value, "latin-1")


def settings(**values):
    numbers = {"table": 1, "push": 2, "streams": 3, "window": 4, "frame": 5, "list": 6}
    return frame(SETTINGS, payload=b"".join(
        struct.pack(">HI", numbers.get(k) or int(k[1:], 16), v) for k, v in values.items()))


def goaway(last, code=NO_ERROR, words=b""):
    return frame(GOAWAY, payload=struct.pack(">II", last, code) + words)


def reset(stream, code):
    return frame(RST_STREAM, stream=stream, payload=struct.pack(">I", code))


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))
