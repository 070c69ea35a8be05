// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A keep-alive connection of HTTP/1.1 to 127.0.0.1 with one request at a time, for whoever polls
/// its socket.
final class HTTPConnection {
    /// The answer to a request.
    struct Answer {
        let status: Int
        let body: [UInt8]
    }

    /// The longest answer that is read, in bytes.
    private static let maximumAnswer = 16_777_216

    let socket: Int32
    /// The bytes of the request, which may be changed while no answer is awaited.
    var request: [UInt8]
    private var sentCount = 0
    private var received = [UInt8](repeating: 0, count: 65_536)
    private var receivedCount = 0

    /// Connects.
    init(port: Int, request: [UInt8]) throws {
        guard let socket = Loopback.connect(port: port) else {
            throw ChildProcess.Failure(description: "the gateway takes no connection")
        }
        self.socket = socket
        self.request = request
        var isOn: Int32 = 1
        setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    }

    deinit { close(socket) }

    /// Begins to send the request.
    func start() throws {
        sentCount = 0
        receivedCount = 0
        try send()
    }

    /// What to poll the socket for.
    var events: Int16 { Int16(sentCount < request.count ? POLLIN | POLLOUT : POLLIN) }

    /// Goes on after a poll; the answer when all of it is there.
    func proceed() throws -> Answer? {
        if sentCount < request.count { try send() }
        return try receive()
    }

    /// Sends the request and waits for its answer.
    func ask() throws -> Answer {
        try start()
        while true {
            var descriptor = pollfd(fd: socket, events: events, revents: 0)
            guard poll(&descriptor, 1, HTTPLoad.patienceMilliseconds) > 0 else {
                throw ChildProcess.Failure(description: "the gateway does not answer")
            }
            if let answer = try proceed() { return answer }
        }
    }

    private func send() throws {
        while sentCount < request.count {
            // SAFETY: the bytes from `sentCount` on are the request's own.
            let count = request.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sentCount...])
                return Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count >= 0 else { return try Self.checkWouldBlock() }
            sentCount += count
        }
    }

    private func receive() throws -> Answer? {
        if receivedCount == received.count {
            guard receivedCount < Self.maximumAnswer else {
                throw ChildProcess.Failure(description: "an answer is too long")
            }
            received += [UInt8](repeating: 0, count: receivedCount)
        }
        // SAFETY: the bytes from `receivedCount` on are the buffer's own.
        let count = received.withUnsafeMutableBytes { bytes in
            let room = UnsafeMutableRawBufferPointer(rebasing: bytes[receivedCount...])
            return recv(socket, room.baseAddress, room.count, 0)
        }
        guard count >= 0 else {
            try Self.checkWouldBlock()
            return nil
        }
        guard count > 0 else {
            throw ChildProcess.Failure(description: "the gateway closed a connection")
        }
        receivedCount += count
        return try parse()
    }

    private static func checkWouldBlock() throws {
        guard errno == EAGAIN || errno == EINTR else {
            throw ChildProcess.Failure(
                description: "a connection failed: \(String(cString: strerror(errno)))")
        }
    }

    /// The answer, if all of it was received.
    private func parse() throws -> Answer? {
        // SAFETY: only what was received is looked at, while it is borrowed.
        let head = received.withUnsafeBytes { Head($0[..<receivedCount]) }
        guard let head else { return nil }
        guard let bodyCount = head.bodyCount else {
            throw ChildProcess.Failure(description: "an answer has no Content-Length")
        }
        let end = head.count + bodyCount
        guard receivedCount >= end else { return nil }
        return Answer(status: head.status, body: Array(received[head.count..<end]))
    }
}

/// The head of an answer, as far as it matters here.
private struct Head {
    let status: Int
    /// With the empty line behind it, in bytes.
    let count: Int
    /// The body's length in bytes by its Content-Length (RFC 9112 §6.2).
    let bodyCount: Int?

    private static let lengthField = Array("content-length:".utf8)

    /// Reads it; `nil` until all of it is there.
    init?(_ bytes: Slice<UnsafeRawBufferPointer>) {
        var line = 0
        var length: Int?
        for end in bytes.indices where bytes[end] == UInt8(ascii: "\n") {
            // An empty line, but for its carriage return.
            if end == line + 1 {
                // The status stands behind `HTTP/1.1 `.
                status = Self.number(bytes[..<end].dropFirst(9).prefix(3))
                count = end + 1
                bodyCount = length
                return
            }
            let text = bytes[line..<end]
            if Self.isLength(text) {
                length = Self.number(text.dropFirst(Self.lengthField.count))
            }
            line = end + 1
        }
        return nil
    }

    private static func isLength(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
        // Letters become small ones; the hyphen and the colon have this bit.
        line.count > lengthField.count && zip(line, lengthField).allSatisfy { $0 | 0x20 == $1 }
    }

    /// The digits of a text as a number, whatever stands around them.
    private static func number(_ text: Slice<UnsafeRawBufferPointer>) -> Int {
        text.reduce(0) { number, byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                ? number * 10 + Int(byte - UInt8(ascii: "0")) : number
        }
    }
}
