// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PayloadLint

@Suite("Replacing files")
struct ReplacementFileTests {
    private static func mode(_ path: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return attributes[.posixPermissions] as? Int
    }

    @Test("the new text has the old file's permissions", arguments: [0o600, 0o644, 0o755, 0o664])
    func permissions(mode: Int) throws {
        let folder = try TestFolder()
        let path = try folder.write("old", to: "a.json")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let file = try ReplacementFile(replacing: path)
        try file.write(Array("ne".utf8))
        try file.write(Array("w".utf8))
        #expect(try folder.text(of: "a.json") == "old")
        try file.commit()
        #expect(try folder.text(of: "a.json") == "new")
        #expect(try Self.mode(path) == mode)
    }

    @Test("a symbolic link stays one")
    func link() throws {
        let folder = try TestFolder()
        try folder.write("old", to: "sub/a.json")
        let link = folder.path + "/link.json"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "sub/a.json")
        let file = try ReplacementFile(replacing: link)
        try file.write(Array("new".utf8))
        try file.commit()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "sub/a.json")
        #expect(try folder.text(of: "sub/a.json") == "new")
    }

    @Test("without a commit nothing is left")
    func abandoned() throws {
        let folder = try TestFolder()
        let path = try folder.write("old", to: "a.json")
        do {
            let file = try ReplacementFile(replacing: path)
            try file.write([1, 2, 3])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.json"])
        #expect(try folder.text(of: "a.json") == "old")
    }

    @Test("a file that is not there cannot be replaced")
    func missing() throws {
        let folder = try TestFolder()
        #expect(throws: LintProblem.self) { try ReplacementFile(replacing: folder.path + "/a") }
    }
}
