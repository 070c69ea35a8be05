// SPDX-License-Identifier: Apache-2.0

import WakeBudget

/// A way to send, at work for one device. At most one wake waits at a time, and carries what was
/// merged into it.
protocol SendingRule {
    /// Whether what may go goes with the event that asked for it, ahead of other events of the same
    /// instant, so that these are not merged into it.
    static var sendsAtOnce: Bool { get }
    /// An event asks for a wake.
    mutating func ask(_ stream: EventStream, at now: Int64) -> AskAnswer
    /// When to look whether what waits may go; `nil` when nothing waits.
    mutating func due(at now: Int64) -> Int64?
    /// Takes out what waits, if it may go or is over.
    mutating func release(at now: Int64) -> ReleaseAnswer
    /// The app confirmed a launch; whether that ended what waits.
    mutating func confirm(_ receipt: ReceivedReceipt, at now: Int64) -> Bool
    /// The outcome of the last push was decided. `reachedApp`: whether the app received it, and
    /// with it all news.
    mutating func end(reachedApp: Bool, at now: Int64) -> Bool
    /// The app reported something of its device; whether that ended what waits.
    mutating func report(_ signal: DeviceSignal, at now: Int64) -> Bool
}

extension SendingRule {
    static var sendsAtOnce: Bool { false }
    mutating func confirm(_ receipt: ReceivedReceipt, at now: Int64) -> Bool { false }
    mutating func end(reachedApp: Bool, at now: Int64) -> Bool { false }
    mutating func report(_ signal: DeviceSignal, at now: Int64) -> Bool { false }
}

/// The app's report of a launch.
struct ReceivedReceipt {
    /// When the push was sent.
    var sentAt: Int64
    /// When it launched the app.
    var launchedAt: Int64
    /// Whether the app says that it has synced everything.
    var hasSynced: Bool
}

/// What is done with an event.
enum AskAnswer {
    /// It waits, if only for now; `endsWaiting` says that what waited before has expired.
    case waits(endsWaiting: Bool)
    /// It is merged into what waits.
    case merges
    /// It ends here.
    case ends(AskEnd)
}

/// What is done with what waits.
enum ReleaseAnswer {
    case sends
    case expires
    case waits
}

/// Sends each event.
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

/// Keeps a distance between sends, and merges what comes meanwhile.
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

/// Sends so many in each window and drops the others.
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

/// Keeps one push with the device and sends the next when that one's outcome is decided.
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
        // An app that runs fetches all there is.
        defer { if reachedApp { isWaiting = false } }
        return isWaiting && reachedApp
    }

    mutating func report(_ signal: DeviceSignal, at now: Int64) -> Bool {
        defer { isWaiting = false }
        return isWaiting
    }
}
