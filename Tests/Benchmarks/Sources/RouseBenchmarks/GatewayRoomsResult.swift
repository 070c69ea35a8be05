// SPDX-License-Identifier: Apache-2.0

/// A part of all samples.
struct Share: Encodable {
    /// What stands in a table, in percent.
    static let least = 0.5

    let name: String
    let percent: Double
    let microsecondsPerWake: Double

    var isWorthALine: Bool { percent >= Self.least }
}

/// Where the time of all rounds went.
struct GatewayRoomsResult: Encodable {
    struct Room: Encodable {
        let name: String
        let percent: Double
        let microsecondsPerWake: Double
        /// The room itself, and the libraries below it; the largest first.
        let parts: [Share]
    }

    let server: String
    /// Wakes of one request.
    let batch: Int
    let connections: Int
    let sampleCount: Int
    /// User and system time of the gateway.
    let microsecondsPerWake: Double
    /// The largest first.
    let rooms: [Room]
    /// By the function at the leaf of the stack; the largest first.
    let leaves: [Share]

    init(
        _ server: MeasuredServer.Kind, _ form: GatewayHTTPBenchmark.Form, _ profile: RoomProfile,
        microsecondsPerWake: Double
    ) {
        self.server = server.rawValue
        batch = form.batch
        connections = form.connections
        sampleCount = profile.sampleCount
        self.microsecondsPerWake = microsecondsPerWake
        let shares = { (counts: [String: Int]) in
            counts.map { name, count in
                let part = Double(count) / Double(profile.sampleCount)
                return Share(
                    name: name, percent: part * 100,
                    microsecondsPerWake: part * microsecondsPerWake)
            }.sorted { ($1.percent, $0.name) < ($0.percent, $1.name) }
        }
        rooms = shares(profile.rooms.mapValues { $0.values.reduce(0, +) }).map { room in
            Room(
                name: room.name, percent: room.percent,
                microsecondsPerWake: room.microsecondsPerWake,
                parts: shares(profile.rooms[room.name] ?? [:]))
        }
        leaves = shares(profile.leaves)
    }
}
