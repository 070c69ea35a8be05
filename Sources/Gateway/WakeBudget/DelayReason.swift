// SPDX-License-Identifier: Apache-2.0

/// The reason for the delay of a wake: a rule of the budget, or another cause, such as a paused
/// app.
public enum DelayReason: UInt8, Hashable, Sendable, CaseIterable {
    /// Another send was too recent.
    case spacing = 0
    /// The last send was not confirmed yet, so the device may still hold it; the more of them, the
    /// longer.
    case unconfirmed = 1
    /// The app was in the foreground too recently.
    case foreground = 2
    /// The last 60 minutes have had the maximum of sends.
    case hourly = 3
    /// The last 24 hours have had the maximum of sends, or more than half of it, and the rest are
    /// spread.
    case daily = 4
    /// The app is not used: one probe a day.
    case unused = 5
    /// Low Power Mode was reported.
    case lowPowerMode = 6
    /// A low battery, not charging, was reported.
    case lowBattery = 7
    /// A force-quit was reported.
    case forceQuit = 8
    /// The app is paused by an operator.
    case paused = 9
    /// APNs refuses the queue's key, topic or certificate.
    case held = 10
    /// APNs does not answer the queue's pushes.
    case unresponsive = 11
    /// It was requested with others, spread over a time.
    case spread = 12
    /// An attempt failed, or APNs answered that the device must get no push for a time.
    case backOff = 13
    /// The gateway is shutting down.
    case stopping = 14
    /// Another gateway on the same store is sending it.
    case leasedElsewhere = 15
    /// The device has had the maximum of plain pushes in a row.
    case rate = 16

    /// Whether it comes from a report of the device, so that another report can end it early.
    public var isSignalled: Bool {
        switch self {
        case .lowPowerMode, .lowBattery, .forceQuit: true
        default: false
        }
    }

    /// The reason in a few words, for a list.
    public var words: String {
        switch self {
        case .spacing: "minimum spacing"
        case .unconfirmed: "unconfirmed sends"
        case .foreground: "recent foreground"
        case .hourly: "hourly limit"
        case .daily: "daily limit"
        case .unused: "unused app"
        case .lowPowerMode: "Low Power Mode"
        case .lowBattery: "low battery"
        case .forceQuit: "force-quit"
        case .paused: "the app is paused"
        case .held: "the queue is held"
        case .unresponsive: "APNs does not answer"
        case .spread: "spread over time"
        case .backOff: "back-off after a failed attempt"
        case .stopping: "the gateway is shutting down"
        case .leasedElsewhere: "another gateway is sending it"
        case .rate: "too many pushes in a row"
        }
    }
}

/// The reasons for the delay of a wake.
public struct DelayReasons: OptionSet, Hashable, Sendable {
    /// One bit for each ``DelayReason``, at the place of its raw value.
    public let rawValue: UInt32

    /// The set with these bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The set of one reason.
    public init(_ reason: DelayReason) { rawValue = 1 << UInt32(reason.rawValue) }

    /// Adds a reason, by its bit, because the generic method is slow in an unoptimized build.
    mutating func add(_ reason: DelayReason) {
        self = DelayReasons(rawValue: rawValue | 1 << UInt32(reason.rawValue))
    }

    /// The reasons, in the order of their declaration.
    public var all: [DelayReason] { DelayReason.allCases.filter { contains(DelayReasons($0)) } }

    /// The reasons as text, such as `minimum spacing, hourly limit`.
    public var words: String { all.map(\.words).joined(separator: ", ") }
}
