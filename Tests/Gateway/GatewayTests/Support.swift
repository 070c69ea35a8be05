// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Logging
import Synchronization
import Testing
import WakeModel

@testable import Gateway

/// A switch that a test throws once.
final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// A gateway context for two apps, which nobody watches.
func sampleContext(
    store: any WakeStore, clock: any GatewayClock = ManualClock(),
    limits: GatewayLimits = GatewayLimits()
) -> GatewayContext {
    GatewayContext(
        store: store, configuration: GatewayConfiguration(apps: [Samples.app, Samples.otherApp]),
        clock: clock, limits: limits, metrics: NoMetrics(), logger: .silent)
}

/// Reports background wakes twice, as sent and then as rejected, and forgets VoIP.
struct CarelessSender: WakeSender {
    func send(
        _ batch: [Claim], at now: WallInstant, report: @escaping @Sendable (SendReport) -> Void
    ) async {
        for claim in batch where claim.kind == .background {
            report(SendReport(ticket: claim.ticket, result: Samples.accepted))
            report(SendReport(ticket: claim.ticket, result: Samples.refusal(410, .unregistered)))
        }
    }
}

/// Polls a condition that no event announces, for at most twenty seconds.
func eventually(_ condition: () async throws -> Bool) async throws {
    for _ in 0..<2_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("The condition did not come true.")
}

extension Sequence {
    func asyncMap<Image>(_ transform: (Element) async throws -> Image) async rethrows -> [Image] {
        var images: [Image] = []
        for element in self { images.append(try await transform(element)) }
        return images
    }
}

/// Gives one result for everything, when the test says so.
final class LateSender: WakeSender {
    private let result: Result<PushOutcome, SendFailure>
    private let sends = Atomic(0)
    private let mayAnswer = Flag()

    init(_ result: Result<PushOutcome, SendFailure>) { self.result = result }

    /// How many claims it was handed.
    var sendCount: Int { sends.load(ordering: .acquiring) }

    func answer() { mayAnswer.set() }

    func send(
        _ batch: [Claim], at now: WallInstant, report: @escaping @Sendable (SendReport) -> Void
    ) async {
        sends.wrappingAdd(batch.count, ordering: .acquiringAndReleasing)
        while !mayAnswer.isSet, !Task.isCancelled {
            // A cancelled sleep ends the wait, as the loop sees.
            try? await Task.sleep(for: .milliseconds(5))
        }
        for claim in batch { report(SendReport(ticket: claim.ticket, result: result)) }
    }
}
