// SPDX-License-Identifier: Apache-2.0

/// A request to wake this app on this device with this payload.
///
/// Its parts are well-formed; whether together they are a push that Apple will honour is for
/// `PayloadRules` to say, which turns it into a `ValidWake`.
public struct WakeRequest: Hashable, Sendable {
    /// What it is.
    public let kind: WakeKind
    /// The device. For VoIP this is the PushKit token, which differs from the ordinary one (VO011).
    public var deviceToken: DeviceToken
    /// The app.
    public var bundleID: BundleID
    /// The JSON body, byte for byte as it will be sent. Never logged.
    public var payload: [UInt8]
    /// When the wake expires; `nil` takes the kind's default.
    public var expiration: Expiration?
    /// The collapse id, if any (rules BG026 and VO010 advise against it for background and VoIP).
    public var collapseID: CollapseID?
    /// The value of `apns-priority`; `nil` takes the kind's default. One that Apple does not allow
    /// for the kind cannot be: see ``prioritized(_:)``.
    public private(set) var priority: Priority?

    /// Creates a request.
    public init(
        kind: WakeKind, deviceToken: DeviceToken, bundleID: BundleID, payload: [UInt8],
        expiration: Expiration? = nil, collapseID: CollapseID? = nil
    ) {
        self.kind = kind
        self.deviceToken = deviceToken
        self.bundleID = bundleID
        self.payload = payload
        self.expiration = expiration
        self.collapseID = collapseID
    }

    /// The same request at another priority; `nil` for the kind's default.
    ///
    /// Throws ``InvalidField`` for one that Apple does not allow for the kind
    /// (``WakeKind/allowedPriorities``).
    public func prioritized(_ priority: Priority?) throws(InvalidField) -> WakeRequest {
        if let priority { try kind.check(priority) }
        var request = self
        request.priority = priority
        return request
    }
}

extension WakeRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Kind, app, device digest and size; neither the device token nor the payload.
    public var description: String {
        "\(kind) wake of \(bundleID) on \(deviceToken) (\(payload.count) bytes)"
    }
    /// The same as ``description``: a debugger's output ends in logs too.
    public var debugDescription: String { description }
    /// No children, so that a dump does not show the payload.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
