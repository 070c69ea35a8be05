// SPDX-License-Identifier: Apache-2.0

import CSimulatedDisk
import Gateway
import GatewayTestKit
import SeedKit
import Synchronization

@testable import StoreSQLite

/// The store in SQLite, on a disk that fails, dies in the middle of a write, and loses, tears and
/// reorders what was not synced.
final class SQLiteMachine: SimulatedMachine {
    private let durability: SQLiteWakeStore.Durability
    private let path: String
    private let disk: SimulatedDisk
    private let bounds: CheckpointPlan.Bounds
    private let damage = Damage()
    private var store: SQLiteWakeStore?
    /// Whether a verb was done since the store was made, and whether one is durable: from then on
    /// an audit finds a store.
    private var hasWritten = false
    private var isFounded = false
    /// How many syncs had failed when the store was opened.
    private var knownFailedSyncs: UInt64 = 0

    let troubleInterval = 15

    /// A store in an empty folder.
    init(
        folder: String, durability: SQLiteWakeStore.Durability, seed: UInt64
    ) throws(StoreFailure) {
        self.durability = durability
        path = StorePath.resolve(folder + "/store.sqlite")
        disk = SimulatedDisk(path: path, seed: seed)
        // A short log, so that it begins anew again and again.
        var bounds = CheckpointPlan.Bounds()
        bounds.start = seed.isMultiple(of: 2) ? 60 : 200
        bounds.rest = 20
        bounds.retry = .zero
        self.bounds = bounds
        try open()
    }

    var counts: CSimulatedDiskCounts { disk.counts }

    var answers: SimulatedAnswers { durability == .disk ? .durable : .beforeSync }

    var isAlive: Bool { store.map { !disk.isDown && $0.flusher.failure == nil } ?? false }

    private func open() throws(StoreFailure) {
        let failedSyncs = disk.counts.failedSyncs
        let store = try SQLiteWakeStore(
            path: path, durability: durability, cachedDevices: 3, bounds: bounds,
            // What the system flushes by itself, the simulation has it flush.
            flushPause: 1_000_000, sync: { [disk] _ in disk.syncLog() })
        store.whenDamaged { [damage] row in damage.rows.withLock { $0.append(row) } }
        disk.attach(store)
        self.store = store
        knownFailedSyncs = failedSyncs
    }

    // MARK: Transactions

    func transact<Answer>(
        troubleFrom seed: UInt64?,
        _ verb: (any WakeStore) async throws(StoreFailure) -> Answer
    ) async -> SimulatedEnd<Answer> {
        guard let store else { return .wrong("the store is not open") }
        if let seed { disk.plan(from: seed) }
        do throws(StoreFailure) {
            let answer = try await verb(store)
            rest()
            hasWritten = true
            isFounded = isFounded || durability == .disk
            return .done(answer)
        } catch {
            let hasHappened = rest()
            guard isAlive else { return .unknown }
            return seed != nil && hasHappened ? .undone : .wrong("\(error)")
        }
    }

    /// Waits until the store does nothing, and takes planned trouble back; whether it has happened.
    @discardableResult
    private func rest() -> Bool {
        store?.waitForCheckpoints()
        return disk.calm()
    }

    func look<Answer>(
        _ question: (any WakeStore) async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        guard let store else { throw StoreFailure(kind: .unavailable, message: "Not open.") }
        return try await question(store)
    }

    func sync(troubleFrom seed: UInt64?) async -> Bool {
        // With the disk, it has all already.
        guard durability == .system, let store else { return true }
        if let seed { disk.plan(from: seed) }
        store.flusher.drain()
        rest()
        isFounded = isFounded || (isAlive && hasWritten)
        return isAlive
    }

    func intrude() async -> String? {
        do throws(StoreFailure) {
            let other = try SQLiteWakeStore(path: path)
            try other.close()
            return "a second gateway opened the store"
        } catch {
            return error.kind == .inUse ? nil : "a second gateway was refused so: \(error)"
        }
    }

    // MARK: Ends and beginnings

    func restart(_ way: SimulatedRestart, seed: UInt64) async -> SimulatedStart {
        var generator = SeededGenerator(seed: seed)
        var isClean = false
        if way == .shutdown, isAlive {
            let isPlanned = generator.chance(oneIn: 2)
            if isPlanned { disk.plan(from: generator.next()) }
            isClean = (try? shutDown()) != nil
            if disk.calm(), isPlanned { isClean = false }
        }
        kill()
        let isPowerCut =
            way == .powerCut || (way == .shutdown && generator.chance(oneIn: 2))
        // What was closed without trouble is durable.
        var mayHaveLost = (isPowerCut && !isClean) || hasFailedSync
        disk.restart(isPowerCut: isPowerCut, seed: generator.next())
        for tries in 0... {
            if isFounded, let problem = audit() {
                return SimulatedStart(mayHaveLost: mayHaveLost, problem: problem)
            }
            // What a failed sync has lost is whole again when a start has copied the log, and not
            // when the power fails before that, too.
            let isPlanned = tries < 3 && !hasFailedSync && generator.chance(oneIn: 3)
            if isPlanned { disk.plan(from: generator.next()) }
            do throws(StoreFailure) {
                try open()
                if rest(), isPlanned, !isAlive { throw failureOnPurpose }
                break
            } catch {
                let hasHappened = disk.calm()
                guard isPlanned && hasHappened else {
                    return SimulatedStart(
                        mayHaveLost: mayHaveLost, problem: "the store did not open again: \(error)")
                }
                let isPowerCut = !hasFailedSync && generator.chance(oneIn: 2)
                mayHaveLost = mayHaveLost || isPowerCut || hasFailedSync
                kill()
                disk.restart(isPowerCut: isPowerCut, seed: generator.next())
            }
        }
        return SimulatedStart(mayHaveLost: mayHaveLost, problem: foundDamage())
    }

    /// Whether a sync has failed since the store was opened.
    private var hasFailedSync: Bool { disk.counts.failedSyncs > knownFailedSyncs }

    private func shutDown() throws(StoreFailure) {
        rest()
        try store?.close()
        disk.attach(nil)
        store = nil
    }

    /// Ends the process as a kill does: nothing that it still tries reaches the disk.
    private func kill() {
        disk.stop()
        if let store {
            store.waitForCheckpoints()
            store.flusher.drain()
            try? store.close()
        }
        disk.attach(nil)
        store = nil
    }

    private func audit() -> String? {
        do throws(StoreFailure) {
            let audit = try SQLiteWakeStore.audit(path: path)
            return audit.isSound ? nil : "the audit says \(audit)"
        } catch {
            return "the audit failed: \(error)"
        }
    }

    private func foundDamage() -> String? {
        let rows = damage.rows.withLock { $0 }
        return rows.isEmpty ? nil : "rows cannot be read: \(rows)"
    }

    func end() async -> String? {
        if let problem = foundDamage() { return problem }
        guard isAlive else { return nil }
        do throws(StoreFailure) {
            try shutDown()
        } catch {
            return "closing failed: \(error)"
        }
        return audit()
    }
}

/// The rows that could not be read.
private final class Damage: Sendable {
    let rows = Mutex<[DamagedRow]>([])
}

/// A failure that a simulated disk was told to have.
private let failureOnPurpose = StoreFailure(kind: .unavailable, message: "On purpose.")
