// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

extension Dispatcher {
    /// Reads from the store which apps are paused, and which send receipts: another gateway on the
    /// same store may have recorded it. Returns the stored queues; `nil` when this gateway set a
    /// pause meanwhile: then it is not known which is newer, and no pause was applied.
    @discardableResult
    func readQueues() async throws(StoreFailure) -> [WakeQueueRow]? {
        let before = state.withLock { $0.pausesUnderWay == 0 ? $0.pausesSet : nil }
        let rows = try await context.perform(ListQueues())
        try await tellOfStrangers(rows)
        let taken = state.withLock { state in
            let changes = state.take(rows, readAfter: before)
            context.follow(state.paused)
            return changes
        }
        guard let changes = taken else { return nil }
        for change in changes {
            context.logger.info(
                change.isPaused ? "the store says that an app is paused" : "an app goes on",
                metadata: ["app": "\(change.app)"])
        }
        return rows
    }

    /// Logs once, after a start and after each reload, which unconfigured apps have waiting wakes:
    /// one was misspelt, or removed too early.
    private func tellOfStrangers(_ rows: [WakeQueueRow]) async throws(StoreFailure) {
        let strangers = state.withLock { $0.strangers(among: rows) }
        for queue in strangers {
            // Leases of a dead process are not included until they are reclaimed, so a queue
            // without pending wakes is checked again.
            guard try await context.perform(NextDue(in: [queue])) != nil else { continue }
            state.withLock { _ = $0.knownStrangers.insert(queue) }
            context.logger.warning(
                "wakes wait for an app that is not configured", metadata: ["queue": "\(queue)"])
        }
    }
}

extension Dispatcher.State {
    /// Queues of the store that are not configured, and were not reported since the reload.
    fileprivate func strangers(among rows: [WakeQueueRow]) -> [WakeQueueKey] {
        guard rows.count > knownStrangers.count else { return [] }
        let known = knownStrangers.union(voipQueues).union(backgroundQueues)
        return rows.map(\.queue).filter { !known.contains($0) }
    }

    /// An app that was paused or resumed.
    fileprivate struct Change {
        let app: AppIdentity
        let isPaused: Bool
    }

    /// Applies the state of the queues from the store; pauses only if this gateway has set none
    /// since the reading began, otherwise `nil`. The gateway that set a pause has reported it; here
    /// it is only applied.
    fileprivate mutating func take(_ rows: [WakeQueueRow], readAfter set: Int?) -> [Change]? {
        for row in rows where row.confirmsLaunches { confirming.insert(row.queue) }
        guard pausesUnderWay == 0, set == pausesSet else { return nil }
        var now: [AppIdentity: QueuePause] = [:]
        for row in rows {
            guard let at = row.pausedAt else { continue }
            now[row.queue.app] = QueuePause(at: at, reason: row.pauseReason)
        }
        guard now != paused else { return [] }
        let began = now.keys.filter { paused[$0] == nil }
        let ended = paused.keys.filter { now[$0] == nil }
        paused = now
        // A queue that was held resumes like one that was paused.
        _ = holds.reset((voipQueues + backgroundQueues).filter { ended.contains($0.app) })
        return began.map { Change(app: $0, isPaused: true) }
            + ended.map { Change(app: $0, isPaused: false) }
    }
}
