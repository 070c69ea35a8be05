// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The operations and queries of tests.
extension APNsSimulator {
    /// Registers a device token, in place of what was registered for it before. A modelled device
    /// with the same setup continues; another one starts again.
    public func register(_ device: RegisteredDevice) {
        state.register(device)
    }

    /// Removes a device token; it is unknown afterwards, not unregistered.
    public func forget(_ token: DeviceToken) {
        state.forget(token)
    }

    /// Adds a fault after the existing ones. Shares affect disjoint requests: where the shares of
    /// all request faults add up to over 1, the excess has no effect.
    public func inject(_ fault: Fault) {
        state.changeRules { $0.faults.add(fault) }
    }

    /// Removes all faults. Effects on requests continue: a delayed answer stays delayed.
    public func clearFaults() {
        state.changeRules { $0.faults.removeAll() }
    }

    /// The pushes in the log, oldest first.
    public var receivedPushes: [ReceivedPush] { state.log.pushes }

    /// Empties the log. Counters continue.
    public func clearReceivedPushes() { state.forgetPushes() }

    /// With the log set to `.countsOnly`: whole requests for each device token, in lower-case
    /// hexadecimal.
    public var pushCounts: [String: Int] { state.pushCounts }

    /// The counters since the start.
    public var counters: Counters { state.counters.snapshot }

    /// Returns once `count` whole requests have arrived since the start, answered or not, or the
    /// simulator is shut down.
    public func waitForPushes(_ count: Int) async { await state.waitForPushes(count) }

    /// The pushes that the log holds once `count` whole requests have arrived since the start,
    /// answered or not.
    ///
    /// Throws ``MissingPushes``, for the failure of a test, when fewer have arrived within `limit`.
    public func pushes(
        _ count: Int, within limit: Duration
    ) async throws(MissingPushes) -> [ReceivedPush] {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.state.waitForPushes(count) }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
        let arrived = counters.completeRequests
        guard arrived >= count else {
            throw MissingPushes(expected: count, arrived: arrived, limit: limit)
        }
        return receivedPushes
    }

    /// Sends GOAWAY on every open connection, with the highest stream seen there as the last one:
    /// open requests are still answered, then the connection is closed.
    public func sendGoAway(reason: RejectionReason? = .shutdown) {
        state.sendGoAway(reason: reason)
    }

    /// Closes every open connection immediately.
    public func closeAllConnections() { state.closeAllConnections() }
}

/// Fewer pushes arrived than a test waited for.
public struct MissingPushes: Error, Hashable, Sendable, CustomStringConvertible {
    /// How many it waited for.
    public let expected: Int
    /// How many had arrived when the time was over.
    public let arrived: Int
    /// How long it waited.
    public let limit: Duration

    /// All three.
    public var description: String {
        "\(arrived) of \(expected) pushes arrived within \(limit)"
    }
}
