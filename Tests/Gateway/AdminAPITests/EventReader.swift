// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A reader of `/v1/events` on a plain socket, which reads only when it is told to.
final class EventReader: Sendable {
    /// What it has read.
    struct Tally: Sendable {
        /// Whether the stream has begun: outcomes from now on are for this reader.
        var hasBegun = false
        /// The cursors of the outcomes, in the order in which they came.
        var outcomes: [Int] = []
        /// The id that it would send when it came back.
        var lastID = -1
        /// How often it was told that it may have missed outcomes.
        var dropped = 0
        /// The data of the outcomes.
        var data: [String] = []
        private var isOutcome = false
        /// How often it was told that the stream is alive.
        var pulses = 0

        fileprivate mutating func note(_ line: Substring) {
            if line.hasPrefix("retry: ") { hasBegun = true }
            if line == ": alive" { pulses += 1 }
            if line.hasPrefix("event: ") {
                isOutcome = line == "event: outcome"
                if line == "event: dropped" { dropped += 1 }
            }
            if line.hasPrefix("id: "), let number = Int(line.dropFirst(4)) {
                lastID = number
                if isOutcome { outcomes.append(number) }
            }
            if line.hasPrefix("data: "), isOutcome {
                data.append(String(line.dropFirst(6)))
                isOutcome = false
            }
        }
    }

    private let descriptor: Int32

    /// Asks for the stream.
    init(port: Int, secret: String, query: String = "", lastID: Int? = nil) throws {
        descriptor = try LoopbackSocket.connect(port: port, patienceSeconds: 60)
        let head =
            "GET /v1/events\(query) HTTP/1.1\r\nHost: localhost\r\n"
            + "Authorization: Bearer \(secret)\r\n"
            + (lastID.map { "Last-Event-ID: \($0)\r\n" } ?? "") + "\r\n"
        guard Glibc.send(descriptor, head, head.utf8.count, 0) == head.utf8.count else {
            throw POSIXError(.EPIPE)
        }
    }

    deinit { close(descriptor) }

    /// Reads on until this is enough, the server ends the stream, or nothing comes for a minute.
    /// Ends with whole events: what was begun is read to its end.
    func read(until isEnough: @escaping @Sendable (Tally) -> Bool) async -> Tally {
        await withCheckedContinuation { continuation in
            // The calls block, so they have a thread of their own.
            Thread.detachNewThread { [self] in
                var tally = Tally()
                var text: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while !text.isEmpty || !isEnough(tally) {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    text += buffer[..<count]
                    guard let end = text.lastIndex(of: UInt8(ascii: "\n")) else { continue }
                    // Lines of events end with a line feed, those between with two bytes.
                    for line in String(decoding: text[...end], as: UTF8.self).split(
                        whereSeparator: \.isNewline)
                    {
                        tally.note(line)
                    }
                    text.removeSubrange(...end)
                }
                continuation.resume(returning: tally)
            }
        }
    }
}
