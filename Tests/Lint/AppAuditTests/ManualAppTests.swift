// SPDX-License-Identifier: Apache-2.0

import AppAudit
import Foundation
import PayloadRules
import Testing

/// What the manual tells people to copy into their apps passes the audit that they are told to use.
@Suite("Deploy/manual/app")
struct ManualAppTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Deploy/manual/app").standardized
    private static let names = [
        "App.entitlements", "Info.plist", "RouseCalls.swift", "RouseWake.swift",
    ]

    private static func text(of name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    private static func rules(in path: String) throws -> [String] {
        let report = try Audit(paths: [path], sends: [.background, .voip]).report()
        #expect(report.problems == [])
        return report.findings.map { $0.diagnostic.rule.rawValue }
    }

    @Test("nothing is found in it")
    func asItIs() throws {
        let entries = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(entries.sorted() == Self.names)
        #expect(try Self.rules(in: Self.folder.path) == [])
    }

    @Test(
        "what it needs is missed where it is taken out",
        arguments: [
            ("Info.plist", "<string>remote-notification</string>", "CF001"),
            ("App.entitlements", "aps-environment", "CF005"),
            ("RouseWake.swift", "didReceiveRemoteNotification", "CF002"),
            ("RouseCalls.swift", "desiredPushTypes", "CF008"),
        ])
    func takenOut(name: String, part: String, rule: String) throws {
        let copy = try TestFolder()
        for file in Self.names {
            let text = try Self.text(of: file)
            try copy.write(file == name ? text.replacing(part, with: "") : text, to: file)
        }
        #expect(try Self.text(of: name).contains(part))
        #expect(try Self.rules(in: copy.path) == [rule])
    }
}
