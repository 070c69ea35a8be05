// SPDX-License-Identifier: Apache-2.0

import PushTransport
import Synchronization
import WakeModel

/// A transport that a test plays: it keeps what it is given, in order, until the test answers.
final class ScriptedTransport: PushTransport {
    enum Event: Sendable {
        case submitted(TransportRequest)
        case cancelled(TransportRequest.ID)
        case replacedConnections
        case beganGathering
        case endedGathering
    }

    private struct State {
        var events: [Event] = []
        /// What goes back with each submission's outcome.
        var contexts: [TransportRequest.ID: TransportRequest.Context] = [:]
        /// Called, once, in the middle of the next submission.
        var interruption: (@Sendable () -> Void)?
        /// Who waits for a submission.
        var waiter: CheckedContinuation<TransportRequest, Never>?
    }

    let configuration: TransportConfiguration
    private let sink: CompletionSink
    private let state = Mutex(State())

    init(_ configuration: TransportConfiguration, _ sink: @escaping CompletionSink) {
        self.configuration = configuration
        self.sink = sink
    }

    /// What happened since the last call.
    func takeEvents() -> [Event] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    /// The submissions since the last call; other events are dropped.
    func takeSubmissions() -> [TransportRequest] {
        takeEvents().compactMap { event in
            if case .submitted(let submission) = event { submission } else { nil }
        }
    }

    /// The oldest submission not yet taken, once there is one. One at a time may wait.
    func nextRequest() async -> TransportRequest {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiter = continuation
                Self.serveWaiter(&state)
            }
        }
    }

    private static func serveWaiter(_ state: inout State) {
        guard let waiter = state.waiter else { return }
        for (index, event) in state.events.enumerated() {
            guard case .submitted(let submission) = event else { continue }
            state.events.remove(at: index)
            state.waiter = nil
            waiter.resume(returning: submission)
            return
        }
    }

    func interruptNextSubmission(_ interruption: @escaping @Sendable () -> Void) {
        state.withLock { $0.interruption = interruption }
    }

    /// Whether connections were replaced since the events were taken.
    var hasReplacedConnections: Bool {
        state.withLock { state in
            state.events.contains { if case .replacedConnections = $0 { true } else { false } }
        }
    }

    /// Returns when there are so many cancellations among the events.
    func waitForCancellations(_ count: Int) async {
        while cancellations < count { await Task.yield() }
    }

    private var cancellations: Int {
        state.withLock { state in
            state.events.count { if case .cancelled = $0 { true } else { false } }
        }
    }

    func answer(
        _ id: TransportRequest.ID, _ status: Int, _ body: String = "", date: String? = nil,
        apnsID: APNsID? = nil
    ) {
        let response = WireResponse(
            status: status, apnsID: apnsID, date: date, body: Array(body.utf8))
        sink([Completion(id: id, result: .success(response), context: context(id))])
    }

    /// Accepts several pushes at the same moment.
    func accept(_ ids: [TransportRequest.ID]) {
        sink(
            ids.map { id in
                Completion(
                    id: id, result: .success(WireResponse(status: 200)), context: context(id))
            })
    }

    /// Answers several pushes at the same moment, each in its own way.
    func answer(_ results: [(TransportRequest.ID, Result<WireResponse, TransportFailure>)]) {
        sink(results.map { Completion(id: $0, result: $1, context: context($0)) })
    }

    func fail(_ id: TransportRequest.ID, _ failure: TransportFailure) {
        sink([Completion(id: id, result: .failure(failure), context: context(id))])
    }

    private func context(_ id: TransportRequest.ID) -> TransportRequest.Context? {
        state.withLock { $0.contexts[id] }
    }

    func submit(_ batch: [TransportRequest]) {
        let interruption = state.withLock { state in
            defer { state.interruption = nil }
            return state.interruption
        }
        interruption?()
        state.withLock { state in
            state.events += batch.map(Event.submitted)
            for submission in batch { state.contexts[submission.id] = submission.context }
            Self.serveWaiter(&state)
        }
    }

    func cancel(_ id: TransportRequest.ID) { state.withLock { $0.events.append(.cancelled(id)) } }

    func beginGathering() { state.withLock { $0.events.append(.beganGathering) } }

    func endGathering() { state.withLock { $0.events.append(.endedGathering) } }

    func replaceConnections() { state.withLock { $0.events.append(.replacedConnections) } }

    func shutDown(gracePeriod: Duration) async {}

    var gauges: TransportGauges { TransportGauges() }
}
