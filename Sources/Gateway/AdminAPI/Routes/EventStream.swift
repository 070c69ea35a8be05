// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Writes outcomes as server-sent events (WHATWG HTML §9.2) until the reader disconnects, the
/// duration is over, the key's rights end, or the gateway shuts down.
struct EventStream: Sendable {
    /// The media type.
    static let mediaType = "text/event-stream"
    /// The time after which a reader reconnects by itself, in seconds.
    static let retrySeconds = 3
    /// The maximum duration of a stream, in seconds.
    static let maximumLifeSeconds = 86_400

    let events: OutcomeEvents
    let pulseSeconds: Int
    /// The duration of the stream, in seconds; `nil` for no limit.
    let lifeSeconds: Int?
    /// The grant of the reader's key; the stream ends with it. `nil` if no key is required.
    let grant: KeyGrant?
    let streams: ConnectionCount
    /// Whether the reader is connected.
    let presence: CallerPresence

    /// The schema of an event in the OpenAPI document: its fields.
    static var eventSchema: Schema {
        .object([
            .optional("event", .string("outcome or dropped.")), .optional("id", .string()),
            .optional("retry", .count()), .required("data", .string("An object as JSON.")),
        ])
    }

    /// The stream as an HTTP response.
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
        // A disconnected reader is detected immediately, and not by the next pulse.
        try await presence.watched {
            outbox.end()
        } _: {
            try await write(what: outbox, to: &writer)
        }
    }

    private func write(
        what outbox: EventOutbox, to writer: inout any ResponseBodyWriter
    ) async throws {
        // An id without data is not an event, but a reader sends it when it reconnects.
        var position = events.start
        var beginning = "retry: \(Self.retrySeconds * 1000)\nid: \(position)\n\n"
        if events.mayHaveMissed { beginning += Self.dropped }
        try await writer.write(ByteBuffer(string: beginning))
        var isOver = false
        while !isOver {
            // A shutdown ends the stream, because it waits for open responses.
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
                // Sends the cursor, so that events of other apps that were skipped are not read
                // again.
                text = Array((pulse > position ? "id: \(pulse)\n" : "").utf8)
                text += Array(": alive\n\n".utf8)
                position = max(position, pulse)
            }
            // Waits for a slow reader; the events are released only afterwards.
            if !text.isEmpty { try await writer.write(ByteBuffer(bytes: text)) }
        }
    }

    private static let dropped =
        "event: dropped\ndata: {\"message\":\"Outcomes behind this cursor may be missing: they "
        + "were removed by their age, or the cursor is of another store.\"}\n\n"

    private static func append(_ event: OutcomeEvent, to text: inout [UInt8]) {
        text += Array("event: outcome\nid: \(event.cursor)\ndata: ".utf8)
        text += event.json.bytes
        text += Array("\n\n".utf8)
    }
}
