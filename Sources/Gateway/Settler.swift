// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

/// The way out: settlements that arrive while a transaction is being written share the next one.
///
/// A settlement is never dropped: when the store fails, it is tried again until it is written or
/// the gateway is gone. Doing it twice changes nothing, because the store knows each lease.
final class Settler: Sendable {
    private struct State {
        var queue: [Settlement] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let bell = Bell()
    private let store: any WakeStore
    private let watch: StoreWatch
    private let clock: any GatewayClock
    private let limits: GatewayLimits
    private let logger: Logger
    private let onSettled: @Sendable (Int) -> Void

    /// A settler into `store`. `onSettled` is told how many settlements each transaction wrote.
    init(
        store: any WakeStore, watch: StoreWatch, clock: any GatewayClock, limits: GatewayLimits,
        logger: Logger, onSettled: @escaping @Sendable (Int) -> Void
    ) {
        self.store = store
        self.watch = watch
        self.clock = clock
        self.limits = limits
        self.logger = logger
        self.onSettled = onSettled
    }

    /// Queues settlements; may be called from any thread. The queue is bounded by the number of
    /// wakes in flight.
    func settle(_ settlements: [Settlement]) {
        guard !settlements.isEmpty else { return }
        state.withLock { $0.queue.append(contentsOf: settlements) }
        bell.ring()
    }

    /// No settlement comes any more; what waits is still written.
    func close() {
        state.withLock { $0.isClosed = true }
        bell.ring()
    }

    /// Writes what waits until the settler is closed and empty. When it is closed and the store
    /// fails, it gives up: the leases lapse, and the next start takes the wakes back.
    func run() async {
        while true {
            let (batch, isClosed) = state.withLock { ($0.queue, $0.isClosed) }
            if batch.isEmpty {
                if isClosed { return }
                await bell.wait()
            } else if await write(batch) {
                state.withLock { $0.queue.removeFirst(batch.count) }
                onSettled(batch.count)
            } else if isClosed {
                return
            } else {
                await pause()
            }
        }
    }

    private func write(_ batch: [Settlement]) async -> Bool {
        do throws(StoreFailure) {
            let verdicts = try await watch.observe { () async throws(StoreFailure) in
                try await store.settle(batch)
            }
            for (settlement, verdict) in zip(batch, verdicts) where verdict == .stale {
                logger.info(
                    "a result came after its lease had lapsed and was not recorded",
                    metadata: ["wake": "\(settlement.ticket.id)"])
            }
            return true
        } catch {
            return false
        }
    }

    /// A task of its own, because the settler outlives the cancellation of the gateway: in a
    /// cancelled task a sleep returns at once, and asking a dead store without a pause would take
    /// a thread from those that still have to report.
    private func pause() async {
        let instant = clock.now().advanced(byMilliseconds: Int64(limits.storePauseMilliseconds))
        await Task { [clock] in try? await clock.sleep(until: instant) }.value
    }
}
