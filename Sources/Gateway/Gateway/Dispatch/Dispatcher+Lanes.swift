// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

extension Dispatcher {
    /// Learns from the store which apps are paused, and which send receipts: another gateway on the
    /// same store may have been told. The lanes as they stand there; `nil` when this gateway set a
    /// pause meanwhile, so that it is not known which is newer, and no pause was taken over.
    @discardableResult
    func readLanes() async throws(StoreFailure) -> [LaneRow]? {
        let before = state.withLock { $0.pausesUnderWay == 0 ? $0.pausesSet : nil }
        let rows = try await hall.lanes()
        try await tellOfStrangers(rows)
        guard let changes = state.withLock({ $0.take(rows, readAfter: before) }) else { return nil }
        for change in changes {
            hall.logger.info(
                change.isPaused ? "the store says that an app is paused" : "an app goes on",
                metadata: ["app": "\(change.app)"])
        }
        return rows
    }

    /// Says once, after a start and after each reload, for which apps wakes wait that are not
    /// configured: somebody mistyped one, or took it away too early.
    private func tellOfStrangers(_ rows: [LaneRow]) async throws(StoreFailure) {
        let strangers = state.withLock { $0.strangers(among: rows) }
        for lane in strangers {
            // What a dead process had in hand is not among them until it is taken back, so one for
            // which nothing waits is looked at again.
            guard try await hall.nextDue(in: [lane]) != nil else { continue }
            state.withLock { _ = $0.knownStrangers.insert(lane) }
            hall.logger.warning(
                "wakes wait for an app that is not configured", metadata: ["lane": "\(lane)"])
        }
    }
}

extension Dispatcher.State {
    /// Lanes of the store that are not configured, and were not told of since the reload.
    fileprivate func strangers(among rows: [LaneRow]) -> [Lane] {
        guard rows.count > knownStrangers.count else { return [] }
        let known = knownStrangers.union(voipLanes).union(backgroundLanes)
        return rows.map(\.lane).filter { !known.contains($0) }
    }

    /// An app that was paused, or goes on.
    fileprivate struct Change {
        let app: AppIdentity
        let isPaused: Bool
    }

    /// Takes over what the store says of the lanes, of pauses unless this gateway has set one since
    /// the reading began: then `nil`. Whoever set a pause has told of it; here it only counts.
    fileprivate mutating func take(_ rows: [LaneRow], readAfter set: Int?) -> [Change]? {
        for row in rows where row.confirmsLaunches { confirming.insert(row.lane) }
        guard pausesUnderWay == 0, set == pausesSet else { return nil }
        var now: [AppIdentity: LanePause] = [:]
        for row in rows {
            guard let at = row.pausedAt else { continue }
            now[row.lane.app] = LanePause(at: at, reason: row.pauseReason)
        }
        guard now != paused else { return [] }
        let began = now.keys.filter { paused[$0] == nil }
        let ended = paused.keys.filter { now[$0] == nil }
        paused = now
        // A lane that was held goes on as one that was paused does.
        _ = holds.reset((voipLanes + backgroundLanes).filter { ended.contains($0.app) })
        return began.map { Change(app: $0, isPaused: true) }
            + ended.map { Change(app: $0, isPaused: false) }
    }
}
