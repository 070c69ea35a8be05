// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// An app in one of Apple's two environments.
public struct AppIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The app.
    public let bundleID: BundleID
    /// The environment of its device tokens.
    public let environment: APNsEnvironment

    /// Names both parts.
    public init(bundleID: BundleID, environment: APNsEnvironment) {
        self.bundleID = bundleID
        self.environment = environment
    }

    /// `com.example.app (sandbox)`.
    public var description: String { "\(bundleID) (\(environment))" }
}

/// All wakes of one kind for one app: the unit that is claimed, and held, as a whole.
///
/// VoIP has separate queues, so that no background backlog delays a call; and so has every app, so
/// that one app's refused key or long queue does not delay another.
public struct WakeQueueKey: Hashable, Sendable, CustomStringConvertible {
    /// The app.
    public let app: AppIdentity
    /// The kind.
    public let kind: WakeKind

    /// Names both parts.
    public init(app: AppIdentity, kind: WakeKind) {
        self.app = app
        self.kind = kind
    }

    /// `voip for com.example.app (sandbox)`.
    public var description: String { "\(kind) for \(app)" }
}
