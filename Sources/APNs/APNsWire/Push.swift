// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A push that is valid by construction: no initializer accepts a push type, priority, topic suffix
/// and expiration that contradict each other.
///
/// There is a factory for each ``WakeModel/WakeKind``, with parameters only for what Apple leaves
/// open.
public struct Push: Hashable, Sendable {
    /// The value of `apns-push-type`.
    public let type: PushType
    /// The device, in the request's path.
    public let deviceToken: DeviceToken
    /// The value of `apns-topic`: the bundle id with the type's suffix.
    public let topic: Topic
    /// The value of `apns-priority`; always sent, because an absent one means 10.
    public let priority: Priority
    /// The value of `apns-expiration`; `nil` leaves it out, and APNs stores the push for up to 30
    /// days.
    public let expiration: Expiration?
    /// The value of `apns-collapse-id`.
    public let collapseID: CollapseID?
    /// The value of `apns-id`; the same for every attempt of this push.
    public let apnsID: APNsID
    /// The JSON body.
    public let payload: [UInt8]

    private init(
        _ type: PushType, to deviceToken: DeviceToken, of bundleID: BundleID, priority: Priority,
        expiration: Expiration?, collapseID: CollapseID? = nil, apnsID: APNsID, payload: [UInt8]
    ) throws(InvalidField) {
        guard !payload.isEmpty else {
            throw InvalidField(
                field: "payload", problem: "is empty (G002)", remedy: "Give a JSON object.")
        }
        guard payload.count <= type.maximumPayloadBytes else {
            throw InvalidField(
                field: "payload",
                problem: "has \(payload.count) bytes, more than the \(type.maximumPayloadBytes) "
                    + "that APNs takes for \(type) (\(type == .voip ? "VO002" : "G003"))",
                remedy: "Send a hint and let the app fetch the rest.")
        }
        self.type = type
        self.deviceToken = deviceToken
        self.topic = bundleID.topic(for: type)
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.apnsID = apnsID
        self.payload = payload
    }

    /// A silent push that wakes the app. Priority is 5, the topic is the bundle id.
    ///
    /// `expiration` should match the value of the hint: left out, APNs may deliver it up to 30 days
    /// later (BG018); `immediately` loses it when the device sleeps (BG019). Throws
    /// ``WakeModel/InvalidField`` for an empty payload or one over 4096 bytes.
    public static func background(
        to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8],
        expiration: Expiration? = nil, collapseID: CollapseID? = nil, apnsID: APNsID
    ) throws(InvalidField) -> Push {
        try Push(
            .background, to: deviceToken, of: bundleID, priority: .powerConsiderate,
            expiration: expiration, collapseID: collapseID, apnsID: apnsID, payload: payload)
    }

    /// An incoming call. Priority is 10, the topic ends in `.voip`, `deviceToken` is the PushKit
    /// token.
    ///
    /// `expiration` is `immediately` by default: a call that rings late must still be reported by
    /// the app (VO005). Throws ``WakeModel/InvalidField`` for an empty payload or one over 5120
    /// bytes.
    public static func voip(
        to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8],
        expiration: Expiration = .immediately, apnsID: APNsID
    ) throws(InvalidField) -> Push {
        try Push(
            .voip, to: deviceToken, of: bundleID, priority: .immediate, expiration: expiration,
            apnsID: apnsID, payload: payload)
    }

    /// A push of any kind, with the kind's rules: type, topic suffix, the kind's default priority,
    /// and expiration 0 for kinds that are useless later.
    ///
    /// Throws ``WakeModel/InvalidField`` for an empty payload or one that is too large, and for a
    /// priority that Apple does not allow for the kind. A call has no collapse id.
    public static func wake(
        _ kind: WakeKind, to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8],
        priority: Priority? = nil, expiration: Expiration? = nil,
        collapseID: CollapseID? = nil, apnsID: APNsID
    ) throws(InvalidField) -> Push {
        if let priority { try kind.check(priority) }
        return try Push(
            kind.pushType, to: deviceToken, of: bundleID,
            priority: priority ?? kind.defaultPriority,
            expiration: expiration ?? (kind.lifetimeSeconds == 0 ? .immediately : nil),
            collapseID: kind == .voip ? nil : collapseID, apnsID: apnsID, payload: payload)
    }
}

extension Push: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Type, id, topic, device digest and size, without the device token and the payload.
    public var description: String {
        "\(type) push \(apnsID) of \(topic) to \(deviceToken) (\(payload.count) bytes)"
    }
    /// The same as ``description``: a debugger's output ends in logs too.
    public var debugDescription: String { description }
    /// No children, so that a dump does not show the payload.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
