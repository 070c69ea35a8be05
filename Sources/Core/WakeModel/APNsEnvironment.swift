// SPDX-License-Identifier: Apache-2.0

/// The APNs environment that a device token belongs to: production or sandbox (facts §1.1, §9).
public enum APNsEnvironment: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// TestFlight, Ad hoc and App Store builds.
    case production
    /// Builds signed for development.
    case sandbox

    /// The host that takes device pushes.
    public var host: String {
        switch self {
        case .production: "api.push.apple.com"
        case .sandbox: "api.sandbox.push.apple.com"
        }
    }

    /// The host that manages broadcast channels (facts §2.5).
    public var managementHost: String {
        switch self {
        case .production: "api-manage-broadcast.push.apple.com"
        case .sandbox: "api-manage-broadcast.sandbox.push.apple.com"
        }
    }

    /// Its port.
    public var managementPort: Int {
        switch self {
        case .production: 2196
        case .sandbox: 2195
        }
    }

    /// The environment that this one is not.
    public var other: APNsEnvironment { self == .production ? .sandbox : .production }

    /// The name, in lower case.
    public var description: String { rawValue }
}
