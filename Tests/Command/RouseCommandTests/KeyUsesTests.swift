// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WakeModel

@testable import RouseCommand

@Suite("The record of when keys were used", .timeLimit(.minutes(10)))
struct KeyUsesTests {
    private static let start = WallInstant(millisecondsSinceEpoch: 1_800_000_000_000)

    /// Takes over uses. A process that another test starts has the lock too, from its fork until it
    /// runs its program.
    private static func merge(
        _ uses: [String: WallInstant], known: Set<String>, _ path: String
    ) async throws {
        while try !KeyUses.merge(uses, known: known, besideKeysFile: path) { await Task.yield() }
    }

    @Test("Two gateways with one keys' file leave each other's uses in the record")
    func shared() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/keys.json"
        for name in ["a", "b"] {
            try await Self.merge([name: Self.start], known: [name, "both"], path)
        }
        #expect(KeyUses(besideKeysFile: path).uses.keys.sorted() == ["a", "b"])
        // What nobody has used for long, and this gateway does not know, is forgotten.
        let later = Self.start.advanced(byMilliseconds: KeyUses.strangerMilliseconds + 1)
        try await Self.merge(["b": later], known: ["b", "both"], path)
        #expect(KeyUses(besideKeysFile: path).uses == ["b": later.description])
    }

    @Test("Gateways that write at the same time lose nothing")
    func together() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/keys.json"
        await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    try await Self.merge(
                        ["\(number)": Self.start], known: ["\(number)"], path)
                }
            }
        }
        #expect(KeyUses(besideKeysFile: path).uses.count == 64)
    }
}
