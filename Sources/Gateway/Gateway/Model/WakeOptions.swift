// SPDX-License-Identifier: Apache-2.0

public import WakeBudget

/// What a caller chooses for a wake beside its push.
public struct WakeOptions: Sendable {
    /// Its urgency. Calls have none.
    public var urgency: Urgency
    /// How it merges into a wake that waits for the same device.
    public var coalescing: Coalescing
    /// What the caller calls the wake; `nil` for no name.
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
