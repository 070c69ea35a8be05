// SPDX-License-Identifier: Apache-2.0

/// The reports that a sender receives from devices, as one row of a ``Grid``.
public struct GridCondition: Hashable, Sendable {
    /// The name in reports.
    public var name: String
    /// The app's reports.
    public var feedback: Scenario.Feedback
    /// Whether the sender knows the outcome of each push immediately, which no real sender can.
    public var isOracle: Bool

    /// Creates a condition.
    public init(name: String, feedback: Scenario.Feedback, isOracle: Bool = false) {
        self.name = name
        self.feedback = feedback
        self.isOracle = isOracle
    }

    /// The conditions, in the order of reports.
    public static let known: [GridCondition] = [
        GridCondition(name: "98 % receipts", feedback: receipts(0.98)),
        GridCondition(name: "80 % receipts", feedback: receipts(0.8)),
        GridCondition(name: "80 %, kept", feedback: receipts(0.8, areKept: true)),
        GridCondition(name: "hours late", feedback: receipts(0.98, spreadHours: 6)),
        GridCondition(name: "no receipts", feedback: .none),
        GridCondition(name: "never confirms", feedback: neverConfirms),
        GridCondition(name: "oracle", feedback: .none, isOracle: true),
    ]

    private static func receipts(
        _ probability: Double, areKept: Bool = false, spreadHours: Int64 = 0
    ) -> Scenario.Feedback {
        var feedback = Scenario.Feedback()
        feedback.receiptProbability = probability
        feedback.keepsReceipts = areKept
        feedback.receiptSpreadMilliseconds = spreadHours * 3_600_000
        feedback.reportsRefresh = true
        return feedback
    }

    /// A device that reports nothing, while other devices of the app confirm their launches.
    private static var neverConfirms: Scenario.Feedback {
        var feedback = Scenario.Feedback.none
        feedback.isAmongConfirming = true
        return feedback
    }
}
