// SPDX-License-Identifier: Apache-2.0

import Gateway
import PayloadRules
import Synchronization
import WakeModel

/// Writes the accepted wakes of one batch as JSON: the same bytes as ``AcceptedWake/json``, with or
/// without diagnostics.
///
/// Most wakes of a batch differ in their ids only. The text of each other member is therefore kept
/// and copied as long as its value stays the same.
struct AcceptedWakeText {
    /// A value and its JSON text.
    private struct Known<Value: Equatable> {
        var value: Value
        var text: [UInt8]
    }

    /// A decision, and the deadline that its message depends on.
    private struct DecisionUntil: Equatable {
        let decision: WakeDecision
        let deadline: WallInstant
    }

    private let withDiagnostics: Bool
    private var acceptedAt: Known<WallInstant>?
    private var deadline: Known<WallInstant>?
    private var decision: Known<DecisionUntil>?
    private var diagnostics: Known<[Diagnostic]>?

    init(withDiagnostics: Bool) { self.withDiagnostics = withDiagnostics }

    /// Appends the JSON of one wake.
    mutating func append(_ accepted: AcceptedWake, to bytes: inout [UInt8]) {
        let wake = accepted.wake
        bytes.append(contentsOf: #"{"id":""#.utf8)
        bytes.append(contentsOf: wake.id.description.utf8)
        bytes.append(contentsOf: #"","accepted_at":"#.utf8)
        Self.append(wake.acceptedAt, &acceptedAt, to: &bytes) { .string($0.description) }
        bytes.append(contentsOf: #","deadline":"#.utf8)
        Self.append(wake.deadline, &deadline, to: &bytes) { .string($0.description) }
        bytes.append(contentsOf: #","decision":"#.utf8)
        let known = DecisionUntil(decision: wake.decision, deadline: wake.deadline)
        Self.append(known, &decision, to: &bytes) {
            $0.decision.json($0.decision.message(until: $0.deadline), until: $0.deadline)
        }
        if withDiagnostics, !accepted.wake.diagnostics.isEmpty {
            bytes.append(contentsOf: #","diagnostics":"#.utf8)
            Self.append(accepted.wake.diagnostics, &diagnostics, to: &bytes) {
                .array($0.map(\.json))
            }
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func append<Value: Equatable>(
        _ value: Value, _ known: inout Known<Value>?, to bytes: inout [UInt8],
        json: (Value) -> JSONValue
    ) {
        if known?.value != value { known = Known(value: value, text: json(value).bytes) }
        if let known { bytes.append(contentsOf: known.text) }
    }
}

/// The text of the answers to single requests. Those whose wakes were stored together often have
/// the same instants and decision, and most have the same diagnostics.
final class AcceptedWakeTexts: Sendable {
    private let text = Mutex(AcceptedWakeText(withDiagnostics: true))

    /// The JSON of one wake.
    func bytes(of accepted: AcceptedWake) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1_024)
        // No event loop waits for another.
        let isWritten = text.withLockIfAvailable { $0.append(accepted, to: &bytes) } != nil
        if !isWritten {
            var text = AcceptedWakeText(withDiagnostics: true)
            text.append(accepted, to: &bytes)
        }
        return bytes
    }
}
