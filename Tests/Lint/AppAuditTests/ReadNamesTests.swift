// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AppAudit

@Suite("Names of which something is read")
struct ReadNamesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources/Lint/AppAudit/Source")

    /// The names in the cases of a function's `switch`.
    private static func cases(of function: String, in file: String) throws -> Set<String> {
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        let body = try #require(text.components(separatedBy: "func \(function)(").last)
            .components(separatedBy: "\n    }\n")[0]
        return body.matches(of: /\n        case ("[^:]*?")(?: where[^\n]*)?(?=[:\n])/).reduce(
            into: []) {
                for name in $1.1.matches(of: /"([A-Za-z]+)"/) { $0.insert(String(name.1)) }
            }
    }

    @Test(
        "each name of a case is looked at",
        arguments: [
            ("readName", "SourceReader.swift", 40),
            ("readDeviceToken", "SourceReader+DeviceToken.swift", 6),
        ])
    func cases(function: String, file: String, least: Int) throws {
        let names = try Self.cases(of: function, in: file)
        #expect(names.count >= least)
        #expect(names.subtracting(SourceReader.readNames) == [])
    }
}
