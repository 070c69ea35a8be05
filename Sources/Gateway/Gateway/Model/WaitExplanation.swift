// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// The explanation why a wake has not been sent yet, or of the time at which the next one for a
/// device may be: all reasons together. The texts of the API, the commands and the dashboard are
/// made here and in ``WakeDecision/message(until:)``.
///
/// A pure value: time is an argument.
public struct WaitExplanation: Hashable, Sendable {
    /// One reason for the delay.
    public struct Reason: Hashable, Sendable {
        /// What it is.
        public let kind: DelayReason
        /// Its earliest end; `nil` when it is not known.
        public let until: WallInstant?
        /// The reason as a sentence.
        public let sentence: String

        /// Creates a reason.
        public init(_ kind: DelayReason, until: WallInstant? = nil, sentence: String) {
            self.kind = kind
            self.until = until
            self.sentence = sentence
        }
    }

    /// What is explained.
    public enum Subject: Hashable, Sendable {
        /// A wake that waits.
        case wake
        /// A wake that is with the sender.
        case claimed
        /// The wake that waits for a device.
        case pending(WakeKind)
        /// A hypothetical wake, not requested yet.
        case next(WakeKind)
    }

    /// What is explained.
    public let subject: Subject
    /// The time that the answer is for.
    public let at: WallInstant
    /// All reasons for the delay, in the order of ``DelayReason``.
    public let reasons: [Reason]
    /// The earliest time at which it may be sent by the present state: never before the end of any
    /// reason.
    public let earliest: WallInstant
    /// The time from which on it is never sent; `nil` without a wake.
    public let deadline: WallInstant?
    /// The reason why no wake is sent at all; `nil` otherwise.
    public let suppression: WakeSuppression?
    /// When the wake is due, as far as is known beside the reasons.
    private let dueSince: WallInstant

    /// Creates an explanation from all reasons. `due` is the due time of the wake, as far as it is
    /// known without them.
    public init(
        _ subject: Subject, at now: WallInstant, due: WallInstant, deadline: WallInstant?,
        reasons: [Reason], suppression: WakeSuppression? = nil
    ) {
        self.subject = subject
        at = now
        self.reasons = reasons.sorted { $0.kind.rawValue < $1.kind.rawValue }
        self.deadline = deadline
        self.suppression = suppression
        dueSince = due
        earliest = reasons.compactMap(\.until).reduce(max(now, due), max)
    }

    /// The reasons as a set.
    public var delayReasons: DelayReasons {
        reasons.reduce(into: []) { $0.insert(DelayReasons($1.kind)) }
    }

    /// When it is due, as things are: of a wake that is due already, since when; `nil` where nobody
    /// knows, where its deadline comes first, and where nothing is sent at all.
    public var due: WallInstant? {
        if isOpenEnded || willExpire || isNever { return nil }
        return earliest > at ? earliest : dueSince
    }

    /// Whether nothing is sent to the device any more, as things are.
    public var isNever: Bool {
        if case .deviceTokenDead = suppression { true } else { false }
    }

    /// Whether the wait has no known end: not before ``earliest``, but maybe later.
    public var isOpenEnded: Bool { delayReasons.areOpenEnded }

    /// Whether it cannot be sent before its deadline, by the present state.
    public var willExpire: Bool { deadline.map { $0 <= earliest } ?? false }

    /// The time at which it may be sent, in one or two sentences, with the names of all reasons.
    public var message: String {
        if let suppression { return suppression.sentence }
        if reasons.contains(where: { $0.kind == .leasedElsewhere }) {
            return "Another gateway on the same store is sending it."
        }
        if subject == .claimed { return "It is on its way to APNs." }
        if let deadline, deadline <= at { return "It expires now: its deadline was \(deadline)." }
        guard reasons.isEmpty, earliest <= at else {
            return Self.deferral(
                of: subject, delayReasons, until: earliest > at ? earliest : nil,
                deadline: deadline)
        }
        return switch subject {
        case .wake, .claimed: "Will be sent now."
        case .pending: "\(subject.words) will be sent now."
        case .next(let kind): "A \(kind.discipline.noun) may be sent now."
        }
    }

    /// ``message``, then a sentence for each reason.
    public var sentences: [String] { [message] + reasons.map(\.sentence) }

    /// The text of a delay. `until` is `nil` without a known time in the future.
    static func deferral(
        of subject: Subject = .wake, _ reasons: DelayReasons, until: WallInstant?,
        deadline: WallInstant?
    ) -> String {
        let names = reasons.words
        if let deadline, let until, deadline <= until {
            let will = subject == .wake ? "Will" : "\(subject.words) will"
            return "\(will) expire at \(deadline): it cannot be sent before \(until)"
                + (reasons.mayEndEarly ? " as things are" : "")
                + (names.isEmpty ? "." : " (\(names)).")
        }
        var text = subject == .wake ? "Deferred" : "\(subject.words) \(subject.verb) deferred"
        if let until {
            text += " until \(until)" + (reasons.areOpenEnded ? " at the earliest" : "")
        }
        text += names.isEmpty ? "." : ": \(names)."
        if reasons.areOpenEnded, let deadline {
            text += " It will expire at \(deadline) unless that ends before."
        }
        return text
    }
}

extension WaitExplanation.Subject {
    fileprivate var words: String {
        switch self {
        case .wake, .claimed: "It"
        case .pending(let kind): "The waiting \(kind.discipline.noun)"
        case .next(let kind): "The next \(kind.discipline.noun)"
        }
    }

    fileprivate var verb: String {
        if case .next = self { "would be" } else { "is" }
    }
}

extension DelayReasons {
    /// The reasons whose end cannot be predicted.
    private static let openEnded: DelayReasons = [
        DelayReasons(.paused), DelayReasons(.held), DelayReasons(.unresponsive),
        DelayReasons(.stopping), DelayReasons(.leasedElsewhere),
    ]

    /// Whether their end is not known.
    package var areOpenEnded: Bool { !isDisjoint(with: Self.openEnded) }

    /// Whether a report or a receipt of the device can end one of them before its time.
    fileprivate var mayEndEarly: Bool {
        all.contains { $0.isSignalled || $0 == .unconfirmed || $0 == .foreground || $0 == .unused }
    }
}
