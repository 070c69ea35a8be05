// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Which wakes to list.
public struct WakeQuery: Hashable, Sendable {
    /// The most wakes on one page.
    public static let maximumLimit = 1_000

    /// Only those of this device.
    public var deviceToken: DeviceToken?
    /// Only those of this app.
    public var app: AppIdentity?
    /// Only those of apps in this environment.
    public var environment: APNsEnvironment?
    /// Only those of these apps, in either environment; `nil` for all.
    public var apps: Set<BundleID>?
    /// Only those in these states; `nil` for all.
    public var states: Set<WakeState>?
    /// Only those with this caller's name. Names are not indexed: within a given device, or among
    /// the latest wakes, they are found directly, and others page by page.
    public var ref: WakeRef?
    /// Only those of devices with this digest (``WakeModel/DeviceToken/digest``), by which logs and
    /// answers name a device. There is no index of digests either.
    public var digest: String?
    /// Only those before this one: the cursor of the page before.
    public var after: WakeID?
    /// The most wakes to return, at most ``maximumLimit``.
    public var limit: Int

    /// Creates a query.
    public init(
        deviceToken: DeviceToken? = nil, app: AppIdentity? = nil,
        environment: APNsEnvironment? = nil, apps: Set<BundleID>? = nil,
        states: Set<WakeState>? = nil, ref: WakeRef? = nil, digest: String? = nil,
        after: WakeID? = nil, limit: Int = 100
    ) {
        self.deviceToken = deviceToken
        self.app = app
        self.environment = environment
        self.apps = apps
        self.states = states
        self.ref = ref
        self.digest = digest
        self.after = after
        self.limit = max(1, min(limit, Self.maximumLimit))
    }

    /// Whether it includes wakes of this app.
    func includes(_ app: AppIdentity) -> Bool {
        (self.app == nil || self.app == app) && (apps?.contains(app.bundleID) ?? true)
            && (environment == nil || environment == app.environment)
    }

    /// Whether a wake belongs to these apps.
    func includes(_ wake: WakeRow) -> Bool {
        (states?.contains(wake.state) ?? true) && (ref == nil || wake.ref == ref)
    }

    /// How many rows one page reads at most, for a query of wakes.
    package var rowCount: Int {
        let isByDevice = deviceToken != nil
        guard states == nil, ref == nil, digest == nil,
            isByDevice || app == nil && environment == nil && apps == nil
        else {
            return ListWakes.scannedRowCount
        }
        return isByDevice ? limit : max(limit, ListWakes.rowsPerLook)
    }
}

/// Wakes, the newest first.
public struct WakePage: Hashable, Sendable {
    /// The wakes. A page may be short, or empty, although more follow.
    public let wakes: [WakeRecord]
    /// The cursor of the next page; `nil` when nothing follows.
    public let next: WakeID?

    /// Creates a page.
    public init(wakes: [WakeRecord], next: WakeID?) {
        self.wakes = wakes
        self.next = next
    }
}

/// The answer to a cancellation.
public enum CancelAnswer: Hashable, Sendable {
    /// It was pending and has ended. What had merged into it has ended with it.
    case cancelled(WakeRecord)
    /// It is claimed already, or has ended.
    case tooLate(WakeRecord)
    /// No wake has this id.
    case unknown
}
