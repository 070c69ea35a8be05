// SPDX-License-Identifier: Apache-2.0

/// A permission of an API key.
public enum Scope: String, Hashable, Sendable, CaseIterable {
    /// Request and cancel wakes, validate payloads, send broadcasts, and create and delete their
    /// channels.
    case wake
    /// Read wakes, devices, channels, apps, feedback, events, statistics and metrics.
    case read
    /// Report signals, registrations and receipts of devices, and delete devices.
    case device
    /// All other scopes, and pausing and resuming apps.
    case admin

    /// The scopes of a key that names none: everything that a backend and its apps need, without
    /// the administration of the gateway.
    public static let usual: Set<Scope> = [.wake, .read, .device]
}

extension Set<Scope> {
    /// Whether a key with these scopes may use a route that requires `scope`.
    func allows(_ scope: Scope) -> Bool { contains(scope) || contains(.admin) }
}
