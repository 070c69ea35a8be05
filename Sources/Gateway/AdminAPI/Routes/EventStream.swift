// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Writes outcomes as server-sent events (WHATWG HTML §9.2) until the reader goes away, its time
/// is up, or the gateway shuts down.
struct EventStream: Sendable {
    /// The media type.
    static let mediaType = "text/event-stream"
    /// After how long a reader comes back by itself, in seconds.
    static let retrySeconds = 3
    /// The longest time that a reader can choose, in seconds.
    static let maximumLifeSeconds = 86_400

    let events: OutcomeEvents
    let pulseSeconds: Int
    /// How long the stream lasts, in seconds; `nil` for as long as it is read.
    let lifeSeconds: Int?
    /// What the reader's key grants; the stream ends with it. `nil` where no key is asked for.
    let grant: KeyGrant?
    let streams: ConnectionCount
    /// Whether its reader is still there.
    let presence: CallerPresence

    /// What the OpenAPI document says of an event: its fields.
    static var eventSchema: Schema {
        .object([
            .optional("event", .string("outcome or dropped.")), .optional("id", .string()),
            .optional("retry", .count()), .required("data", .string("An object as JSON.")),
        ])
    }

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

    private func write(to writer: inout any ResponseBodyWriter) async throws {
        streams.opened()
        defer { streams.closed() }
        let outbox = EventOutbox()
        let source = Task { [events] in
            for await event in events { await outbox.put(event) }
            outbox.end()
        }
        let clock = Task { [pulseSeconds] in
            while true {
                try await Task.sleep(for: .seconds(pulseSeconds))
                outbox.pulse()
            }
        }
        let ender = Task { [lifeSeconds] in
            guard let lifeSeconds else { return }
            try await Task.sleep(for: .seconds(lifeSeconds))
            outbox.end()
        }
        let access = Task { [grant] in
            guard let grant else { return }
            await grant.end()
            if !Task.isCancelled { outbox.cut() }
        }
        defer {
            access.cancel()
            source.cancel()
            clock.cancel()
            ender.cancel()
        }
        // A reader that is gone is found out at once, and not by the next pulse.
        try await presence.watched {
            outbox.end()
        } _: {
            try await write(what: outbox, to: &writer)
        }
    }

    private func write(
        what outbox: EventOutbox, to writer: inout any ResponseBodyWriter
    ) async throws {
        try await writer.write(ByteBuffer(string: "retry: \(Self.retrySeconds * 1000)\n\n"))
        var reported = 0
        var isOver = false
        while !isOver {
            // A shutdown, which waits for open answers, ends the stream.
            let load = await withGracefulShutdownHandler {
                await outbox.take()
            } onGracefulShutdown: {
                outbox.end()
            }
            isOver = load.isLast
            var text: [UInt8] = []
            for event in load.events { Self.append(event, to: &text) }
            let lost = events.droppedCount
            if lost > reported {
                reported = lost
                text += Array("event: dropped\ndata: {\"count\":\(lost)}\n\n".utf8)
            }
            if text.isEmpty, load.isPulseDue { text = Array(": alive\n\n".utf8) }
            // Waits for a reader that is slow, and lets go of the events only then.
            if !text.isEmpty { try await writer.write(ByteBuffer(bytes: text)) }
        }
    }

    private static func append(_ event: OutcomeEvent, to text: inout [UInt8]) {
        text += Array("event: outcome\nid: \(event.sequence)\ndata: ".utf8)
        text += event.json.bytes
        text += Array("\n\n".utf8)
    }
}
