// SPDX-License-Identifier: Apache-2.0

public import Gateway

extension SQLiteWakeStore {
    /// Carries out a command; see ``Gateway/WakeStore/perform(_:)``.
    public func perform<Command: StoreCommand>(
        _ command: Command
    ) async throws(StoreFailure) -> Command.Answer {
        let profile = command.profile
        if profile.access == .read {
            switch profile.origin {
            case .gateway:
                return try await look { store throws(StoreFailure) in
                    try store.rows.perform(command)
                }
            case .caller: return try await ask(command)
            }
        }
        if Command.isMostlyIdle {
            // A read does not wait for the writer.
            let answer = try await look { store throws(StoreFailure) in
                try store.rows.idleAnswer(to: command)
            }
            if let answer { return answer }
        }
        return try await writing.write(profile) { store throws(StoreFailure) in
            try store.rows.perform(command)
        }
    }

    /// Removes rows whose retention has ended, and returns pages that stay empty to the file
    /// system; see ``Gateway/WakeStore/prune(_:)``.
    public func prune(_ order: PruneOrder) async throws(StoreFailure) -> Pruned {
        // Pruning can wait, and would make a full log longer.
        var profile = CommandProfile(.readThenWrite, weight: order.limit)
        profile.addsWork = true
        return try await writing.write(profile) { store throws(StoreFailure) in
            try store.prune(order)
        }
    }

    /// Runs one reading transaction for the gateway itself. Fails once the disk has failed, so that
    /// readiness does not depend on cached pages.
    private func look<Answer: Sendable>(
        _ body: @escaping @Sendable (StoreConnection) throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        if let failure = flusher.failure { throw failure }
        return try await reader.read(body)
    }

    /// The same for a caller: separate from the gateway's own reads, and bounded. With
    /// ``Durability/disk`` the answer waits until all it contains is on disk: a reader sees
    /// transactions as soon as they are committed, before their flush.
    private func ask<Command: StoreCommand>(
        _ command: Command
    ) async throws(StoreFailure) -> Command.Answer {
        if let failure = flusher.failure { throw failure }
        let profile = command.profile
        let duration =
            profile.isLinear
            ? ReadConnection.maximumRecountDuration : ReadConnection.maximumDuration
        return try await callersReads.bounded(profile) { () async throws(StoreFailure) in
            let answer = try await callersReader.read(within: duration) {
                store throws(StoreFailure) in
                try store.rows.perform(command)
            }
            guard profile.isShown, durability == .disk else { return answer }
            if let failure = await flusher.flushed() { throw failure }
            return answer
        }
    }
}
