// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Makes a folder of its own for a test, and removes it.
package func withTemporaryFolder(_ body: (String) async throws -> Void) async throws {
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
