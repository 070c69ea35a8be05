// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import Synchronization

/// The writers of a gateway: one for each connection that writes.
extension StoreLink {
    /// Gives a session a writer of its own; the one that its connection was before ends.
    func register(_ session: Session) async -> Result<Void, Unavailable> {
        guard !state.withLock({ $0.isClosing }) else { return .failure(.shutDown) }
        let earlier = state.withLock { state in
            state.writers.filter { $0.key.number == session.id.number && $0.key != session.id }
        }
        for (id, writer) in earlier {
            let query = Query(
                StoreUpkeep.endWriter, .int8(writer.identity.id), .text(gateway))
            guard case .done = await session.run([query], transaction: .write) else { continue }
            state.withLock { $0.writers[id] = nil }
        }
        for _ in 0..<Self.registrationLimit {
            switch await session.run(
                [
                    Query(StoreMigration.pause), Query(StoreMigration.newest),
                    Query(
                        Self.registration, .text(gateway), .int8(WriterIdentity.slotCount),
                        .int8(Int64(StoreTables.version))),
                ], transaction: .write)
            {
            case .done(let results):
                do throws(StoreFailure) {
                    try StoreMigration.check(Int(results[1].int64(0, 0) ?? 0))
                } catch {
                    return .failure(.disconnected(error.message))
                }
                let row = results[2]
                guard row.rowCount == 1, let id = row.int64(0, 0), let slot = row.int64(0, 1),
                    let last = row.int64(0, 2)
                else {
                    return .failure(
                        .disconnected("all \(WriterIdentity.slotCount) writers' slots are taken"))
                }
                let identity = WriterIdentity(
                    id: id, gateway: gateway,
                    numbers: NumberSeries(slot: slot, slotCount: WriterIdentity.slotCount))
                state.withLock {
                    $0.writers[session.id] = Writer(identity: identity, lastNumber: last)
                }
                return .success(())
            case .refused(let refusal) where refusal.state == .uniqueViolation:
                // Another one took the slot.
                continue
            case .refused(let refusal): return .failure(.disconnected(refusal.message))
            case .lost(let message, _): return .failure(.disconnected(message))
            }
        }
        return .failure(.overloaded)
    }

    /// How often a slot that was found free may be taken by another gateway.
    private static let registrationLimit = 64

    private static let registration = Statement(
        """
        INSERT INTO rouse.writer (slot, gateway, floor, last_number)
        SELECT slot, $1, last, last FROM (
            SELECT slot, coalesce((SELECT max(last_number) FROM rouse.writer AS earlier
                WHERE earlier.slot = free.slot), 0) AS last
            FROM generate_series(0, $2 - 1) AS free (slot)
            WHERE NOT EXISTS (
                SELECT 1 FROM rouse.writer WHERE writer.slot = free.slot AND NOT writer.ended)
            ORDER BY slot LIMIT 1) AS chosen
        WHERE (SELECT max(version) FROM rouse.schema_version) = $3
        RETURNING id, slot::bigint, last_number
        """, .text, .int8, .int8)

    func writer(of session: Session) -> Writer? { state.withLock { $0.writers[session.id] } }

    func keep(_ writer: Writer, of session: Session) {
        state.withLock { $0.writers[session.id] = writer }
    }

    /// Whether a write was done of which no answer came: its writer's row says so, once no
    /// transaction of it can be under way any more.
    func resolve(_ write: UnknownWrite) async throws(StoreFailure) -> Bool {
        var rest = Duration.milliseconds(50)
        while true {
            do throws(StoreFailure) {
                let result = try await run(
                    [Query(StoreUpkeep.endWriter, .int8(write.writer), .text(gateway))],
                    transaction: .write)[0]
                guard result.rowCount == 1, let sequence = result.int64(0, 0) else {
                    throw StoreFailure(
                        kind: .corrupt,
                        message: "The row of a writer is gone, so it is not known whether its last "
                            + "transaction was committed.")
                }
                return sequence >= write.sequence
            } catch {
                guard error.kind != .corrupt, !state.withLock({ $0.isClosing }) else { throw error }
            }
            // No answer may be given before it is known; a cancelled task retries without a pause.
            try? await Task.sleep(for: rest)
            rest = min(rest * 2, .seconds(1))
        }
    }
}
