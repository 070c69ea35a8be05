// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A connection of HTTP/2 with prior knowledge to 127.0.0.1 with many requests at a time, for
/// whoever polls its socket. It keeps no table of header fields, so that no answer needs one.
final class HTTP2LoadConnection {
    let socket: Int32
    private let fields: [UInt8]
    private var output: [UInt8] = []
    private var input = [UInt8](repeating: 0, count: 262_144)
    private var inputCount = 0
    private var nextStream: UInt32 = 1
    /// When the request on a stream began, and the answers' bodies that were received, in bytes.
    private var starts: [UInt32: UInt64] = [:]
    private var receivedByteCount = 0

    private static let (data, headers, reset, settings): (UInt8, UInt8, UInt8, UInt8) = (0, 1, 3, 4)
    private static let (ping, goAway, window): (UInt8, UInt8, UInt8) = (6, 7, 8)
    /// After so many bytes of answers the server may send more, in bytes.
    private static let windowStep = 16_384
    /// The beginning of the answer to an accepted wake.
    private static let accepted = Array(#"{"id":"#.utf8)

    /// Connects; `fields` are those of every request, in the notation of HTTP/1.1.
    init(port: Int, fields: String, bodyCount: Int) throws {
        guard let socket = Loopback.connect(port: port) else {
            throw ChildProcess.Failure(description: "the gateway takes no connection")
        }
        self.socket = socket
        var isOn: Int32 = 1
        setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        // POST and http of the static table (RFC 7541, Appendix A), the rest in literals.
        var block: [UInt8] = [0x83, 0x86]
        block += Self.literal(":path", "/v1/wakes")
        for line in fields.split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let name = line[..<colon].lowercased()
            block += Self.literal(
                name == "host" ? ":authority" : name,
                String(line[line.index(colon, offsetBy: 2)...]))
        }
        block += Self.literal("content-type", "application/json")
        block += Self.literal("content-length", String(bodyCount))
        self.fields = block
        output = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        // SETTINGS_HEADER_TABLE_SIZE 0.
        appendFrame(Self.settings, 0, 0, [0, 1, 0, 0, 0, 0])
    }

    deinit { close(socket) }

    private static func literal(_ name: String, _ value: String) -> [UInt8] {
        func text(_ text: String) -> [UInt8] {
            let count = text.utf8.count
            // Shorter than 127 + 128 bytes.
            return (count < 127 ? [UInt8(count)] : [0x7f, UInt8(count - 127)]) + text.utf8
        }
        return [0x00] + text(name) + text(value)
    }

    private func appendFrame(
        _ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: some Collection<UInt8>
    ) {
        let count = payload.count
        output.append(contentsOf: [
            UInt8(count >> 16), UInt8(count >> 8 & 0xff), UInt8(count & 0xff), type, flags,
            UInt8(stream >> 24), UInt8(stream >> 16 & 0xff), UInt8(stream >> 8 & 0xff),
            UInt8(stream & 0xff),
        ])
        output.append(contentsOf: payload)
    }

    /// Begins a request with this body.
    func begin(_ body: some Collection<UInt8>) {
        appendFrame(Self.headers, 0x4, nextStream, fields)
        appendFrame(Self.data, 0x1, nextStream, body)
        starts[nextStream] = ProcessClocks.nanoseconds
        nextStream += 2
    }

    /// What to poll the socket for.
    var events: Int16 { Int16(output.isEmpty ? POLLIN : POLLIN | POLLOUT) }

    /// Sends what is to be sent.
    func send() throws {
        while !output.isEmpty {
            // SAFETY: the bytes are the array's own while it is borrowed.
            let count = output.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count >= 0 else { return try Self.checkWouldBlock() }
            output.removeFirst(count)
        }
    }

    /// Receives what is there. Returns how long each request took that was answered, in
    /// nanoseconds. Throws if one was not accepted.
    func receive() throws -> [UInt64] {
        // SAFETY: the bytes from `inputCount` on are the buffer's own.
        let count = input.withUnsafeMutableBytes { bytes in
            let room = UnsafeMutableRawBufferPointer(rebasing: bytes[inputCount...])
            return recv(socket, room.baseAddress, room.count, 0)
        }
        guard count >= 0 else {
            try Self.checkWouldBlock()
            return []
        }
        guard count > 0 else {
            throw ChildProcess.Failure(description: "the gateway closed a connection")
        }
        inputCount += count
        var durations: [UInt64] = []
        var place = 0
        while inputCount - place >= 9 {
            let length =
                Int(input[place]) << 16 | Int(input[place + 1]) << 8 | Int(input[place + 2])
            let end = place + 9 + length
            guard end <= inputCount else { break }
            try take(place, end, &durations)
            place = end
        }
        input.replaceSubrange(0..<inputCount - place, with: input[place..<inputCount])
        inputCount -= place
        return durations
    }

    private func take(_ place: Int, _ end: Int, _ durations: inout [UInt64]) throws {
        let (type, flags) = (input[place + 3], input[place + 4])
        let payload = place + 9
        switch type {
        case Self.settings where flags & 1 == 0: appendFrame(Self.settings, 1, 0, [])
        case Self.ping where flags & 1 == 0:
            appendFrame(Self.ping, 1, 0, Array(input[payload..<end]))
        case Self.goAway, Self.reset:
            throw ChildProcess.Failure(description: "the gateway refused a request")
        case Self.data:
            receivedByteCount += end - payload
            if receivedByteCount >= Self.windowStep {
                let step = UInt32(receivedByteCount)
                appendFrame(
                    Self.window, 0, 0,
                    (0..<4).map { UInt8(truncatingIfNeeded: step >> (24 - 8 * $0)) })
                receivedByteCount = 0
            }
            if end > payload, !input[payload..<end].starts(with: Self.accepted) {
                let text = String(decoding: input[payload..<min(end, payload + 500)], as: UTF8.self)
                throw ChildProcess.Failure(description: "the gateway did not accept: \(text)")
            }
            guard flags & 1 != 0 else { break }
            let stream = input[place + 5..<place + 9].reduce(0) { $0 << 8 | UInt32($1) }
            if let start = starts.removeValue(forKey: stream) {
                durations.append(ProcessClocks.nanoseconds - start)
            }
        default: break
        }
    }

    private static func checkWouldBlock() throws {
        guard errno == EAGAIN || errno == EINTR else {
            throw ChildProcess.Failure(
                description: "a connection failed: \(String(cString: strerror(errno)))")
        }
    }
}
