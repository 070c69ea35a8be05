// SPDX-License-Identifier: Apache-2.0

/// One update of a Live Activity for all subscribers of a channel, valid by construction (iOS 18;
/// facts §2.5).
public struct Broadcast: Hashable, Sendable {
    /// The most bytes of a payload: 5120.
    public static let maximumPayloadBytes = 5120
    /// The longest that a channel stores a broadcast, in seconds: eight hours.
    public static let maximumLifeSeconds: Int64 = 28_800
    /// The priorities that Apple allows for Live Activities.
    public static let priorities: [Priority] = [.immediate, .powerConsiderate]

    /// The channel.
    public let channel: ChannelID
    /// The app; its bundle id is in the path.
    public let bundleID: BundleID
    /// The JSON body.
    public let payload: [UInt8]
    /// The value of `apns-priority`; always sent.
    public let priority: Priority
    /// The value of `apns-expiration`, which Apple requires.
    public let expiration: Expiration
    /// The value of `apns-request-id`; the same for every attempt.
    public let requestID: APNsID

    /// Creates a broadcast. `expiration` must be `immediately` for a channel that stores nothing.
    ///
    /// Throws ``InvalidField`` for an empty payload or one over 5120 bytes, and for
    /// priority 1.
    public init(
        to channel: ChannelID, of bundleID: BundleID, payload: [UInt8],
        priority: Priority = .immediate, expiration: Expiration = .immediately, requestID: APNsID
    ) throws(InvalidField) {
        guard !payload.isEmpty else {
            throw InvalidField(
                field: "payload", problem: "is empty (G002)", remedy: "Give a JSON object.")
        }
        guard payload.count <= Self.maximumPayloadBytes else {
            throw InvalidField(
                field: "payload",
                problem: "has \(payload.count) bytes, more than the \(Self.maximumPayloadBytes) "
                    + "that APNs takes for a broadcast (G003)",
                remedy: "Make the content state smaller.")
        }
        guard Self.priorities.contains(priority) else {
            throw InvalidField(
                field: "priority",
                problem: "is \(priority), which Apple does not allow for Live Activities (LA005)",
                remedy: "Use 10 or 5.")
        }
        self.channel = channel
        self.bundleID = bundleID
        self.payload = payload
        self.priority = priority
        self.expiration = expiration
        self.requestID = requestID
    }
}

extension Broadcast: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Ids, app and size, without the payload.
    public var description: String {
        "broadcast \(requestID) to \(channel) of \(bundleID) (\(payload.count) bytes)"
    }
    /// The same as ``description``: a debugger's output ends in logs too.
    public var debugDescription: String { description }
    /// No children, so that a dump does not show the payload.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
