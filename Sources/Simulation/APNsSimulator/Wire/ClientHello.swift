// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// What the first message of a TLS client says of ALPN (RFC 8446 §4.1.2, RFC 7301 §3.1).
struct ClientHello: Hashable {
    /// The protocols that the client offers, `nil` without the extension.
    let protocols: [String]?

    /// What the first bytes of a connection are.
    enum Reading: Hashable {
        /// More bytes are needed.
        case incomplete
        /// No ClientHello. TLS says what is wrong with it.
        case somethingElse
        case hello(ClientHello)
    }

    /// Reads the message, which may lie in several records.
    static func read(_ bytes: ByteBuffer) -> Reading {
        var bytes = bytes
        var message = ByteBuffer()
        while true {
            if let head = message.getInteger(at: 0, as: UInt32.self) {
                guard head >> 24 == handshakeClientHello else { return .somethingElse }
                let length = Int(head & 0xff_ffff)
                if let body = message.getSlice(at: 4, length: length) {
                    return ClientHello(body).map { .hello($0) } ?? .somethingElse
                }
            }
            guard let type = bytes.readInteger(as: UInt8.self) else { return .incomplete }
            guard type == recordHandshake else { return .somethingElse }
            guard bytes.readInteger(as: UInt16.self) != nil,
                var record = bytes.readLengthPrefixedSlice(as: UInt16.self)
            else { return .incomplete }
            message.writeBuffer(&record)
        }
    }

    private static let recordHandshake: UInt8 = 22
    private static let handshakeClientHello: UInt32 = 1
    private static let extensionALPN: UInt16 = 16
    /// The version and the random bytes.
    private static let fixedByteCount = 34

    init(protocols: [String]?) { self.protocols = protocols }

    private init?(_ body: ByteBuffer) {
        var body = body
        // The session, the cipher suites, the compression methods.
        guard body.readSlice(length: Self.fixedByteCount) != nil,
            body.readLengthPrefixedSlice(as: UInt8.self) != nil,
            body.readLengthPrefixedSlice(as: UInt16.self) != nil,
            body.readLengthPrefixedSlice(as: UInt8.self) != nil
        else { return nil }
        var extensions = body.readLengthPrefixedSlice(as: UInt16.self) ?? ByteBuffer()
        while let type = extensions.readInteger(as: UInt16.self) {
            guard var content = extensions.readLengthPrefixedSlice(as: UInt16.self) else {
                return nil
            }
            guard type == Self.extensionALPN else { continue }
            guard var list = content.readLengthPrefixedSlice(as: UInt16.self) else { return nil }
            var names: [String] = []
            while let name = list.readLengthPrefixedSlice(as: UInt8.self) {
                names.append(String(buffer: name))
            }
            protocols = names
            return
        }
        protocols = nil
    }
}
