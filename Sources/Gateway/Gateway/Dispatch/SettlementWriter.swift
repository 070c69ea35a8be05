// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

/// Writes settlements: those that arrive while a transaction is being written share the next one.
///
/// A settlement is never dropped: when the store fails, it is retried until it is written or the
/// process ends. Writing it twice changes nothing, because the store identifies each lease.
final class SettlementWriter: Sendable {
    private struct State {
        var queue: [Settlement] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let signal = AsyncSignal()
    private let clock: any GatewayClock
    private let limits: GatewayLimits
    private let logger: Logger
    private let batchCount: @Sendable () -> Int
    private let write: @Sendable ([Settlement]) async -> SettleAnswer?

    /// Creates a writer that passes each batch, of at most `batchCount` settlements, to `write`,
    /// which returns `nil` when the store failed.
    init(
        clock: any GatewayClock, limits: GatewayLimits, logger: Logger,
        batchCount: @escaping @Sendable () -> Int,
        write: @escaping @Sendable ([Settlement]) async -> SettleAnswer?
    ) {
        self.clock = clock
        self.limits = limits
        self.logger = logger
        self.batchCount = batchCount
        self.write = write
    }

    /// Queues settlements; may be called from any thread. The queue is bounded by the number of
    /// wakes in flight.
    func settle(_ settlements: [Settlement]) {
        guard !settlements.isEmpty else { return }
        state.withLock { $0.queue.append(contentsOf: settlements) }
        signal.ring()
    }

    /// Queues one settlement; may be called from any thread.
    func settle(_ settlement: Settlement) {
        state.withLock { $0.queue.append(settlement) }
        signal.ring()
    }

    /// Accepts no more settlements; the waiting ones are still written.
    func close() {
        state.withLock { $0.isClosed = true }
        signal.ring()
    }

    /// Writes settlements until the writer is closed and empty. If the store fails after it was
    /// closed, it returns: the leases lapse, and the next start reclaims the wakes.
    func run() async {
        while true {
            let count = batchCount()
            let (batch, isClosed) = state.withLock { state in
                (Array(state.queue.prefix(count)), state.isClosed)
            }
            if batch.isEmpty {
                if isClosed { return }
                await signal.wait()
            } else if let answer = await write(batch) {
                state.withLock { $0.queue.removeFirst(batch.count) }
                log(batch, answer)
            } else if isClosed {
                return
            } else {
                await pause()
            }
        }
    }

    private func log(_ batch: [Settlement], _ answer: SettleAnswer) {
        for (settlement, verdict) in zip(batch, answer.verdicts) {
            switch verdict {
            case .applied, .repeated: break
            case .stale:
                logger.info(
                    "a result came after its lease had lapsed and was not recorded",
                    metadata: ["wake": "\(settlement.ticket.id)"])
            case .damaged:
                logger.error(
                    "a result was not recorded, because the row of its wake is damaged",
                    metadata: ["wake": "\(settlement.ticket.id)"])
            }
        }
    }

    /// A separate task, because the writer outlives the cancellation of the gateway: in a cancelled
    /// task a sleep returns immediately, and retrying on a failed store without a pause would take
    /// a thread from tasks that still have to report.
    private func pause() async {
        let instant = clock.now().advanced(byMilliseconds: Int64(limits.storePauseMilliseconds))
        await Task { [clock] in try? await clock.sleep(until: instant) }.value
    }
}
