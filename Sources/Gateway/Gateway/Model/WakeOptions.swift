// SPDX-License-Identifier: Apache-2.0

public import WakeBudget

/// A caller's options for a wake.
public struct WakeOptions: Sendable {
    /// Its urgency. Calls have none.
    public var urgency: Urgency
    /// How it merges into a wake that waits for the same device.
    public var coalescing: Coalescing
    /// The caller's reference; `nil` without one.
    public var ref: WakeRef?

    /// Creates a value.
    public init(
        urgency: Urgency = .normal, coalescing: Coalescing = .replace, ref: WakeRef? = nil
    ) {
        self.urgency = urgency
        self.coalescing = coalescing
        self.ref = ref
    }
}
