// SPDX-License-Identifier: Apache-2.0

import PayloadLint
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
        let known = ["news/ios/Runner/Runner", "shop/Runner/Runner"].map { "\(folder.path)/\($0)" }
        #expect(throws: AuditFailure.unknownTarget("web/Runner", known: known)) {
            try places(["web/Runner": [.background]])
        }
    }

    @Test("settings may be for targets of other folders, which are named")
    func strangers() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: "", below: "shop/")
        var audit = Audit(
            paths: [folder.path],
            sendsByTarget: ["shop/App/App": [.background], "news/App": [.voip], "Ap": [.voip]])
        audit.sendsAreSettings = true
        let report = try audit.report()
        #expect(report.findings.contains { $0.diagnostic.rule == "CF001" })
        #expect(
            report.unjudged.map(\.reason).contains(
                "sends of the settings was not applied to Ap (was App meant?), news/App, for lack "
                    + "of such a target here"))
    }

    @Test("a folder of sources that is not there leaves open what it may hold")
    func absentSources() throws {
        func open(_ sources: String) throws -> [String] {
            let folder = try TestFolder()
            try folder.write(
                "name: App\ntargets:\n  App:\n    type: application\n    platform: iOS\n"
                    + "    sources: \(sources)\n", to: "project.yml")
            return try Audit(paths: [folder.path]).report().unjudged.map(\.reason)
        }
        #expect(try open("[Sorces]") == ["1 source (Sorces) was not read"])
        #expect(try open("[{path: Gen, optional: true}]") == [])
    }

    @Test("a comment that names no rule is told")
    func comments() throws {
        let folder = try TestFolder()
        let source =
            "try? BGTaskScheduler.shared.submit(r) // rouse:ignore CF39 later\n"
            + "try? BGTaskScheduler.shared.submit(s) // rouse:ignore CF999, CF039 why\n"
            + "// rouse:ignore\nlet x = 1\n"
        try folder.write(source, to: "A.swift")
        let report = try Audit(paths: [folder.path]).report()
            .applying(RulePolicy())
        #expect(report.findings.map(\.diagnostic.line) == [1])
        let reasons = report.unjudged.map(\.reason).filter { $0.contains("comment") }
        #expect(
            reasons == [
                "the comment in \(folder.path)/A.swift:1 names `CF39`, which is no rule",
                "the comment in \(folder.path)/A.swift:2 names `CF999`, which is no rule",
                "the comment in \(folder.path)/A.swift:3 names no rule to ignore",
            ])
    }
}
