// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import StoreSQLite
import Testing

/// The stores that the contract is held against.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory
    case sqlite
    case sqliteOfSystem = "sqlite, answered once the system has it"

    var testDescription: String { rawValue }

    /// Hands an empty store to `body`, and clears up behind it.
    func withStore(_ body: (any WakeStore) async throws -> Void) async throws {
        switch self {
        case .memory: try await body(InMemoryWakeStore())
        case .sqlite, .sqliteOfSystem:
            try await withTemporaryFolder { folder in
                let store = try SQLiteWakeStore(
                    path: folder + "/store.sqlite", durability: self == .sqlite ? .disk : .system)
                try await body(store)
                try store.close()
            }
        }
    }
}

/// Makes a folder of its own for a test, and removes it.
func withTemporaryFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory
        .appending(path: "rouse-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    do {
        try await body(folder.path)
    } catch {
        try? FileManager.default.removeItem(at: folder)
        throw error
    }
    try FileManager.default.removeItem(at: folder)
}
