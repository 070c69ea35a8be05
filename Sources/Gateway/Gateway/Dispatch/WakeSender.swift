// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Who takes claimed wakes to APNs.
public protocol WakeSender: Sendable {
    /// Sends a batch, and reports each result as soon as it is known, so that one slow push delays
    /// no other.
    ///
    /// `report` may be called from any thread, once for each claim; a claim that has no report when
    /// the call returns counts as ``WakeModel/Certainty/unknown``, and a second report is ignored.
    /// Each push must be answered or cancelled before its ``Claim/leaseUntil``. When the task is
    /// cancelled, the call reports the outcomes it has and returns soon.
    func send(_ batch: [Claim], report: @escaping @Sendable (SendReport) -> Void) async
}

/// The result of one send.
public struct SendReport: Sendable {
    /// Which claim.
    public let ticket: Claim.Ticket
    /// APNs' answer, or why there is none.
    public let result: Result<PushOutcome, SendFailure>

    /// Creates a report.
    public init(ticket: Claim.Ticket, result: Result<PushOutcome, SendFailure>) {
        self.ticket = ticket
        self.result = result
    }
}

/// Why a push got no answer.
public struct SendFailure: Error, Hashable, Sendable {
    /// The most characters of a description that are kept.
    public static let maximumDescriptionLength = 300

    /// Whether it can have reached APNs.
    public let certainty: Certainty
    /// What happened, as a sentence without secrets. Kept in the wake's history.
    public let description: String

    /// Creates a failure; a long description is cut.
    public init(certainty: Certainty, description: String) {
        self.certainty = certainty
        self.description = String(description.prefix(Self.maximumDescriptionLength))
    }
}
