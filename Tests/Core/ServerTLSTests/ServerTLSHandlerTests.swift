// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOSSL
import OpenSSLCrypto
import SeedKit
import ServerTLS
import Testing

@Suite("TLS for accepted connections, with the client of another library")
struct ServerTLSHandlerTests {
    private let certificates: Certificates
    private let context: ServerTLSContext

    init() throws {
        certificates = try Certificates()
        context = try certificates.context()
    }

    private func text(_ count: Int, _ seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    @Test(
        "bytes arrive as they were sent, both ways, however they are cut",
        arguments: [TLSVersion.tlsv12, .tlsv13], [1, 7, 1460, 100_000])
    func bytes(version: TLSVersion, longestChunk: Int) throws {
        let count = longestChunk == 1 ? 20_000 : 300_000
        let pair = try TLSPair(
            context, trusting: certificates, version: version, longestChunk: longestChunk,
            seed: UInt64(longestChunk))
        // Before the handshake: sent after it.
        let early = pair.server.eventLoop.makePromise(of: Void.self)
        pair.server.writeAndFlush(ByteBuffer(string: "early"), promise: early)
        pair.exchange()
        #expect(pair.atServer.handshakes == ["h2"])
        #expect(pair.atClient.handshakes == ["h2"])
        #expect(pair.atClient.bytes == Array("early".utf8))
        try early.futureResult.wait()
        let (up, down) = (text(count, 2), text(count, 3))
        pair.client.writeAndFlush(ByteBuffer(bytes: up), promise: nil)
        pair.server.writeAndFlush(ByteBuffer(bytes: down), promise: nil)
        pair.exchange()
        #expect(pair.atServer.bytes == up)
        #expect(pair.atClient.bytes == Array("early".utf8) + down)
        #expect(pair.atServer.errors.isEmpty && pair.atClient.errors.isEmpty)
    }

    @Test("what is flushed together is one record, and each of the promises is kept")
    func together() throws {
        let pair = try TLSPair(context, trusting: certificates)
        pair.exchange()
        let promises = (0..<50).map { _ in pair.server.eventLoop.makePromise(of: Void.self) }
        for (index, promise) in promises.enumerated() {
            pair.server.write(ByteBuffer(string: "\(index),"), promise: promise)
        }
        #expect(pair.takeAll(pair.server).isEmpty)
        pair.server.flush()
        let sent = pair.takeAll(pair.server)
        #expect(TLSPair.recordTypes(sent) == [23])
        pair.deliver(sent, to: pair.client)
        #expect(
            String(decoding: pair.atClient.bytes, as: UTF8.self)
                == (0..<50).map { "\($0)," }.joined())
        for promise in promises { try promise.futureResult.wait() }
    }

    @Test("TLS 1.1 is refused")
    func old() throws {
        let pair = try TLSPair(context, trusting: certificates, version: .tlsv11)
        pair.exchange()
        #expect(pair.atServer.handshakes.isEmpty)
        #expect(pair.atServer.errors.count == 1)
        #expect(!pair.atServer.isActive)
    }

    // MARK: ALPN

    @Test(
        "a protocol is agreed on, or the alert no_application_protocol is sent (RFC 7301 §3.2)",
        arguments: [
            (["h2"], false, "h2", nil), (["http/1.1", "h2"], true, "h2", nil),
            (["http/1.1"], false, nil, ServerTLSError.noSharedProtocol),
            (["http/1.1"], true, nil, .noSharedProtocol), ([], true, nil, .noProtocol),
        ] as [([String], Bool, String?, ServerTLSError?)])
    func protocols(
        offered: [String], isRequired: Bool, agreed: String?, error: ServerTLSError?
    ) throws {
        let context = try certificates.context(requiresALPN: isRequired)
        let pair = try TLSPair(context, trusting: certificates, protocols: offered)
        pair.exchange()
        #expect(pair.atServer.handshakes == (agreed.map { [$0] } ?? []))
        let errors = pair.atServer.errors.compactMap { $0 as? ServerTLSError }
        #expect(errors == (error.map { [$0] } ?? []))
        if error != nil {
            // A record of type alert: fatal, no_application_protocol.
            #expect(pair.fromServer == [0x15, 3, 3, 0, 2, 2, 120])
            #expect(!pair.atServer.isActive)
        }
    }

