// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// What the budget of a device says: what is left, what waits, until when, because of which rules.
/// As data, and by ``sentences`` in words.
public struct Explanation: Hashable, Sendable {
    /// A limit on sends in a stretch of time.
    public struct Window: Hashable, Sendable {
        /// Sends that count in it.
        public let used: Int
        /// The most that may.
        public let limit: Int
        /// From when on there is room for one more; `nil` when there is now.
        public let opens: WallInstant?

        /// How many more may go.
        public var left: Int { max(0, limit - used) }
    }

    /// A rule that keeps the next wake back.
    public struct HoldingRule: Hashable, Sendable {
        /// The rule.
        public let hold: DelayReason
        /// Until when.
        public let until: WallInstant
        /// What it is about, as a sentence.
        public let sentence: String
    }

    /// The wake that waits.
    public struct Waiting: Hashable, Sendable {
        /// When it may go and when it ends, with the rules that keep it back.
        public let outlook: Outlook
        /// Its urgency.
        public let urgency: Urgency
        /// How many requests it represents.
        public let requests: Int
        /// Since when the oldest of them waits, by the ledger's clock, which counts the next whole
        /// second. A caller that knows the time sets it.
        public var since: WallInstant
    }

    /// The rules that the device's topic has.
    public let discipline: WakeKind.Discipline
    /// The time that the answer is for, by the ledger's clock.
    public let at: WallInstant
    /// The last 60 minutes: sends, or for VoIP calls; `nil` for plain pushes.
    public let hourly: Window?
    /// The last 24 hours; `nil` for VoIP and plain pushes, which have no such limit.
    public let daily: Window?
    /// Plain pushes: those in a row that the rate has not made up for yet, those that wait for
    /// their turn included; `nil` for others.
    public let burst: Window?
    /// The spacing in force, in seconds; `nil` for VoIP and plain pushes, which have none.
    public let spacingSeconds: Int?
    /// Sends in a row that were not confirmed; counts only where the topic sends receipts.
    public let unconfirmedSends: Int
    /// Sends whose outcome is not known yet: debits that were not settled. A caller that settles in
    /// advance has the true count and sets it.
    public var inFlight: Int
    /// From when on the next wake may go: the one that waits, or else one of normal urgency.
    public let nextSend: WallInstant
    /// The rules that keep it back, each with its own end, in the order of ``DelayReason``.
    public let rules: [HoldingRule]
    /// The wake that waits, if any.
    public var waiting: Waiting?
    /// Why no wake is sent at all, if that is so.
    public let suppression: Suppression?
}

extension Explanation {
    /// What is left, in words, a sentence each. Why the next wake waits is not among them: that
    /// also has reasons outside the budget.
    public var sentences: [String] {
        var sentences: [String] = []
        if let waiting { sentences.append(Self.words(waiting)) }
        let unit = discipline == .call ? "call" : "send"
        if let hourly { sentences.append(Self.words(hourly, "60 minutes", unit)) }
        if let daily { sentences.append(Self.words(daily, "24 hours", unit)) }
        if let burst {
            let more = burst.used - burst.limit
            let others = more == 1 ? "1 more waits" : "\(more) more wait"
            sentences.append(
                "\(min(burst.used, burst.limit)) of \(Self.count(burst.limit, "push")) in a row "
                    + (more > 0 ? "are used, and \(others) for a turn" : "are used")
                    + (burst.opens.map { "; the next turn is at \($0)." } ?? "."))
        }
        if inFlight > 0 {
            sentences.append("\(Self.count(inFlight, "send")) still without an outcome.")
        }
        return sentences
    }

    private static func words(_ waiting: Waiting) -> String {
        let who =
            waiting.requests == 1 ? "One request waits" : "\(waiting.requests) requests wait as one"
        return "\(who) since \(waiting.since), and will be given up at "
            + "\(waiting.outlook.deadline)."
    }

    private static func words(_ window: Window, _ span: String, _ unit: String) -> String {
        let used = "\(window.used) of \(count(window.limit, unit)) in the last \(span)"
        guard let opens = window.opens else { return "\(used)." }
        return "\(used); there is room again from \(opens) on."
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : noun == "push" ? "es" : "s")"
    }
}
