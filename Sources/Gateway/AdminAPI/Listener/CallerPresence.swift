// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether the caller of a connection can still be answered. A caller disconnects by closing the
/// connection or its sending half; only a write can distinguish the two, so both end operations
/// that would otherwise wait for minutes.
///
/// May be used from any thread.
final class CallerPresence: Sendable {
    private struct State {
        var isGone = false
        var nextKey = 0
        var actions: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// Records that the caller has disconnected, and calls the registered actions.
    func end() {
        let actions = state.withLock { state in
            defer { state.actions = [:] }
            state.isGone = true
            return state.actions.values.map { $0 }
        }
        for action in actions { action() }
    }

    /// Runs an operation. When the caller disconnects meanwhile, or has disconnected before,
    /// `action` is called once.
    func watched<Value, Failure>(
        onHangUp action: @escaping @Sendable () -> Void,
        _ operation: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let key = add(action)
        defer { if let key { remove(key) } }
        return try await operation()
    }

    /// Registers an action, which is called once, at once if the caller has disconnected. Returns
    /// its key while it has not been called.
    func add(_ action: @escaping @Sendable () -> Void) -> Int? {
        let key = state.withLock { state -> Int? in
            guard !state.isGone else { return nil }
            state.nextKey += 1
            state.actions[state.nextKey] = action
            return state.nextKey
        }
        if key == nil { action() }
        return key
    }

    /// Removes an action.
    func remove(_ key: Int) { state.withLock { $0.actions[key] = nil } }

    /// Runs an operation in a separate task, which is cancelled when the caller disconnects.
    func cancellingOnHangUp<Value: Sendable>(
        _ operation: @escaping @Sendable () async -> Value
    ) async -> Value {
        let task = Task { await operation() }
        return await withTaskCancellationHandler {
            await watched {
                task.cancel()
            } _: {
                await task.value
            }
        } onCancel: {
            task.cancel()
        }
    }
}
