// SPDX-License-Identifier: Apache-2.0

public import WakeBudget

/// A way to send that takes part in a comparison.
public struct SendingStrategy: Hashable, Sendable {
    /// Its name, for reports.
    public var name: String
    /// What it does.
    public var method: Method

    /// Creates a contender.
    public init(name: String, method: Method) {
        self.name = name
        self.method = method
    }

    /// What is done with an event.
    public enum Method: Hashable, Sendable {
        /// Rouse's budget, the code that the gateway runs.
        case budget(BudgetPolicy)
        /// Each event is sent immediately.
        case everything
        /// One push at a time, with each push's outcome known immediately, which no real sender
        /// can.
        case oracle
        /// At least so many seconds between two sends; what comes meanwhile is merged and sent
        /// when they are over.
        case spacing(seconds: Int64)
        /// Windows of so many seconds with so many sends; what comes above is dropped.
        case window(seconds: Int64, sends: Int)
    }

    /// What every scenario compares with: sending everything, Signal's 20 minutes (facts
    /// §6.1), and the rate limiter that one finds in web frameworks.
    public static let baselines = [
        SendingStrategy(name: "everything", method: .everything),
        SendingStrategy(name: "spacing-20min", method: .spacing(seconds: 1200)),
        SendingStrategy(name: "window-15min", method: .window(seconds: 900, sends: 1)),
    ]
}
