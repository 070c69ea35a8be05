// SPDX-License-Identifier: Apache-2.0

import CSimulatedDisk
import SeedKit
import Synchronization

@testable import StoreSQLite

/// A disk for the files in one folder; see CSimulatedDisk.
final class SimulatedDisk: Sendable {
    // SAFETY: `nonisolated(unsafe)`, because a pointer is not Sendable. All functions of the disk
    // may be called from any thread, and it lives as long as this object.
    private nonisolated(unsafe) let disk: OpaquePointer
    private let logPath: String
    /// The store on it, while there is one.
    private let store = Mutex<SQLiteWakeStore?>(nil)

    /// A disk for the database at this path, in a folder of its own that is there.
    init(path: String, seed: UInt64) {
        guard let slash = path.lastIndex(of: "/"),
            let disk = CSimulatedDisk_make(String(path[..<slash]), seed)
        else { fatalError("There is no disk.") }
        self.disk = disk
        logPath = path + "-wal"
    }

    deinit { CSimulatedDisk_free(disk) }

    /// Has the store's own flushes wait for it.
    func attach(_ store: SQLiteWakeStore?) { self.store.withLock { $0 = store } }

    /// Brings the log to the disk, as the store does beside SQLite. What the store does beside that
    /// comes first, so that a seed is always the same life.
    func syncLog() -> CInt {
        store.withLock { $0 }?.waitForCheckpoints()
        return CSimulatedDisk_sync(disk, logPath)
    }

    /// Plans a trouble, as chance will have it.
    func plan(from seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let isDistant = generator.chance(oneIn: 3)
        func count(_ near: Int, _ far: Int) -> UInt64 {
            UInt64(generator.below(isDistant ? far : near))
        }
        switch generator.below(10) {
        case 0..<4:
            CSimulatedDisk_plan(disk, CSimulatedDiskAnyChange, CSimulatedDiskDeath, count(4, 80))
        case 4..<6:
            CSimulatedDisk_plan(disk, CSimulatedDiskWrite, CSimulatedDiskError, count(2, 60))
        case 6: CSimulatedDisk_plan(disk, CSimulatedDiskWrite, CSimulatedDiskFull, count(2, 60))
        case 7: CSimulatedDisk_plan(disk, CSimulatedDiskSync, CSimulatedDiskError, count(1, 4))
        case 8: CSimulatedDisk_plan(disk, CSimulatedDiskRead, CSimulatedDiskError, count(4, 40))
        default:
            let trouble = generator.chance(oneIn: 2) ? CSimulatedDiskFull : CSimulatedDiskError
            let operation = generator.chance(oneIn: 2) ? CSimulatedDiskSync : CSimulatedDiskRemoval
            CSimulatedDisk_plan(disk, operation, trouble, count(1, 2))
        }
    }

    /// Takes back what was planned; whether that has happened already.
    @discardableResult
    func calm() -> Bool { CSimulatedDisk_calm(disk) }

    /// Has nothing more be done, as when the process dies.
    func stop() { CSimulatedDisk_stop(disk) }

    var isDown: Bool { CSimulatedDisk_isDown(disk) }

    /// Starts again after a death.
    func restart(isPowerCut: Bool, seed: UInt64) { CSimulatedDisk_restart(disk, isPowerCut, seed) }

    var counts: CSimulatedDiskCounts { CSimulatedDisk_counts(disk) }
}

extension SQLiteWakeStore {
    /// Waits until nothing is copied from the log.
    func waitForCheckpoints() {
        writer.sync { _ in }
        checkpointer.database.sync { _ in }
    }
}
