// SPDX-License-Identifier: Apache-2.0

public import WakeBudget

/// A caller's options for a wake.
public struct WakeOptions: Sendable {
    /// Its urgency. Only background wakes have one: with other kinds it has no effect.
    public var urgency: Urgency
    /// How it merges into a wake that waits for the same device. Only background wakes merge: with
    /// other kinds it has no effect.
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
