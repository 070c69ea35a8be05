// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import Testing

@testable import AppAudit

/// Files with code for the background that no target has.
@Suite("Sources in no target")
struct LeftOutSourcesTests {
    @Test("a file for the background beside an app's that no target has is named")
    func leftOut() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: "", source: "let x = 1")
        let path = "App/App.xcodeproj/project.pbxproj"
        let project = try String(contentsOfFile: folder.path + "/" + path, encoding: .utf8)
        try folder.write(
            project.replacing("path = App.swift", with: "path = Own/App.swift"), to: path)
        try folder.write("let x = 1", to: "App/Own/App.swift")
        func reasons() throws -> [String] {
            try Audit(paths: [folder.path]).report().unjudged.map(\.reason)
                .filter { $0.contains("in no target") }
        }
        let source = "func f() { BGTaskScheduler.shared.cancelAllTaskRequests() }"
        try folder.write("let y = 1", to: "App/Own/Plain.swift")
        try folder.write(source, to: "App/Other/Left.swift")
        try folder.write(source, to: "App/Own/LeftTests.swift")
        #expect(try reasons() == [])
        try folder.write(source, to: "App/Own/More/Left.swift")
        #expect(try reasons().count == 1)
        #expect(try reasons().first?.contains("App/Own/More/Left.swift") == true)
    }
}
