// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A wake without errors, as far as payload and headers can be checked.
///
/// Only ``WakeValidator`` creates one, so that it need not be checked again. Its description shows
/// neither payload nor device token.
public struct ValidWake: Hashable, Sendable {
    /// The kind of the wake.
    public let kind: WakeKind
    /// The device.
    public private(set) var deviceToken: DeviceToken
    /// The app.
    public let bundleID: BundleID
    /// The JSON body, unchanged. Never logged.
    public let payload: [UInt8]
    /// The expiration for APNs: that of the request, or the kind's default.
    public let expiration: Expiration
    /// The collapse id, if any.
    public let collapseID: CollapseID?
    /// The value of `apns-priority`; `nil` for the kind's default.
    public let priority: Priority?
    /// VoIP: the id of the call in the payload; two wakes with the same id are the same call (rule
    /// VO014). `nil` for other kinds. Never logged.
    public let callID: String?

    init(_ request: WakeRequest, expiration: Expiration, callID: String?) {
        kind = request.kind
        deviceToken = request.deviceToken
        bundleID = request.bundleID
        payload = request.payload
        self.expiration = expiration
        collapseID = request.collapseID
        // The explicit default is the same push.
        priority = request.priority == request.kind.defaultPriority ? nil : request.priority
        self.callID = callID
    }

    /// Returns the same wake for another device. It is valid too, because no rule depends on the
    /// device token.
    public func addressed(to device: DeviceToken) -> ValidWake {
        var wake = self
        wake.deviceToken = device
        return wake
    }
}

extension ValidWake: CustomStringConvertible, CustomDebugStringConvertible {
    /// Kind, app, device digest and size.
    public var description: String {
        "\(kind) wake for \(bundleID) on \(deviceToken), \(payload.count) bytes"
    }

    /// The same as ``description``, because a debugger's output may be logged.
    public var debugDescription: String { description }
}
