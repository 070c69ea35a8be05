// SPDX-License-Identifier: Apache-2.0

public import WakeBudget

/// A sending strategy in a comparison.
public struct SendingStrategy: Hashable, Sendable {
    /// The name in reports.
    public var name: String
    /// The method.
    public var method: Method

    /// Creates a sending strategy.
    public init(name: String, method: Method) {
        self.name = name
        self.method = method
    }

    /// The method by which pushes are sent.
    public enum Method: Hashable, Sendable {
        /// Rouse's budget, with the code that the gateway runs.
        case budget(BudgetPolicy)
        /// Sends a push for each event immediately.
        case everything
        /// One push at a time, with its outcome known immediately, which no real sender can.
        case oracle
        /// A minimum time between two pushes; the events in between are merged.
        case spacing(seconds: Int64)
        /// A maximum number of pushes in each window; further events are dropped.
        case window(seconds: Int64, sends: Int)
    }

    /// The strategies of every comparison: sending everything, Signal's 20 minutes (facts §6.1),
    /// and a rate limiter as in web frameworks.
    public static let baselines = [
        SendingStrategy(name: "everything", method: .everything),
        SendingStrategy(name: "spacing-20min", method: .spacing(seconds: 1200)),
        SendingStrategy(name: "window-15min", method: .window(seconds: 900, sends: 1)),
    ]
}
