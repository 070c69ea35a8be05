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
        let clock = Task { [pulseSeconds, events] in
            while true {
                try await Task.sleep(for: .seconds(pulseSeconds))
                outbox.pulse(at: events.position)
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
        // An id without data is no event, and yet a reader that comes back sends it.
        var position = events.start
        var beginning = "retry: \(Self.retrySeconds * 1000)\nid: \(position)\n\n"
        if events.mayHaveMissed { beginning += Self.dropped }
        try await writer.write(ByteBuffer(string: beginning))
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
            position = load.events.last?.cursor ?? position
            if text.isEmpty, let pulse = load.pulse {
                // What was passed over since, of apps that are not the reader's, is not read again.
                text = Array((pulse > position ? "id: \(pulse)\n" : "").utf8)
                text += Array(": alive\n\n".utf8)
                position = max(position, pulse)
            }
            // Waits for a reader that is slow, and lets go of the events only then.
            if !text.isEmpty { try await writer.write(ByteBuffer(bytes: text)) }
        }
    }

    private static let dropped =
        "event: dropped\ndata: {\"message\":\"Outcomes behind this cursor may be missing: they were "
        + "removed by their age, or the cursor is of another store.\"}\n\n"

    private static func append(_ event: OutcomeEvent, to text: inout [UInt8]) {
        text += Array("event: outcome\nid: \(event.cursor)\ndata: ".utf8)
        text += event.json.bytes
        text += Array("\n\n".utf8)
    }
}
