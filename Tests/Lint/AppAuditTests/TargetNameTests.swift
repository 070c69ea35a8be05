// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// The names of targets that say what a server sends.
@Suite("Names of targets")
struct TargetNameTests {
    @Test("targets of one name are told apart by the folders of their projects")
    func sameNames() throws {
        let folder = try TestFolder()
        for place in ["shop/", "news/ios/"] {
            try AuditScopeTests.write(folder, "Runner", settings: "", below: place)
        }
        func places(_ sends: [String: Set<ServerPush>]) throws -> [String] {
            try Audit(paths: [folder.path], sendsByTarget: sends).report().findings
                .filter { $0.diagnostic.rule == "CF001" }
                .map { String($0.file.dropFirst(folder.path.count + 1)) }
        }
        let project = "Runner/Runner.xcodeproj/project.pbxproj"
        #expect(
            try places(["Runner": [.background]]) == ["news/ios/\(project)", "shop/\(project)"])
        #expect(try places(["shop/Runner/Runner": [.background]]) == ["shop/\(project)"])
        #expect(
            try places(["ios/Runner/Runner": [.background], "Runner": [.alert]])
                == ["news/ios/\(project)"])
        #expect(throws: AuditFailure.unknownTarget("web/Runner", known: ["Runner"])) {
            try places(["web/Runner": [.background]])
        }
    }
}
