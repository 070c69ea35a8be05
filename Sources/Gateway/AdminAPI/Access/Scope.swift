// SPDX-License-Identifier: Apache-2.0

/// What an API key may do.
public enum Scope: String, Hashable, Sendable, CaseIterable {
    /// Ask for wakes, cancel them, and have payloads checked; send broadcasts, and make and delete
    /// their channels.
    case wake
    /// Read wakes, devices, channels, feedback, events, statistics and metrics.
    case read
    /// Report for devices: signals, registrations, receipts; and forget a device.
    case device
    /// Everything that the others may, and pause and resume apps.
    case admin

    /// What a key may do that does not say: all that a backend and its apps need, and nothing that
    /// changes how the gateway runs.
    public static let usual: Set<Scope> = [.wake, .read, .device]
}

extension Set<Scope> {
    /// Whether a key with these scopes may do what asks for `scope`.
    func allows(_ scope: Scope) -> Bool { contains(scope) || contains(.admin) }
}
