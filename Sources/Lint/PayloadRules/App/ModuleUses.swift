// SPDX-License-Identifier: Apache-2.0

/// What a package or a framework may do for an app, as far as rules ask for it.
public struct ModuleUses: OptionSet, Hashable, Sendable {
    /// The bits of the options.
    public let rawValue: UInt16

    /// Creates a set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// It uses PushKit, CallKit or LiveCommunicationKit.
    public static let calls = ModuleUses(rawValue: 1)
    /// It registers for remote notifications or handles them, also in place of the app delegate.
    public static let pushes = ModuleUses(rawValue: 2)
    /// It has background tasks, or fetches in the background.
    public static let tasks = ModuleUses(rawValue: 4)
    /// It has background sessions of its own, or handles the events of sessions.
    public static let transfers = ModuleUses(rawValue: 8)
    /// It asks for time in the background.
    public static let time = ModuleUses(rawValue: 16)
    /// It has what other background modes are for, such as audio or locations.
    public static let features = ModuleUses(rawValue: 32)
    /// It has background tasks, or is likely to: a library of which only the name is known, and
    /// whose name tells of none, may have ``tasks`` and is not likely to.
    public static let likelyTasks = ModuleUses(rawValue: 64)
    /// It has pushes, or is likely to, in the same sense.
    public static let likelyPushes = ModuleUses(rawValue: 128)
    /// It has calls, or is likely to, in the same sense.
    public static let likelyCalls = ModuleUses(rawValue: 256)
    /// It has background sessions, or is likely to.
    public static let likelyTransfers = ModuleUses(rawValue: 512)
    /// It handles silent pushes where the app delegate does not, or is likely to.
    public static let likelyHandlers = ModuleUses(rawValue: 1024)
    /// It asks for locations in the background, or is likely to.
    public static let likelyLocations = ModuleUses(rawValue: 2048)
    /// It may end time that the app asked for: it is not other people's, which have no identifier
    /// of such time.
    public static let endsOfTime = ModuleUses(rawValue: 4096)
    /// Nothing is known of it.
    public static let all: ModuleUses = [
        .calls, .pushes, .tasks, .transfers, .time, .features, .likelyTasks, .likelyPushes,
        .likelyCalls, .likelyTransfers, .likelyHandlers, .likelyLocations,
        .endsOfTime,
    ]
}
