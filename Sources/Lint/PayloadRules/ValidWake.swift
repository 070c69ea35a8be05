// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A wake that Apple will honour, as far as a check of payload and headers can determine.
///
/// Only ``WakeValidator`` makes one, so its holder need not check again. Its description shows
/// neither payload nor device token.
public struct ValidWake: Hashable, Sendable {
    /// What it is.
    public let kind: WakeKind
    /// The device.
    public private(set) var deviceToken: DeviceToken
    /// The app.
    public let bundleID: BundleID
    /// The JSON body, byte for byte as it was given. Never logged.
    public let payload: [UInt8]
    /// Until when APNs may keep trying: what the request says, or the kind's default.
    public let expiration: Expiration
    /// The collapse id, if any.
    public let collapseID: CollapseID?
    /// The value of `apns-priority`; `nil` for the kind's default.
    public let priority: Priority?
    /// VoIP: the call that the push announces, as its payload names it; two wakes with the same id
    /// are the same call (rule VO014). `nil` for others. Never logged.
    public let callID: String?

    init(_ request: WakeRequest, expiration: Expiration, callID: String?) {
        kind = request.kind
        deviceToken = request.deviceToken
        bundleID = request.bundleID
        payload = request.payload
        self.expiration = expiration
        collapseID = request.collapseID
        // The default by another name is the same push.
        priority = request.priority == request.kind.defaultPriority ? nil : request.priority
        self.callID = callID
    }

    /// The same wake for another device. It is as valid: no rule depends on the device token.
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

    /// The same as ``description``: a debugger's output ends in logs too.
    public var debugDescription: String { description }
}
