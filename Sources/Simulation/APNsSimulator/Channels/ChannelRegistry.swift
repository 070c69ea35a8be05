// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Synchronization
import WakeModel

/// The broadcast channels of all apps.
final class ChannelRegistry: Sendable {
    private struct Entry {
        var channel: BroadcastChannel
        /// Its place in the order in which channels were made.
        let number: Int
    }

    private struct State {
        var entries: [String: [String: Entry]] = [:]
        var created = 0
    }

    private let limit: Int
    private let seed: UInt64
    private let state = Mutex(State())

    /// No channel yet. `limit` is the most of one app.
    init(limit: Int, seed: UInt64) {
        self.limit = limit
        // Other ids than the requests'.
        self.seed = ~seed
    }

    /// The channels of an app, in the order in which they were made.
    func channels(of bundleID: String) -> [BroadcastChannel] {
        let entries = state.withLock { $0.entries[bundleID] ?? [:] }
        return entries.values.sorted { $0.number < $1.number }.map(\.channel)
    }

    /// Carries a call out.
    func perform(_ call: ChannelCall) -> RequestJudge.Verdict {
        switch call.action {
        case .create(let storage):
            guard let id = create(of: call.bundleID, storing: storage) else {
                return .rejected(.cannotCreateChannelConfig)
            }
            return .done(.init(status: 201, channelID: id.value))
        case .read(let id):
            let entry = state.withLock { $0.entries[call.bundleID]?[id] }
            guard let policy = entry?.channel.storage.policy else {
                return .rejected(.channelNotRegistered)
            }
            let body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
            return .done(.init(status: 200, body: Array(body.utf8)))
        case .list:
            let ids = channels(of: call.bundleID).map { "\"\($0.id)\"" }
            let body = #"{"channels":[\#(ids.joined(separator: ","))]}"#
            return .done(.init(status: 200, body: Array(body.utf8)))
        case .delete(let id):
            let removed = state.withLock { $0.entries[call.bundleID]?.removeValue(forKey: id) }
            return removed == nil
                ? .rejected(.channelNotRegistered) : .done(.init(status: 204))
        case .send(let id, let payload, let isStored):
            return send(payload, to: id, of: call.bundleID, isStored: isStored)
        }
    }

    /// Makes a channel; `nil` when the app has as many as it may.
    func create(of bundleID: String, storing storage: ChannelStorage) -> ChannelID? {
        state.withLock { state in
            guard state.entries[bundleID]?.count ?? 0 < limit else { return nil }
            let number = state.created
            state.created += 1
            guard let id = try? ChannelID(id(number)) else { return nil }
            state.entries[bundleID, default: [:]][id.value] = Entry(
                channel: BroadcastChannel(id: id, storage: storage), number: number)
            return id
        }
    }

    /// 16 bytes in base64, as they look at Apple.
    private func id(_ number: Int) -> String {
        let halves = [0, 1].map { SplitMix64.value(seed: seed, index: UInt64(number) * 2 + $0) }
        let bytes = halves.flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) }
        }
        return Data(bytes).base64EncodedString()
    }

    private func send(
        _ payload: [UInt8], to id: String, of bundleID: String, isStored: Bool
    ) -> RequestJudge.Verdict {
        state.withLock { state in
            guard var entry = state.entries[bundleID]?[id] else {
                return .rejected(.channelNotRegistered)
            }
            guard !isStored || entry.channel.storage == .latest else {
                return .rejected(.badExpirationDate)
            }
            entry.channel.broadcastCount += 1
            if isStored { entry.channel.storedPayload = payload }
            state.entries[bundleID]?[id] = entry
            return .done(.init(status: 200))
        }
    }
}
