// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc

/// One of the callers of ``GatewayNeighbours``, in a process of its own.
struct RunNeighbour: ParsableCommand {
    static let name = "run-neighbour"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "For the benchmark's own use.", shouldDisplay: false)

    @Argument var task: String

    func run() throws {
        let task = try JSONDecoder().decode(NeighbourTask.self, from: Data(task.utf8))
        print(String(decoding: try JSONEncoder().encode(try task.run()), as: UTF8.self))
    }
}

/// Requests of one key, at a fixed rate or as fast as they are answered.
struct NeighbourTask: Codable {
    let port: Int
    let key: String
    /// The number of the first device; each wake goes to the next.
    var firstDevice: Int
    /// Wakes of one request.
    let batch: Int
    let connections: Int
    /// Requests a second; `nil` for the next one after each answer.
    let perSecond: Int?
    var seconds: Int
    /// How long to wait before the first request.
    var delayMilliseconds: UInt32 = 0

    /// Sends until the time is over, and waits for what is not answered.
    func run() throws -> NeighbourReport {
        let form = WakeRequestForm(
            HTTPLoad(
                port: port, key: key, firstDevice: firstDevice, wakes: batch, batch: batch,
                connections: connections))
        usleep(delayMilliseconds * 1000)
        var state = State(form: form)
        let start = ProcessClocks.nanoseconds
        let end = start + UInt64(seconds) * 1_000_000_000
        while true {
            let now = ProcessClocks.nanoseconds
            while state.busy.count < connections {
                let due = perSecond.map { start + UInt64(state.begun) * 1_000_000_000 / UInt64($0) }
                guard due ?? now <= now, due ?? now < end else { break }
                // Opened when it is needed: the gateway ends one that sends nothing for seconds.
                let connection =
                    try state.idle.popLast()
                    ?? HTTPConnection(port: port, request: form.request)
                try begin(on: connection, due: due ?? now, &state)
            }
            if now >= end, state.busy.isEmpty { break }
            try takeAnswers(&state)
        }
        let times = state.times.sorted()
        return NeighbourReport(
            accepted: state.accepted, refused: state.refused,
            acceptedPerSecond: Double(state.accepted) / Double(seconds),
            medianMilliseconds: Double(times.percentile(0.5)) / 1000,
            p99Milliseconds: Double(times.percentile(0.99)) / 1000)
    }

    /// What is under way.
    private struct State {
        let form: WakeRequestForm
        var idle: [HTTPConnection] = []
        var busy: [(connection: HTTPConnection, due: UInt64)] = []
        var begun = 0
        var accepted = 0
        var refused = 0
        /// From the instant at which each was due, in microseconds.
        var times: [UInt32] = []
    }

    private func begin(on connection: HTTPConnection, due: UInt64, _ state: inout State) throws {
        let tokens = try DeviceTokenTexts(first: firstDevice + state.begun * batch, count: batch)
        for (number, place) in state.form.tokenPlaces.enumerated() {
            connection.request.replaceSubrange(
                place..<place + DeviceTokenTexts.length, with: tokens[number])
        }
        try connection.start()
        state.busy.append((connection, due))
        state.begun += 1
    }

    /// Takes the answers that are there, within a millisecond.
    private func takeAnswers(_ state: inout State) throws {
        var descriptors = state.busy.map {
            pollfd(fd: $0.connection.socket, events: $0.connection.events, revents: 0)
        }
        guard poll(&descriptors, nfds_t(descriptors.count), 1) > 0 else { return }
        // From the end, so that places before one that is removed stay what they are.
        for place in descriptors.indices.reversed() where descriptors[place].revents != 0 {
            let (connection, due) = state.busy[place]
            guard let answer = try connection.proceed() else { continue }
            state.times.append(UInt32(clamping: (ProcessClocks.nanoseconds - due) / 1000))
            state.busy.remove(at: place)
            state.idle.append(connection)
            // A key that asks for too much may be refused; that is not what is measured.
            if answer.status == 429 || answer.status == 503 {
                state.refused += batch
            } else {
                try state.form.check(answer)
                state.accepted += batch
            }
        }
    }
}

/// What came of it.
struct NeighbourReport: Codable {
    let accepted: Int
    /// Wakes of requests that were answered 429 or 503.
    let refused: Int
    let acceptedPerSecond: Double
    let medianMilliseconds: Double
    let p99Milliseconds: Double
}
