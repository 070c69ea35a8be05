// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Sends claimed wakes to APNs.
public protocol WakeSender: Sendable {
    /// Sends a batch, and reports each result as soon as it is known, so that one slow push delays
    /// no other.
    ///
    /// `report` may be called from any thread, once for each claim; a claim that has no report when
    /// the call returns counts as ``WakeModel/Certainty/unknown``, and a second report is ignored.
    /// Each push must be answered or cancelled before its ``Claim/leaseUntil``. When the task is
    /// cancelled, the call reports the outcomes it has and returns soon.
    ///
    /// `now` is the gateway's time, by which ``Claim/deadline`` and ``Claim/leaseUntil`` are meant:
    /// that of a shared store's database, or of before a leap, and not always this machine's.
    func send(
        _ batch: [Claim], at now: WallInstant, report: @escaping @Sendable (SendReport) -> Void
    ) async
}

/// The result of one attempt.
public struct SendReport: Sendable {
    /// The claim.
    public let ticket: Claim.Ticket
    /// APNs' answer, or the reason for its absence.
    public let result: Result<PushOutcome, SendFailure>

    /// Creates a report.
    public init(ticket: Claim.Ticket, result: Result<PushOutcome, SendFailure>) {
        self.ticket = ticket
        self.result = result
    }
}

/// The reason why a push has no answer.
public struct SendFailure: Error, Hashable, Sendable {
    /// The most characters of a description that are kept.
    public static let maximumDescriptionLength = 300

    /// Whether the push may have reached APNs.
    public let certainty: Certainty
    /// The failure as a sentence without secrets. Stored in the wake's history.
    public let description: String

    /// Creates a failure; a long description is cut.
    public init(certainty: Certainty, description: String) {
        self.certainty = certainty
        self.description = String(description.prefix(Self.maximumDescriptionLength))
    }
}
