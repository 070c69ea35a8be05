// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization

/// Writes outcomes as server-sent events (WHATWG HTML §9.2) until the reader goes away, its time
/// is up, or the gateway shuts down.
struct EventStream: Sendable {
    /// The media type.
    static let mediaType = "text/event-stream"
    /// After how long a reader comes back by itself, in seconds.
    static let retrySeconds = 3
    /// The longest time that a reader can choose, in seconds.
    static let maximumLifeSeconds = 86_400
    /// How many events wait to be written.
    static let bufferedCount = 64

    let events: OutcomeEvents
    let pulseSeconds: Int
    /// How long the stream lasts, in seconds; `nil` for as long as it is read.
    let lifeSeconds: Int?
    let streams: ConnectionCount

    /// The stream as an answer.
    var response: Response {
        var headers = HTTPFields()
        headers[.contentType] = Self.mediaType
        let stream = self
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                try await stream.write(to: &writer)
                try await writer.finish(nil)
            })
    }

    /// What is to be written next.
    private enum Turn {
        case event(OutcomeEvent)
        /// A silent stream would be closed by proxies, and a reader that is gone is found out only
        /// by writing to it.
        case pulse
        case end
    }

    /// Events that fell out between the gateway's buffer and the writer.
    private final class Losses: Sendable {
        let count = Atomic<Int>(0)
    }

    private func write(to writer: inout any ResponseBodyWriter) async throws {
        streams.opened()
        defer { streams.closed() }
        let losses = Losses()
        let (turns, continuation) = AsyncStream.makeStream(
            of: Turn.self, bufferingPolicy: .bufferingNewest(Self.bufferedCount))
        let source = Task { [events] in
            for await event in events {
                if case .dropped = continuation.yield(.event(event)) {
                    losses.count.wrappingAdd(1, ordering: .relaxed)
                }
            }
            continuation.finish()
        }
        let clock = Task { [pulseSeconds] in
            while true {
                try await Task.sleep(for: .seconds(pulseSeconds))
                continuation.yield(.pulse)
            }
        }
        let end = lifeSeconds.map { ContinuousClock.now + .seconds($0) }
        let ender = Task {
            guard let end else { return }
            try await Task.sleep(until: end)
            continuation.yield(.end)
        }
        defer {
            source.cancel()
            clock.cancel()
            ender.cancel()
        }
        try await writer.write(ByteBuffer(string: "retry: \(Self.retrySeconds * 1000)\n\n"))
        var iterator = turns.makeAsyncIterator()
        var reported = 0
        while let turn = await Self.next(&iterator, continuation) {
            switch turn {
            case .end: return
            case .event(let event): try await writer.write(ByteBuffer(bytes: Self.text(event)))
            case .pulse: try await writer.write(ByteBuffer(string: ": alive\n\n"))
            }
            let lost = events.droppedCount + losses.count.load(ordering: .relaxed)
            if lost > reported {
                reported = lost
                try await writer.write(
                    ByteBuffer(string: "event: dropped\ndata: {\"count\":\(lost)}\n\n"))
            }
            // Under load the word of the end may itself have been dropped.
            if let end, .now >= end { return }
        }
    }

    /// The next turn; a shutdown, which waits for open answers, ends the stream.
    private static func next(
        _ iterator: inout AsyncStream<Turn>.Iterator,
        _ continuation: AsyncStream<Turn>.Continuation
    ) async -> Turn? {
        await withGracefulShutdownHandler {
            await iterator.next()
        } onGracefulShutdown: {
            continuation.yield(.end)
        }
    }

    private static func text(_ event: OutcomeEvent) -> [UInt8] {
        var text = Array("event: outcome\nid: \(event.sequence)\ndata: ".utf8)
        text += event.json.bytes
        text += Array("\n\n".utf8)
        return text
    }
}
