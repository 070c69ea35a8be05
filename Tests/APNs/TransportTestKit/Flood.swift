// SPDX-License-Identifier: Apache-2.0

import Testing

/// Frames that no honest server says for ever.
package struct Flood: Sendable, CustomTestStringConvertible {
    package let name: String
    /// Said once, after the request came.
    package var opening: [UInt8] = []
    /// Said for ever.
    package let frame: [UInt8]
    /// The possible outcomes of the push in flight, where the transport closes the connection
    /// because of it.
    package var outcomes: Set<String> = ["connection-lost (unknown)"]
    package var testDescription: String { name }

    /// Says it all, until the client is gone.
    package func pour(into peer: HostileServer.Peer) {
        guard peer.send(opening) else { return }
        let many = Array(repeatElement(frame, count: 100).joined())
        while peer.send(many) {}
    }

    package static let all = [
        Flood(name: "PING", frame: ServerFrame.ping()),
        Flood(name: "PING answers", frame: ServerFrame.frame(6, flags: 1, Array(1...8))),
        Flood(name: "SETTINGS", frame: ServerFrame.settings([(3, 100)])),
        Flood(name: "SETTINGS answers", frame: ServerFrame.settingsAcknowledgement),
        Flood(name: "WINDOW_UPDATE", frame: ServerFrame.windowUpdate()),
        Flood(name: "WINDOW_UPDATE of a stream", frame: ServerFrame.windowUpdate(stream: 1)),
        Flood(
            name: "RST_STREAM", opening: ServerFrame.reset(stream: 1, code: 8),
            frame: ServerFrame.reset(stream: 1, code: 8),
            outcomes: ["stream-reset (unknown)"]),
        Flood(name: "PRIORITY", frame: ServerFrame.frame(2, stream: 1, [0, 0, 0, 0, 1])),
        Flood(name: "unknown frames", frame: ServerFrame.frame(0xbb, stream: 1, [1])),
        Flood(
            name: "CONTINUATION", opening: ServerFrame.frame(1, stream: 1, [0x88]),
            frame: ServerFrame.frame(
                9, stream: 1, ServerFrame.literal("x", String(repeating: "y", count: 50))),
            outcomes: ["response-too-large (unknown)", "connection-lost (unknown)"]),
        Flood(
            name: "empty CONTINUATION", opening: ServerFrame.frame(1, stream: 1, [0x88]),
            frame: ServerFrame.frame(9, stream: 1)),
        Flood(
            name: "empty DATA", opening: ServerFrame.refusal(stream: 1),
            frame: ServerFrame.data(stream: 1, [], isLast: false), outcomes: ["400"]),
        Flood(
            name: "interim answers",
            frame: ServerFrame.frame(1, flags: 4, stream: 1, [0x08, 3] + Array("103".utf8))),
        Flood(
            name: "answers on a stream that is closed",
            opening: ServerFrame.accepted(stream: 1), frame: ServerFrame.accepted(stream: 1),
            outcomes: ["200"]),
        Flood(
            name: "DATA on a stream that is closed",
            opening: ServerFrame.accepted(stream: 1),
            frame: ServerFrame.data(stream: 1, [1], isLast: true), outcomes: ["200"]),
        Flood(name: "GOAWAY", frame: ServerFrame.goAway(last: 1)),
        Flood(name: "no HTTP/2 at all", frame: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
    ]
}
