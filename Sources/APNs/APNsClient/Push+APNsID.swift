// SPDX-License-Identifier: Apache-2.0

public import APNsWire
public import WakeModel

extension APNsID {
    /// A fresh id from the system's entropy.
    public static func generate() -> APNsID {
        var generator = SystemRandomNumberGenerator()
        return APNsID(entropy: generator.next(), generator.next())
    }
}

extension Push {
    /// A silent push with a fresh `apns-id`; otherwise as the factory of the same name that takes
    /// one.
    public static func background(
        to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8],
        expiration: Expiration? = nil
    ) throws(InvalidField) -> Push {
        try background(
            to: deviceToken, of: bundleID, payload: payload, expiration: expiration,
            apnsID: .generate())
    }

    /// An incoming call with a fresh `apns-id`; otherwise as the factory of the same name that
    /// takes one.
    public static func voip(
        to deviceToken: DeviceToken, of bundleID: BundleID, payload: [UInt8]
    ) throws(InvalidField) -> Push {
        try voip(to: deviceToken, of: bundleID, payload: payload, apnsID: .generate())
    }
}
