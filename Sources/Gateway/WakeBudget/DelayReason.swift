// SPDX-License-Identifier: Apache-2.0

/// A rule that keeps a wake back for a time.
public enum DelayReason: UInt8, Hashable, Sendable, CaseIterable {
    /// Another send was too short a time ago.
    case spacing = 0
    /// The last send was not confirmed yet, so the device may still hold it; the more of them, the
    /// longer.
    case unconfirmed = 1
    /// The app was in the foreground too short a time ago.
    case foreground = 2
    /// The last 60 minutes had as many sends as they may have.
    case hourly = 3
    /// The last 24 hours had as many sends as they may have, or more than half of them, and the
    /// rest are spread.
    case daily = 4
    /// The app is not used: one probe a day.
    case unused = 5
    /// Low Power Mode was reported.
    case lowPowerMode = 6
    /// A low battery, not charging, was reported.
    case lowBattery = 7
    /// A force-quit was reported.
    case forceQuit = 8

    /// Whether it comes from a report of the device, so that another report can end it early.
    public var isSignalled: Bool { rawValue >= DelayReason.lowPowerMode.rawValue }
}

/// Which rules keep a wake back.
public struct DelayReasons: OptionSet, Hashable, Sendable {
    /// One bit for each ``DelayReason``, at the place of its raw value.
    public let rawValue: UInt16

    /// The set with these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The set of one rule.
    public init(_ hold: DelayReason) { rawValue = 1 << UInt16(hold.rawValue) }

    /// Adds a rule, by its bit: the generic verb is slow in an unoptimized build.
    mutating func add(_ hold: DelayReason) {
        self = DelayReasons(rawValue: rawValue | 1 << UInt16(hold.rawValue))
    }

    /// The rules, in the order of their declaration.
    public var all: [DelayReason] { DelayReason.allCases.filter { contains(DelayReasons($0)) } }
}
