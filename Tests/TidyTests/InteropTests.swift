// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests/Interop beside its page in the manual.
@Suite("Beside the software of others")
struct InteropTests {
    private static let manual = "Deploy/manual/interoperability.md"

    /// The executable files of a folder: one party each.
    private static func parties(in folder: String) throws -> [String] {
        let tree = SourceTree.checkout
        return try tree.entries(of: folder).filter { $0.contains(".") }.map { "\(folder)/\($0)" }
            .filter {
                FileManager.default.isExecutableFile(atPath: tree.root.appending(path: $0).path)
            }
    }

    @Test(
        "the manual has a row for each party and no other",
        arguments: ["clients", "servers", "callers"])
    func rows(kind: String) throws {
        let parties = try Self.parties(in: "Tests/Interop/\(kind)").map { path in
            URL(filePath: path).deletingPathExtension().lastPathComponent
        }
        #expect(!parties.isEmpty)
        let text = try SourceTree.checkout.text(of: Self.manual)
        let chapter = try #require(
            text.split(separator: "\n## ").first { $0.lowercased().hasPrefix(kind) })
        let rows = chapter.matches(of: /\n\| `([^`|]+)` \|/).map { String($0.1) }
        #expect(rows.sorted() == parties.sorted())
    }

    @Test("the manual names each checkout that a party needs")
    func checkouts() throws {
        var needed: Set<String> = []
        for path in try ["clients", "servers", "callers"].flatMap({
            try Self.parties(in: "Tests/Interop/\($0)")
        }) {
            let text = try SourceTree.checkout.text(of: path)
            for line in text.matches(of: /\n(?:#|\/\/) checkout: (\S+)/) {
                needed.insert(String(line.1))
            }
        }
        let text = try SourceTree.checkout.text(of: Self.manual)
        let named = text.matches(of: /\n\| `([A-Z][A-Z0-9_]+)`/).map { String($0.1) }
        #expect(needed.subtracting(named) == [])
        #expect(!needed.isEmpty)
    }
}
