// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Wakes for a gateway's API, each to another device: on so many connections one request after the
/// other, all in one thread.
struct HTTPLoad: Codable {
    /// How long anything may take, in milliseconds.
    static let patienceMilliseconds: Int32 = 60_000

    let port: Int
    /// The key of the API.
    let key: String
    /// The number of the first device; the others follow.
    let firstDevice: Int
    /// A multiple of `batch`.
    let wakes: Int
    /// Wakes of one request; one alone is no batch.
    let batch: Int
    let connections: Int
    /// Connections of HTTP/2 that carry the single requests of `connections`; 0 for HTTP/1.1.
    var http2Connections = 0

    /// Sends all, checks each answer, and waits until the gateway has settled all.
    func run() throws -> HTTPLoadReport {
        let form = WakeRequestForm(self)
        let tokens = try DeviceTokenTexts(first: firstDevice, count: wakes)
        let http2 = try (0..<http2Connections).map { _ in
            try HTTP2LoadConnection(
                port: port, fields: WakeRequestForm.fields(self), bodyCount: form.body.bytes.count)
        }
        let open = try (0..<(http2.isEmpty ? min(connections, wakes / batch) : 0)).map { _ in
            try HTTPConnection(port: port, request: form.request)
        }
        let before = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        let latencies =
            try http2.isEmpty
            ? send(form, tokens, on: open) : multiplex(form.body, tokens, on: http2)
        let accepted = (wall: ProcessClocks.wallSeconds, cpu: ProcessClocks.cpuSeconds)
        let settled = try waitUntilSettled()
        return HTTPLoadReport(
            acceptedSeconds: accepted.wall - before.wall, settledSeconds: settled - before.wall,
            cpuSeconds: accepted.cpu - before.cpu,
            medianMilliseconds: Double(latencies.percentile(0.5)) / 1000,
            p99Milliseconds: Double(latencies.percentile(0.99)) / 1000)
    }

    /// Keeps every connection busy until all is answered; how long each request took, in
    /// microseconds and sorted. It waits with epoll, because poll looks at all connections each
    /// time, and its processor time would be the gateway's loss.
    private func send(
        _ form: WakeRequestForm, _ tokens: DeviceTokenTexts, on connections: [HTTPConnection]
    ) throws -> [UInt32] {
        var latencies: [UInt32] = []
        latencies.reserveCapacity(wakes / batch)
        var starts = [UInt64](repeating: 0, count: connections.count)
        let readiness = try Readiness()
        var next = 0
        for (index, connection) in connections.enumerated() {
            starts[index] = ProcessClocks.nanoseconds
            try start(&next, form, tokens, on: connection)
            readiness.add(connection, as: index)
        }
        while latencies.count < wakes / batch {
            for index in try readiness.wait(Self.patienceMilliseconds) {
                let connection = connections[index]
                if let answer = try connection.proceed() {
                    let now = ProcessClocks.nanoseconds
                    latencies.append(UInt32(clamping: (now - starts[index]) / 1000))
                    try form.check(answer)
                    guard next < wakes else {
                        readiness.remove(connection, as: index)
                        continue
                    }
                    starts[index] = ProcessClocks.nanoseconds
                    try start(&next, form, tokens, on: connection)
                }
                readiness.update(connection, as: index)
            }
        }
        return latencies.sorted()
    }

    /// The same for single requests over HTTP/2: each connection has an equal part of them at a
    /// time. `body` is one with the place of its token.
    private func multiplex(
        _ body: (bytes: [UInt8], tokenPlace: Int), _ tokens: DeviceTokenTexts,
        on connections: [HTTP2LoadConnection]
    ) throws -> [UInt32] {
        var latencies: [UInt32] = []
        latencies.reserveCapacity(wakes)
        var bytes = body.bytes
        var next = 0
        func begin(_ count: Int, on connection: HTTP2LoadConnection) throws {
            for _ in 0..<min(count, wakes - next) {
                bytes.replaceSubrange(
                    body.tokenPlace..<body.tokenPlace + DeviceTokenTexts.length, with: tokens[next])
                connection.begin(bytes)
                next += 1
            }
            try connection.send()
        }
        for connection in connections {
            try begin(max(1, self.connections / connections.count), on: connection)
        }
        while latencies.count < wakes {
            var descriptors = connections.map {
                pollfd(fd: $0.socket, events: $0.events, revents: 0)
            }
            guard poll(&descriptors, nfds_t(descriptors.count), Self.patienceMilliseconds) > 0
            else { throw ChildProcess.Failure(description: "the gateway does not answer") }
            for (connection, descriptor) in zip(connections, descriptors)
            where descriptor.revents != 0 {
                let durations =
                    descriptor.revents & Int16(POLLIN) != 0 ? try connection.receive() : []
                latencies += durations.map { UInt32(clamping: $0 / 1000) }
                try begin(durations.count, on: connection)
            }
        }
        return latencies.sorted()
    }

    private func start(
        _ next: inout Int, _ form: WakeRequestForm, _ tokens: DeviceTokenTexts,
        on connection: HTTPConnection
    ) throws {
        for place in form.tokenPlaces {
            connection.request.replaceSubrange(
                place..<place + DeviceTokenTexts.length, with: tokens[next])
            next += 1
        }
        try connection.start()
    }

    /// Returns when no wake is left, in wall seconds.
    private func waitUntilSettled() throws -> Double {
        let connection = try statsConnection()
        let end = ProcessClocks.wallSeconds + Double(Self.patienceMilliseconds) / 1000
        while ProcessClocks.wallSeconds < end {
            if try askForStats(connection).unended == 0 { return ProcessClocks.wallSeconds }
            usleep(2000)
        }
        throw ChildProcess.Failure(description: "wakes are left that do not end")
    }

    private func statsConnection() throws -> HTTPConnection {
        let head = "GET /v1/stats HTTP/1.1\r\n\(WakeRequestForm.fields(self))\r\n"
        return try HTTPConnection(port: port, request: Array(head.utf8))
    }

    private func askForStats(_ connection: HTTPConnection) throws -> Stats {
        try JSONDecoder().decode(Stats.self, from: Data(connection.ask().body))
    }

    /// The present counts of the server.
    func askForStats() throws -> Stats { try askForStats(statsConnection()) }

    struct Stats: Decodable {
        let unended: Int
        /// Pushes that were not accepted; the peer in Go counts them.
        let failed: Int?
    }
}

/// What came of it.
struct HTTPLoadReport: Codable {
    /// Until the last answer, from the first request on.
    let acceptedSeconds: Double
    /// Until no wake was left, from the first request on.
    let settledSeconds: Double
    /// User and system time of the load until the last answer.
    let cpuSeconds: Double
    let medianMilliseconds: Double
    let p99Milliseconds: Double
}
