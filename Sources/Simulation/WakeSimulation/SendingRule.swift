// SPDX-License-Identifier: Apache-2.0

import WakeBudget

/// The implementation of a sending strategy for one device. At most one wake waits at a time; later
/// events are merged into it.
protocol SendingRule {
    /// Whether a wake that can be sent is sent with its event, before other events at the same
    /// time, so that these are not merged into it.
    static var sendsAtOnce: Bool { get }
    /// Handles an event that requests a wake.
    mutating func ask(_ stream: EventStream, at now: Int64) -> AskAnswer
    /// The time at which to call ``release(at:)``; `nil` if nothing waits.
    mutating func due(at now: Int64) -> Int64?
    /// Removes the waiting wake if it can be sent or has expired.
    mutating func release(at now: Int64) -> ReleaseAnswer
    /// Handles a receipt of a launch. Returns whether the waiting wake is obsolete.
    mutating func confirm(_ receipt: ReceivedReceipt, at now: Int64) -> Bool
    /// Handles the outcome of the last push. `reachedApp` is whether the app received it and
    /// synced. Returns whether the waiting wake is obsolete.
    mutating func end(reachedApp: Bool, at now: Int64) -> Bool
    /// Handles a signal of the device. Returns whether the waiting wake is obsolete.
    mutating func report(_ signal: DeviceSignal, at now: Int64) -> Bool
}

extension SendingRule {
    static var sendsAtOnce: Bool { false }
    mutating func confirm(_ receipt: ReceivedReceipt, at now: Int64) -> Bool { false }
    mutating func end(reachedApp: Bool, at now: Int64) -> Bool { false }
    mutating func report(_ signal: DeviceSignal, at now: Int64) -> Bool { false }
}

/// A receipt of a launch.
struct ReceivedReceipt {
    /// The time at which the push was sent.
    var sentAt: Int64
    /// The time at which it launched the app.
    var launchedAt: Int64
    /// Whether the app says that it has synced everything.
    var hasSynced: Bool
}

/// The result of an event.
enum AskAnswer {
    /// It waits, possibly for no time. `endsWaiting` is whether the wake that waited before has
    /// expired.
    case waits(endsWaiting: Bool)
    /// It is merged into the waiting wake.
    case merges
    /// It ends without a push.
    case ends(AskEnd)
}

/// The result for the waiting wake.
enum ReleaseAnswer {
    case sends
    case expires
    case waits
}

/// Sends a push for each event.
struct SendEverything: SendingRule {
    static let sendsAtOnce = true
    private var isWaiting = false

    mutating func ask(_ stream: EventStream, at now: Int64) -> AskAnswer {
        isWaiting = true
        return .waits(endsWaiting: false)
    }

    mutating func due(at now: Int64) -> Int64? { isWaiting ? now : nil }

    mutating func release(at now: Int64) -> ReleaseAnswer {
        isWaiting = false
        return .sends
    }
}

/// Keeps a minimum time between pushes, and merges the events in between.
struct FixedSpacing: SendingRule {
    let spacing: Int64
    private var isWaiting = false
    private var lastSend: Int64?

    init(seconds: Int64) { spacing = seconds * 1000 }

    mutating func ask(_ stream: EventStream, at now: Int64) -> AskAnswer {
        if isWaiting { return .merges }
        isWaiting = true
        return .waits(endsWaiting: false)
    }

    mutating func due(at now: Int64) -> Int64? {
        isWaiting ? max(now, (lastSend ?? .min / 2) + spacing) : nil
    }

    mutating func release(at now: Int64) -> ReleaseAnswer {
        isWaiting = false
        lastSend = now
        return .sends
    }
}

/// Sends up to a number of pushes in each window, and drops further events.
struct DroppingWindow: SendingRule {
    static let sendsAtOnce = true
    let length: Int64
    let sends: Int
    private var window: Int64 = -1
    private var sent = 0
    private var isWaiting = false

    init(seconds: Int64, sends: Int) {
        length = max(1, seconds) * 1000
        self.sends = sends
    }

    mutating func ask(_ stream: EventStream, at now: Int64) -> AskAnswer {
        if now / length != window {
            window = now / length
            sent = 0
        }
        guard sent < sends else { return .ends(.dropped) }
        sent += 1
        isWaiting = true
        return .waits(endsWaiting: false)
    }

    mutating func due(at now: Int64) -> Int64? { isWaiting ? now : nil }

    mutating func release(at now: Int64) -> ReleaseAnswer {
        isWaiting = false
        return .sends
    }
}

/// Sends the next push when the outcome of the last one is decided.
struct OracleSending: SendingRule {
    private var isWaiting = false
    private var isUndecided = false

    mutating func ask(_ stream: EventStream, at now: Int64) -> AskAnswer {
        if isWaiting { return .merges }
        isWaiting = true
        return .waits(endsWaiting: false)
    }

    mutating func due(at now: Int64) -> Int64? { isWaiting && !isUndecided ? now : nil }

    mutating func release(at now: Int64) -> ReleaseAnswer {
        isWaiting = false
        isUndecided = true
        return .sends
    }

    mutating func end(reachedApp: Bool, at now: Int64) -> Bool {
        isUndecided = false
        // An app that runs fetches everything.
        defer { if reachedApp { isWaiting = false } }
        return isWaiting && reachedApp
    }

    mutating func report(_ signal: DeviceSignal, at now: Int64) -> Bool {
        defer { isWaiting = false }
        return isWaiting
    }
}