    @Test("a client that offers no protocol is served where none is required")
    func noProtocol() throws {
        let pair = try TLSPair(context, trusting: certificates, protocols: [])
        pair.exchange()
        #expect(pair.atServer.handshakes == [nil])
    }

    // MARK: Certificates of clients

    @Test("a client's certificate is asked for and may be missing; one of others is refused")
    func clientCertificates() throws {
        let context = try certificates.context(
            clientAuthorities: certificates.authority.certificatePEM)
        let stranger = try Certificates()
        for (certificate, isServed) in [
            (certificates.client, true), (nil, true), (stranger.client, false),
            // Not made for clients.
            (certificates.server, false),
        ] {
            let pair = try TLSPair(context, trusting: certificates, clientCertificate: certificate)
            pair.exchange()
            #expect(pair.atServer.handshakes.count == (isServed ? 1 : 0))
            #expect(pair.atServer.errors.isEmpty == isServed)
            let tls = try? pair.server.pipeline.syncOperations.handler(type: ServerTLSHandler.self)
            let validUntil = tls?.clientCertificateValidUntil
            if isServed {
                #expect(
                    validUntil == (certificate == nil ? nil : Certificates.validity.upperBound))
            }
        }
    }

    // MARK: Wrong bytes

    @Test("bytes that are no TLS end the connection, and nothing else", arguments: 0..<40)
    func noise(seed: UInt64) throws {
        let pair = try TLSPair(context, trusting: certificates, seed: seed)
        _ = pair.takeAll(pair.client)
        let noise =
            seed == 0 ? Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8) : text(20_000, seed)
        pair.deliver(noise, to: pair.server)
        #expect(pair.atServer.handshakes.isEmpty)
        #expect(pair.atServer.errors.count == 1)
        #expect(!pair.atServer.isActive)
        #expect(pair.atServer.bytes.isEmpty)
    }

    @Test("a changed bit in what the client sends never reaches the server as bytes")
    func changedBits() throws {
        let sent = text(2000, 9)
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            let pair = try TLSPair(
                context, trusting: certificates, version: seed % 2 == 0 ? .tlsv12 : .tlsv13,
                seed: seed)
            var position = random.below(3000)
            pair.exchange { bytes in
                var bytes = bytes
                if bytes.indices.contains(position) { bytes[position] ^= 1 << UInt8(seed % 8) }
                position -= bytes.count
                return bytes
            }
            pair.client.writeAndFlush(ByteBuffer(bytes: sent), promise: nil)
            pair.exchange { bytes in
                var bytes = bytes
                if bytes.indices.contains(position) { bytes[position] ^= 1 << UInt8(seed % 8) }
                position -= bytes.count
                return bytes
            }
            #expect(sent.starts(with: pair.atServer.bytes), "seed \(seed)")
            #expect(pair.atServer.errors.count <= 1, "seed \(seed)")
        }
    }

    @Test("a client that goes in the middle of the handshake leaves no promise open")
    func goneInHandshake() throws {
        let pair = try TLSPair(context, trusting: certificates)
        let promise = pair.server.eventLoop.makePromise(of: Void.self)
        pair.server.writeAndFlush(ByteBuffer(string: "early"), promise: promise)
        pair.deliver(Array(pair.takeAll(pair.client).prefix(100)), to: pair.server)
        pair.server.close(promise: nil)
        #expect(throws: ChannelError.self) { try promise.futureResult.wait() }
        #expect(!pair.atServer.isActive)
    }

    // MARK: Closing

    @Test("closing says so to the client, and waits for its answer")
    func closing() throws {
        let pair = try TLSPair(context, trusting: certificates)
        pair.exchange()
        let unflushed = pair.server.eventLoop.makePromise(of: Void.self)
        pair.server.write(ByteBuffer(string: "never"), promise: unflushed)
        let closed = pair.server.close()
        #expect(pair.atServer.isActive)
        // What the client still sends is read, and dropped.
        pair.client.writeAndFlush(ByteBuffer(string: "late"), promise: nil)
        pair.exchange()
        #expect(!pair.atServer.isActive && !pair.atClient.isActive)
        #expect(pair.atServer.bytes.isEmpty)
        #expect(pair.atClient.errors.isEmpty)
        try closed.wait()
        #expect(throws: ChannelError.self) { try unflushed.futureResult.wait() }
        #expect(throws: ChannelError.self) {
            try pair.server.writeAndFlush(ByteBuffer(string: "after")).wait()
        }
    }

    @Test("closing ends without the client's answer when its time is over")
    func closeTimeout() throws {
        let pair = try TLSPair(context, trusting: certificates)
        pair.exchange()
        let closed = [pair.server.close(), pair.server.close()]
        pair.server.embeddedEventLoop.advanceTime(by: .milliseconds(999))
        #expect(pair.atServer.isActive)
        pair.server.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!pair.atServer.isActive)
        for closed in closed { try closed.wait() }
    }

    @Test("a client that closes gets the server's close_notify, and the connection ends")
    func clientCloses() throws {
        let pair = try TLSPair(context, trusting: certificates)
        pair.exchange()
        pair.client.writeAndFlush(ByteBuffer(string: "last"), promise: nil)
        let closed = pair.client.close()
        pair.exchange()
        #expect(pair.atServer.bytes == Array("last".utf8))
        #expect(!pair.atServer.isActive && !pair.atClient.isActive)
        #expect(pair.atClient.errors.isEmpty)
        try closed.wait()
    }

    @Test(
        "where a channel may be half closed, a client that has closed is still answered",
        arguments: [TLSVersion.tlsv12, .tlsv13], [false, true])
    func answeredAfterClose(version: TLSVersion, endsOutput: Bool) throws {
        let pair = try TLSPair(context, trusting: certificates, version: version)
        try pair.server.setOption(.allowRemoteHalfClosure, value: true).wait()
        pair.exchange()
        pair.client.writeAndFlush(ByteBuffer(string: "request"), promise: nil)
        pair.client.close(mode: .output, promise: nil)
        pair.exchange()
        #expect(pair.atServer.bytes == Array("request".utf8))
        #expect(pair.atServer.inputEnds == [7])
        // The end of TCP's bytes is no second end.
        pair.server.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.atServer.inputEnds == [7])
        try pair.server.writeAndFlush(ByteBuffer(string: "answer")).wait()
        // Nothing is waited for: neither time passes here nor do bytes come.
        if endsOutput { pair.server.close(mode: .output, promise: nil) }
        let closed = pair.server.close()
        #expect(!pair.atServer.isActive)
        try? closed.wait()
        pair.exchange()
        #expect(pair.atClient.bytes == Array("answer".utf8))
        #expect(pair.atClient.errors.isEmpty)
    }

    @Test("the input alone cannot be closed")
    func closingInput() throws {
        let pair = try TLSPair(context, trusting: certificates)
        pair.exchange()
        #expect(throws: ChannelError.self) { try pair.server.close(mode: .input).wait() }
        #expect(pair.atServer.isActive)
    }

    @Test("after the end of the output, the client's bytes are still read")
    func halfClosed() throws {
        let pair = try TLSPair(context, trusting: certificates)
        pair.exchange()
        pair.server.close(mode: .output, promise: nil)
        #expect(TLSPair.recordTypes(pair.takeAll(pair.server)) == [23])
        pair.client.writeAndFlush(ByteBuffer(string: "still"), promise: nil)
        pair.deliver(pair.takeAll(pair.client), to: pair.server)
        #expect(pair.atServer.bytes == Array("still".utf8))
        #expect(throws: ChannelError.self) {
            try pair.server.writeAndFlush(ByteBuffer(string: "after")).wait()
        }
    }

    @Test("a read is repeated until it brings bytes, and not after that")
    func reads() throws {
        let pair = try TLSPair(context, trusting: certificates)
        try pair.server.setOption(.autoRead, value: false).wait()
        pair.server.read()
        let before = pair.reads.count
        pair.exchange()
        #expect(pair.reads.count > before)
        pair.client.writeAndFlush(ByteBuffer(string: "hello"), promise: nil)
        let record = pair.takeAll(pair.client)
        var count = pair.reads.count
        pair.deliver(Array(record.prefix(10)), to: pair.server)
        #expect(pair.reads.count > count)
        count = pair.reads.count
        pair.deliver(Array(record.dropFirst(10)), to: pair.server)
        #expect(pair.atServer.bytes == Array("hello".utf8))
        // The rest may have been delivered in several chunks; the last one asked for nothing.
        let after = pair.reads.count
        pair.server.pipeline.fireChannelReadComplete()
        #expect(pair.reads.count == after)
    }
}
