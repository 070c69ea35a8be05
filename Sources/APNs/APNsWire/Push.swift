// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// One push, right by construction: its push type, priority, topic suffix and expiration cannot
/// contradict each other, because no initializer lets them.
///
/// There is one factory for each type that wakes an app (facts §2.3). What each leaves open is
/// a parameter; what Apple fixes is not.
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

    /// A question for the device's location. Takes a provider token only, not a certificate (H019).
    /// `isImmediate` chooses priority 10 over 5.
    public static func location(
        to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8], isImmediate: Bool,
        expiration: Expiration? = nil, apnsID: APNsID
    ) throws(InvalidField) -> Push {
        try Push(
            .location, to: deviceToken, of: bundleID,
            priority: isImmediate ? .immediate : .powerConsiderate, expiration: expiration,
            apnsID: apnsID, payload: payload)
    }

    /// A Push to Talk transmission or service update. Priority is 10 and expiration 0 (PT001).
    public static func pushToTalk(
        to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8], apnsID: APNsID
    ) throws(InvalidField) -> Push {
        try Push(
            .pushtotalk, to: deviceToken, of: bundleID, priority: .immediate,
            expiration: .immediately, apnsID: apnsID, payload: payload)
    }

    /// A change of a File Provider container; the payload names it at its top level (FP001).
    public static func fileProvider(
        to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8],
        priority: Priority = .powerConsiderate, expiration: Expiration? = nil, apnsID: APNsID
    ) throws(InvalidField) -> Push {
        try Push(
            .fileprovider, to: deviceToken, of: bundleID, priority: priority,
            expiration: expiration, apnsID: apnsID, payload: payload)
    }

    /// Data for a ClockKit complication; legacy (CM001).
    public static func complication(
        to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8],
        priority: Priority = .powerConsiderate, expiration: Expiration? = nil, apnsID: APNsID
    ) throws(InvalidField) -> Push {
        try Push(
            .complication, to: deviceToken, of: bundleID, priority: priority,
            expiration: expiration, apnsID: apnsID, payload: payload)
    }

    /// Tells WidgetKit that a widget's content changed (WG001).
    public static func widgets(
        to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8],
        priority: Priority = .powerConsiderate, expiration: Expiration? = nil, apnsID: APNsID
    ) throws(InvalidField) -> Push {
        try Push(
            .widgets, to: deviceToken, of: bundleID, priority: priority, expiration: expiration,
            apnsID: apnsID, payload: payload)
    }

    /// Tells the system that a control's content changed (WG001). Priority and expiration are those
    /// of Apple's sample: 10 and 0.
    public static func controls(
        to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8],
        priority: Priority = .immediate, expiration: Expiration? = .immediately, apnsID: APNsID
    ) throws(InvalidField) -> Push {
        try Push(
            .controls, to: deviceToken, of: bundleID, priority: priority, expiration: expiration,
            apnsID: apnsID, payload: payload)
    }

    /// A wake of either kind, with the kind's rules.
    public static func wake(
        _ kind: WakeKind, to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8],
        expiration: Expiration?, collapseID: CollapseID? = nil, apnsID: APNsID
    ) throws(InvalidField) -> Push {
        switch kind {
        case .background:
            try background(
                to: deviceToken, of: bundleID, payload: payload, expiration: expiration,
                collapseID: collapseID, apnsID: apnsID)
        case .voip:
            try voip(
                to: deviceToken, of: bundleID, payload: payload,
                expiration: expiration ?? .immediately, apnsID: apnsID)
        }
    }
}

extension Push: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Type, id, topic, device digest and size; neither the device token nor the payload.
    public var description: String {
        "\(type) push \(apnsID) of \(topic) to \(deviceToken) (\(payload.count) bytes)"
    }
    /// The same as ``description``: a debugger's output ends in logs too.
    public var debugDescription: String { description }
    /// No children, so that a dump does not show the payload.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
