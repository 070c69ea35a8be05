// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import APNsSimulator

@Suite("ClientHello")
struct ClientHelloTests {
    /// A message with these extensions, in records of at most `recordSize` bytes.
    private static func hello(
        _ extensions: [(type: UInt16, content: [UInt8])]?, recordSize: Int = 16_384
    ) throws -> [UInt8] {
        var body = ByteBuffer(repeating: 7, count: 34)
        body.writeBytes([2, 0, 0, 0, 2, 0x13, 0x01, 1, 0])
        if let extensions {
            try body.writeLengthPrefixed(as: UInt16.self) { buffer in
                var count = 0
                for (type, content) in extensions {
                    count += buffer.writeInteger(type)
                    count += buffer.writeInteger(UInt16(content.count))
                    count += buffer.writeBytes(content)
                }
                return count
            }
        }
        var message = ByteBuffer(bytes: [1, 0])
        message.writeInteger(UInt16(body.readableBytes))
        message.writeBuffer(&body)
        var records: [UInt8] = []
        while let part = message.readBytes(length: min(recordSize, message.readableBytes)),
            !part.isEmpty
        {
            records += [22, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 0xff)] + part
        }
        return records
    }

    private static let offer: [UInt8] = [0, 12, 8] + "http/1.1".utf8 + [2] + "h2".utf8

    @Test("says what is offered, or that nothing is")
    func protocols() throws {
        let others: (type: UInt16, content: [UInt8]) = (0, [1, 2, 3])
        for (extensions, expected) in [
            ([others, (16, Self.offer)], ["http/1.1", "h2"]), ([others], nil), (nil, nil),
            ([(16, [0, 0])], []),
        ] as [([(type: UInt16, content: [UInt8])]?, [String]?)] {
            let bytes = ByteBuffer(bytes: try Self.hello(extensions))
            #expect(ClientHello.read(bytes) == .hello(ClientHello(protocols: expected)))
        }
    }

    @Test("comes in any pieces and records", arguments: [1, 3, 40, 16_384])
    func pieces(recordSize: Int) throws {
        let bytes = try Self.hello([(16, Self.offer)], recordSize: recordSize)
        for count in 0..<bytes.count {
            #expect(ClientHello.read(ByteBuffer(bytes: bytes[..<count])) == .incomplete)
        }
        let more = ByteBuffer(bytes: bytes + [22, 3, 3])
        #expect(ClientHello.read(more) == .hello(ClientHello(protocols: ["http/1.1", "h2"])))
    }

    @Test(
        "what is none is left to TLS",
        arguments: [
            Array("GET / HTTP/1.1".utf8), [22, 3, 1, 0, 4, 2, 0, 0, 0],
            [22, 3, 1, 0, 5, 1, 0, 0, 1, 0],
        ])
    func somethingElse(bytes: [UInt8]) {
        #expect(ClientHello.read(ByteBuffer(bytes: bytes)) == .somethingElse)
    }

    @Test("extensions that are cut off are left to TLS")
    func cut() throws {
        for content in [[0, 9, 8] + Array("http".utf8), []] as [[UInt8]] {
            let bytes = ByteBuffer(bytes: try Self.hello([(16, content)]))
            #expect(ClientHello.read(bytes) == .somethingElse)
        }
    }
}
